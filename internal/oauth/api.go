package oauth

import (
	"context"
	"errors"
	"net"
	"net/http"

	"arbor/internal/account/token"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// The values of grant_type. Without one, a code is redeemed, as at GitHub.
const (
	codeGrant    = "authorization_code"
	deviceGrant  = "urn:ietf:params:oauth:grant-type:device_code"
	refreshGrant = "refresh_token"
)

// errorsDocs is where GitHub explains these errors.
const errorsDocs = "https://docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors"

// MaxBody bounds what programs send, in bytes.
const MaxBody = 16 << 10

// API answers programs.
type API struct {
	s      *Service
	tokens *token.Service // the device flow
	// idToken signs who signed in by a code with the scope openid (room openid)
	idToken func(context.Context, *SignIn) (string, error)
}

// NewAPI returns the handlers.
func NewAPI(
	s *Service, tokens *token.Service, idToken func(context.Context, *SignIn) (string, error),
) *API {
	return &API{s, tokens, idToken}
}

// Routes are the endpoints for programs. Each brings its own proof: a code, or the client's secret.
func (a *API) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	return []route.Route{
		free.Anyone("POST /login/device/code",
			a.AskDevice).In(route.Pages).WithLimit(MaxBody).Counted().WithoutToken(),
		free.Anyone("POST /login/oauth/access_token",
			a.TakeToken).In(route.Pages).WithLimit(MaxBody).ByClient().WithoutToken(),
		free.Anyone("POST /login/oauth/token",
			a.TakeTokenByRFC).In(route.Pages).WithLimit(MaxBody).ByClient().WithoutToken(),
		byClient(free.Anyone("POST /applications/{client_id}/token", a.CheckToken)),
		byClient(free.Anyone("PATCH /applications/{client_id}/token", a.ResetToken)),
		byClient(free.Anyone("DELETE /applications/{client_id}/token", a.EndToken)),
		byClient(free.Anyone("DELETE /applications/{client_id}/grant", a.EndGrant)),
	}
}

// byClient is a route of the API whose caller is an OAuth App.
func byClient(r route.Route) route.Route {
	return r.WithLimit(MaxBody).ByClient().ForNobody().WithoutToken()
}

// POST /login/device/code
//
// AskDevice creates two codes for a program: one to request a token with, and one that a person confirms at
// /login/device. Errors, as members of the answer: invalid_scope, device_flow_disabled. Else: 404 for a client_id
// that is not known, 429 and 503 while too many codes wait.
func (a *API) AskDevice(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(r)
	if err != nil {
		return err
	}
	ask := token.DeviceAsk{Client: form.Get("client_id"), Network: networkOf(r)}
	if ask.Scopes, err = scope.Parse(form.Get("scope")); err != nil {
		return answer(w, r, []field{{"error", "invalid_scope"},
			{"error_description", "The scopes requested are invalid."}})
	}
	codes, err := a.tokens.AskDevice(r.Context(), ask)
	if err != nil {
		return refused(w, r, err)
	}
	return answer(w, r, []field{{"device_code", codes.Device},
		{"expires_in", int64(codes.Expires.Seconds())},
		{"interval", codes.Pause}, {"user_code", codes.User},
		{"verification_uri", siteOfPeople(r) + "/login/device"}})
}

// siteOfPeople returns the address of the pages for a user's browser. A program that uses the server as its
// proxy requests a host that a browser cannot reach, so the result is the address of the proxy.
func siteOfPeople(r *http.Request) string {
	site := web.From(r.Context()).Site
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if r.URL.Host == "" || site != r.URL.Scheme+"://"+r.URL.Host || !ok || r.TLS != nil {
		return site
	}
	return "http://" + at.String()
}

// POST /login/oauth/access_token
//
// TakeToken returns the token of a code that a browser brought, the token that a person allowed a program by the
// device flow, or a GitHub App's next pair of tokens: once. The client's id and secret are in the body or in Basic.
// Otherwise the answer has an error as its member: incorrect_client_credentials, bad_verification_code,
// redirect_uri_mismatch, bad_refresh_token or unsupported_grant_type; of the device flow authorization_pending,
// slow_down, expired_token, access_denied or incorrect_device_code.
func (a *API) TakeToken(w http.ResponseWriter, r *http.Request) error {
	out, err := a.take(r)
	if err != nil {
		return refused(w, r, err)
	}
	return answer(w, r, out)
}

// take makes the token that a program asks for, and returns the members of the answer. Errors: a
// *token.OAuthError; 400, 413.
func (a *API) take(r *http.Request) ([]field, error) {
	form, client, ok, err := ReadClient(r)
	if err != nil {
		return nil, err
	}
	var made *token.Issued
	var who *SignIn
	switch {
	case !ok:
		err = token.WrongClient()
	case form.Get("grant_type") == "" || form.Get("grant_type") == codeGrant:
		made, who, err = a.s.Redeem(r.Context(), Exchange{Client: client, Code: form.Get("code"),
			Redirect: form.Get("redirect_uri"), Verifier: form.Get("code_verifier"), Address: addressOf(r)})
	case form.Get("grant_type") == deviceGrant:
		made, err = a.tokens.TakeDevice(r.Context(), client.ID, form.Get("device_code"), addressOf(r))
	case form.Get("grant_type") == refreshGrant:
		made, err = a.s.Refresh(r.Context(), Exchange{Client: client, Code: form.Get("refresh_token"),
			Address: addressOf(r)})
	default:
		err = token.Refuse("unsupported_grant_type", "The grant_type provided is not supported.")
	}
	if err != nil {
		return nil, err
	}
	out := []field{{"access_token", made.Value}}
	if made.Lives > 0 {
		out = append(out, field{"expires_in", int64(made.Lives.Seconds())}, field{"refresh_token", made.Refresh},
			field{"refresh_token_expires_in", int64(made.RefreshExpires.Seconds())})
	}
	if who != nil {
		signed, err := a.idToken(r.Context(), who)
		if err != nil {
			return nil, err
		}
		out = append(out, field{"id_token", signed})
	}
	return append(out, field{"scope", withCommas(made.Scopes)}, field{"token_type", "bearer"}), nil
}

// refused answers an *OAuthError with status 200, as GitHub does, and returns other errors.
func refused(w http.ResponseWriter, r *http.Request, err error) error {
	var e *token.OAuthError
	if !errors.As(err, &e) {
		return err
	}
	out := []field{{"error", e.Code}, {"error_description", e.Description}, {"error_uri", errorsDocs}}
	if e.Pause > 0 {
		out = append(out, field{"interval", e.Pause})
	}
	return answer(w, r, out)
}
