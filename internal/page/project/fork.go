package project

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/scope"
)

// forkView is what fork.html shows.
type forkView struct {
	page.Frame
	Owners      []string
	Owner, Name string
	Only        bool // the default branch alone
}

// GET /{owner}/{repo}/fork
//
// NewFork answers the form for a fork. Callers who have not signed in are redirected to the sign-in page.
func (p *Pages) NewFork(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &forkView{Name: a.Name, Only: true}
	if err := p.fillFork(r, a, v); err != nil {
		return err
	}
	v.Owner = v.Viewer.Login
	return p.t.Page(w, r, "fork.html", v)
}

func (p *Pages) fillFork(r *http.Request, a *repo.Access, v *forkView) (err error) {
	if v.Frame, err = p.kit.RepoFrame(r, a, "", "Fork"); err != nil {
		return err
	}
	if v.Viewer == nil {
		return errs.New(errs.Unauthenticated, "Requires authentication")
	}
	v.Owners, err = p.owners(r, a.Caller)
	return err
}

// POST /{owner}/{repo}/fork
//
// Fork forks the repository and leads to the fork. Where the owner has one already, this is the fork. What is
// wrong with the form is shown on it.
func (p *Pages) Fork(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v := &forkView{Owner: form.Text("owner"), Name: form.Text("name"), Only: form.Checked("only")}
	fork, err := p.fork(r, a, v)
	if err == nil {
		return page.Done(w, r, pathOf(fork.FullName()), fork.FullName()+" is a fork of "+a.FullName()+".")
	}
	if errs.Is(err, errs.NotFound) && organization(a, v) != "" {
		err = errs.New(errs.Invalid, "You cannot fork to that account.")
	}
	return page.RefuseWith(p.t, w, r, "fork.html", err,
		func(r *http.Request) (*forkView, error) { return v, p.fillFork(r, a, v) }, nil)
}

// organization is the login of the organization that is to own the fork; empty: the caller.
func organization(a *repo.Access, v *forkView) string {
	if strings.EqualFold(v.Owner, a.Caller.Login) {
		return ""
	}
	return v.Owner
}

func (p *Pages) fork(r *http.Request, a *repo.Access, v *forkView) (*repo.Access, error) {
	if err := a.Caller.Allows(scope.PublicRepo, false); err != nil {
		return nil, err
	}
	ctx, err := p.kit.WriteArchived(r, a, account.Pull)
	if err != nil {
		return nil, err
	}
	return p.Networks.Fork(ctx, a,
		network.NewFork{Organization: organization(a, v), Name: v.Name, DefaultBranchOnly: v.Only})
}

// forksView is what forks.html shows.
type forksView struct {
	page.Frame
	Repos []page.Repository
	Sort  string
}

const perList = 30

// GET /{owner}/{repo}/forks
//
// Forks answers the forks that the viewer may see, in the order of the query's sort: newest, oldest or
// stargazers.
func (p *Pages) Forks(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &forksView{Sort: r.URL.Query().Get("sort")}
	if v.Sort != "oldest" && v.Sort != "stargazers" {
		v.Sort = "newest"
	}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "", "Forks"); err != nil {
		return err
	}
	at := page.At(r, perList)
	forks, err := p.Networks.Forks(r.Context(), a, v.Sort, at)
	if err != nil {
		return err
	}
	v.Repos, v.Pages = page.NewRepositories(forks), page.PagerOf(r, at, a.Forks)
	return p.t.Page(w, r, "forks.html", v)
}
