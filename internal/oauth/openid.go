package oauth

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// AskedAt is a parameter of our own: when the App asked for a user who shows again who it is, in microseconds
// since 1970. It stays with the request while the user signs in, for askedFor at most, so that a link with an old one
// does not take the question away. The ID token says when the user really showed it (auth_time).
const AskedAt = "asked_at"

// openidParams are the parameters that are read where the scope openid is asked for.
var openidParams = []string{"nonce", "max_age", "response_mode", "request", "request_uri", "registration",
	AskedAt}

// Bounds of what is asked for by OpenID Connect.
const (
	maxNonce = 1000 // bytes
	noAge    = -1
	askedFor = 15 * time.Minute
)

// OpenID is what a request with the scope openid asks for besides (OpenID Connect Core 1.0, 3.1.2.1).
type OpenID struct {
	Silent bool // prompt=none: the user is asked nothing

	issuer string
	nonce  string
	maxAge int64   // seconds since the user showed who it is, at most; noAge: any
	after  db.Time // the user must have shown who it is since then
}

// SignIn is who signed in by a code with the scope openid.
type SignIn struct {
	App     *App
	Account account.ID
	Scopes  scope.Set
	Nonce   string
	Token   string // the access token
	Shown   session.Shown
}

// signIn returns who signed in by the code; nil: it is not one of OpenID Connect.
func (c *code) signIn(app *App, made *token.Issued) *SignIn {
	if !c.scopes.Any(scope.OpenID) {
		return nil
	}
	return &SignIn{App: app, Account: c.account, Scopes: c.scopes, Nonce: c.nonce, Token: made.Value,
		Shown: c.shown}
}

// readOpenID reads what is asked for by OpenID Connect. Error: a *RedirectError.
func (q *Request) readOpenID(v url.Values, now time.Time) error {
	for _, name := range []string{"request", "request_uri", "registration"} {
		if v.Get(name) != "" {
			return q.refuse(name+"_not_supported", "The parameter "+name+" is not supported.")
		}
	}
	switch mode, nonce := v.Get("response_mode"), q.OpenID.nonce; {
	case v.Get("response_type") == "":
		return q.refuse("invalid_request", "The response_type must be code.")
	case mode != "" && mode != "query":
		return q.refuse("invalid_request", "The response_mode must be query.")
	case len(nonce) > maxNonce || !utf8.ValidString(nonce) || strings.IndexByte(nonce, 0) >= 0:
		return q.refuse("invalid_request", fmt.Sprintf("The nonce is a text of at most %d bytes.", maxNonce))
	}
	if age := v.Get("max_age"); age != "" {
		n, err := strconv.ParseInt(age, 10, 32)
		if err != nil || n < 0 {
			return q.refuse("invalid_request", "The max_age must be a number of seconds.")
		}
		q.OpenID.maxAge = n
	}
	return q.readPrompt(v, now)
}

// readPrompt reads the prompt, a list of words. Error: a *RedirectError.
func (q *Request) readPrompt(v url.Values, now time.Time) error {
	words := strings.Fields(q.Prompt)
	q.Prompt = ""
	again := q.OpenID.maxAge == 0
	for _, word := range words {
		switch {
		case word == "none" && len(words) == 1:
			q.OpenID.Silent = true
		case word == "login":
			again = true
		case word == "consent", word == "select_account":
			q.Prompt = word
		default:
			return q.refuse("invalid_request",
				"The prompt must be none alone, or login, consent and select_account.")
		}
	}
	switch {
	case again:
		q.OpenID.after = askedAt(v, now)
	case q.OpenID.maxAge > 0:
		q.OpenID.after = db.FromTime(now.Add(-time.Duration(q.OpenID.maxAge) * time.Second))
	}
	return nil
}

// askedAt is when the App asked: now, unless the parameter says that it was a short time ago.
func askedAt(v url.Values, now time.Time) db.Time {
	n, err := strconv.ParseInt(v.Get(AskedAt), 10, 64)
	if at := db.Time(n); err == nil && at > db.FromTime(now.Add(-askedFor)) && at < db.FromTime(now) {
		return at
	}
	return db.FromTime(now)
}

// IsSilent reports whether the parameters ask by OpenID Connect that the user is asked nothing.
func IsSilent(v url.Values) bool {
	_, is := scope.ParseOpenID(v.Get("scope"))
	return is && v.Get("prompt") == "none"
}

// Waits returns the parameters of a request whose user signs in first: signing in counts as showing who it
// is.
func Waits(v url.Values, now time.Time) url.Values {
	out := url.Values{}
	for name, list := range v {
		out[name] = list
	}
	if _, is := scope.ParseOpenID(v.Get("scope")); is &&
		(slices.Contains(strings.Fields(v.Get("prompt")), "login") || v.Get("max_age") == "0") {
		out.Set(AskedAt, strconv.FormatInt(int64(askedAt(v, now)), 10))
	}
	return out
}

// Silent reports whether the user is asked nothing.
func (q *Request) Silent() bool { return q.OpenID != nil && q.OpenID.Silent }

// Recent reports whether the caller showed who it is as recently as the App demands.
func (q *Request) Recent(caller *account.Caller) bool {
	return q.OpenID == nil || caller.ConfirmedAt >= q.OpenID.after
}

// Unanswered is the address of the App with the reason why a silent request gets no code: login_required,
// consent_required, account_selection_required or interaction_required.
func (q *Request) Unanswered(code string) string {
	return (&RedirectError{code, "The user must be asked, and the request does not allow that.", q}).Address()
}

// Told are sentences about what the App learns of the user by OpenID Connect.
func (q *Request) Told() []string {
	if q.OpenID == nil {
		return nil
	}
	list := []string{"the number of your account, which stays when you are renamed"}
	for _, of := range []struct {
		scope scope.Set
		text  string
	}{
		{scope.Profile, "your login, your name and your picture"},
		{scope.Email, "your verified e-mail address"},
		{scope.Groups, "the organizations and teams that you belong to, also where that is not public"},
	} {
		if q.Scopes.Any(of.scope) {
			list = append(list, of.text)
		}
	}
	return list
}

// AfterSignOut returns an App, and the address to which the browser is led after its user signed out: a
// callback address of the App or its homepage, byte for byte, with the state; empty if none is asked for.
// Errors: 404, 422.
func (s *Service) AfterSignOut(ctx context.Context, client, to, state string) (*App, string, error) {
	app, err := db.Get(ctx, s.db, func(tx *db.Tx) (*App, error) { return activeApp(tx, client) })
	if err != nil || to == "" {
		return app, "", err
	}
	if _, ok := app.callback(to); !ok && (to != app.Homepage || checkCallback(to) != nil) {
		return nil, "", errs.Newf(errs.Invalid, "The post_logout_redirect_uri is not one that %s registered.",
			app.Name)
	}
	if state != "" && len(state) <= maxState {
		to = withQuery(to, url.Values{"state": {state}})
	}
	return app, to, nil
}

// Sent are the names of the parameters that the form of the page sends again.
func (q *Request) Sent() []string {
	if q.OpenID == nil {
		return Params
	}
	return slices.Concat(Params, openidParams)
}
