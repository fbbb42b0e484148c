package oauth

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Grants lists what the caller allowed OAuth Apps, the newest first.
func (s *Service) Grants(ctx context.Context, caller *account.Caller) ([]*Grant, error) {
	return read(ctx, s.db, func(tx *db.Tx) ([]*Grant, error) { return grantsOf(tx, caller.ID) })
}

// Revoke ends what the caller allowed an OAuth App, with its tokens and codes. Error: 404.
func (s *Service) Revoke(ctx context.Context, caller *account.Caller, id account.GrantID) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		if err := account.HoldID(tx, caller.ID); err != nil {
			return err
		}
		name, err := grantBy(tx, id, caller.ID)
		if err != nil {
			return err
		}
		return endGrant(tx, id, caller.ID, map[string]any{"application": name})
	})
}

// endGrant ends a grant and records it.
func endGrant(tx *db.Tx, id account.GrantID, of account.ID, told map[string]any) error {
	by, err := account.ByID(tx, of)
	if err != nil {
		return err
	}
	if err := token.EndGrant(tx, id); err != nil {
		return err
	}
	return account.Record(tx, audit.OAuthDestroy, by, audit.Self, told)
}

// Held is a token of an OAuth App with what belongs to it, as the App is shown it.
type Held struct {
	*token.OAuthToken
	App   *App
	User  *account.Account
	Value string
}

// Check finds a token of a client. Errors: 401 for a wrong client, 404 for a token that is none of it or not in force.
func (s *Service) Check(ctx context.Context, c Client, value string) (*Held, error) {
	return read(ctx, s.db, func(tx *db.Tx) (*Held, error) { return held(tx, c, value) })
}

func held(tx *db.Tx, c Client, value string) (h *Held, err error) {
	h = &Held{Value: value}
	if h.App, _, err = authenticate(tx, c); errs.Is(err, errs.NotFound) {
		return nil, account.BadCredentials()
	}
	if err != nil {
		return nil, err
	}
	if h.OAuthToken, err = token.FindOAuthToken(tx, h.App.ID, value); err != nil {
		return nil, err
	}
	h.User, err = account.ByID(tx, h.Account)
	return h, err
}

// Reset gives a token of a client another value. Errors: as those of Check.
func (s *Service) Reset(ctx context.Context, c Client, value, address string) (h *Held, err error) {
	return h, s.onToken(ctx, c, value, address, func(tx *db.Tx, now *Held) error {
		if now.Value, err = token.ResetOAuthToken(tx, now.ID); err != nil {
			return err
		}
		h = now
		return account.Record(tx, audit.OAuthAccessRegenerate, h.User, audit.Self, h.told())
	})
}

// End ends a token of a client. Errors: as those of Check.
func (s *Service) End(ctx context.Context, c Client, value, address string) error {
	return s.onToken(ctx, c, value, address, func(tx *db.Tx, h *Held) error {
		if err := token.EndOAuthToken(tx, h.ID); err != nil {
			return err
		}
		return account.Record(tx, audit.OAuthAccessDestroy, h.User, audit.Self, h.told())
	})
}

// EndGrant ends all that the user of a client's token allowed the client. Errors: as those of Check.
func (s *Service) EndGrant(ctx context.Context, c Client, value, address string) error {
	return s.onToken(ctx, c, value, address, func(tx *db.Tx, h *Held) error {
		return endGrant(tx, h.Grant, h.Account, map[string]any{"application": h.App.Name})
	})
}

func (h *Held) told() map[string]any {
	return map[string]any{"token_id": h.ID, "application": h.App.Name, "oauth_app_id": h.App.ID}
}

// onToken runs fn on a token of a client. The audit log names the client's owner as who did it.
func (s *Service) onToken(
	ctx context.Context, c Client, value, address string, fn func(*db.Tx, *Held) error,
) error {
	before, err := s.Check(ctx, c, value)
	if err != nil {
		return err
	}
	ctx = audit.With(ctx, audit.Actor{ID: int64(before.App.Owner.ID), Login: before.App.Owner.Login,
		Address: address, Right: audit.Self})
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		if err := account.HoldID(tx, before.Account); err != nil {
			return err
		}
		h, err := held(tx, c, value)
		if err != nil {
			return err
		}
		return fn(tx, h)
	})
}
