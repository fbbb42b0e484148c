package settings

import (
	"net/http"

	"arbor/internal/account/session"
	"arbor/internal/errs"
	"arbor/internal/page"
)

type passwordView struct {
	view
	Has bool // there is a password
}

// GET /settings/password
//
// Password shows the form for another password.
func (p *Pages) Password(w http.ResponseWriter, r *http.Request) error {
	v, err := p.password(r)
	return p.t.Show(w, r, "password.html", v, err)
}

func (p *Pages) password(r *http.Request) (*passwordView, error) {
	f, err := p.frame(r, "password", "Password")
	if err != nil {
		return nil, err
	}
	has, err := p.sessions.HasPassword(r.Context(), caller(r).Login)
	return &passwordView{f, has}, err
}

// POST /settings/password
//
// ChangePassword takes the current password, which ends all sessions, and begins one for this browser with
// the new one. Errors: the page again, with 422 and 429.
//
// Whoever has no password yet confirms in another way first.
func (p *Pages) ChangePassword(w http.ResponseWriter, r *http.Request) error {
	has, err := p.sessions.HasPassword(r.Context(), caller(r).Login)
	if err != nil {
		return err
	}
	if !has {
		return p.kit.Sudo(p.changePassword)(w, r)
	}
	return p.changePassword(w, r)
}

func (p *Pages) changePassword(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	by, next, value := caller(r), f.Get("new"), ""
	if next != f.Get("again") {
		err = errs.New(errs.Invalid, "The new password is not the same in both fields.")
	} else if err = session.CheckPassword(by.Login, next); err == nil {
		value, err = p.sessions.ChangePassword(r.Context(), by, f.Get("now"), next, page.Origin(r))
	}
	if err == nil && by.Session && value == "" {
		page.EndSession(w, r)
		return page.SeeOther(w, r, "/login")
	}
	if err == nil {
		if value != "" {
			browser, err := p.sessions.KnownBrowser(r.Context(), by.Login)
			if err != nil {
				return err
			}
			page.SetSession(w, r, value)
			page.SetBrowser(w, r, browser)
		}
		return page.Done(w, r, "/settings/password", "Your password was changed.")
	}
	return page.RefuseWith(p.t, w, r, "password.html", err, p.password, nil)
}
