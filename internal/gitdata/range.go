package gitdata

import (
	"context"

	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Range is the base and head commit of a pull request. Both are immutable, so what is rendered of them is
// cached (decision 39).
type Range struct{ Base, Head git.SHA }

func (g Range) String() string { return string(g.Base) + ".." + string(g.Head) }

// rangeChanges compares a page of the files that changed since the merge base, see filePage.
func (s *Service) rangeChanges(
	ctx context.Context, a *repo.Access, g Range, at web.Page, patches int,
) (*Changes, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	common, err := objects.PullBase(ctx, g.Base, g.Head)
	if err != nil {
		return nil, err
	}
	changes, err := diff.Compare(ctx, objects, common, g.Head, filePage(at.Offset(), at.Size, patches))
	return &Changes{Changes: changes, In: a, From: common, To: g.Head}, err
}

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

// ChangesOfRange returns a page of the files that RangeFiles lists, with as many bytes of patches as a page
// for people shows.
func (s *Service) ChangesOfRange(ctx context.Context, a *repo.Access, g Range, at web.Page) (*Changes, error) {
	changes, err := s.rangeChanges(ctx, a, g, at, PagePatches)
	if err != nil {
		return nil, err
	}
	return changes, changes.hold(ctx)
}
