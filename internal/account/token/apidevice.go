package token

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// deviceGrant is the grant_type of the device flow.
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// deviceErrors is where GitHub explains these errors.
const deviceErrors = "https://docs.github.com/developers/apps/authorizing-oauth-apps#error-codes-for-the-device-flow"

// maxDeviceBody bounds what programs send, in bytes.
const maxDeviceBody = 16 << 10

// field is a member of an answer of OAuth. Value is a text or an int64.
type field struct {
	name  string
	value any
}

// API answers the routes of the device flow.
type API struct{ s *Service }

// NewAPI returns the handlers.
func NewAPI(s *Service) *API { return &API{s: s} }

// Routes are the endpoints of the device flow.
func (a *API) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	return []route.Route{
		free.Anyone("POST /login/device/code",
			a.AskDevice).In(route.Pages).WithLimit(maxDeviceBody).Counted().WithoutToken(),
		free.Anyone("POST /login/oauth/access_token",
			a.TakeToken).In(route.Pages).WithLimit(maxDeviceBody).WithoutToken(),
	}
}

// POST /login/device/code
//
// AskDevice creates two codes for a program: one to request a token with, and one that a person
// confirms at /login/device. Errors, as members of the answer: invalid_scope. Else: 404 for a client_id that
// is not known, 429 and 503 while too many codes wait.
func (a *API) AskDevice(w http.ResponseWriter, r *http.Request) error {
	form, err := readOAuth(r)
	if err != nil {
		return err
	}
	ask := DeviceAsk{Client: form.Get("client_id"), Network: networkOf(r)}
	if ask.Scopes, err = scope.Parse(form.Get("scope")); err != nil {
		return answerOAuth(w, r, []field{{"error", "invalid_scope"},
			{"error_description", "The scopes requested are invalid."}})
	}
	codes, err := a.s.AskDevice(r.Context(), ask)
	if err != nil {
		return err
	}
	return answerOAuth(w, r, []field{{"device_code", codes.Device},
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
// TakeToken returns the token that a person allowed a program, once. Otherwise the answer has
// an error as its member: authorization_pending, slow_down, expired_token, access_denied,
// incorrect_device_code, incorrect_client_credentials or unsupported_grant_type.
func (a *API) TakeToken(w http.ResponseWriter, r *http.Request) error {
	form, err := readOAuth(r)
	if err != nil {
		return err
	}
	var token string
	var may scope.Set
	if form.Get("grant_type") != deviceGrant {
		err = refuseDevice("unsupported_grant_type", "The grant_type provided is not supported.")
	} else {
		token, may, err = a.s.TakeDevice(r.Context(), form.Get("client_id"), form.Get("device_code"),
			addressOf(r))
	}
	var refused *DeviceError
	if errors.As(err, &refused) {
		out := []field{{"error", refused.Code}, {"error_description", refused.Description},
			{"error_uri", deviceErrors}}
		if refused.Pause > 0 {
			out = append(out, field{"interval", refused.Pause})
		}
		return answerOAuth(w, r, out)
	}
	if err != nil {
		return err
	}
	return answerOAuth(w, r, []field{{"access_token", token},
		{"scope", strings.ReplaceAll(may.String(), ", ", ",")},
		{"token_type", "bearer"}})
}

// networkOf returns the network of a request, or "" for a Unix socket.
func networkOf(r *http.Request) string {
	if from := web.Network(web.From(r.Context()).From); from.IsValid() {
		return from.String()
	}
	return ""
}

// addressOf returns the address of a request, or "" for a Unix socket.
func addressOf(r *http.Request) string {
	if from := web.From(r.Context()).From; from.IsValid() {
		return from.String()
	}
	return ""
}

// readOAuth reads what a program sent: a form, a JSON object of texts, or the query. Errors: 400, 413.
func readOAuth(r *http.Request) (url.Values, error) {
	body, err := web.ReadBody(r)
	if err != nil {
		return nil, err
	}
	values := url.Values{}
	switch {
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		o, err := web.ParseBody(r, body, "OAuth")
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"client_id", "scope", "device_code", "grant_type"} {
			values.Set(name, o.String(name, 0).Value)
		}
		return values, o.Err()
	case len(body) > 0:
		if values, err = url.ParseQuery(string(body)); err != nil {
			return nil, errs.New(errs.Malformed, "The body must be form-encoded.")
		}
		return values, nil
	}
	q := web.QueryOf(r)
	for _, name := range []string{"client_id", "scope", "device_code", "grant_type"} {
		values.Set(name, q.Get(name))
	}
	return values, nil
}

// answerOAuth answers JSON if the request accepts it, else a form, as GitHub does. The answer may not be
// cached.
func answerOAuth(w http.ResponseWriter, r *http.Request, fields []field) error {
	w.Header().Set("Cache-Control", "no-store")
	if strings.Contains(strings.Join(r.Header["Accept"], ","), "json") {
		out := make(map[string]any, len(fields))
		for _, f := range fields {
			out[f.name] = f.value
		}
		return web.JSON(w, r, http.StatusOK, out)
	}
	form := url.Values{}
	for _, f := range fields {
		if n, ok := f.value.(int64); ok {
			form.Set(f.name, strconv.FormatInt(n, 10))
			continue
		}
		form.Set(f.name, f.value.(string))
	}
	w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	_, err := w.Write([]byte(form.Encode()))
	return err
}
