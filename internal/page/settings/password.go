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
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "password.html", v)
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
func (p *Pages) ChangePassword(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	by, next := caller(r), f.Get("new")
	if next != f.Get("again") {
		err = errs.New(errs.Invalid, "The new password is not the same in both fields.")
	} else if err = session.CheckPassword(by.Login, next); err == nil {
		err = p.sessions.ChangePassword(r.Context(), by, f.Get("now"), next, page.Origin(r))
	}
	if err == nil {
		if by.Session {
			from := page.Origin(r)
			if from.Browser, err = p.sessions.KnownBrowser(r.Context(), by.Login); err != nil {
				return err
			}
			value, err := p.sessions.SignIn(r.Context(), by.Login, next, from)
			if err != nil {
				return err
			}
			page.SetSession(w, r, value)
			page.SetBrowser(w, r, from.Browser)
		}
		return page.Done(w, r, "/settings/password", "Your password was changed.")
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.password(r)
	if err != nil {
		return err
	}
	v.Problem = problem
	return p.t.Again(w, r, "password.html", problem, v)
}
