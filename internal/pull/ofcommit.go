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

// maxListed is the number of commits, the newest ones, by which a pull request can be found.
const maxListed = 1000

// listed returns the commits by which a pull request can be found, given all of them, newest first.
func listed(commits []git.SHA) []git.SHA { return commits[:min(len(commits), maxListed)] }

// GET /repos/{owner}/{repo}/commits/{ref...}/pulls
//
// ListOfCommit lists the pull requests of a commit, newest first: merged ones that contain it or were
// merged as it, and open ones that contain it unless the default branch does too, as at GitHub. It does not
// walk histories: each test merge records up to 1,000 commits of its pull request. The ref is a branch, a
// tag or a SHA, which may be abbreviated (decision 50). Errors: 409, 422 for an unknown commit.
func (api *API) ListOfCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	// Before a kept answer: whether the commit is there may depend on the time.
	sha, err := api.git.CommitNamed(r.Context(), a, web.Param(r, "ref"))
	if err != nil {
		return err
	}
	return api.answers.OfCaller(func(out *web.Output, r *http.Request, a *repo.Access) error {
		return api.listOfCommit(out, r, a, sha)
	})(w, r, a)
}

func (api *API) listOfCommit(out *web.Output, r *http.Request, a *repo.Access, sha git.SHA) error {
	at := web.ReadPage(r)
	open, err := api.s.offered(r.Context(), a, sha)
	if err != nil {
		return err
	}
	return api.renderList(out, a, func(tx *db.Tx) ([]*issue.Issue, error) {
		ids, total, err := ofCommit(tx, a.ID, sha, open, at)
		if err != nil {
			return nil, err
		}
		tx.OnCommit(func() { web.Link(out, r, at, total) })
		return issue.ByIDs(tx, ids)
	})
}

// offered reports whether open pull requests of a commit are listed: at least one contains it, and the
// default branch does not. It starts a git process only in the first case.
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
