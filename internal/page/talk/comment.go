package talk

import (
	"cmp"
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
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
	Now   string // the current text, changed by another user
	Named string // the current title, changed by another user
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
		made, err := p.addComment(r, a, text)
		if err != nil {
			return p.retry(w, r, a, err, again{To: act(a, r) + "/comments", Text: text, Verb: "Comment",
				Label: "Your comment", Only: "body"}, f)
		}
		anchor = "issuecomment-" + strconv.FormatInt(made.ID, 10)
	}
	if state != "" {
		if err := p.update(r, a, stateEdit(state)); err != nil {
			return err
		}
	}
	return back(w, r, a, f, anchor)
}

func (p *Pages) addComment(r *http.Request, a *repo.Access, body string) (*comment.Comment, error) {
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return nil, err
	}
	i, err := p.issue(r, a)
	if err != nil {
		return nil, err
	}
	text, err := comment.NewText(body)
	if err != nil {
		return nil, err
	}
	return p.Comments.Create(ctx, a, i.Number, text)
}

// retry shows a form again with what was wrong with it, and what was written.
func (p *Pages) retry(
	w http.ResponseWriter, r *http.Request, a *repo.Access, err error, v again, f page.Form,
) error {
	return page.RefuseWith(p.t, w, r, "edit.html", err, func(r *http.Request) (_ *again, err error) {
		v.target, err = p.target(r, a, v.Verb)
		return &v, err
	}, func(v *again) { v.Return = page.ReturnTo(f.Get("return_to"), v.Return) })
}

// GET /{owner}/{repo}/issues/{number}/comments/{id}
//
// EditComment shows the form that edits a comment. Error: 404.
func (p *Pages) EditComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := p.comment(r, a)
	if err != nil {
		return err
	}
	v := again{To: act(a, r) + "/comments" + web.Path(web.Param(r, "id")), Text: c.Body,
		Guard: guardOf(c.Body),
		Verb:  "Update comment", Label: "Comment", Only: "body"}
	if v.target, err = p.target(r, a, "Edit comment"); err != nil {
		return err
	}
	return p.t.Page(w, r, "edit.html", &v)
}

// comment reads the comment that the address names. Error: 404.
func (p *Pages) comment(r *http.Request, a *repo.Access) (*comment.Comment, error) {
	id, err := web.Number(r, "id")
	if err != nil {
		return nil, err
	}
	return p.Comments.ByID(r.Context(), a, id)
}

// POST /{owner}/{repo}/issues/{number}/comments/{id}
//
// SaveComment changes a comment. If another user has changed it, the page shows both texts, so that nothing
// is lost.
func (p *Pages) SaveComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	id := web.Param(r, "id")
	v := again{To: act(a, r) + "/comments" + web.Path(id), Text: f.Get("body"), Verb: "Update comment",
		Label: "Comment", Only: "body"}
	c, err := p.comment(r, a)
	if err != nil {
		return err
	}
	if err := p.editComment(r, a, c, v.Text, guardIn(f, "guard")); err != nil {
		now, readErr := p.comment(r, a)
		if readErr != nil {
			return readErr
		}
		return p.retry(w, r, a, v.overtaken(err, f, now.Body, ""), v, f)
	}
	return back(w, r, a, f, "issuecomment-"+id)
}

// guardIn is a guard as a form has it; a form without one was made for a text that nobody has.
func guardIn(f page.Form, name string) string { return cmp.Or(f.Get(name), "none") }

// editComment replaces the text of a comment, if before is what issue.Guard gives of it.
func (p *Pages) editComment(r *http.Request, a *repo.Access, c *comment.Comment, body, before string) error {
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return err
	}
	text, err := comment.NewText(body)
	if err != nil {
		return err
	}
	text.Before = before
	_, err = p.Comments.Edit(ctx, a, c, text)
	return err
}

// update changes the issue that the request's address numbers.
func (p *Pages) update(r *http.Request, a *repo.Access, e issue.Edit) error {
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return err
	}
	i, err := p.issue(r, a)
	if err != nil {
		return err
	}
	_, err = p.Issues.Update(ctx, a, i, e)
	return err
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
	ctx, err := p.kit.Delete(r, a, account.Pull)
	if err != nil {
		return err
	}
	c, err := p.comment(r, a)
	if err != nil {
		return err
	}
	if err := p.Comments.Delete(ctx, a, c); err != nil {
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
	var e issue.Edit
	if f.Has("title") {
		e.Title, e.TitleBefore = web.Some(f.Text("title")), guardIn(f, "was")
	} else {
		v.Only = "body"
	}
	if f.Has("body") {
		e.Body, e.BodyBefore = web.Some(v.Text), guardIn(f, "guard")
	} else {
		v.Only = "title"
	}
	if err := p.update(r, a, e); err != nil {
		i, readErr := p.issue(r, a)
		if readErr != nil {
			return readErr
		}
		return p.retry(w, r, a, v.overtaken(err, f, page.TextOf(i.Body), i.Title), v, f)
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
	var c *comment.Comment
	var i *issue.Issue
	if id := f.Get("comment"); id != "" && id != "0" {
		web.From(r.Context()).SetParam("id", id)
		c, err = p.comment(r, a)
	} else {
		i, err = p.issue(r, a)
	}
	if err != nil {
		return err
	}
	var text, anchor string
	if c != nil {
		text, anchor = c.Body, "issuecomment-"+f.Get("comment")
	} else {
		text, anchor = page.TextOf(i.Body), "issue-"+strconv.FormatInt(int64(i.ID), 10)
	}
	if f.Get("guard") != guardOf(text) {
		return errs.New(errs.Conflict,
			"The text has changed. Go back and reload the page to see the current version.")
	}
	number, err := strconv.Atoi(f.Get("task"))
	if err != nil {
		number = -1
	}
	if text, err = ticked(text, number); err != nil {
		return err
	}
	if c != nil {
		err = p.editComment(r, a, c, text, f.Get("guard"))
	} else {
		err = p.update(r, a, issue.Edit{Body: web.Some(text), BodyBefore: f.Get("guard")})
	}
	if err != nil {
		return err
	}
	return back(w, r, a, f, anchor)
}
