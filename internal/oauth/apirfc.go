package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/account/token"
	"arbor/internal/web"
)

// GitHub's clients want an answer of status 200 for each error of the token URL, with codes of GitHub's.
// Clients by the standards want statuses, and the codes of RFC 6749. So there are two addresses for one
// thing.

// standardCodes are the codes of RFC 6749, 5.2, for those of GitHub that differ.
var standardCodes = map[string]string{
	"incorrect_client_credentials": "invalid_client",
	"bad_verification_code":        "invalid_grant",
	"redirect_uri_mismatch":        "invalid_grant",
	"bad_refresh_token":            "invalid_grant",
	"incorrect_device_code":        "invalid_grant",
}

// POST /login/oauth/token
//
// TakeTokenByRFC is TakeToken with the answers of RFC 6749: JSON, scopes with spaces, and errors of status
// 400: invalid_request, invalid_grant and unsupported_grant_type, or 401: invalid_client. OpenID Connect's
// discovery names this address.
func (a *API) TakeTokenByRFC(w http.ResponseWriter, r *http.Request) error {
	list, err := a.take(r)
	if e, is := errors.AsType[*token.OAuthError](err); is {
		code := e.Code
		if standard := standardCodes[code]; standard != "" {
			code = standard
		}
		if code == "invalid_client" {
			return WrongClient(w, r)
		}
		return RefuseByRFC(w, r, http.StatusBadRequest, code, e.Description)
	}
	if err != nil {
		return err
	}
	out := make(map[string]any, len(list))
	for _, f := range list {
		out[f.name] = f.value
	}
	out["scope"] = strings.ReplaceAll(text(out["scope"]), ",", " ")
	noStore(w)
	return web.JSON(w, r, http.StatusOK, out)
}

// ReadClient reads what a program sent, and the client that sends it. ok is false for credentials that no
// client has. Errors: 400, 413.
func ReadClient(r *http.Request) (form url.Values, c Client, ok bool, err error) {
	if form, err = readForm(r); err != nil {
		return nil, c, false, err
	}
	c, ok = clientOf(r, form)
	return form, c, ok, nil
}

// WrongClient answers a client that is not known, or whose secret is wrong: invalid_client (RFC 6749, 5.2).
func WrongClient(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("WWW-Authenticate", `Basic realm="Arbor"`)
	return RefuseByRFC(w, r, http.StatusUnauthorized, "invalid_client",
		"The client is not known, or its secret is wrong.")
}

// RefuseByRFC answers an error of RFC 6749, 5.2.
func RefuseByRFC(w http.ResponseWriter, r *http.Request, status int, code, description string) error {
	noStore(w)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	return web.JSON(w, r, status, map[string]string{"error": code, "error_description": description})
}

func noStore(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
}
