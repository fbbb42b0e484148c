package settings

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

type emailsView struct {
	view
	List  []account.OwnEmail
	Typed string

	Mail   bool   // the server sends mail, so links verify addresses
	Verify string // the secret of a link that was opened; empty: none
	Opened string // the address that it verifies
}

// GET /settings/emails
//
// Emails lists the caller's addresses. With verify, the secret of a link in a mail, it asks whether to verify the address:
// programs open links, too. Error: 404 for a link that does not hold.
func (p *Pages) Emails(w http.ResponseWriter, r *http.Request) error {
	v, err := p.emails(r)
	if err != nil {
		return err
	}
	if v.Verify = web.QueryOf(r).Get("verify"); v.Verify != "" {
		v.Opened, err = p.accounts.AddressOfLink(r.Context(), caller(r), v.Verify)
		if errs.Is(err, errs.NotFound) {
			v.Verify, v.Problem = "", &page.Problem{Status: http.StatusNotFound,
				Message: "This link has expired, was used, or is for another account."}
			return p.t.Again(w, r, "emails.html", v.Problem, v)
		}
		if err != nil {
			return err
		}
		return p.t.Secret(w, r, "emails.html", v)
	}
	return p.t.Page(w, r, "emails.html", v)
}

func (p *Pages) emails(r *http.Request) (*emailsView, error) {
	v := &emailsView{Mail: p.mail.On()}
	var err error
	if v.view, err = p.frame(r, "emails", "E-mail addresses"); err != nil {
		return nil, err
	}
	v.List, err = p.accounts.OwnEmails(r.Context(), caller(r))
	return v, err
}

// POST /settings/emails
//
// ChangeEmails adds the address email, or as do says removes it, shows it in the profile or shows none there, sends the
// mail that verifies it again, or verifies the address of a link.
func (p *Pages) ChangeEmails(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	done, err := p.changeEmails(r, f)
	if err == nil {
		return page.Done(w, r, "/settings/emails", done)
	}
	return page.RefuseWith(p.t, w, r, "emails.html", err, p.emails, func(v *emailsView) {
		v.Typed = f.Get("email")
	})
}

// changeEmails does what the form says, and says what it did. Errors: those of [page.Kit.WriteOwn] and of package
// account.
func (p *Pages) changeEmails(r *http.Request, f page.Form) (done string, err error) {
	do, address, open := f.Get("do"), f.Text("email"), p.kit.WriteOwn
	if do == "remove" {
		open = p.kit.DeleteOwn
	}
	ctx, err := open(r, scope.User, false)
	if err != nil {
		return "", err
	}
	switch do {
	case "remove":
		err = p.accounts.RemoveOwnEmails(ctx, caller(r), []string{address})
		if errs.Is(err, errs.NotFound) {
			err = nil
		}
		return address + " was removed.", err
	case "send":
		return "A mail is on its way to " + address + ".", p.accounts.AskVerify(ctx, caller(r), address)
	case "verify":
		address, err = p.accounts.VerifyByLink(ctx, caller(r), f.Get("link"))
		return address + " was verified.", err
	case "show":
		_, err = p.accounts.EditSelf(ctx, caller(r), account.Edit{Email: web.Some(address)})
		return "Your profile shows " + address + ".", err
	case "hide":
		_, err = p.accounts.EditSelf(ctx, caller(r), account.Edit{Email: web.Some("")})
		return "Your profile shows no address.", err
	}
	if !account.PlausibleEmail(address) { // the operation takes a list, and names that
		return "", errs.Validation(errs.Field{Field: "email", Code: errs.Custom,
			Message: "This is not an e-mail address."})
	}
	return address + " was added.", p.accounts.AddOwnEmails(ctx, caller(r), []string{address})
}
