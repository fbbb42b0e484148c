package oauth

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/audit"
	"arbor/internal/db"
)

// Grants lists what the caller allowed OAuth Apps, the newest first.
func (s *Service) Grants(ctx context.Context, caller *account.Caller) ([]*Grant, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]*Grant, error) { return grantsOf(tx, caller.ID) })
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
		by, err := account.ByID(tx, caller.ID)
		if err != nil {
			return err
		}
		return s.endGrant(tx, id, by, map[string]any{"application": name})
	})
}

// endGrant ends a grant of a user, records it, and tells the App if it is a GitHub App.
func (s *Service) endGrant(tx *db.Tx, id account.GrantID, by *account.Account, told map[string]any) error {
	app, err := githubAppOf(tx, id)
	if err == nil && app != 0 && s.TellRevoked != nil {
		err = s.TellRevoked(tx, app, by.ID)
	}
	if err != nil {
		return err
	}
	if err := token.EndGrant(tx, id); err != nil {
		return err
	}
	return account.Record(tx, audit.OAuthDestroy, by, audit.Self, told)
}
