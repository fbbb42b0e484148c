// Package oidc implements sign-in with OpenID Connect. Arbor is the client; package external links the identities with
// accounts.
//
//	config.go     what the operator's file says of a provider
//	provider.go   discovery, keys, code exchange and validation of tokens
//	flow.go       redirects to a provider and its callback
//	signout.go    sessions that a provider ends, by back channel and front channel
//
// State, nonce and the PKCE verifier are derived from a secret in a cookie, which binds a callback to one browser,
// provider and account. The server stores nothing until sign-in is complete. When a provider ends a session, the sessions
// that it made end, if the provider tells so.
package oidc

import (
	"context"
	"time"

	"arbor/internal/account/session"
	"arbor/internal/db"
	"arbor/internal/external"
)

// Service signs in with providers, and links identities with accounts. Safe for concurrent use.
type Service struct {
	*external.Service
	providers []*Provider
	db        *db.DB
	sessions  *session.Service
	now       func() time.Time
}

// Options are what the service works with.
type Options struct {
	Providers []*Provider
	Accounts  *external.Service
	DB        *db.DB
	Sessions  *session.Service
	Now       func() time.Time
}

// New returns the service.
func New(o Options) *Service { return &Service{o.Accounts, o.Providers, o.DB, o.Sessions, o.Now} }

// Providers are those that people may sign in with.
func (s *Service) Providers() []*Provider { return s.providers }

// provider finds one by its name; nil: there is none.
func (s *Service) provider(name string) *Provider {
	for _, p := range s.providers {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Identity is who somebody is, as a provider says.
type Identity struct {
	external.Identity
	Session string    // the provider's, which it names when it ends; may be empty
	ShownAt time.Time // when the user showed to the provider who it is; zero: not told
}

// SignIn starts a session of the account of an identity, which is made first where the provider says so, after the
// account got what its groups give it, and lost the rest. Errors: 403 for an identity without an account, and for a
// suspended account; 422 for a login that cannot be used.
func (s *Service) SignIn(ctx context.Context, i *Identity, from session.Origin) (value string, err error) {
	a, again, err := s.Enter(ctx, &i.Identity, from)
	if err != nil {
		return "", err
	}
	by := session.Recognized{Way: i.Source.Way, At: s.shownAt(i), Session: i.Session}
	return s.sessions.SignInWith(ctx, a.Login, by, from, again)
}

// shownAt is when the user of an identity showed to its provider who it is; zero: it does not tell, and that counts as
// now.
func (s *Service) shownAt(i *Identity) db.Time {
	if i.ShownAt.IsZero() {
		return 0
	}
	return min(db.FromTime(i.ShownAt), db.FromTime(s.now()))
}
