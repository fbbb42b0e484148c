package account

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// side is one of the two lists of an account.
type side bool

const (
	followers side = false
	following side = true
)

// listFollow lists a page of one side of an account, and tells how many are
// there. Errors: errs.Absent when nobody has the login.
func (s *Service) listFollow(
	ctx context.Context, login string, of side, p web.Page,
) (list []*Account, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list = nil
		a, err := ByLogin(tx, login)
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
		list, err = read(tx, a.ID, p)
		return err
	})
	return list, total, err
}

// checkFollows returns errs.Absent unless one account follows the other.
func (s *Service) checkFollows(ctx context.Context, login, target string) error {
	if !plausible(login) || !plausible(target) {
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

// Follow makes the caller follow an account, or ends that. Either is done
// already when it is said again. Errors: errs.Absent when nobody has the login;
// errs.Invalid for following oneself.
func (s *Service) Follow(ctx context.Context, caller *Caller, target string, on bool) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		to, err := ByLogin(tx, target)
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
