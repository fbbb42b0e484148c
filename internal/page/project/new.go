package project

import (
	"net/http"
	"strings"

	"arbor/internal/page"
	"arbor/internal/web"
)

// newView is what new.html shows: the form as it was sent.
type newView struct {
	page.Frame
	Owners      []string
	Owner, Name string
	Description string
	Private     bool
	Readme      bool
	Ignore      string
	License     string
	Ignores     []string
	Licenses    []struct{ Key, Name string }
}

// GET /new
//
// New answers the form for a new repository. The query's owner, name and visibility fill it in.
func (p *Pages) New(w http.ResponseWriter, r *http.Request) error {
	q := web.QueryOf(r)
	v := &newView{Owner: q.Get("owner"), Name: q.Get("name"), Private: q.Get("visibility") == "private"}
	if err := p.fill(r, v); err != nil {
		return err
	}
	return p.t.Page(w, r, "new.html", v)
}

// fill reads what can be chosen.
func (p *Pages) fill(r *http.Request, v *newView) (err error) {
	if v.Frame, err = p.kit.Frame(r, "New repository"); err != nil {
		return err
	}
	if v.Owners, err = p.owners(r, v.Viewer); err != nil {
		return err
	}
	if _, err = p.kit.Get(r, "/gitignore/templates", nil, &v.Ignores); err != nil {
		return err
	}
	_, err = p.kit.Get(r, "/licenses", page.Query("per_page", "100"), &v.Licenses)
	return err
}

// POST /new
//
// Create creates a repository and redirects to it. What is wrong with the form is shown on it.
func (p *Pages) Create(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v := &newView{Owner: form.Text("owner"), Name: form.Text("name"), Description: form.Text("description"),
		Private: form.Get("visibility") == "private", Readme: form.Checked("readme"),
		Ignore:  form.Get("gitignore"),
		License: form.Get("license")}
	made, err := p.create(r, v)
	if err == nil {
		return page.SeeOther(w, r, pathOf(made))
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	if err := p.fill(r, v); err != nil {
		return err
	}
	v.Problem = problem
	return p.t.Again(w, r, "new.html", problem, v)
}

// create asks the API for the repository and returns its OWNER/NAME.
func (p *Pages) create(r *http.Request, v *newView) (fullName string, err error) {
	path := "/user/repos"
	if caller := page.ViewerOf(r); v.Owner != "" && !strings.EqualFold(v.Owner, caller.Login) {
		path = web.Path("orgs", v.Owner, "repos")
	}
	body := map[string]any{"name": v.Name, "description": v.Description, "private": v.Private,
		"auto_init": v.Readme}
	if v.Ignore != "" {
		body["gitignore_template"] = v.Ignore
	}
	if v.License != "" {
		body["license_template"] = v.License
	}
	var made struct {
		FullName string `json:"full_name"`
	}
	err = p.kit.Change(r, http.MethodPost, path, body, &made)
	return made.FullName, err
}
