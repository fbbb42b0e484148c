package talk

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// POST /{owner}/{repo}/issues/{number}/state
//
// SetState closes the issue or pull request, with the reason in state (completed, not_planned, closed), or
// reopens it (open).
func (p *Pages) SetState(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if err := p.setState(r, a, f.Get("state")); err != nil {
		return err
	}
	return back(w, r, a, f, "")
}

func (p *Pages) setState(r *http.Request, a *repo.Access, state string) error {
	change := map[string]any{"state": "closed"}
	switch state {
	case "open":
		change["state"] = "open"
	case "completed", "not_planned":
		change["state_reason"] = state
	}
	return p.kit.Change(r, http.MethodPatch, p.api(r, a), change, nil)
}

// reactions is the page that lets one react to a text.
type reactions struct {
	target
	Of, ID   string
	Contents []Count
}

// GET /{owner}/{repo}/issues/{number}/reactions
//
// React shows the ways to react to the issue, to its comment ?comment=ID, or to the review comment ?line=ID.
func (p *Pages) React(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	t, err := p.target(r, a, "React")
	if err != nil {
		return err
	}
	v := &reactions{target: t, Contents: Contents(page.Reactions{})}
	for _, v.Of = range []string{"comment", "line"} {
		if v.ID = web.QueryOf(r).Get(v.Of); v.ID != "" {
			break
		}
	}
	return p.t.Page(w, r, "reactions.html", v)
}

// POST /{owner}/{repo}/issues/{number}/reactions
//
// SetReaction adds the viewer's reaction to the issue, to its comment, or to the review comment line; one
// that is there it takes back.
func (p *Pages) SetReaction(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	path, anchor := p.api(r, a, "reactions"), ""
	if id := f.Get("comment"); id != "" && id != "0" {
		path, anchor = commentPath(a, id)+"/reactions", "issuecomment-"+id
	} else if id := f.Get("line"); id != "" {
		path, anchor = web.Path("repos", a.Owner.Login, a.Name, "pulls", "comments", id, "reactions"),
			"discussion_r"+id
	}
	body, err := json.Marshal(map[string]any{"content": f.Get("content")})
	if err != nil {
		return err
	}
	answer, err := p.kit.Send(r, inside.Request{Method: http.MethodPost, Path: path, Body: body})
	if err != nil {
		return err
	}
	if answer.Status == http.StatusOK { // the viewer's own was there
		var mine struct{ ID int64 }
		if err := json.Unmarshal(answer.Body.Bytes(), &mine); err != nil {
			return err
		}
		err := p.kit.Change(r, http.MethodDelete, path+"/"+strconv.FormatInt(mine.ID, 10), nil, nil)
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return back(w, r, a, f, anchor)
}

// GET /{owner}/{repo}/issues/{number}/lock
//
// Lock shows the form that locks the conversation. Errors: 404, 410.
func (p *Pages) Lock(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.form(w, r, a, "Lock conversation", "lock.html")
}

// form shows a form that needs nothing but the issue.
func (p *Pages) form(w http.ResponseWriter, r *http.Request, a *repo.Access, title, name string) error {
	t, err := p.target(r, a, title)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, name, &t)
}

// POST /{owner}/{repo}/issues/{number}/lock
//
// SetLock locks the conversation, with the reason that was chosen, or unlocks it.
func (p *Pages) SetLock(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if f.Checked("unlock") {
		err = p.kit.Change(r, http.MethodDelete, p.api(r, a, "lock"), nil, nil)
	} else {
		body := map[string]any{}
		if reason := f.Get("reason"); reason != "" {
			body["lock_reason"] = reason
		}
		err = p.kit.Change(r, http.MethodPut, p.api(r, a, "lock"), body, nil)
	}
	if err != nil {
		return err
	}
	return back(w, r, a, f, "")
}

// POST /{owner}/{repo}/issues/{number}/subscription
//
// Subscribe lets the viewer hear of the issue or pull request, or no longer.
func (p *Pages) Subscribe(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	body := map[string]any{"subscribed": !f.Checked("off")}
	if err := p.kit.Change(r, http.MethodPut, p.api(r, a, "subscription"), body, nil); err != nil {
		return err
	}
	return back(w, r, a, f, "")
}

// special asks for a change that REST has no address for.
func (p *Pages) special(r *http.Request, a *repo.Access, h web.Handler, body map[string]any, into any) error {
	return p.kit.Do(r, inside.Request{Method: http.MethodPatch, Path: p.api(r, a), Handler: h}, body, into)
}

// POST /{owner}/{repo}/issues/{number}/pin
//
// Pin pins the issue to the list of issues, or takes that back.
func (p *Pages) Pin(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if err := p.special(r, a, p.with.Pin, map[string]any{"pinned": !f.Checked("off")}, nil); err != nil {
		return err
	}
	return back(w, r, a, f, "")
}

// GET /{owner}/{repo}/issues/{number}/transfer
//
// Transfer shows the form that moves the issue to another repository. Errors: 404, 410.
func (p *Pages) Transfer(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &transfer{Labels: true}
	var err error
	if v.target, err = p.target(r, a, "Transfer issue"); err != nil {
		return err
	}
	return p.t.Page(w, r, "transfer.html", v)
}

type transfer struct {
	target
	To     string // OWNER/NAME
	Labels bool   // make those that are not there
}

// POST /{owner}/{repo}/issues/{number}/transfer
//
// Move moves the issue to another repository, and leads to it there.
func (p *Pages) Move(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v := &transfer{To: f.Text("to"), Labels: f.Checked("labels")}
	owner, name := split(v.To, a.Owner.Login)
	var moved page.Issue
	err = p.special(r, a, p.with.Transfer, map[string]any{"owner": owner, "name": name,
		"create_labels": v.Labels}, &moved)
	if errs.Is(err, errs.NotFound) {
		err = errs.New(errs.Invalid, "No repository of that name that you can write to was found.")
	}
	if err == nil {
		return page.SeeOther(w, r, moved.Path())
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	if v.target, err = p.target(r, a, "Transfer issue"); err != nil {
		return err
	}
	v.Problem = problem
	return p.t.Again(w, r, "transfer.html", problem, v)
}

// split parts OWNER/NAME; a name alone is one of the given owner's.
func split(full, owner string) (string, string) {
	if u, err := url.Parse(full); err == nil && u.Host != "" {
		full = u.Path
	}
	for len(full) > 0 && full[0] == '/' {
		full = full[1:]
	}
	for n := range full {
		if full[n] == '/' {
			return full[:n], full[n+1:]
		}
	}
	return owner, full
}

// GET /{owner}/{repo}/issues/{number}/delete
//
// Delete asks whether the issue is to be deleted. Errors: 404, 410.
func (p *Pages) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.form(w, r, a, "Delete issue", "delete.html")
}

// POST /{owner}/{repo}/issues/{number}/delete
//
// Remove deletes the issue, and leads to the list of issues.
func (p *Pages) Remove(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if _, err := page.ReadForm(r); err != nil {
		return err
	}
	if err := p.special(r, a, p.with.Delete, map[string]any{}, nil); err != nil {
		return err
	}
	return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "issues"),
		"Issue #"+web.Param(r, "number")+" was deleted.")
}
