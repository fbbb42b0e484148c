// Package follow stores who follows whom, in table followers. The counters of both sides are in table accounts.
//
//   - follow.go: the operations; loadmany.go: those on many accounts
//   - store.go, storemany.go: the SQL
//   - api.go, routes.go: the handlers
package follow

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Service follows and lists.
type Service struct{ db *db.DB }

// New returns a Service on a database.
func New(d *db.DB) *Service { return &Service{d} }

// Side is one of the two lists of an account.
type Side bool

// The sides.
const (
	Followers Side = false
	Following Side = true
)

// List lists a page of one side of an account, and returns how many are
// there. Errors: errs.Absent when nobody has the login.
func (s *Service) List(
	ctx context.Context, login string, of Side, p web.Page,
) (found []*account.Account, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found = nil
		a, err := account.ByLogin(tx, login)
		if err != nil {
			return err
		}
		read := followersOf
		if total = a.Followers; of == Following {
			total, read = a.Following, followedBy
		}
		if p.Offset() >= total {
			return nil
		}
		found, err = read(tx, a.ID, p)
		return err
	})
	return found, total, err
}

// Follows reports whether one account follows the other.
func (s *Service) Follows(ctx context.Context, login, target string) (does bool, err error) {
	if !account.Plausible(login) || !account.Plausible(target) {
		return false, nil
	}
	return db.Get(ctx, s.db, func(tx *db.Tx) (bool, error) { return follows(tx, login, target) })
}

// Follow follows or unfollows an account for the caller. Repeating
// either changes nothing. Errors: errs.Absent for an unknown login;
// errs.Invalid for following oneself.
func (s *Service) Follow(ctx context.Context, caller *account.Caller, target string, on bool) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		to, err := account.ByLogin(tx, target)
		switch {
		case err != nil:
			return err
		case !on:
			return dropFollower(tx, caller.ID, to.ID)
		case to.Kind == account.Mannequin:
			return errs.Absent()
		case to.ID == caller.ID:
			return errs.New(errs.Invalid, "You cannot follow yourself")
		}
		return putFollower(tx, caller.ID, to.ID)
	})
}
