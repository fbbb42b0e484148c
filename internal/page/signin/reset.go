package signin

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

// resetView is what reset.html shows: a field for who forgot a password, then that a mail is on its way; or, opened by
// the link in the mail, the fields for another password.
type resetView struct {
	page.Frame
	Who   string
	Asked bool   // a mail is on its way, if there is such an account
	Login string // of the link; empty: opened without one
	Link  string // its secret
}

// GET /password_reset
//
// ResetForm answers the page where people ask for a link to set their password, or with link, the secret of one, set it.
// It changes nothing: programs open links, too. Error: 404 if the server sends no mail; the page again, with 404 for a
// link that does not hold.
func (p *Pages) ResetForm(w http.ResponseWriter, r *http.Request) error {
	v, err := p.resetView(r, web.QueryOf(r).Get("link"))
	if err != nil {
		return err
	}
	if v.Problem != nil {
		return p.t.Again(w, r, "reset.html", v.Problem, v)
	}
	return p.t.Secret(w, r, "reset.html", v)
}

// resetView finds whose password a link sets. If it does not hold, the view has a problem, and asks for another link.
func (p *Pages) resetView(r *http.Request, link string) (*resetView, error) {
	if !p.of.Mail.On() {
		return nil, errs.Absent()
	}
	frame, err := p.kit.Frame(r, "Set a new password")
	v := &resetView{Frame: frame, Link: link}
	if err != nil || link == "" {
		return v, err
	}
	a, err := p.sessions.ResetOf(r.Context(), link)
	if errs.Is(err, errs.NotFound) {
		v.Problem = &page.Problem{Status: http.StatusNotFound,
			Message: "This link has expired or was used. Ask for another one."}
		return v, nil
	}
	if err == nil {
		v.Login = a.Login
	}
	return v, err
}

// POST /password_reset
//
// Reset sends a link to an address or a login who, if somebody has it, and says the same if nobody does. With link it sets
// the password, and leads to the page to sign in. Errors: 404; the page again, with 404, 422 and 429.
func (p *Pages) Reset(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.resetView(r, f.Get("link"))
	if err != nil {
		return err
	}
	switch v.Who = f.Text("who"); {
	case v.Problem != nil:
		return p.t.Again(w, r, "reset.html", v.Problem, v)
	case v.Link == "":
		err = p.sessions.AskReset(r.Context(), v.Who, page.Origin(r))
		v.Asked = err == nil
	case f.Get("new") != f.Get("again"):
		err = errs.New(errs.Invalid, "The new password is not the same in both fields.")
	default:
		_, err = p.sessions.Reset(r.Context(), v.Link, f.Get("new"), page.Origin(r))
	}
	switch {
	case err == nil && v.Asked:
		return p.t.Page(w, r, "reset.html", v)
	case err == nil:
		return page.Done(w, r, "/login", "Your password was set. Sign in with it.")
	}
	return p.t.Refuse(w, r, "reset.html", err, v)
}
