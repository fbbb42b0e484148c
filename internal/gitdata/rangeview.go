package gitdata

import (
	"context"
	"io"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// CommitsOfRange returns a page of the commits that RangeCommits lists.
func (s *Service) CommitsOfRange(
	ctx context.Context, a *repo.Access, g Range, at web.Page,
) (*web.List[*CommitView], error) {
	shas, err := s.rangeCommits(ctx, a, g)
	if err != nil {
		return nil, err
	}
	part := web.CutAt(at, shas)
	views, err := s.loadViews(ctx, a, part.Rows)
	return &web.List[*CommitView]{Rows: views, More: part.More, Total: part.Total}, err
}

func (s *Service) rangeCommits(ctx context.Context, a *repo.Access, g Range) ([]git.SHA, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	key := "range " + a.ID.String() + " " + string(g.Base) + " " + string(g.Head)
	found, err := s.walks.ReadAlone(ctx, objectsOf(a), key, func() (o outcome, err error) {
		o.commits, _, err = objects.PullCommits(ctx, g.Base, g.Head)
		return o, err
	})
	return found.commits, err
}

// ChangesOfRange returns a page of the files that RangeFiles lists, with as many bytes of patches as a page for people
// shows.
func (s *Service) ChangesOfRange(ctx context.Context, a *repo.Access, g Range, at web.Page) (*Changes, error) {
	changes, err := s.rangeChanges(ctx, a, g, at, PagePatches)
	if err != nil {
		return nil, err
	}
	return changes, changes.hold(ctx)
}

// Contents reads a file of a revision, of a symlink the file of the repository to which it leads. Errors: 404; 413 for
// more than an operation returns.
func (s *Service) Contents(ctx context.Context, a *repo.Access, ref, path string) (data []byte, err error) {
	v, entry, err := s.at(ctx, a, ref, path)
	if err != nil {
		return nil, err
	}
	defer v.release()
	if entry.Type != git.TypeBlob {
		return nil, errs.Absent()
	}
	target, link, err := v.follow(ctx, entry)
	if err != nil {
		return nil, err
	}
	if link != nil {
		return []byte(*link), nil
	}
	err = v.objects.ReadBlob(ctx, target.SHA, maxHeld, func(size int64, contents io.Reader) error {
		if err := hold(ctx, int(size)); err != nil {
			return err
		}
		data, err = io.ReadAll(contents)
		return err
	})
	return data, err
}
