package gitdata

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/signature"
	"arbor/internal/web"
)

// CommitView is a commit of a repository, with the accounts that verified the addresses in it; nil: nobody did.
type CommitView struct {
	*git.Commit
	In                     *repo.Access
	WrittenBy, CommittedBy *account.Account
	Verification           signature.Verification
}

// newViews finds the accounts behind commits of a repository, and verifies signatures, with a fixed number of
// statements.
func (s *Service) newViews(ctx context.Context, a *repo.Access, commits ...*git.Commit) ([]*CommitView, error) {
	known, verified, err := s.describe(ctx, commits...)
	if err != nil {
		return nil, err
	}
	views := make([]*CommitView, len(commits))
	for n, c := range commits {
		views[n] = known.view(a, c, verified[n])
	}
	return views, nil
}

func (p people) view(a *repo.Access, c *git.Commit, v signature.Verification) *CommitView {
	return &CommitView{Commit: c, In: a, WrittenBy: p[account.Fold(c.Author.Email)],
		CommittedBy: p[account.Fold(c.Committer.Email)], Verification: v}
}

// eachView reads commits in their order, some at a time: their messages may be large.
func (s *Service) eachView(
	ctx context.Context, a *repo.Access, shas []git.SHA, fn func(part []*CommitView) error,
) error {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	return objects.EachCommits(ctx, shas, func(part []*git.Commit) error {
		views, err := s.newViews(ctx, a, part...)
		if err != nil {
			return err
		}
		return fn(views)
	})
}

// loadViews reads commits in their order, all at once. Error: 413 for more text than a page has room for.
func (s *Service) loadViews(ctx context.Context, a *repo.Access, shas []git.SHA) ([]*CommitView, error) {
	views, all := make([]*CommitView, 0, len(shas)), 0
	err := s.eachView(ctx, a, shas, func(part []*CommitView) error {
		size := 0
		for _, c := range part {
			size += sizeOf(c.Commit)
		}
		if all += size; all > maxHeld {
			return errs.New(errs.TooLarge, "There is too much here for a page: the API has it.")
		}
		views = append(views, part...)
		return hold(ctx, size)
	})
	return views, err
}

// CommitViews loads those of the commits that the caller may see.
func (s *Service) CommitViews(
	ctx context.Context, a *repo.Access, named []git.SHA,
) (map[git.SHA]*CommitView, error) {
	known, err := s.Known(ctx, repo.AllOf(a, named), git.TypeCommit)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	list, err := s.loadViews(ctx, a, repo.Keys(known))
	if err != nil {
		return nil, err
	}
	found := make(map[git.SHA]*CommitView, len(list))
	for _, c := range list {
		found[c.SHA] = c
	}
	return found, nil
}

// maxHeld is how many bytes of texts an operation returns at most.
const maxHeld = 32 << 20

// hold asks for the memory of texts that an operation returns, and of what a caller makes of them, until the request
// has been answered.
func hold(ctx context.Context, size int) error { return admission.Hold(ctx, 6*int64(size)) }

// Changes are a page of the files that changed between two trees, which commits stand for.
type Changes struct {
	*diff.Changes
	In       *repo.Access // where the addresses of the files lead
	From, To git.SHA
}

// More reports that files follow the page.
func (c *Changes) More(at web.Page) bool {
	return at.Number*at.Size < int64(min(c.Total, diff.MaxFiles))
}

// hold asks for the memory of the patches.
func (c *Changes) hold(ctx context.Context) error {
	size := 0
	for n := range c.Files {
		size += len(c.Files[n].Patch)
	}
	return hold(ctx, size)
}

// PagePatches is how many bytes of patches a page for people is made of.
const PagePatches = 2 << 20

// filePage are the bounds of a page of changed files, with at most so many bytes of patches, and all files listed for
// people; 0: GitHub's bound, without the list.
func filePage(skip, most int64, patches int) diff.Options {
	o := diff.Page(skip, most)
	if patches > 0 {
		o.Sum, o.List = patches, true
	}
	return o
}
