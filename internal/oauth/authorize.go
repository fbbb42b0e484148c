package oauth

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// Bounds of requests and codes.
const (
	codeLife     = 10 * time.Minute
	afterExpiry  = 24 * time.Hour // how long a code is known after that
	maxState     = 4096           // bytes
	maxCodes     = 10             // of one user and App that were not redeemed: the oldest end
	sizeOfSHA256 = 43             // base64url without padding
)

// Params are the parameters of a request that this package reads, each at most once (RFC 6749, 3.1). openidParams
// follow where the scope openid is asked for.
var Params = []string{"client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge",
	"code_challenge_method", "login", "prompt", "allow_signup"}

// Request is what an OAuth App asks a user for. Its redirect address is one of the App's.
type Request struct {
	App           *App
	Redirect      string
	Scopes        scope.Set
	Login         string  // of the user for whom the App waits; may be empty
	Prompt        string  // consent or select_account; empty: ask only for what was not allowed before
	OpenID        *OpenID // nil: openid is not among the scopes
	WithoutAsking bool    // nobody is asked now: what was allowed before must still cover it

	scoped    bool // scopes were asked for; else those that were allowed before
	state     string
	challenge string // of PKCE; empty: none
}

// RedirectError is an error of which the App is told, since its redirect address is its own.
type RedirectError struct {
	Code, Description string
	to                *Request
}

// Error implements error.
func (e *RedirectError) Error() string { return e.Code + ": " + e.Description }

// Address is the address of the App with the error.
func (e *RedirectError) Address() string {
	return e.to.back(url.Values{"error": {e.Code}, "error_description": {e.Description},
		"error_uri": {errorsDocs}})
}

// back is the redirect address with parameters and the App's state.
func (q *Request) back(with url.Values) string {
	if q.state != "" {
		with.Set("state", q.state)
	}
	if q.OpenID != nil {
		with.Set("iss", q.OpenID.issuer) // RFC 9207: a client of several servers knows which one answers
	}
	return withQuery(q.Redirect, with)
}

// Site is the scheme and host to which the answer leads, as a source of a Content-Security-Policy.
func (q *Request) Site() string { return SiteOf(q.Redirect) }

// Names are the names of the scopes that are asked for, without those of OpenID Connect.
func (q *Request) Names() []string {
	if q.Scopes&^scope.Identity == 0 {
		return nil
	}
	return strings.Split((q.Scopes &^ scope.Identity).String(), ", ")
}

// Denied is the address of the App with the user's refusal.
func (q *Request) Denied() string {
	return (&RedirectError{"access_denied", "The user has denied your application access.", q}).Address()
}

// Read reads what an App asks for. Errors: 404 for an App that is not known, or whose owner is suspended; 422 for a
// redirect address that is not the App's, and a parameter that was sent twice: of these only the user is told; a
// *RedirectError for all else.
func (s *Service) Read(ctx context.Context, v url.Values) (*Request, error) {
	if err := once(v, Params); err != nil {
		return nil, err
	}
	app, err := db.Get(ctx, s.db, func(tx *db.Tx) (*App, error) { return activeApp(tx, v.Get("client_id")) })
	if err != nil {
		return nil, err
	}
	to, ok := app.callback(v.Get("redirect_uri"))
	if !ok {
		return nil, errs.Newf(errs.Invalid, "The redirect_uri is not one that %s registered.", app.Name)
	}
	q := &Request{App: app, Redirect: to, Login: v.Get("login"), Prompt: v.Get("prompt"),
		state: v.Get("state"), challenge: v.Get("code_challenge"), scoped: v.Get("scope") != ""}
	if scopes, is := scope.ParseOpenID(v.Get("scope")); is && app.GitHubApp == 0 {
		if err := once(v, openidParams); err != nil {
			return nil, err
		}
		q.Scopes, q.OpenID = scopes, &OpenID{issuer: web.From(ctx).Site, nonce: v.Get("nonce"), maxAge: noAge}
	}
	return q, q.read(v, s.clock())
}

// once returns an error for a parameter that was sent twice. Error: 422.
func once(v url.Values, names []string) error {
	for _, name := range names {
		if len(v[name]) > 1 {
			return errs.Newf(errs.Invalid, "The parameter %s was sent more than once.", name)
		}
	}
	return nil
}

// activeApp finds an OAuth App whose owner is not suspended. Error: errs.Absent.
func activeApp(tx *db.Tx, client string) (*App, error) {
	a, err := appOf(tx, client)
	if err == nil && !a.Owner.SuspendedAt.IsZero() {
		err = errs.Absent()
	}
	return a, err
}

