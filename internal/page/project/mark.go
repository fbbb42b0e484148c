package project

import (
	"net/http"

	"arbor/internal/page"
	"arbor/internal/repo"
)

// mark asks the API for a change without a body, and leads back to where the button was.
func (p *Pages) mark(w http.ResponseWriter, r *http.Request, a *repo.Access, method, path string) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if err := p.kit.Change(r, method, path, nil, nil); err != nil {
		return err
	}
	return page.SeeOther(w, r, page.ReturnTo(form.Get("return_to"), pathOf(a.FullName())))
}

func starPath(a *repo.Access) string { return "/user/starred" + pathOf(a.FullName()) }

func watchPath(a *repo.Access) string { return "/repos" + pathOf(a.FullName()) + "/subscription" }

// POST /{owner}/{repo}/star
//
// Star stars the repository, and leads back to the form's return_to.
func (p *Pages) Star(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.mark(w, r, a, http.MethodPut, starPath(a))
}

// POST /{owner}/{repo}/unstar
//
// Unstar takes the star away, and leads back to the form's return_to.
func (p *Pages) Unstar(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.mark(w, r, a, http.MethodDelete, starPath(a))
}

// POST /{owner}/{repo}/watch
//
// Watch subscribes the caller to the repository, and redirects to the form's return_to.
func (p *Pages) Watch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.mark(w, r, a, http.MethodPut, watchPath(a))
}

// POST /{owner}/{repo}/unwatch
//
// Unwatch ends watching, and leads back to the form's return_to.
func (p *Pages) Unwatch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.mark(w, r, a, http.MethodDelete, watchPath(a))
}

// peopleView is what marked.html shows.
type peopleView struct {
	page.Frame
	Users []page.User
}

// GET /{owner}/{repo}/stargazers
//
// Stargazers answers who starred the repository, the first one first.
func (p *Pages) Stargazers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.people(w, r, a, "Stargazers", "/stargazers")
}

// GET /{owner}/{repo}/watchers
//
// Watchers answers who watches the repository, the first one first.
func (p *Pages) Watchers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.people(w, r, a, "Watchers", "/subscribers")
}

func (p *Pages) people(w http.ResponseWriter, r *http.Request, a *repo.Access, title, list string) error {
	v := &peopleView{}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "", title); err != nil {
		return err
	}
	more, err := p.kit.Get(r, "/repos"+v.Repo.Path+list, page.Part(r, perList), &v.Users)
	if err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, more)
	return p.t.Page(w, r, "marked.html", v)
}
