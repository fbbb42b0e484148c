package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"arbor/internal/account"
	"arbor/internal/account/factor"
	accountsession "arbor/internal/account/session"
	"arbor/internal/errs"
	"arbor/internal/ldap"
	"arbor/internal/oidc"
	"arbor/internal/page"
	"arbor/internal/web"
)

type loginView struct {
	page.Frame
	ReturnTo string
	Login    string
	Empty    bool // nobody is registered: the server has to be set up
	Passkeys bool // they work at this address of the site

	Providers   []*oidc.Provider  // of identities with which people sign in
	Directories []*ldap.Directory // whose names and passwords people sign in with
	Passwords   bool              // everybody may sign in with a password
	Resets      bool              // whoever forgot a password gets a mail
	Joins       bool              // people begin accounts by themselves

	Leads string // where an OAuth App is answered at once, if ReturnTo is its request; empty: nowhere
}

// LeadsTo implements page.Outward: browsers hold the whole way of a form against the page's policy.
func (v *loginView) LeadsTo() string { return v.Leads }

// secondView is what second.html shows: the second step of signing in.
type secondView struct {
	page.Frame
	ReturnTo string
	Login    string
	Pending  string
	Has      factor.State
	Passkeys bool
	Leads    string // as of loginView
}

// LeadsTo implements page.Outward.
func (v *secondView) LeadsTo() string { return v.Leads }

// GET /login
//
// LoginForm answers the page where people sign in.
func (p *Pages) LoginForm(w http.ResponseWriter, r *http.Request) error {
	back := page.ReturnTo(web.QueryOf(r).Get("return_to"), "/")
	if account.CallerFrom(r.Context()) != nil {
		return page.SeeOther(w, r, back)
	}
	v, err := p.loginView(r, back)
	if err != nil {
		return err
	}
	v.Login = loginAsked(back)
	return p.t.Page(w, r, "login.html", v)
}

// loginAsked is the user for whom an OAuth App waits, if the page to return to is its.
func loginAsked(back string) string {
	if login := askedBy(back).Get("login"); account.Plausible(login) {
		return login
	}
	return ""
}

// askedBy are the parameters of an OAuth App's request, if the page to return to is its; else none.
func askedBy(back string) url.Values {
	u, err := url.Parse(back)
	if err != nil || u.Path != "/login/oauth/authorize" {
		return nil
	}
	return u.Query()
}

// leadsTo is the scheme and host of the OAuth App whose request is the page to return to; empty: none, or one
// that is not answered.
func (p *Pages) leadsTo(ctx context.Context, back string) string {
	asked := askedBy(back)
	if asked == nil {
		return ""
	}
	if q, _ := p.oauth.Read(ctx, asked); q != nil {
		return q.Site()
	}
	return ""
}

func (p *Pages) loginView(r *http.Request, back string) (*loginView, error) {
	frame, err := p.kit.Frame(r, "Sign in")
	if err != nil {
		return nil, err
	}
	some, err := p.sessions.HasUsers(r.Context())
	if err != nil {
		return nil, err
	}
	state, err := p.of.Signup.State(r.Context())
	if err != nil {
		return nil, err
	}
	return &loginView{Frame: frame, ReturnTo: back, Empty: !some,
		Providers: p.of.Identities.Providers(), Directories: p.of.Directories.Directories(),
		Passwords: p.of.Identities.Passwords(), Resets: p.of.Mail.On(),
		Joins: some && state.Public(), Leads: p.leadsTo(r.Context(), back),
		Passkeys: factor.CanHave(web.From(r.Context()).Site)}, nil
}

