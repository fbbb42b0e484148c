// Package oidc signs people in with identities of other servers, by OpenID Connect: Arbor is the client here.
//
//	config.go     the file that names the providers, and who may sign in with a password
//	provider.go   a provider as the network shows it: discovery, keys, exchange, what its tokens say
//	flow.go       leading a browser to a provider, and what it brings back
//	signin.go     from an identity to an account and a session; linking and unlinking
//	groups.go     groups of a provider become memberships, teams and administrators
//	store.go      the SQL of table identities
//
// An identity is an issuer and a subject, never an address or a login: an account has one only because it was made with
// it, or because its user linked it. State, nonce and the verifier of PKCE follow from a secret in a cookie of the browser, so an
// answer counts in the browser that asked, once, for the provider and the account that were meant; the server keeps nothing
// until somebody has signed in.
//
// What becomes of identities and sessions:
//
//	an identity is unlinked        all other sessions of the account end
//	the account is suspended       its identities sign nobody in, and work again afterwards
//	the account is renamed         nothing; nor if the provider names its user differently
//	the account is deleted         they go; the provider's user may get a new account
//	a provider leaves the file     nobody signs in with it; sessions go on until they end; identities stay
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
