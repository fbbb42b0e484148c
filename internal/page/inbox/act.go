package inbox

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/page"
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

func (p *Pages) readAll(r *http.Request, form page.Form) error {
	body := map[string]any{"read": true}
	if until := form.Text("until"); until != "" {
		body["last_read_at"] = until
	}
	return p.kit.Change(r, http.MethodPut, listPath(form.Text("repo")), body, nil)
}

// act does one thing with one thread.
func (p *Pages) act(r *http.Request, action, id string) error {
	at := web.Path("notifications", "threads", id)
	switch action {
	case "read":
		return p.kit.Change(r, http.MethodPatch, at, nil, nil)
	case "done":
		return p.kit.Change(r, http.MethodDelete, at, nil, nil)
	case "unsubscribe":
		return p.quiet(r, at, http.MethodDelete, nil)
	case "mute":
		return p.quiet(r, at, http.MethodPut, map[string]bool{"ignored": true})
	}
	return errs.New(errs.Invalid, "the form does not say what to do")
}

// quiet changes the subscription to a thread's subject, and marks the thread as read.
func (p *Pages) quiet(r *http.Request, at, method string, body any) error {
	if err := p.kit.Change(r, method, at+"/subscription", body, nil); err != nil {
		return err
	}
	return p.kit.Change(r, http.MethodPatch, at, nil, nil)
}
