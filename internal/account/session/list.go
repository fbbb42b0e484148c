package session

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
)

// Sessions lists the sessions of the caller that have not ended, the newest first.
func (s *Service) Sessions(ctx context.Context, of *account.Caller) (list []Session, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]Session, error) { return sessionsOf(tx, of.ID) })
}

// EndSession ends one of the caller's sessions, from the next request on in any process. Error: 404.
func (s *Service) EndSession(ctx context.Context, of *account.Caller, id int64) error {
	return s.db.WriteAs(ctx, of, func(tx *db.Tx) error {
		if err := tx.Check(); err != nil { // now: it may be the session of this request
			return err
		}
		a, err := account.ByID(tx, of.ID)
		if err != nil {
			return err
		}
		if err := endSession(tx, of.ID, id); err != nil {
			return err
		}
		return account.Record(tx, audit.UserLogout, a, "", map[string]any{"token_id": id})
	})
}

// EndOtherSessions ends all sessions of the caller but the one that it uses.
func (s *Service) EndOtherSessions(ctx context.Context, of *account.Caller) error {
	return s.db.WriteAs(ctx, of, func(tx *db.Tx) error {
		if err := account.HoldID(tx, of.ID); err != nil {
			return err
		}
		a, err := account.ByID(tx, of.ID)
		if err != nil {
			return err
		}
		if err := endSessions(tx, of.ID, of.TokenID); err != nil {
			return err
		}
		return account.Record(tx, audit.UserLogout, a, "", map[string]any{"all_but": of.TokenID})
	})
}
