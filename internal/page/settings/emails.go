package settings

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/page"
)

// email is an address that somebody claims.
type email struct {
	Email    string
	Primary  bool // it is shown in the profile
	Verified bool
}

type emailsView struct {
	view
	List  []email
	Typed string
}

// GET /settings/emails
//
// Emails lists the caller's addresses.
func (p *Pages) Emails(w http.ResponseWriter, r *http.Request) error {
	v, err := p.emails(r)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "emails.html", v)
}

func (p *Pages) emails(r *http.Request) (*emailsView, error) {
	v := &emailsView{}
	var err error
	if v.view, err = p.frame(r, "emails", "E-mail addresses"); err != nil {
		return nil, err
	}
	_, err = p.kit.Get(r, "/user/emails", page.Query("per_page", "100"), &v.List)
	return v, err
}

// POST /settings/emails
//
// ChangeEmails adds the address email, or as do says removes it, shows it in the profile or shows none there.
func (p *Pages) ChangeEmails(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	address := f.Text("email")
	list := map[string][]string{"emails": {address}}
	done := address + " was added."
	switch f.Get("do") {
	case "remove":
		done = address + " was removed."
		err = p.kit.Change(r, "DELETE", "/user/emails", list, nil)
		if errs.Is(err, errs.NotFound) {
			err = nil
		}
	case "show":
		done = "Your profile shows " + address + "."
		err = p.kit.Change(r, "PATCH", "/user", map[string]string{"email": address}, nil)
	case "hide":
		done = "Your profile shows no address."
		err = p.kit.Change(r, "PATCH", "/user", map[string]any{"email": nil}, nil)
	default:
		err = p.kit.Change(r, "POST", "/user/emails", list, nil)
	}
	if err == nil {
		return page.Done(w, r, "/settings/emails", done)
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.emails(r)
	if err != nil {
		return err
	}
	v.Problem, v.Typed = problem, f.Get("email")
	return p.t.Again(w, r, "emails.html", problem, v)
}
