package pull

import (
	"context"
	"net/http"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxListed is how many commits a pull request is found by: of a larger one the
// newest.
const maxListed = 1000

// listed are those of a pull request's commits, the newest first, by which it
// is found.
func listed(commits []git.SHA) []git.SHA { return commits[:min(len(commits), maxListed)] }

// GET /repos/{owner}/{repo}/commits/{ref...}/pulls
//
// ListOfCommit answers a page of the pull requests that brought a commit, or
// would bring it, the newest first: merged ones that have it or were merged as
// it, and open ones that have it, unless the default branch has it too, as at
// GitHub. No history is walked for them: each test merge notes up to 1,000
// commits of its pull request. The ref is a branch, a tag or a SHA, which may be
// abbreviated (decision 50). Errors: 409, 422 for what names no commit.
func (api *API) ListOfCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := api.git.CommitNamed(r.Context(), a, web.Param(r, "ref"))
	if err != nil {
		return err
	}
	at := web.ReadPage(r)
	return api.serve(w, r, a, string(sha), func(out *web.Output) error {
		ctx := out.Context()
		open, err := api.s.offered(ctx, a, sha)
		if err != nil {
			return err
		}
		var p *page
		err = api.s.db.Read(ctx, func(tx *db.Tx) error {
			p = newPage(ctx, a)
			ids, total, err := ofCommit(tx, a.ID, sha, open, at)
			if err != nil {
				return err
			}
			tx.OnCommit(func() { web.Link(w, r, at, total) })
			list, err := issue.ByIDs(tx, ids)
			if err != nil {
				return err
			}
			p.Add(list...)
			return p.load(tx)
		})
		if err == nil {
			err = p.Bodies(out, api.s.issues)
		}
		if err != nil {
			return err
		}
		return p.write(out)
	})
}

// offered reports whether open pull requests of a commit count: some have it,
// and the default branch does not. Only then a process may start.
func (s *Service) offered(ctx context.Context, a *repo.Access, sha git.SHA) (bool, error) {
	var some bool
	var tip git.SHA
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if some, err = anyOpenOf(tx, a.ID, sha); err == nil && some {
			tip, err = repo.BranchTip(tx, a.ID, a.DefaultBranch)
		}
		return err
	})
	if err != nil || !some || tip == "" {
		return some, err
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return false, err
	}
	defer release()
	there, err := objects.IsAncestor(ctx, sha, tip)
	return !there, err
}
