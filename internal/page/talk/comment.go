package talk

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// again is a form with a text that was not taken, or that is edited.
type again struct {
	target
	To    string // where the form is sent
	Text  string
	Name  string // an issue's title
	Only  string // title: the form has no text; body: no title; empty: both
	Guard string // names the text as it was when the form was made
	Was   string // names the title as it was when the form was made
	Now   string // the text as somebody else wrote it meanwhile
	Named string // the title as somebody else wrote it meanwhile
	Verb  string // on the button
	Label string
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
			return p.retry(w, r, a, err, again{To: act(a, r) + "/comments", Text: text, Verb: "Comment",
				Label: "Your comment", Only: "body"}, f)
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
func (p *Pages) retry(
	w http.ResponseWriter, r *http.Request, a *repo.Access, err error, v again, f page.Form,
) error {
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
	v := again{To: act(a, r) + "/comments" + web.Path(web.Param(r, "id")), Text: c.Text,
		Guard: guardOf(c.Text),
		Verb:  "Update comment", Label: "Comment", Only: "body"}
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
	v := again{To: act(a, r) + "/comments" + web.Path(id), Text: f.Get("body"), Verb: "Update comment",
		Label: "Comment", Only: "body"}
	err = p.replace(r, commentPath(a, id), page.Query("before", guardIn(f, "guard")),
		map[string]any{"body": v.Text}, p.with.EditComment)
	if err != nil {
		c, readErr := p.comment(r, a)
		if readErr != nil {
			return readErr
		}
		return p.retry(w, r, a, v.overtaken(err, f, c.Text, ""), v, f)
	}
	return back(w, r, a, f, "issuecomment-"+id)
}

// guardIn is a guard as a form has it; a form without one was made for a text that nobody has.
func guardIn(f page.Form, name string) string { return cmp.Or(f.Get(name), "none") }

// replace changes a text or a title, if it is still the one that the guards name.
func (p *Pages) replace(
	r *http.Request, path string, guards url.Values, change map[string]any, h web.Handler,
) error {
	return p.kit.Do(r, inside.Request{Method: http.MethodPatch, Path: path, Handler: h, Query: guards},
		change, nil)
}

// overtaken shows, where somebody else was faster, what that one wrote. Other errors are returned as they
// are.
func (v *again) overtaken(err error, f page.Form, text, title string) error {
	v.Guard, v.Was = f.Get("guard"), f.Get("was")
	newText, newTitle := v.Only != "title" && v.Guard != guardOf(text), v.Only != "body" &&
		v.Was != guardOf(title)
	if !errs.Is(err, errs.Conflict) || !newText && !newTitle {
		return err
	}
	v.Guard, v.Was = guardOf(text), guardOf(title)
	if newText && text != v.Text {
		v.Now = text
	}
	if newTitle && title != v.Name {
		v.Named = title
	}
	return errs.New(errs.Conflict,
		"Somebody changed this text while you edited it. Their version is below yours; saving replaces it.")
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
// Edit shows the form that edits the title and the text of an issue or pull request, or with ?only=title or
// ?only=body one of them. Errors: 404, 410.
func (p *Pages) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	t, err := p.target(r, a, "Edit")
	if err != nil {
		return err
	}
	v := again{target: t, To: t.Act + "/edit", Text: t.Issue.Text, Name: t.Issue.Title,
		Guard: guardOf(t.Issue.Text), Was: guardOf(t.Issue.Title),
		Only: web.QueryOf(r).Get("only"), Verb: "Save", Label: "Description"}
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
	v := again{To: act(a, r) + "/edit", Text: f.Get("body"), Name: f.Get("title"), Verb: "Save",
		Label: "Description"}
	change, guards := map[string]any{}, url.Values{}
	if f.Has("title") {
		change["title"] = f.Text("title")
		guards.Set("title", guardIn(f, "was"))
	} else {
		v.Only = "body"
	}
	if f.Has("body") {
		change["body"] = v.Text
		guards.Set("before", guardIn(f, "guard"))
	} else {
		v.Only = "title"
	}
	if err := p.replace(r, p.api(r, a), guards, change, p.with.Edit); err != nil {
		i, readErr := issueOf(p.kit, r, a, web.Param(r, "number"))
		if readErr != nil {
			return readErr
		}
		return p.retry(w, r, a, v.overtaken(err, f, i.Text, i.Title), v, f)
	}
	return back(w, r, a, f, "")
}

// POST /{owner}/{repo}/issues/{number}/tasks
//
// Tick changes one task of a text from done to not, or back. Error: 409 when the text changed since it was
// shown.
func (p *Pages) Tick(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	path, anchor, edit := p.api(r, a), "", p.with.Edit
	var said struct {
		ID   int64
		Body string
	}
	if id := f.Get("comment"); id != "" && id != "0" {
		path, anchor, edit = commentPath(a, id), "issuecomment-"+id, p.with.EditComment
	}
	if _, err := p.kit.Get(r, path, nil, &said); err != nil {
		return err
	}
	if f.Get("guard") != guardOf(said.Body) {
		return errs.New(errs.Conflict,
			"The text has changed. Go back and reload the page to see the current version.")
	}
	number, err := strconv.Atoi(f.Get("task"))
	if err != nil {
		number = -1
	}
	text, err := ticked(said.Body, number)
	if err != nil {
		return err
	}
	if err := p.replace(r, path, page.Query("before", f.Get("guard")), map[string]any{"body": text},
		edit); err != nil {
		return err
	}
	if anchor == "" {
		anchor = "issue-" + strconv.FormatInt(said.ID, 10)
	}
	return back(w, r, a, f, anchor)
}