// POST /login
//
// Login begins a session, by login and password, a passkey or a token, and leads back to where the person was. If the
// account has a second factor, it asks for that in a second step. Errors: the page again, with 422 for what does not
// fit and 429 for an attempt too soon after others.
func (p *Pages) Login(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	var session string
	switch {
	case f.Get("pending") != "":
		return p.second(w, r, f)
	case f.Text("token") != "":
		session, err = p.sessions.SignInWithToken(r.Context(), f.Text("token"), page.Origin(r))
	case f.Get("passkey") != "":
		session, _, err = p.sessions.SignInWithPasskey(r.Context(), page.ProofOf(r, f), page.Origin(r))
	default:
		session, err = p.signIn(w, r, f)
	}
	back := page.ReturnTo(f.Get("return_to"), "/")
	if step, is := errors.AsType[*accountsession.SecondStep](err); is {
		v, err := p.secondView(r, f, step.Pending)
		if err != nil {
			return err
		}
		return p.t.Secret(w, r, "second.html", v)
	}
	if err == nil {
		page.SetSession(w, r, session)
		return page.SeeOther(w, r, back)
	}
	return page.RefuseWith(p.t, w, r, "login.html", err,
		func(r *http.Request) (*loginView, error) { return p.loginView(r, back) },
		func(v *loginView) { v.Login = f.Text("login") })
}

// second is the second step of Login.
func (p *Pages) second(w http.ResponseWriter, r *http.Request, f page.Form) error {
	value, login, err := p.sessions.SignInSecond(r.Context(), f.Get("pending"), page.ProofOf(r, f), page.Origin(r))
	if err == nil {
		browser, err := p.sessions.KnownBrowser(r.Context(), login)
		if err != nil {
			return err
		}
		page.SetSession(w, r, value)
		page.SetBrowser(w, r, browser)
		return page.SeeOther(w, r, page.ReturnTo(f.Get("return_to"), "/"))
	}
	failed := page.RefuseWith(p.t, w, r, "second.html", err,
		func(r *http.Request) (*secondView, error) { return p.secondView(r, f, f.Get("pending")) }, nil)
	if errs.Is(failed, errs.Invalid) { // it has ended: from the beginning
		return p.again(w, r, page.ReturnTo(f.Get("return_to"), "/"), err)
	}
	return failed
}

// secondView is the second step of a sign-in. Error: 422 if it has ended.
func (p *Pages) secondView(r *http.Request, f page.Form, pending string) (*secondView, error) {
	login, has, err := p.sessions.Waiting(r.Context(), pending)
	if err != nil {
		return nil, err
	}
	frame, err := p.kit.Frame(r, "Second factor")
	return &secondView{Frame: frame, ReturnTo: page.ReturnTo(f.Get("return_to"), "/"), Login: login, Pending: pending,
		Has: has, Passkeys: factor.CanHave(web.From(r.Context()).Site),
		Leads: p.leadsTo(r.Context(), page.ReturnTo(f.Get("return_to"), "/"))}, err
}

// signIn signs in with a password, of this server or of a directory, and makes the browser known to the account.
func (p *Pages) signIn(w http.ResponseWriter, r *http.Request, f page.Form) (session string, err error) {
	session, login, err := p.sessions.SignIn(r.Context(), f.Text("login"), f.Get("password"), page.Origin(r))
	if err != nil {
		return "", err
	}
	browser, err := p.sessions.KnownBrowser(r.Context(), login)
	page.SetBrowser(w, r, browser)
	return session, err
}

// POST /logout
//
// Logout ends the session of the browser, and leads to return_to, where somebody else can sign in.
func (p *Pages) Logout(w http.ResponseWriter, r *http.Request) error {
	back := "/"
	if f, err := page.ReadForm(r); err == nil { // without a form, too
		back = page.ReturnTo(f.Get("return_to"), "/")
	}
	if err := p.endSession(w, r); err != nil {
		return err
	}
	return page.SeeOther(w, r, back)
}

// endSession ends the session of the browser.
func (p *Pages) endSession(w http.ResponseWriter, r *http.Request) error {
	if c := account.CallerFrom(r.Context()); c != nil && c.Session {
		if err := p.sessions.EndSession(r.Context(), c, c.TokenID); err != nil {
			return err
		}
	}
	page.EndSession(w, r)
	return nil
}
