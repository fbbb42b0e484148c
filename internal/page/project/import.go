package project

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/mirror"
	"arbor/internal/page"
	"arbor/internal/web"
)

// importView is what import.html shows: the form as it was sent, without the password.
type importView struct {
	newView
	URL      string
	Username string
	Keep     bool // as a mirror
	Off      bool // the server has no mirrors
}

// GET /new/import
//
// NewImport shows the form that imports a repository from another server. The query's url, owner, name and
// visibility fill it in.
func (p *Pages) NewImport(w http.ResponseWriter, r *http.Request) error {
	q := web.QueryOf(r)
	v := &importView{newView: newView{Owner: q.Get("owner"), Name: q.Get("name"), Private: q.Get("visibility") == "private"},
		URL: q.Get("url")}
	if err := p.fillImport(r, v); err != nil {
		return err
	}
	return p.t.Page(w, r, "import.html", v)
}

// fillImport reads what can be chosen.
func (p *Pages) fillImport(r *http.Request, v *importView) error {
	v.Off = p.Mirrors.Off
	if err := p.fill(r, &v.newView); err != nil {
		return err
	}
	v.Title = "Import a repository"
	return nil
}

// POST /new/import
//
// Import creates a repository, has it copied from another server, once or as a mirror, and redirects to it.
// Errors in the form are shown on it.
func (p *Pages) Import(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v := &importView{newView: newView{Owner: form.Text("owner"), Name: form.Text("name"),
		Private: form.Get("visibility") == "private"},
		URL: form.Text("remote_url"), Username: form.Text("username"), Keep: form.Checked("keep")}
	made, err := p.importFrom(r, v, form.Get("password"))
	if err == nil {
		return page.Done(w, r, pathOf(made), made+" was created. It will be copied soon.")
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	if made != "" {
		return page.PartlyDone(w, r, pathOf(made)+"/settings/mirrors", made+" was created, but nothing is copied: "+problem.Message)
	}
	if err := p.fillImport(r, v); err != nil {
		return err
	}
	v.Problem = problem
	return p.t.Again(w, r, "import.html", problem, v)
}

// importFrom creates the repository, and has it copied. It returns the OWNER/NAME of a repository that it created, also
// with an error.
func (p *Pages) importFrom(r *http.Request, v *importView, password string) (fullName string, err error) {
	e := mirror.Edit{URL: v.URL, Username: v.Username, FollowHead: true, Once: !v.Keep}
	if password != "" {
		e.Password = web.Some(password)
	}
	if err := p.Mirrors.Check(e); err != nil { // before there is a repository
		return "", err
	}
	made, err := p.create(r, &v.newView)
	if err != nil {
		return "", err
	}
	owner, name, _ := strings.Cut(made, "/")
	a, err := p.kit.Repos.Find(r.Context(), account.CallerFrom(r.Context()), owner, name)
	if err != nil {
		return made, err
	}
	ctx, err := p.kit.Write(r, &a.Access, account.Admin)
	if err == nil { // even if the browser has gone: the repository is there
		_, _, err = p.Mirrors.Set(context.WithoutCancel(ctx), &a.Access, e)
	}
	return made, err
}
