package oidc

import (
	"context"
	"encoding/json"

	oidclib "github.com/coreos/go-oidc/v3/oidc"

	"arbor/internal/account/session"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// signOutEvent is the member of "events" that makes a token a logout token.
const signOutEvent = "http://schemas.openid.net/event/backchannel-logout"

// maxToken bounds a logout token, in bytes.
const maxToken = 16 << 10

// maxSession bounds the name of a provider's session, in bytes. A longer one is not kept, as if there were none.
const maxSession = 255

// SignOut ends the sessions that a provider names in a logout token (OpenID Connect Back-Channel Logout 1.0): those of a
// session there, or all of a user there. A token counts for two minutes, as much as clocks may differ, and ends
// only sessions that began by then. Errors: 404; 422 for a token that does not count; 503.
func (s *Service) SignOut(ctx context.Context, name, text string, from session.Origin) error {
	p := s.provider(name)
	if p == nil {
		return errs.Absent()
	}
	if text == "" || len(text) > maxToken {
		return errs.New(errs.Invalid, "logout_token is missing or too long.")
	}
	found, err := p.discover(ctx)
	if err != nil {
		return err
	}
	verifier := found.Verifier(&oidclib.Config{ClientID: p.ClientID, SkipExpiryCheck: true, Now: s.now})
	token, err := verifier.Verify(ctx, text)
	if err != nil {
		return refused(p, "sent a logout token that does not count", err)
	}
	var claims struct {
		Session string                     `json:"sid"`
		Nonce   json.RawMessage            `json:"nonce"`
		Events  map[string]json.RawMessage `json:"events"`
	}
	if err := token.Claims(&claims); err != nil {
		return refused(p, "sent a logout token that cannot be read", err)
	}
	now, expires := s.now(), token.IssuedAt.Add(skew)
	switch {
	case claims.Events[signOutEvent] == nil || claims.Nonce != nil: // an ID token is no logout token
		return refused(p, "sent a token that is no logout token", nil)
	case token.IssuedAt.IsZero() || now.Before(token.IssuedAt.Add(-skew)) || now.After(expires),
		!token.Expiry.IsZero() && now.After(token.Expiry.Add(skew)):
		return refused(p, "sent a logout token of another time: do the clocks of both servers agree?", nil)
	case token.Subject == "" && claims.Session == "":
		return refused(p, "sent a logout token that names neither a user nor a session", nil)
	}
	return s.endSessions(ctx, p, session.AtProvider{Way: p.Way, Issuer: p.Issuer, Subject: token.Subject,
		Session: claims.Session, Before: db.FromTime(expires)}, from)
}

// Leave ends the sessions of a session at a provider, which the provider's page names in a frame (OpenID Connect
// Front-Channel Logout 1.0). The browser sends no cookie there, so the name of the session, a secret of the provider and
// its user, is what counts. Errors: 404; 422.
func (s *Service) Leave(ctx context.Context, name, issuer, sid string, from session.Origin) error {
	p := s.provider(name)
	if p == nil {
		return errs.Absent()
	}
	if issuer != p.Issuer || sid == "" || len(sid) > maxSession {
		return errs.New(errs.Invalid, "iss and sid must name the provider and its session.")
	}
	return s.endSessions(ctx, p, session.AtProvider{Way: p.Way, Issuer: p.Issuer, Session: sid,
		Before: db.FromTime(s.now())}, from)
}

func (s *Service) endSessions(ctx context.Context, p *Provider, at session.AtProvider, from session.Origin) error {
	actor := audit.Actor{Login: p.Name, Right: audit.Process}
	if from.Address.IsValid() {
		actor.Address = from.Address.String()
	}
	some, err := db.Get(ctx, s.db, func(tx *db.Tx) (bool, error) { return session.KnownAtProvider(tx, at) })
	if err != nil || !some {
		return err
	}
	return s.db.WriteAs(audit.With(ctx, actor), db.Server, func(tx *db.Tx) error {
		return session.EndAtProvider(tx, at)
	})
}
