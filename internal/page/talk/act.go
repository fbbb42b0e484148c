package talk

import (
	"context"
	"net/http"
	"net/url"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issue/subscription"
	"arbor/internal/page"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/star"
	"arbor/internal/web"
)

// POST /{owner}/{repo}/issues/{number}/state
//
// SetState closes the issue or pull request, with the reason in state (completed, not_planned, closed), or
// reopens it (open).
func (p *Pages) SetState(ctx context.Context, a *repo.Access, i *issue.Issue, f page.Form) error {
	_, err := p.Issues.Update(ctx, a, i, stateEdit(f.Get("state")))
	return err
}

// stateEdit is what a button for a state asks for.
func stateEdit(state string) issue.Edit {
	e := issue.Edit{State: web.Some("closed")}
	switch state {
	case "open":
		e.State.Value = "open"
	case "completed", "not_planned":
		e.Reason = web.Some(state)
	}
	return e
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
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return err
	}
	subject, anchor, err := p.subject(r, a, f)
	if err != nil {
		return err
	}
	if err := reaction.Toggle(ctx, p.DB, a, subject, f.Get("content")); err != nil {
		return err
	}
	return back(w, r, a, f, anchor)
}

// subject finds what a form reacts to, and its anchor in the page. Errors: 404, 410.
func (p *Pages) subject(r *http.Request, a *repo.Access, f page.Form) (reaction.Subject, string, error) {
	field, anchor, find := "comment", "issuecomment-", p.Comments.Subject
	if f.Get("comment") == "" && f.Get("line") != "" {
		field, anchor, find = "line", "discussion_r", p.Reviews.Subject
	}
	id := f.Get(field)
	if id == "" || id == "0" {
		number, err := web.Number(r, "number")
		if err != nil {
			return reaction.Subject{}, "", err
		}
		s, err := p.Issues.Subject(r.Context(), a, number)
		return s, "", err
	}
	number, ok := web.ParseNumber(id)
	if !ok {
		return reaction.Subject{}, "", errs.Absent()
	}
	s, err := find(r.Context(), a, number)
	return s, anchor + id, err
}

// GET /{owner}/{repo}/issues/{number}/lock
//
// Lock shows the form that locks the conversation. Errors: 404, 410.
func (p *Pages) Lock(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.form(w, r, a, "Lock conversation", "lock.html")
}

// form shows a form that needs only the issue.
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
func (p *Pages) SetLock(ctx context.Context, a *repo.Access, i *issue.Issue, f page.Form) error {
	return p.Issues.SetLock(ctx, a, i.Number, !f.Checked("unlock"), web.OrNil(f.Get("reason")))
}

// POST /{owner}/{repo}/issues/{number}/subscription
//
// Subscribe subscribes the viewer to the issue or pull request, or unsubscribes.
func (p *Pages) Subscribe(ctx context.Context, a *repo.Access, i *issue.Issue, f page.Form) error {
	if err := a.Caller.Allows(star.WatchScopes, false); err != nil {
		return err
	}
	wish := subscription.Subscribe
	if f.Checked("off") {
		wish = subscription.Unsubscribe
	}
	_, err := p.Subscriptions.Subscribe(ctx, a, i.Number, wish)
	return err
}

// POST /{owner}/{repo}/issues/{number}/pin
//
// Pin pins the issue to the list of issues, or takes that back.
func (p *Pages) Pin(ctx context.Context, a *repo.Access, i *issue.Issue, f page.Form) error {
	pin := p.Issues.Pin
	if f.Checked("off") {
		pin = p.Issues.Unpin
	}
	_, err := pin(ctx, a, i.Number)
	return err
}

// GET /{owner}/{repo}/issues/{number}/transfer
//
// Transfer shows the form that moves the issue to another repository. Errors: 404, 410.
func (p *Pages) Transfer(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &transfer{Labels: true}
	var err error
	v.target, err = p.target(r, a, "Transfer issue")
	return p.t.Show(w, r, "transfer.html", v, err)
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
	to, err := p.move(r, a, v)
	if err == nil {
		return page.SeeOther(w, r, to)
	}
	return page.RefuseWith(p.t, w, r, "transfer.html", err, func(r *http.Request) (_ *transfer, err error) {
		v.target, err = p.target(r, a, "Transfer issue")
		return v, err
	}, nil)
}

// move moves the issue to the repository that the form names, and returns its address there.
func (p *Pages) move(r *http.Request, a *repo.Access, v *transfer) (string, error) {
	number, err := web.Number(r, "number")
	if err != nil {
		return "", err
	}
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return "", err
	}
	owner, name := split(v.To, a.Owner.Login)
	f := web.Faults{Resource: issue.Resource}
	f.CheckFilled("owner", owner)
	f.CheckFilled("name", name)
	if err := f.Err(); err != nil {
		return "", err
	}
	to, err := p.kit.Repos.Find(ctx, a.Caller, owner, name)
	if err == nil {
		var moved *issue.Issue
		moved, err = p.Issues.Transfer(ctx, a, number, issue.Transfer{To: &to.Access, CreateLabels: v.Labels})
		if err == nil {
			return page.IssuePath(moved, to.Owner.Login, to.Name), nil
		}
	}
	if errs.Is(err, errs.NotFound) {
		err = errs.New(errs.Invalid, "No repository of that name that you can write to was found.")
	}
	return "", err
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
	number, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	ctx, err := p.kit.Delete(r, a, account.Admin)
	if err != nil {
		return err
	}
	if err := p.Issues.Delete(ctx, a, number); err != nil {
		return err
	}
	return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "issues"),
		"Issue #"+web.Param(r, "number")+" was deleted.")
}
