package project

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// syncView is what sync.html shows.
type syncView struct {
	page.Frame
	Branch        string
	Upstream      string // OWNER:BRANCH
	Ahead, Behind int    // commits that the fork and its parent have alone
	Why           string // the branches cannot be compared
}

// GET /{owner}/{repo}/sync
//
// Behind shows how far the branch ?branch= of a fork, by default the default branch, is from that of its parent, and a
// button that updates it. Error: 404.
func (p *Pages) Behind(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.behind(r, a, web.QueryOf(r).Get("branch"))
	return p.t.Show(w, r, "sync.html", v, err)
}

func (p *Pages) behind(r *http.Request, a *repo.Access, branch string) (*syncView, error) {
	v := &syncView{Branch: branch}
	if branch == "" {
		v.Branch = a.DefaultBranch
	}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", "Sync fork"); err != nil {
		return nil, err
	}
	owner, _, ok := strings.Cut(v.Repo.Parent, "/")
	if !ok {
		v.Why = "This repository is not a fork of one that you see."
		return v, nil
	}
	v.Upstream = owner + ":" + v.Branch
	const beyondChanges = 2 // the first page of a comparison has the changed files, which nobody needs here
	c, err := p.Git.Compared(r.Context(), a, v.Branch+"..."+v.Upstream, web.Page{Number: beyondChanges, Size: 1}, 1)
	switch {
	case errs.Is(err, errs.NotFound), errs.Is(err, errs.Invalid), errs.Is(err, errs.Conflict):
		v.Why = "These branches cannot be compared: one of them does not exist, or they have no history in common."
		return v, nil
	case err != nil:
		return nil, err
	}
	v.Ahead, v.Behind = c.Behind, c.Ahead
	return v, nil
}

// POST /{owner}/{repo}/sync
//
// Sync updates a branch of a fork from its parent, and leads to the branch. Conflicts are shown on the form.
func (p *Pages) Sync(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	branch := form.Get("branch")
	ctx, err := p.kit.Write(r, a, account.Push)
	if err == nil {
		done, failed := p.Pulls.MergeUpstream(ctx, a, branch)
		if err = failed; err == nil {
			to := page.RepoPath(a)
			if branch != a.DefaultBranch {
				to += "/tree" + page.Segments(branch)
			}
			return page.Done(w, r, to, done.Message)
		}
	}
	return page.RefuseWith(p.t, w, r, "sync.html", err,
		func(r *http.Request) (*syncView, error) { return p.behind(r, a, branch) }, nil)
}
