// Package oidc implements sign-in with OpenID Connect. Arbor is the client.
//
//	config.go     the configuration file: providers, and accounts that may use passwords
//	provider.go   discovery, keys, code exchange and validation of tokens
//	flow.go       redirects to a provider and its callback
//	signin.go     accounts and sessions for identities; linking and unlinking
//	signout.go    sessions that a provider ends, by back channel and front channel
//	groups.go     group claims as memberships, teams and administrators
//	store.go      the SQL of table identities
//
// An identity is an issuer and a subject. It is never matched to an account by email address or login: it belongs to
// the account that was created with it or whose user linked it. State, nonce and the PKCE verifier are derived from a
// secret in a cookie, which binds a callback to one browser, provider and account. The server stores nothing until
// sign-in is complete.
//
// Transitions:
//
//	an identity is unlinked        all other sessions of the account end
//	the provider ends a session    the sessions that it made end, if the provider tells so
//	the account is suspended       sign-in fails until the suspension ends
//	the account is renamed         no effect, also when the provider renames its user
//	the account is deleted         its identities are deleted; the provider's user may get a new account
//	a provider is removed          sign-in with it fails; sessions and identities stay
//	a group is left                its memberships end at the next sign-in
package oidc

import (
	"log/slog"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/db"
	"arbor/internal/team"
)

// Service signs in with providers. Safe for concurrent use.
type Service struct {
	config   *Config
	db       *db.DB
	accounts *account.Service
	teams    *team.Service
	sessions *session.Service
	log      *slog.Logger
	now      func() time.Time
}

// Options are what the service works with.
type Options struct {
	Config   *Config // nil: there are no providers
	DB       *db.DB
	Accounts *account.Service
	Teams    *team.Service
	Sessions *session.Service
	Log      *slog.Logger
	Now      func() time.Time
}

// New returns the service, and has sessions refuse the passwords that the configuration does.
func New(o Options) *Service {
	if o.Config == nil {
		o.Config = &Config{}
	}
	o.Sessions.RefusesPassword = o.Config.refusesPassword
	return &Service{o.Config, o.DB, o.Accounts, o.Teams, o.Sessions, o.Log, o.Now}
}

// Providers are those that people may sign in with.
func (s *Service) Providers() []*Provider { return s.config.Providers }

// Passwords reports whether everybody may sign in with a password.
func (s *Service) Passwords() bool { return s.config.Passwords == nil }
