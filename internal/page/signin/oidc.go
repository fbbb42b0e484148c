package signin

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

// GET /login/oidc/{provider}
//
// LeadToProvider leads the browser to an identity provider, to sign in there, and then back to return_to. With again the
// provider asks who it is even if it knows. Errors: 404; 503 while the provider cannot be reached.
func (p *Pages) LeadToProvider(w http.ResponseWriter, r *http.Request) error {
	name, q := web.Param(r, "provider"), web.QueryOf(r)
	back := page.ReturnTo(q.Get("return_to"), "/")
	to, secret, err := p.of.Identities.Begin(r.Context(), name, page.Callback(r, name), 0, q.Get("again") != "")
	if err != nil {
		return p.again(w, r, back, err)
	}
	page.SetWaiting(w, r, page.Waiting{Secret: secret, Back: back})
	return page.SeeOther(w, r, to)
}

// GET /login/oidc/{provider}/callback
//
// ComeFromProvider is the provider's callback. It starts a session, or links the identity to the account of the session
// that began to link it. Errors: 404; the sign-in page with 403, 422 and 503.
func (p *Pages) ComeFromProvider(w http.ResponseWriter, r *http.Request) error {
	waiting := page.TakeWaiting(w, r)
	name, by := web.Param(r, "provider"), account.CallerFrom(r.Context())
	back := page.ReturnTo(waiting.Back, "/")
	var link account.ID
	if waiting.Link {
		link = account.IDOf(by)
	}
	who, err := p.of.Identities.Finish(r.Context(), name, page.Callback(r, name), waiting.Secret, link, r.URL.Query())
	if err != nil {
		return p.again(w, r, back, err)
	}
	if link != 0 {
		if err := p.of.Identities.Link(r.Context(), by, &who.Identity); err != nil {
			return err
		}
		return page.Done(w, r, "/settings/identities", who.Source.Label+" was linked with your account.")
	}
	session, err := p.of.Identities.SignIn(r.Context(), who, page.Origin(r))
	if err != nil {
		return p.again(w, r, back, err)
	}
	page.SetSession(w, r, session)
	return page.SeeOther(w, r, back)
}

// POST /login/oidc/{provider}/back-channel-logout
//
// EndFromProvider ends the sessions that a provider names in logout_token. The provider calls it, without a browser.
// Errors: 400 in the form of OAuth for a token that does not count; 404; 503.
func (p *Pages) EndFromProvider(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	err = p.of.Identities.SignOut(r.Context(), web.Param(r, "provider"), f.Get("logout_token"), page.Origin(r))
	if errs.Is(err, errs.Invalid) {
		return web.JSON(w, r, http.StatusBadRequest,
			map[string]string{"error": "invalid_request", "error_description": err.Error()})
	}
	if err == nil {
		w.WriteHeader(http.StatusOK)
	}
	return err
}

// GET /login/oidc/{provider}/front-channel-logout
//
// LeaveFromProvider ends the sessions of the provider's session sid. The provider's page shows the empty answer in a
// frame. Errors: 404, 422.
func (p *Pages) LeaveFromProvider(w http.ResponseWriter, r *http.Request) error {
	name, q := web.Param(r, "provider"), web.QueryOf(r)
	if err := p.of.Identities.Leave(r.Context(), name, q.Get("iss"), q.Get("sid"), page.Origin(r)); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'") // any site may frame it: there is nothing to see
	w.WriteHeader(http.StatusOK)
	return nil
}

// again shows the page to sign in with an error.
func (p *Pages) again(w http.ResponseWriter, r *http.Request, back string, err error) error {
	return page.RefuseWith(p.t, w, r, "login.html", err,
		func(r *http.Request) (*loginView, error) { return p.loginView(r, back) }, nil)
}
