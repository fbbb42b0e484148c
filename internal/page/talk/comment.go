package talk

import (
	"net/http"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// again is a form with a text that was not taken, or that is edited.
type again struct {
	target
	To    string // where the form is sent
	Text  string
	Name  string // of an issue's title; empty: the form has none
	Guard string // names the text as it was when the form was made
	Now   string // the text as somebody else wrote it meanwhile
	Verb  string // on the button
	Label string
	Plain bool // for the script, which puts the form in place of the text
}

// POST /{owner}/{repo}/issues/{number}/comments
//
// Comment adds a comment, and closes or reopens the issue where the button says so.
func (p *Pages) Comment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	anchor, text, state := "", f.Get("body"), f.Get("state")
	if f.Text("body") != "" || state == "" {
		var made page.Comment
		err := p.kit.Change(r, http.MethodPost, p.api(r, a, "comments"), map[string]any{"body": text}, &made)
		if err != nil {
			return p.retry(w, r, a, err, again{To: act(a, r) + "/comments", Text: text, Verb: "Comment", Label: "Your comment"}, f)
		}
		anchor = "issuecomment-" + strconv.FormatInt(made.ID, 10)
	}
	if state != "" {
		if err := p.setState(r, a, state); err != nil {
			return err
		}
	}
	return back(w, r, a, f, anchor)
}

// retry shows a form again with what was wrong with it, and what was written.
func (p *Pages) retry(w http.ResponseWriter, r *http.Request, a *repo.Access, err error, v again, f page.Form) error {
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	if v.target, err = p.target(r, a, v.Verb); err != nil {
		return err
	}
	v.Return, v.Problem = page.ReturnTo(f.Get("return_to"), v.Return), problem
	return p.t.Again(w, r, "edit.html", problem, &v)
}

// GET /{owner}/{repo}/issues/{number}/comments/{id}
//
// EditComment shows the form that edits a comment. Error: 404.
func (p *Pages) EditComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := p.comment(r, a)
	if err != nil {
		return err
	}
	v := again{To: act(a, r) + "/comments" + web.Path(web.Param(r, "id")), Text: c.Text, Guard: guardOf(c.Text), Verb: "Update comment", Label: "Comment"}
	if v.target, err = p.target(r, a, "Edit comment"); err != nil {
		return err
	}
	return p.t.Page(w, r, "edit.html", &v)
}

// comment reads the comment that the address names. Error: 404.
func (p *Pages) comment(r *http.Request, a *repo.Access) (*page.Comment, error) {
	c := &page.Comment{}
	_, err := p.kit.Get(r, commentPath(a, web.Param(r, "id")), nil, c)
	return c, err
}

// commentPath is the address of a comment in the API.
func commentPath(a *repo.Access, id string) string {
	return web.Path("repos", a.Owner.Login, a.Name, "issues", "comments", id)
}

// POST /{owner}/{repo}/issues/{number}/comments/{id}
//
// SaveComment changes a comment. What somebody else wrote meanwhile is shown beside, and nothing is lost.
func (p *Pages) SaveComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	id := web.Param(r, "id")
	v := again{To: act(a, r) + "/comments" + web.Path(id), Text: f.Get("body"), Verb: "Update comment", Label: "Comment"}
	c, err := p.comment(r, a)
	if err != nil {
		return err
	}
	if changed(f, c.Text) {
		v.Guard, v.Now = guardOf(c.Text), c.Text
		return p.retry(w, r, a, conflict(), v, f)
	}
	if err := p.kit.Change(r, http.MethodPatch, commentPath(a, id), map[string]any{"body": v.Text}, nil); err != nil {
		v.Guard = f.Get("guard")
		return p.retry(w, r, a, err, v, f)
	}
	return back(w, r, a, f, "issuecomment-"+id)
}

// changed reports that a text is another than the one for which a form was made.
func changed(f page.Form, now string) bool {
	guard := f.Get("guard")
	return guard != "" && guard != guardOf(now) && f.Get("body") != now
}

func conflict() error {
	return errs.New(errs.Conflict, "Somebody changed this text while you edited it. Their version is below yours; saving replaces it.")
}

// POST /{owner}/{repo}/issues/{number}/comments/{id}/delete
//
// DeleteComment deletes a comment.
func (p *Pages) DeleteComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if err := p.kit.Change(r, http.MethodDelete, commentPath(a, web.Param(r, "id")), nil, nil); err != nil {
		return err
	}
	return back(w, r, a, f, "")
}

// GET /{owner}/{repo}/issues/{number}/edit
//
// Edit shows the form that edits the title and the text of an issue or pull request. Errors: 404, 410.
func (p *Pages) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	t, err := p.target(r, a, "Edit")
	if err != nil {
		return err
	}
	v := again{target: t, To: t.Act + "/edit", Text: t.Issue.Text, Name: t.Issue.Title, Guard: guardOf(t.Issue.Text), Verb: "Save", Label: "Description"}
	return p.t.Page(w, r, "edit.html", &v)
}

// POST /{owner}/{repo}/issues/{number}/edit
//
// Save changes the title, the text, or both, as the form has them.
func (p *Pages) Save(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	i, err := issueOf(p.kit, r, a, web.Param(r, "number"))
	if err != nil {
		return err
	}
	v := again{To: act(a, r) + "/edit", Text: f.Get("body"), Name: f.Get("title"), Verb: "Save", Label: "Description"}
	change := map[string]any{}
	if f.Has("title") {
		change["title"] = f.Text("title")
	}
	if f.Has("body") {
		change["body"] = v.Text
		if changed(f, i.Text) {
			v.Guard, v.Now = guardOf(i.Text), i.Text
			return p.retry(w, r, a, conflict(), v, f)
		}
	}
	if err := p.kit.Change(r, http.MethodPatch, p.api(r, a), change, nil); err != nil {
		v.Guard = f.Get("guard")
		return p.retry(w, r, a, err, v, f)
	}
	return back(w, r, a, f, "")
}

// POST /{owner}/{repo}/issues/{number}/tasks
//
// Tick changes one task of a text from done to not, or back. Error: 409 when the text changed since it was shown.
func (p *Pages) Tick(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	path, anchor := p.api(r, a), ""
	var said struct {
		ID   int64
		Body string
	}
	if id := f.Get("comment"); id != "" && id != "0" {
		path, anchor = commentPath(a, id), "issuecomment-"+id
	}
	if _, err := p.kit.Get(r, path, nil, &said); err != nil {
		return err
	}
	if f.Get("guard") != guardOf(said.Body) {
		return errs.New(errs.Conflict, "Somebody changed this text meanwhile. Go back and reload the page to see it as it is now.")
	}
	number, err := strconv.Atoi(f.Get("task"))
	if err != nil {
		number = -1
	}
	text, err := ticked(said.Body, number)
	if err != nil {
		return err
	}
	if err := p.kit.Change(r, http.MethodPatch, path, map[string]any{"body": text}, nil); err != nil {
		return err
	}
	if anchor == "" {
		anchor = "issue-" + strconv.FormatInt(said.ID, 10)
	}
	return back(w, r, a, f, anchor)
}
