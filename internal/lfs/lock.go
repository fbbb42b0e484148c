package lfs

import (
	"context"
	"strings"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// Bounds of locks.
const (
	maxLocks    = 5000 // of a repository
	maxLockPath = 4096 // bytes of a path
)

// Lock is a row of the table lfs_locks.
type Lock struct {
	ID       int64
	Path     string
	OwnerID  account.ID
	Owner    string // login
	LockedAt db.Time
}

// checkPath returns an error unless a path can be that of a file in a repository. Error: 422.
func checkPath(path string) error {
	wrong := path == "" || len(path) > maxLockPath || !utf8.ValidString(path) || strings.ContainsAny(path, "\x00\n")
	for part := range strings.SplitSeq(path, "/") {
		wrong = wrong || part == "" || part == "." || part == ".."
	}
	if wrong {
		return errs.New(errs.Invalid, "path must be the path of a file from the root of the repository")
	}
	return nil
}

// errLocked says that a path is locked already.
type errLocked struct{ by Lock }

func (e *errLocked) Error() string { return "The file is already locked by " + e.by.Owner + "." }

// CreateLock locks a path for the caller. Errors: *errLocked; 403 without push access; 422 for a path that is none, and
// for too many locks.
func (s *Service) CreateLock(ctx context.Context, a *repo.Access, path string) (*Lock, error) {
	if err := a.Require(account.Push); err != nil {
		return nil, err
	}
	if err := checkPath(path); err != nil {
		return nil, err
	}
	made := &Lock{Path: path, OwnerID: a.Caller.ID, Owner: a.Caller.Login}
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		there, err := locksOn(tx, a.ID, []string{path})
		if err != nil {
			return err
		}
		if len(there) > 0 {
			return &errLocked{there[0]}
		}
		n, err := countLocks(tx, a.ID)
		if err != nil {
			return err
		}
		if n >= maxLocks {
			return errs.Newf(errs.Invalid, "A repository may have at most %d locks.", maxLocks)
		}
		made.LockedAt = tx.Now
		return insertLock(tx, a.ID, made)
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// Unlock removes a lock. With force, those who maintain the repository remove locks of others. Errors: 403, 404.
func (s *Service) Unlock(ctx context.Context, a *repo.Access, id int64, force bool) (*Lock, error) {
	if err := a.Require(account.Push); err != nil {
		return nil, err
	}
	var removed *Lock
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		l, err := lockByID(tx, a.ID, id)
		if err != nil {
			return err
		}
		if l.OwnerID != a.Caller.ID {
			now, err := a.Now(tx)
			switch {
			case err != nil:
				return err
			case now.Role < account.Maintain:
				return errs.Newf(errs.Forbidden, "The file is locked by %s. Those who maintain the repository may "+
					"unlock it by force.", l.Owner)
			case !force:
				return errs.Newf(errs.Forbidden, "The file is locked by %s: unlock it with --force.", l.Owner)
			}
		}
		removed = l
		return removeLock(tx, id)
	})
	return removed, err
}
