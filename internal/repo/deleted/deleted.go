// Package deleted implements deleted repositories that can be restored.
//
//	deleted.go   listing them, restoring one, removing one for good
//	store.go     the SQL
//
// Package forge hides a repository that is deleted, as its function retire says, and keeps it here until it is
// due. Then package deletion removes it. Meanwhile nobody sees it, site administrators included, its address is
// free, and it counts in no quota; [Keep] bounds how much of an owner is kept.
//
//	its owner is renamed             it is listed under the new name
//	its owner is deleted             it becomes ghost's and is removed at once, as all that the account had
//	its owner leaves the company     it stays: an organization's belong to the owners of the organization
//	a collaborator or team is gone   it has no role in it when it is restored; who stayed has the role of before
//	another gets its name            it is restored under another name
//	it was forked, or is a fork      it was cut out of its network and is restored without a parent; a private fork
//	                                 is not kept, since only those who see its root may have it
//
// A restored repository has its refs, issues, pull requests, releases, stars, collaborators, teams, rules and
// webhooks. What is not restored: former names, deploy keys, invitations, tokens and installations that were limited
// to it, and the heads of pull requests between it and its forks, which were closed.
package deleted

import (
	"context"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Time is how long deleted repositories are kept, unless the operator says otherwise.
const Time = 30 * 24 * time.Hour

// most is how many deleted repositories of an owner are kept. The oldest are removed first.
const most = 100

// Repo is a deleted repository.
type Repo struct {
	ID        repo.ID
	Owner     string // its login
	Name      string // that the repository had
	Private   bool   // what it was
	KB        int64  // its size with its files, in KiB
	DeletedAt db.Time
	DueAt     db.Time // when it is removed
}

// FullName returns OWNER/NAME as it was.
func (r *Repo) FullName() string { return r.Owner + "/" + r.Name }

// Forge restores and removes what other features hold of a repository.
type Forge interface {
	// Restore gives a hidden repository its name and visibility back. by is nil for the operator.
	// Error: 422 if the name is taken.
	Restore(tx *db.Tx, r *repo.Repo, name string, private bool, by *account.Caller) error
}

// Service restores deleted repositories.
type Service struct {
	For time.Duration // how long deleted repositories are kept; 0: they are removed at once

	db    *db.DB
	repos *repo.Service
	forge Forge
}

// New returns a Service that keeps nothing.
func New(d *db.DB, repos *repo.Service, forge Forge) *Service {
	return &Service{db: d, repos: repos, forge: forge}
}

// Days returns the time for which deleted repositories are kept, in days, rounded up.
func (s *Service) Days() int64 {
	const day = 24 * time.Hour
	return int64((s.For + day - 1) / day)
}

// List returns a page of the deleted repositories that the caller may restore, the last deleted first, and whether
// more follow: those of the caller and of the organizations that the caller owns.
func (s *Service) List(ctx context.Context, caller *account.Caller, at web.Page) (l []Repo, more bool, err error) {
	l, err = db.Get(ctx, s.db, func(tx *db.Tx) ([]Repo, error) { return list(tx, account.IDOf(caller), at) })
	if int64(len(l)) > at.Size {
		return l[:at.Size], true, err
	}
	return l, false, err
}

// Each calls do with all deleted repositories, for the operator; of one owner if the login is not empty.
func (s *Service) Each(ctx context.Context, owner string, do func(Repo) error) error {
	l, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]Repo, error) { return listAll(tx, account.Fold(owner)) })
	for _, r := range l {
		if err == nil {
			err = do(r)
		}
	}
	return err
}

// Restore restores a deleted repository, under another name unless as is empty. by is nil for the operator.
// Errors: 404 if it is not there or the caller may not restore it; 422 if the name is taken; 403 for the quota.
func (s *Service) Restore(ctx context.Context, by *account.Caller, id repo.ID, as string) (*repo.Access, error) {
	if message := repo.CheckName(as); as != "" && message != "" {
		return nil, errs.New(errs.Invalid, message)
	}
	var restored *repo.Access
	err := s.change(ctx, by, id, func(tx *db.Tx, r *repo.Repo, was Repo) error {
		if as == "" {
			as = was.Name
		}
		owner, err := account.ByID(tx, r.OwnerID)
		if err != nil {
			return err
		}
		if err := s.repos.CheckQuota(tx, owner, repo.Growth{Repos: 1, KB: was.KB, Hold: true}); err != nil {
			return err
		}
		if err := remove(tx, id); err != nil {
			return err
		}
		if err := s.forge.Restore(tx, r, as, was.Private, by); err != nil {
			return err
		}
		restored, err = repo.ByID(tx, by, id)
		return err
	})
	return restored, err
}

// Remove lets the worker remove a deleted repository now, with its packs in a depot. by is nil for the operator.
// Error: 404.
func (s *Service) Remove(ctx context.Context, by *account.Caller, id repo.ID) error {
	return s.change(ctx, by, id, func(tx *db.Tx, _ *repo.Repo, _ Repo) error {
		if err := setAtOnce(tx, id); err != nil {
			return err
		}
		return setDue(tx, id)
	})
}

// change locks a deleted repository and calls do if the caller may restore and remove it.
func (s *Service) change(
	ctx context.Context, by *account.Caller, id repo.ID, do func(*db.Tx, *repo.Repo, Repo) error,
) error {
	return s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		if err := repo.Lock(tx, id); err != nil {
			return err
		}
		was, err := kept(tx, id)
		if err != nil {
			return err
		}
		a, err := repo.ByID(tx, nil, id)
		if err != nil {
			return err
		}
		if by != nil {
			owner, err := account.ByID(tx, a.OwnerID)
			if err != nil {
				return err
			}
			may, err := account.Owns(tx, by, owner)
			if err == nil && !may {
				err = errs.Absent()
			}
			if err != nil {
				return err
			}
		}
		return do(tx, a.Repo, was)
	})
}
