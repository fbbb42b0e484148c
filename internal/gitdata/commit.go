package gitdata

import (
	"context"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// filesPerPage is the default number of files of a commit or comparison.
const filesPerPage = 300

// CommitNamed resolves a branch, a tag or a SHA, which may be abbreviated (decision 50), to a commit.
// Errors: 409 for an empty repository; 422 if there is no such commit, as at GitHub.
func (s *Service) CommitNamed(ctx context.Context, a *repo.Access, name string) (git.SHA, error) {
	sha, err := s.revision(ctx, a, name, true)
	if errs.Is(err, errs.NotFound) {
		return "", errs.Newf(errs.Invalid, "No commit found for SHA: %s", name)
	}
	return sha, err
}

// GitCommit reads a commit by its full SHA, which a client gave. Errors: 404; 409 for a repository without refs.
func (s *Service) GitCommit(ctx context.Context, a *repo.Access, sha git.SHA) (c *git.Commit, err error) {
	if err = s.repos.CheckNamed(ctx, a, sha); err == nil {
		c, err = s.commit(ctx, a, sha)
	}
	return c, s.absent(ctx, a, err)
}

// commitView reads a commit with the accounts behind it.
func (s *Service) commitView(ctx context.Context, a *repo.Access, sha git.SHA) (*CommitView, error) {
	c, err := s.commit(ctx, a, sha)
	if err != nil {
		return nil, err
	}
	views, err := s.newViews(ctx, a, c)
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

// commit reads a commit.
func (s *Service) commit(ctx context.Context, a *repo.Access, sha git.SHA) (*git.Commit, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	return objects.Commit(ctx, sha)
}

// FullCommit is a commit with a page of the files that it changes.
type FullCommit struct {
	*CommitView
	Changes *Changes
}

// FullCommit reads the commit of a name, with at most so many bytes of patches; 0: as many as GitHub gives. Errors:
// those of CommitNamed.
func (s *Service) FullCommit(
	ctx context.Context, a *repo.Access, name string, at web.Page, patches int,
) (*FullCommit, error) {
	c, err := s.fullCommit(ctx, a, name, at, patches)
	if err != nil {
		return nil, err
	}
	if err := hold(ctx, sizeOf(c.Commit)); err != nil {
		return nil, err
	}
	return c, c.Changes.hold(ctx)
}

// fullCommit is FullCommit for a caller that asks for the memory itself.
func (s *Service) fullCommit(
	ctx context.Context, a *repo.Access, name string, at web.Page, patches int,
) (*FullCommit, error) {
	sha, err := s.CommitNamed(ctx, a, name)
	if err != nil {
		return nil, err
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	c, err := objects.Commit(ctx, sha)
	if err != nil {
		return nil, err
	}
	changes, err := diff.Compare(ctx, objects, parentOf(c), sha,
		filePage(min(at.Number-1, diff.MaxFiles)*at.Size, at.Size, patches))
	if err != nil {
		return nil, err
	}
	views, err := s.newViews(ctx, a, c)
	if err != nil {
		return nil, err
	}
	return &FullCommit{views[0], &Changes{Changes: changes, In: a, From: parentOf(c), To: sha}}, nil
}

// parentOf returns the object that a commit is compared with: its first parent, or the empty tree.
func parentOf(c *git.Commit) git.SHA {
	if len(c.Parents) == 0 {
		return git.EmptyTree
	}
	return c.Parents[0]
}
