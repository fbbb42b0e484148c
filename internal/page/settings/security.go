package settings

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/account"
	"arbor/internal/account/factor"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

// securityView is what security.html shows: the factors of the caller, a new app that is being set up, or new
// recovery codes.
type securityView struct {
	view
	Has      factor.State
	Passkeys []factor.Passkey
	Can      bool                 // passkeys work at this address of the site
	Barred   bool                 // the session was begun with a token, which changes no factors
	Linked   bool                 // there are identity providers
	Rules    []account.FactorRule // that ask for a factor of the caller

	Key    string       // of an app that is being set up; empty: none
	QRCode template.URL // the picture of it

	Codes []string // new recovery codes, shown once
}

// CodesText is the codes as a text, to copy.
func (v *securityView) CodesText() string { return strings.Join(v.Codes, "\n") + "\n" }

// CodesFile is the address of a file with the codes, to download: it is in the page itself.
func (v *securityView) CodesFile() template.URL {
	return template.URL("data:text/plain;charset=utf-8," + url.PathEscape(v.CodesText()))
}

// GET /settings/security
//
// Security shows the caller's second factors.
func (p *Pages) Security(w http.ResponseWriter, r *http.Request) error {
	v, err := p.security(r)
	return p.t.Show(w, r, "security.html", v, err)
}

func (p *Pages) security(r *http.Request) (*securityView, error) {
	f, err := p.frame(r, "security", "Two-factor authentication")
	if err != nil {
		return nil, err
	}
	by := caller(r)
	v := &securityView{view: f, Can: factor.CanHave(web.From(r.Context()).Site), Barred: !by.Session || by.ByToken,
		Linked: len(p.identities.Providers())+len(p.directories.Directories()) > 0}
	if v.Has, _, err = p.sessions.Factors(r.Context(), by); err != nil {
		return nil, err
	}
	if v.Rules, err = p.accounts.FactorRulesFor(r.Context(), by.ID); err != nil {
		return nil, err
	}
	v.Passkeys, err = p.sessions.Passkeys(r.Context(), by)
	return v, err
}

// POST /settings/security
//
// ChangeFactors sets an authenticator app up (do=app, then do=add-app with its secret and a code), adds a passkey
// (add-passkey), replaces the recovery codes (codes), renames a passkey (rename-passkey) or removes a factor
// (remove-app, remove-passkey), or leaves an organization that requires one (leave). Secrets and recovery codes are
// shown only now. Errors: the page again, with 403 and 422.
func (p *Pages) ChangeFactors(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	codes, secret, done, err := p.changeFactors(r, f)
	if err == nil && codes == nil && secret == "" {
		return page.Done(w, r, "/settings/security", done)
	}
	var problem *page.Problem
	if err != nil {
		if problem, err = page.ProblemOf(err); err != nil {
			return err
		}
	}
	v, err := p.security(r)
	if err != nil {
		return err
	}
	v.Codes, v.Problem = codes, problem
	if secret != "" {
		if err := v.showApp(r, secret); err != nil && problem == nil {
			return err
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	if problem != nil {
		return p.t.Again(w, r, "security.html", problem, v)
	}
	return p.t.Secret(w, r, "security.html", v)
}

// showApp has the page show the secret of an app, in letters and as a picture. Error: 422.
func (v *securityView) showApp(r *http.Request, secret string) error {
	site, err := url.Parse(web.From(r.Context()).Site)
	if err != nil {
		return err
	}
	picture, err := factor.QRCode(site.Hostname(), caller(r).Login, secret)
	v.Key, v.QRCode = secret, template.URL(picture)
	return errors.Join(err)
}

// changeFactors does what the form says. It returns new recovery codes, or the secret of an app that is being set up,
// to show; or what it did.
func (p *Pages) changeFactors(r *http.Request, f page.Form) (codes []string, secret, done string, err error) {
	ctx, by := r.Context(), caller(r)
	if do := f.Get("do"); strings.HasPrefix(do, "add") {
		if ctx, err = p.kit.Room(ctx, by); err != nil {
			return nil, "", "", err
		}
	}
	id, _ := web.ParseNumber(f.Get("id"))
	switch f.Get("do") {
	case "app":
		return nil, factor.NewSecret(), "", nil
	case "add-app":
		if codes, err = p.sessions.AddTOTP(ctx, by, f.Text("secret"), f.Text("code")); err != nil {
			return nil, f.Text("secret"), "", err
		}
		return codes, "", "The authenticator app was added.", nil
	case "add-passkey":
		codes, err = p.sessions.AddPasskey(ctx, by, f.Get("name"), page.ProofOf(r, f))
		return codes, "", "The passkey was added.", err
	case "codes":
		codes, err = p.sessions.NewCodes(ctx, by)
		return codes, "", "", err
	case "rename-passkey":
		return nil, "", "The passkey was renamed.", p.sessions.RenamePasskey(ctx, by, id, f.Get("name"))
	case "remove-app":
		err, done = p.sessions.RemoveTOTP(ctx, by), "The authenticator app was removed."
	case "leave":
		return nil, "", "You left " + f.Get("org") + ".", p.accounts.RemoveMember(ctx, by, f.Get("org"), by.Login)
	case "remove-passkey":
		err, done = p.sessions.RemovePasskey(ctx, by, id), "The passkey was removed."
	default:
		err = errs.New(errs.Invalid, "The form does not say what to do.")
	}
	if errs.Is(err, errs.NotFound) { // it is gone
		err = nil
	}
	return nil, "", done, err
}
