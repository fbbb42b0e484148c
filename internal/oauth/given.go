package oauth

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// Given is a token in force, as the OAuth App that has it sees it.
type Given struct {
	ID        int64
	App       *App
	User      *account.Account
	Token     string
	Scopes    scope.Set
	CreatedAt db.Time
	ExpiresAt db.Time // zero: never

	grant account.GrantID
}

// CheckToken finds a token of an OAuth App. Errors: 401 for a wrong client, 404 for a token that is not in force or is
// not the App's.
func (s *Service) CheckToken(ctx context.Context, c Client, value string) (*Given, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Given, error) {
		g, _, err := givenTo(tx, c, value)
		return g, err
	})
}

// givenTo finds a token of a client, and the client's secret. Errors: 401, 404.
func givenTo(tx *db.Tx, c Client, value string) (g *Given, secret int64, err error) {
	app, secret, err := authenticate(tx, c)
	if errs.Is(err, errs.NotFound) {
		return nil, 0, account.BadCredentials()
	}
	if err != nil {
		return nil, 0, err
	}
	g, err = tokenOf(tx, app, value)
	return g, secret, err
}

// ResetToken replaces a token of an OAuth App by a new one with the same scopes. Errors: as those of CheckToken.
func (s *Service) ResetToken(ctx context.Context, c Client, value string) (g *Given, err error) {
	err = s.changeGiven(ctx, c, value, func(tx *db.Tx, found *Given) error {
		g = found
		made, err := token.ResetOAuthToken(tx, g.App.ofToken(), g.ID)
		if err != nil {
			return err
		}
		g.Token, g.CreatedAt, g.ExpiresAt = made.Value, tx.Now, made.Expiry(tx.Now)
		return account.Record(tx, audit.OAuthAccessReset, g.User, audit.Self, g.told())
	})
	return g, err
}

// EndToken ends a token of an OAuth App. Errors: as those of CheckToken.
func (s *Service) EndToken(ctx context.Context, c Client, value string) error {
	return s.changeGiven(ctx, c, value, func(tx *db.Tx, g *Given) error {
		if err := token.EndOAuthToken(tx, g.ID); err != nil {
			return err
		}
		return account.Record(tx, audit.OAuthAccessDestroy, g.User, audit.Self, g.told())
	})
}

// EndGrant ends what the user of a token allowed its OAuth App. Errors: as those of CheckToken.
func (s *Service) EndGrant(ctx context.Context, c Client, value string) error {
	return s.changeGiven(ctx, c, value, func(tx *db.Tx, g *Given) error {
		return s.endGrant(tx, g.grant, g.User, g.told())
	})
}

// told is what the audit log tells of the token. Its actor is the user, for whom the App acts.
func (g *Given) told() map[string]any {
	return map[string]any{"token_id": g.ID, "application": g.App.Name, "oauth_app_id": g.App.ID, "by": "the application"}
}

// changeGiven runs fn on a token of a client while the row of its user is held.
func (s *Service) changeGiven(
	ctx context.Context, c Client, value string, fn func(tx *db.Tx, g *Given) error,
) error {
	g, err := s.CheckToken(ctx, c, value)
	if err != nil {
		return err
	}
	i := web.From(ctx)
	by := audit.Actor{ID: int64(g.User.ID), Login: g.User.Login, Right: audit.Self, Request: i.ID}
	if i.From.IsValid() {
		by.Address = i.From.String()
	}
	return s.db.WriteAs(audit.With(ctx, by), db.Server, func(tx *db.Tx) error {
		if err := account.HoldID(tx, g.User.ID); err != nil {
			return err
		}
		now, secret, err := givenTo(tx, c, value)
		if err != nil {
			return err
		}
		if err := fn(tx, now); err != nil {
			return err
		}
		return noteSecret(tx, secret)
	})
}
