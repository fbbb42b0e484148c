package openid

import (
	"net/http"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/oauth"
	"arbor/internal/web"
)

// introspection is what an App learns of a token of its own (RFC 7662, 2.2). Of any other token it learns
// that it is not active.
type introspection struct {
	Active   bool   `json:"active"`
	Scope    string `json:"scope,omitempty"`
	ClientID string `json:"client_id,omitempty"`
	Username string `json:"username,omitempty"`
	Type     string `json:"token_type,omitempty"`
	Issued   int64  `json:"iat,omitempty"`
	Expires  int64  `json:"exp,omitempty"` // absent: it does not expire
	Subject  string `json:"sub,omitempty"`
	Audience string `json:"aud,omitempty"`
	Issuer   string `json:"iss,omitempty"`
}

// POST /login/oauth/introspect
//
// Introspect answers whether a token of the client is in force, and what it is (RFC 7662). The client sends
// its id and secret in the body or by Basic. Errors: 400 invalid_request, 401 invalid_client.
func (a *API) Introspect(w http.ResponseWriter, r *http.Request) error {
	client, value, err := readToken(w, r)
	if err != nil || value == "" {
		return err
	}
	g, err := a.s.apps.CheckToken(r.Context(), client, value)
	switch {
	case errs.Is(err, errs.Unauthenticated):
		return oauth.WrongClient(w, r)
	case errs.Is(err, errs.NotFound):
		return web.JSON(w, r, http.StatusOK, &introspection{})
	case err != nil:
		return err
	}
	p := &introspection{Active: true, Scope: strings.ReplaceAll(g.Scopes.String(), ", ", " "),
		ClientID: client.ID, Username: g.User.Login, Type: "bearer", Issued: g.CreatedAt.Time().Unix(),
		Subject: subject(g.User.ID), Audience: client.ID, Issuer: web.From(r.Context()).Site}
	if g.ExpiresAt != db.Time(0) {
		p.Expires = g.ExpiresAt.Time().Unix()
	}
	return web.JSON(w, r, http.StatusOK, p)
}

// POST /login/oauth/revoke
//
// Revoke ends a token of the client (RFC 7009). One that is not in force, or not the client's, is a 200 as
// well. The client sends its id and secret in the body or by Basic. Errors: 400 invalid_request, 401
// invalid_client.
func (a *API) Revoke(w http.ResponseWriter, r *http.Request) error {
	client, value, err := readToken(w, r)
	if err != nil || value == "" {
		return err
	}
	err = a.s.apps.EndToken(r.Context(), client, value)
	switch {
	case errs.Is(err, errs.Unauthenticated):
		return oauth.WrongClient(w, r)
	case err == nil, errs.Is(err, errs.NotFound):
		w.WriteHeader(http.StatusOK)
		return nil
	}
	return err
}

// readToken reads the client and the token of a form. It answers a request that lacks one of them itself, and
// returns no token then. Errors: 400, 413.
func readToken(w http.ResponseWriter, r *http.Request) (c oauth.Client, value string, err error) {
	w.Header().Set("Cache-Control", "no-store")
	form, c, ok, err := oauth.ReadClient(r)
	switch {
	case err != nil:
		return c, "", err
	case !ok:
		return c, "", oauth.WrongClient(w, r)
	case form.Get("token") == "":
		return c, "", oauth.RefuseByRFC(w, r, http.StatusBadRequest, "invalid_request",
			"The parameter token is missing.")
	}
	return c, form.Get("token"), nil
}
