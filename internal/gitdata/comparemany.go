package gitdata

import (
	"context"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Comparison is the relation of a head to a commit.
type Comparison struct {
	Ahead, Behind int
	Status        string // as in the response of Compare
	Base          git.SHA
	Head          repo.Of[git.SHA]
}

// CompareMany compares a head, as in BASE...HEAD, with several objects of each repository. The caller must
// have access to these. Objects that are not commits or annotated tags of commits, or share no history with
// the head, are missing. Errors: [repo.Errors] with 404 where the head does not exist.
func (s *Service) CompareMany(
	ctx context.Context, bases []repo.Of[git.SHA], head string,
) (map[repo.Of[git.SHA]]*Comparison, error) {
	heads, failed, err := s.headsOf(ctx, repo.In(bases), head)
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[git.SHA]]*Comparison{}
	for a, shas := range repo.ByAccess(bases) {
		if failed[a.ID] != nil {
			continue
		}
		if err := s.compareEach(ctx, a, heads[a.ID], shas, out); err != nil {
			return nil, err
		}
	}
	return out, failed.OrNil()
}

// headsOf resolves a head in each repository. The commits of all are found with one statement.
func (s *Service) headsOf(
	ctx context.Context, in map[repo.ID]*repo.Access, head string,
) (heads map[repo.ID]repo.Of[git.SHA], failed repo.Errors, err error) {
	heads, failed = map[repo.ID]repo.Of[git.SHA]{}, repo.Errors{}
	var names []repo.Of[string]
	var of []repo.ID
	for id, a := range in {
		c := readSide(head, a)
		err := s.findRepo(ctx, &c, a)
		if err == nil && c.name == "" {
			err = errs.Absent()
		}
		switch {
		case errs.Is(err, errs.NotFound):
			failed[id] = err
		case err != nil:
			return nil, nil, err
		default:
			names, of = append(names, repo.Of[string]{In: c.at, Key: c.name}), append(of, id)
		}
	}
	found, err := s.findAll(ctx, names)
	for n, id := range of {
		if err != nil {
			return nil, nil, err
		}
		at := names[n].In
		sha, wrong := found[n], error(nil)
		if sha == "" { // perhaps it is abbreviated
			sha, wrong = s.revision(ctx, at, names[n].Key, true)
		} else {
			sha, wrong = s.peelToCommit(ctx, at, sha)
		}
		switch {
		case errs.Is(wrong, errs.NotFound), errs.Is(wrong, errs.Invalid), errs.Is(wrong, errs.Conflict):
			failed[id] = wrong
		case wrong != nil:
			return nil, nil, wrong
		}
		heads[id] = repo.Of[git.SHA]{In: at, Key: sha}
	}
	return heads, failed, err
}

// compareEach compares a head with objects of a repository.
func (s *Service) compareEach(
	ctx context.Context, a *repo.Access, head repo.Of[git.SHA], shas []git.SHA,
	out map[repo.Of[git.SHA]]*Comparison,
) error {
	objects, release, err := s.repos.GitOfBoth(ctx, head.In, a)
	if err != nil {
		return err
	}
	defer release()
	for _, sha := range shas {
		one := comparison{}
		base, err := objects.PeelToCommit(ctx, sha)
		if err == nil {
			_, err = objects.MergeBase(ctx, base, head.Key)
		}
		if err == nil {
			one.behind, one.ahead, _, err = objects.Diverged(ctx, base, head.Key, 0, 0)
		}
		switch {
		case errs.Is(err, errs.NotFound), errs.Is(err, errs.Invalid):
			continue
		case err != nil:
			return err
		}
		out[repo.Of[git.SHA]{In: a, Key: sha}] = &Comparison{one.ahead, one.behind, one.status(), base, head}
	}
	return nil
}

// AheadOf names a comparison: of a commit with a head, which may be in another repository.
type AheadOf struct {
	Base git.SHA
	Head repo.Of[git.SHA]
}

// ListAhead lists a page of the commits that each head has and its base has not, the oldest first.
func (s *Service) ListAhead(
	ctx context.Context, list []repo.Of[AheadOf], at web.Page,
) (map[repo.Of[AheadOf]]*web.List[*CommitPayload], error) {
	pages, out := map[repo.Of[AheadOf]][]git.SHA{}, map[repo.Of[AheadOf]]*web.List[*CommitPayload]{}
	var all []repo.Of[git.SHA]
	for _, of := range list {
		objects, release, err := s.repos.GitOfBoth(ctx, of.Key.Head.In, of.In)
		if err != nil {
			return nil, err
		}
		_, ahead, shas, err := objects.Diverged(ctx, of.Key.Base, of.Key.Head.Key, int(at.Offset()), int(at.Size))
		release()
		if err != nil {
			return nil, err
		}
		pages[of], out[of] = shas, &web.List[*CommitPayload]{Total: int64(ahead), More: at.Offset()+at.Size < int64(ahead)}
		all = append(all, repo.AllOf(of.Key.Head.In, shas)...)
	}
	commits, err := s.CommitsOf(ctx, all)
	for of, shas := range pages {
		for _, sha := range shas {
			out[of].Rows = append(out[of].Rows, commits[repo.Of[git.SHA]{In: of.Key.Head.In, Key: sha}])
		}
	}
	return out, err
}

// Size is how much a commit changes.
type Size struct {
	Files, Additions, Deletions int
	Cut                         bool // there is more than was compared
}

// Sizes compares each of the commits with its first parent.
func (s *Service) Sizes(ctx context.Context, list []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]Size, error) {
	out := map[repo.Of[git.SHA]]Size{}
	for a, shas := range repo.ByAccess(list) {
		objects, release, err := s.repos.Git(ctx, a)
		if err != nil {
			return nil, err
		}
		for _, sha := range shas {
			c, err := objects.Commit(ctx, sha)
			var changes *diff.Changes
			if err == nil {
				changes, err = diff.Compare(ctx, objects, parentOf(c), sha, diff.Page(0, 1))
			}
			if err != nil {
				release()
				return nil, err
			}
			out[repo.Of[git.SHA]{In: a, Key: sha}] = Size{changes.Total, changes.Additions, changes.Deletions, changes.Cut}
		}
		release()
	}
	return out, nil
}
