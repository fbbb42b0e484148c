package inbox

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue/subscription"
	"arbor/internal/notification"
	"arbor/internal/page"
	"arbor/internal/star"
	"arbor/internal/web"
)

// POST /dashboard/notifications
//
// Act does with the threads that were chosen what the form's action says: read, done, unsubscribe or mute;
// with read-all it marks all notifications up to the rendering of the page. Errors: 404, 422.
func (p *Pages) Act(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	action, chosen := form.Get("action"), form.List("thread")
	if one := form.Text("one"); one != "" { // a button of one thread, regardless of the chosen ones
		action, chosen = one, form.List("of")
	}
	if len(chosen) > perPage {
		return errs.Newf(errs.Invalid, "at most %d threads at a time", perPage)
	}
	if action == "read-all" {
		err = p.readAll(r, form)
	} else {
		for _, id := range chosen {
			if err = p.act(r, action, id); err != nil {
				break
			}
		}
	}
	if err != nil {
		return err
	}
	return page.SeeOther(w, r, page.ReturnTo(form.Get("return_to"), "/dashboard/notifications"))
}

// readAll marks all threads, or those of a repository, as read. Errors: 403, 404, 422, 507.
func (p *Pages) readAll(r *http.Request, form page.Form) error {
	in, err := p.repoNamed(r, form.Text("repo"))
	if err != nil {
		return err
	}
	ctx, err := p.kit.WriteOwn(r, star.WatchScopes, true)
	if err == nil && in != nil {
		ctx, err = p.kit.WriteArchived(r, in, account.Pull)
	}
	if err != nil {
		return err
	}
	until, err := notification.ReadUntil(form.Text("until"))
	if err != nil {
		return err
	}
	if in != nil {
		return p.notices.MarkRepo(ctx, in, until)
	}
	return p.notices.MarkAll(ctx, account.CallerFrom(ctx), until)
}

// act does one thing with one thread. Errors: 403, 404, 422, 507.
func (p *Pages) act(r *http.Request, action, text string) error {
	open := p.kit.WriteOwn
	switch action {
	case "read", "mute":
	case "done", "unsubscribe":
		open = p.kit.DeleteOwn
	default:
		return errs.New(errs.Invalid, "the form does not say what to do")
	}
	ctx, err := open(r, star.WatchScopes, true)
	if err != nil {
		return err
	}
	id, ok := web.ParseNumber(text)
	if !ok {
		return errs.Absent()
	}
	caller, wish := account.CallerFrom(ctx), subscription.Unsubscribe
	switch action {
	case "read":
		return p.notices.MarkRead(ctx, caller, id)
	case "done":
		return p.notices.Finish(ctx, caller, id)
	case "mute":
		wish = subscription.Ignore
	}
	if _, err := p.notices.Subscribe(ctx, caller, id, wish); err != nil {
		return err
	}
	return p.act(r, "read", text)
}
