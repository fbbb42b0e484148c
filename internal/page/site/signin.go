package site

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/external"
	"arbor/internal/ldap"
	"arbor/internal/oidc"
	"arbor/internal/page"
	"arbor/internal/scope"
)

type signInView struct {
	view
	Rule        *account.FactorRule // nil: nobody needs a second factor
	Providers   []*oidc.Provider    // of identities
	Directories []ldap.State
	Provisioned []provisioned
	Passwords   bool // everybody may sign in with a password
}

// GET /site/sign-in
//
// SignIn shows whether everybody needs a second factor, and with which identities and directories people sign in.
func (p *Pages) SignIn(w http.ResponseWriter, r *http.Request) error {
	v, err := p.signIn(r)
	return p.t.Show(w, r, "signin.html", v, err)
}

func (p *Pages) signIn(r *http.Request) (*signInView, error) {
	f, err := p.frame(r, "sign-in", "Sign-in")
	if err != nil {
		return nil, err
	}
	v := &signInView{view: f, Providers: p.Identities.Providers(), Passwords: p.Identities.Passwords()}
	if v.Directories, err = p.Directories.States(r.Context()); err != nil {
		return nil, err
	}
	for _, source := range p.Identities.Provisioned() {
		has, err := p.Identities.Provisions(r.Context(), source)
		if err != nil {
			return nil, err
		}
		v.Provisioned = append(v.Provisioned, provisioned{source, has})
	}
	v.Rule, err = page.FactorRule(r, p.Accounts, "")
	return v, err
}

// provisioned is a source that provisions people by SCIM, and how many.
type provisioned struct {
	*external.Source
	Has external.Provisions
}

// POST /site/sign-in
//
// ChangeSignIn has the site require second factors after the days of grace, or with do=end no longer.
func (p *Pages) ChangeSignIn(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	ctx, err := p.kit.WriteOwn(r, scope.SiteAdmin, false)
	if err != nil {
		return err
	}
	if err = page.ChangeFactorRule(ctx, form, p.Accounts, caller(r), ""); err == nil {
		return page.Done(w, r, "/site/sign-in", "The settings were saved.")
	}
	return page.RefuseWith(p.t, w, r, "signin.html", err, p.signIn, nil)
}
