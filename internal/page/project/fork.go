package project

import (
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
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
	v.Owners, err = p.owners(r, v.Viewer)
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
	body := map[string]any{"name": v.Name, "default_branch_only": v.Only}
	if v.Owner != "" && !strings.EqualFold(v.Owner, a.Caller.Login) {
		body["organization"] = v.Owner
	}
	var made struct {
		FullName string `json:"full_name"`
	}
	err = p.kit.Change(r, http.MethodPost, "/repos"+pathOf(a.FullName())+"/forks", body, &made)
	if err == nil {
		return page.SeeOther(w, r, pathOf(made.FullName))
	}
	if errs.Is(err, errs.NotFound) && body["organization"] != nil {
		err = errs.New(errs.Invalid, "You cannot fork to that account.")
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	if err := p.fillFork(r, a, v); err != nil {
		return err
	}
	v.Problem = problem
	return p.t.Again(w, r, "fork.html", problem, v)
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
	more, err := p.kit.Get(r, "/repos"+v.Repo.Path+"/forks", page.Part(r, perList, "sort", v.Sort), &v.Repos)
	if err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, more)
	return p.t.Page(w, r, "forks.html", v)
}
