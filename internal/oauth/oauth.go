// Package oauth is OAuth Apps: programs to which users give tokens with scopes, by a page of this server. GitHub Apps
// that sign users in are such programs, too: their tokens have no scopes, and do what both the user and the App may.
//
//	oauth.go      what an OAuth App is, and what people say of one
//	callback.go   the addresses to which codes may go
//	manage.go     OAuth Apps are made, changed, handed over and removed
//	authorize.go  what an App asks for, and the code for it: the page is in package page/signin
//	openid.go     what it asks for besides by OpenID Connect, whose answers are room openid's
//	exchange.go   a code becomes a token
//	refresh.go    a refresh token of a GitHub App becomes the next pair
//	approval.go   organizations that must approve an OAuth App; storeapproval.go: oauth_restrictions, oauth_approvals
//	githubapp.go  how a GitHub App signs users in; package app asks who may change that
//	grant.go      what users allowed, as they see and revoke it
//	store.go      the SQL of tables oauth_apps and oauth_secrets; storegrant.go of oauth_grants and oauth_codes
//	given.go      tokens as their App sees, resets and ends them
//	api.go        POST /login/oauth/access_token and /login/device/code; encoding.go: what these read and answer
//	apirfc.go     POST /login/oauth/token, and errors by the standards
//	apitoken.go   /applications/{client_id}/token and grant, for the App itself
//
// A code is bound to the App, the user, the address to which it went and the challenge of PKCE. It is redeemed once,
// within ten minutes, with a secret of the App. Tokens are rows of tokens (package token), each of a grant: what
// removes the grant, the App or its owner ends them. The device flow is package token's.
package oauth

import (
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// Bounds of OAuth Apps.
const (
	maxOwned       = 100  // of one account, as at GitHub
	maxSecrets     = 10   // of one App
	maxCallbacks   = 10   // of one App
	maxAddress     = 1000 // bytes
	maxName        = 100  // characters
	maxDescription = 1000 // characters
)

// App is an OAuth App.
type App struct {
	ID       account.OAuthAppID
	Owner    *account.Account
	ClientID string
	About
	GitHubApp   account.AppID     // 0: it is an OAuth App
	Permissions scope.Permissions // of a GitHub App: all that it asks for
	CreatedAt   db.Time
	UpdatedAt   db.Time
}

// About is what the owner says of an OAuth App.
type About struct {
	Name        string
	Description string // may be empty
	Homepage    string
	Callbacks   []string // codes go to these addresses alone
	DeviceFlow  bool     // it may use the device flow

	// Of GitHub Apps alone.
	Keeps     bool // tokens do not expire
	OnInstall bool // who installs the App authorizes it, too
}

// ofToken is the App as package token knows it.
func (a *App) ofToken() *token.OAuthApp {
	return &token.OAuthApp{ID: a.ID, Name: a.Name, DeviceFlow: a.DeviceFlow, GitHubApp: a.GitHubApp, Keeps: a.Keeps,
		Permissions: a.Permissions}
}

// check completes what was said of an App and validates it. Errors: 422.
func (a *About) check() error {
	a.Name, a.Description, a.Homepage = strings.TrimSpace(a.Name), strings.TrimSpace(a.Description),
		strings.TrimSpace(a.Homepage)
	switch u, err := url.Parse(a.Homepage); {
	case a.Name == "" || !utf8.ValidString(a.Name) || account.HasControl(a.Name):
		return errs.New(errs.Invalid, "an OAuth App has a name, in one line")
	case utf8.RuneCountInString(a.Name) > maxName:
		return errs.Newf(errs.Invalid, "the name has %d characters at most", maxName)
	case !utf8.ValidString(a.Description) || strings.IndexByte(a.Description, 0) >= 0 ||
		utf8.RuneCountInString(a.Description) > maxDescription:
		return errs.Newf(errs.Invalid, "the description is a text of at most %d characters", maxDescription)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(a.Homepage) > maxAddress ||
		account.HasControl(a.Homepage):
		return errs.New(errs.Invalid, "the homepage must be an address that begins with http:// or https://")
	case len(a.Callbacks) == 0:
		return errs.Newf(errs.Invalid, "an OAuth App has from 1 to %d callback addresses", maxCallbacks)
	}
	return checkCallbacks(a.Callbacks)
}

// checkCallbacks returns an error for addresses that cannot be registered. Errors: 422.
func checkCallbacks(list []string) error {
	if len(list) > maxCallbacks {
		return errs.Newf(errs.Invalid, "an App has %d callback addresses at most", maxCallbacks)
	}
	for _, c := range list {
		if err := checkCallback(c); err != nil {
			return err
		}
	}
	return nil
}

// record notes what happens to an App at its owner.
func (a *App) record(tx *db.Tx, action audit.Action, changes map[string]any) error {
	if changes == nil {
		changes = map[string]any{}
	}
	changes["oauth_app_id"], changes["application"] = a.ID, a.Name
	if a.GitHubApp != 0 {
		changes["app_id"] = a.GitHubApp
	}
	e := audit.Entry{Action: action, User: a.Owner.Audited(), Changes: changes}
	if a.Owner.Kind == account.Organization {
		e.Org, e.User = a.Owner.Audited(), audit.Named{}
	}
	return audit.Record(tx, e)
}

// Service has the operations on OAuth Apps. Safe for concurrent use.
type Service struct {
	db    *db.DB
	clock func() time.Time // when a code is redeemed; tests in this package set it

	// TellRevoked tells a GitHub App that a user no longer allows it anything, in the transaction; nil: nobody is
	// told.
	TellRevoked func(tx *db.Tx, app account.AppID, by account.ID) error
}

// New returns the service.
func New(d *db.DB) *Service { return &Service{db: d, clock: time.Now} }