// read reads what does not decide where the answer goes. Error: a *RedirectError.
func (q *Request) read(v url.Values, now time.Time) (err error) {
	refuse := q.refuse
	if len(q.state) > maxState {
		q.state = ""
		return refuse("invalid_request", fmt.Sprintf("The state has at most %d bytes.", maxState))
	}
	if t := v.Get("response_type"); t != "" && t != "code" {
		return refuse("unsupported_response_type", "The response_type must be code.")
	}
	if q.App.GitHubApp != 0 {
		q.scoped = true // it has permissions, and no scopes
	} else if q.OpenID != nil {
		if err := q.readOpenID(v, now); err != nil {
			return err
		}
	} else if q.Scopes, err = scope.Parse(v.Get("scope")); err != nil {
		return refuse("invalid_scope", "The scopes requested are invalid.")
	}
	switch method := v.Get("code_challenge_method"); {
	case q.challenge == "" && method != "":
		return refuse("invalid_request", "A code_challenge_method needs a code_challenge.")
	case q.challenge != "" && method != "S256":
		return refuse("invalid_request", "The code_challenge_method must be S256.")
	case q.challenge != "" && !isSHA256(q.challenge):
		return refuse("invalid_request", "The code_challenge must be a SHA-256 in base64url without padding.")
	}
	switch q.Prompt {
	case "", "consent", "select_account":
		return nil
	}
	return refuse("invalid_request", "The prompt must be consent or select_account.")
}

// refuse returns an error of which the App is told.
func (q *Request) refuse(code, description string) error { return &RedirectError{code, description, q} }

// isSHA256 reports whether a text has the form of a challenge by S256.
func isSHA256(s string) bool {
	for i := range len(s) {
		if c := s[i]; !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return len(s) == sizeOfSHA256
}

// Again returns the request for another user: the App's parameters without the login and the prompt.
func Again(v url.Values) url.Values {
	out := url.Values{}
	for _, name := range slices.Concat(Params, openidParams) {
		if v.Get(name) != "" && name != "login" && name != "prompt" && name != AskedAt {
			out.Set(name, v.Get(name))
		}
	}
	return out
}

// Allowed reports whether the user allowed all of a request before, so that nobody needs to be asked. If the App
// asked for no scopes, it gets those that it has.
func (s *Service) Allowed(ctx context.Context, caller *account.Caller, q *Request) (bool, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (bool, error) {
		before, err := token.GrantOf(tx, q.App.ID, caller.ID)
		if err != nil {
			return false, err
		}
		if before.ID != 0 && !q.scoped {
			q.Scopes = before.Scopes
		}
		return before.Covers(q.App.ofToken(), q.Scopes), nil
	})
}

// Authorize allows an App what it asks for, and returns the address to which the browser brings the code. seen are
// the permissions of a GitHub App that the caller saw, as a text. Errors: 403 for a caller who did not sign in with
// a password, 404 for an App that is gone meanwhile, 409 for one that asks for other permissions now, and for a
// request without asking that is not covered any more.
func (s *Service) Authorize(
	ctx context.Context, caller *account.Caller, q *Request, seen string,
) (address string, err error) {
	if err := token.MayAllow(caller); err != nil {
		return "", err
	}
	var random [20]byte
	rand.Read(random[:])
	code := hex.EncodeToString(random[:])
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		// Codes of one user are made one after another, and none while the user's sessions end.
		if err := account.HoldID(tx, caller.ID); err != nil {
			return err
		}
		app, err := activeApp(tx, q.App.ClientID)
		if err != nil {
			return err
		}
		if _, ok := app.callback(q.Redirect); !ok {
			return errs.Newf(errs.Invalid, "The redirect_uri is not one that %s registered.", app.Name)
		}
		by, err := account.ByID(tx, caller.ID)
		if err != nil {
			return err
		}
		if seen != app.Permissions.String() {
			return token.Unseen()
		}
		if q.WithoutAsking {
			if err := covered(tx, app, by, q); err != nil {
				return err
			}
		}
		grant, err := token.Allow(tx, app.ofToken(), by, q.Scopes)
		if err != nil {
			return err
		}
		var shown session.Shown
		if q.OpenID != nil {
			if shown, err = session.ShownIn(tx, caller.TokenID); err != nil {
				return err
			}
		}
		return insertCode(tx, grant, code, q, shown)
	})
	if err != nil {
		return "", err
	}
	return q.back(url.Values{"code": {code}}), nil
}

// covered returns 409 unless the user allowed all of a request before: the user may have revoked that since the
// page was opened.
func covered(tx *db.Tx, app *App, by *account.Account, q *Request) error {
	before, err := token.GrantOf(tx, app.ID, by.ID)
	if err == nil && !before.Covers(app.ofToken(), q.Scopes) {
		err = errs.New(errs.Conflict, "What you allowed this program was revoked meanwhile.")
	}
	return err
}
