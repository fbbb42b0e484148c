package signin

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/web"
)

// GET /login/oidc/{provider}
//
// LeadToProvider leads the browser to an identity provider, to sign in there, and then back to return_to. Errors: 404;
// 503 while the provider cannot be reached.
func (p *Pages) LeadToProvider(w http.ResponseWriter, r *http.Request) error {
	name, back := web.Param(r, "provider"), page.ReturnTo(web.QueryOf(r).Get("return_to"), "/")
	to, secret, err := p.of.Identities.Begin(r.Context(), name, page.Callback(r, name), 0)
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
		if err := p.of.Identities.Link(r.Context(), by, who); err != nil {
			return err
		}
		return page.Done(w, r, "/settings/identities", who.Provider.Label+" was linked with your account.")
	}
	session, err := p.of.Identities.SignIn(r.Context(), who, page.Origin(r))
	if err != nil {
		return p.again(w, r, back, err)
	}
	page.SetSession(w, r, session)
	return page.SeeOther(w, r, back)
}

// again shows the page to sign in with an error.
func (p *Pages) again(w http.ResponseWriter, r *http.Request, back string, err error) error {
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.loginView(r, back)
	if err != nil {
		return err
	}
	v.Problem = problem
	return p.t.Again(w, r, "login.html", problem, v)
}
