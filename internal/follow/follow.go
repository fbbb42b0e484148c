// Package follow is who follows whom, of table followers. The counters of both sides stand in table accounts.
//
//   - follow.go: the operations
//   - store.go: the SQL
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

// side is one of the two lists of an account.
type side bool

const (
	followers side = false
	following side = true
)

// list lists a page of one side of an account, and returns how many are
// there. Errors: errs.Absent when nobody has the login.
func (s *Service) list(
	ctx context.Context, login string, of side, p web.Page,
) (found []*account.Account, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found = nil
		a, err := account.ByLogin(tx, login)
		if err != nil {
			return err
		}
		read := followersOf
		if total = a.Followers; of == following {
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

// check returns errs.Absent unless one account follows the other.
func (s *Service) check(ctx context.Context, login, target string) error {
	if !account.Plausible(login) || !account.Plausible(target) {
		return errs.Absent()
	}
	return s.db.Read(ctx, func(tx *db.Tx) error {
		ok, err := follows(tx, login, target)
		if err == nil && !ok {
			return errs.Absent()
		}
		return err
	})
}

// Follow follows or unfollows an account for the caller. Repeating
// either changes nothing. Errors: errs.Absent for an unknown login;
// errs.Invalid for following oneself.
func (s *Service) Follow(ctx context.Context, caller *account.Caller, target string, on bool) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		to, err := account.ByLogin(tx, target)
		switch {
		case err != nil:
			return err
		case !on:
			return dropFollower(tx, caller.ID, to.ID)
		case to.ID == caller.ID:
			return errs.New(errs.Invalid, "You cannot follow yourself")
		}
		return putFollower(tx, caller.ID, to.ID)
	})
}
