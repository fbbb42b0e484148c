package signin

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

// POST /login/passkey
//
// AskForPasskey answers the options, in JSON, with which a browser asks an authenticator for a passkey, as for says:
// signin (of anybody), second (of the account of the sign-in pending), confirm (of the caller) or add (a new one of the
// caller). Errors: 401, 422, 503.
func (p *Pages) AskForPasskey(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	by, site, from := account.CallerFrom(r.Context()), web.From(r.Context()).Site, page.Origin(r)
	var options any
	switch what := f.Get("for"); {
	case what == "signin":
		options, err = p.sessions.AskForPasskey(r.Context(), nil, "", site, from)
	case what == "second" && f.Get("pending") != "":
		options, err = p.sessions.AskForPasskey(r.Context(), nil, f.Get("pending"), site, from)
	case by == nil && (what == "confirm" || what == "add"):
		err = page.NoCaller()
	case what == "confirm":
		options, err = p.sessions.AskForPasskey(r.Context(), by, "", site, from)
	case what == "add":
		options, err = p.sessions.AskForNewPasskey(r.Context(), by, site, from)
	default:
		err = errs.New(errs.Invalid, "the form does not say for what: signin, second, confirm or add")
	}
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return web.JSON(w, r, http.StatusOK, options)
}
