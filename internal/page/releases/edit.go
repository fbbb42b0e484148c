package releases

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// editView is what edit.html shows: the form of a release, with what was typed.
type editView struct {
	page.Frame
	Old      *release // nil: a new one
	Tag      string
	Target   string
	Name     string
	Text     string
	Pre      bool
	Latest   string // true, false or legacy; empty: as it is
	Branches []named
	Tags     []named
}

type named struct{ Name string }

// Action is where the form is sent to.
func (v *editView) Action() string {
	if v.Old != nil {
		return v.Old.EditPath()
	}
	return v.Repo.Path + "/releases/new"
}

// fill reads the form's surroundings and choices. Error: 403 for callers without push access.
func (p *Pages) fill(r *http.Request, a *repo.Access, v *editView) (err error) {
	title := "New release"
	if v.Old != nil {
		title = "Edit " + v.Old.Title()
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "releases", title); err != nil {
		return err
	}
	if v.Viewer == nil {
		return errs.New(errs.Unauthenticated, "Requires authentication")
	}
	if err := a.Require(account.Push); err != nil {
		return err
	}
	of := "/repos" + v.Repo.Path
	if _, err = p.kit.Get(r, of+"/branches", page.Query("per_page", "100"), &v.Branches); err != nil {
		return err
	}
	_, err = p.kit.Get(r, of+"/tags", page.Query("per_page", "100"), &v.Tags)
	return err
}

// GET /{owner}/{repo}/releases/new
//
// New answers the form for a new release; the query's tag and target fill it in. Error: 403.
func (p *Pages) New(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	q := web.QueryOf(r)
	v := &editView{Tag: q.Get("tag"), Target: q.Get("target"), Latest: "legacy"}
	if v.Target == "" {
		v.Target = a.DefaultBranch
	}
	if err := p.fill(r, a, v); err != nil {
		return err
	}
	return p.t.Page(w, r, "edit.html", v)
}

// POST /{owner}/{repo}/releases/new
//
// Create creates a release, a draft or a published one, as the form's action says; with generate it shows the
// form again with notes in it. What is wrong with the form is shown on it.
func (p *Pages) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.save(w, r, a, nil)
}

// GET /{owner}/{repo}/releases/edit/{tag...}
//
// Edit answers the form of a release. Errors: 403, 404.
func (p *Pages) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	old, err := p.find(r, a)
	if err != nil {
		return err
	}
	v := viewOf(old)
	if err := p.fill(r, a, v); err != nil {
		return err
	}
	v.Shown = page.Shown(v.body())
	return p.t.Page(w, r, "edit.html", v)
}

// POST /{owner}/{repo}/releases/edit/{tag...}
//
// Save changes a release, as Create makes one. Error: 404.
func (p *Pages) Save(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	old, err := p.find(r, a)
	if err != nil {
		return err
	}
	return p.save(w, r, a, old)
}

// save does with the form of a release, nil for a new one, what its action says.
func (p *Pages) save(w http.ResponseWriter, r *http.Request, a *repo.Access, old *release) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v := &editView{Old: old, Tag: form.Text("tag"), Target: form.Text("target"), Name: form.Text("name"),
		Text: form.Get("body"), Pre: form.Checked("prerelease"), Latest: form.Get("latest")}
	action := form.Get("action")
	if action == "generate" {
		err = p.generate(r, a, v)
	} else {
		var made release
		if err = p.send(r, a, form, v, action, &made); err == nil {
			return page.SeeOther(w, r, made.Path())
		}
	}
	if err == nil {
		if err := p.fill(r, a, v); err != nil {
			return err
		}
		v.Shown = form.Get("shown")
		return p.t.Page(w, r, "edit.html", v)
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	if err := p.fill(r, a, v); err != nil {
		return err
	}
	v.Problem, v.Shown = problem, form.Get("shown")
	return p.t.Again(w, r, "edit.html", problem, v)
}

// viewOf is the form that shows a release.
func viewOf(old *release) *editView {
	return &editView{Old: old, Tag: old.Tag, Target: old.Target, Name: old.Name, Text: old.Text, Pre: old.Pre}
}

// body is what the form says of a release's texts.
func (v *editView) body() map[string]any {
	return map[string]any{"tag_name": v.Tag, "target_commitish": v.Target, "name": v.Name, "body": v.Text,
		"prerelease": v.Pre}
}

// send asks the API to make or change the release.
func (p *Pages) send(
	r *http.Request, a *repo.Access, form page.Form, v *editView, action string, made *release,
) error {
	fields := form.Changed(v.body())
	if v.Old != nil {
		var err error
		if fields, err = form.Edit(v.body(), viewOf(v.Old).body()); err != nil {
			return err
		}
	}
	body := map[string]any{}
	for name, value := range fields {
		body[name] = value
	}
	if v.Target == "" {
		delete(body, "target_commitish")
	}
	if v.Latest != "" {
		body["make_latest"] = v.Latest
	}
	switch action {
	case "publish":
		body["draft"] = false
	case "draft":
		body["draft"] = true
	case "save":
	default:
		return errs.New(errs.Invalid, "the form does not say what to do")
	}
	method, path := http.MethodPost, web.Path("repos", a.Owner.Login, a.Name, "releases")
	if v.Old != nil {
		method, path = http.MethodPatch, releasePath(a, v.Old.ID)
	}
	return p.kit.Change(r, method, path, body, made)
}

// generate puts notes of what changed behind what was typed.
func (p *Pages) generate(r *http.Request, a *repo.Access, v *editView) error {
	body := map[string]any{"tag_name": v.Tag}
	if v.Target != "" {
		body["target_commitish"] = v.Target
	}
	var notes struct{ Name, Body string }
	path := web.Path("repos", a.Owner.Login, a.Name, "releases", "generate-notes")
	if err := p.kit.Change(r, http.MethodPost, path, body, &notes); err != nil {
		return err
	}
	if v.Name == "" {
		v.Name = notes.Name
	}
	if v.Text != "" {
		v.Text += "\n\n"
	}
	v.Text += notes.Body
	return nil
}

// POST /{owner}/{repo}/releases/{release_id}/delete
//
// Delete removes a release with its files, and leads to the list. The tag stays. Errors: 403, 404.
func (p *Pages) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	of := web.Path("repos", a.Owner.Login, a.Name, "releases")
	if err := p.kit.Change(r, http.MethodDelete, of+web.Path(web.Param(r, "release_id")), nil,
		nil); err != nil {
		return err
	}
	return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "releases"), "The release was deleted. Its tag stays.")
}
