package release

import (
	"context"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/reaction"
	"arbor/internal/repo"
)

// A deleted release is kept for Service.For as a draft that nobody sees, and is restored as a draft. Its files count in
// the owner's quota, so it is kept only while the owner has used less than half of that.

// maxDeleted is how many deleted releases of a repository are kept. The oldest are removed first.
const maxDeleted = 10

// removeEvery is the interval in which deleted releases are removed whose time is over.
const removeEvery = 10 * time.Minute

// Delete deletes a release with its assets; the tag stays. Error: 404.
func (s *Service) Delete(ctx context.Context, a *repo.Access, id int64) error {
	return s.delete(ctx, a, id, true)
}

// Discard deletes a release that nobody wants to have again. Error: 404.
func (s *Service) Discard(ctx context.Context, a *repo.Access, id int64) error {
	return s.delete(ctx, a, id, false)
}

func (s *Service) delete(ctx context.Context, a *repo.Access, id int64, keep bool) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		r, err := byID(tx, a.ID, id)
		if err != nil {
			return err
		}
		if err := s.recordDeleted(tx, a, r); err != nil {
			return err
		}
		if keep {
			if keep, err = s.keeps(tx, a); err != nil {
				return err
			}
		}
		if keep {
			err = s.keep(tx, r)
		} else {
			err = s.removeWithFiles(tx, r)
		}
		if err != nil {
			return err
		}
		return settleLatest(tx, change{before: r})
	})
}

// keeps reports whether a deleted release of the repository is kept.
func (s *Service) keeps(tx *db.Tx, a *repo.Access) (bool, error) {
	if s.For == 0 {
		return false, nil
	}
	quota, _, err := account.QuotaOf(tx, a.OwnerID)
	quota = quota.Or(s.repos.Quota)
	if err != nil || quota.KB == nil || *quota.KB == account.Unbounded {
		return err == nil, err
	}
	kb, err := account.OwnedKB(tx, a.OwnerID)
	return kb < *quota.KB/2, err
}

// keep hides a release, and removes what is too much.
func (s *Service) keep(tx *db.Tx, r *Release) error {
	if err := hide(tx, r.ID); err != nil {
		return err
	}
	list, err := deletedOf(tx, r.RepoID)
	if err != nil || len(list) <= maxDeleted {
		return err
	}
	for _, old := range list[maxDeleted:] {
		if err := s.removeWithFiles(tx, old); err != nil {
			return err
		}
	}
	return nil
}

// removeWithFiles removes a release with its assets and the reactions to it.
func (s *Service) removeWithFiles(tx *db.Tx, r *Release) error {
	assets, err := assetsOf(tx, []int64{r.ID})
	if err != nil {
		return err
	}
	var files []file.ID
	for _, asset := range assets[r.ID] {
		files = append(files, asset.File.ID)
	}
	if err := remove(tx, r.ID); err != nil {
		return err
	}
	if err := reaction.Drop(tx, reaction.Release, r.ID); err != nil {
		return err
	}
	return s.files.Drop(tx, r.RepoID, files)
}

// Deleted lists the deleted releases that can be restored, the last deleted first. Error: 403 for callers without push
// access.
func (s *Service) Deleted(ctx context.Context, a *repo.Access) (list []*Release, err error) {
	if err := a.Require(account.Push); err != nil {
		return nil, err
	}
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]*Release, error) { return deletedOf(tx, a.ID) })
}

// Restore restores a deleted release as a draft. Error: 404.
func (s *Service) Restore(ctx context.Context, a *repo.Access, id int64) (r *Release, err error) {
	err = s.changeDeleted(ctx, a, id, func(tx *db.Tx) (err error) {
		if err = show(tx, id); err == nil {
			r, err = byID(tx, a.ID, id)
		}
		return err
	})
	return r, err
}

// Remove removes a deleted release now. Error: 404.
func (s *Service) Remove(ctx context.Context, a *repo.Access, id int64) error {
	return s.changeDeleted(ctx, a, id, func(tx *db.Tx) error {
		return s.removeWithFiles(tx, &Release{ID: id, RepoID: a.ID})
	})
}

func (s *Service) changeDeleted(ctx context.Context, a *repo.Access, id int64, do func(*db.Tx) error) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		list, err := deletedOf(tx, a.ID)
		if err != nil {
			return err
		}
		for _, r := range list {
			if r.ID == id {
				return do(tx)
			}
		}
		return errs.Absent()
	})
}

// Remover removes deleted releases whose time is over.
type Remover struct{ s *Service }

// NewRemover returns a Remover. Several may work on one database.
func NewRemover(s *Service) *Remover { return &Remover{s} }

// Run works until ctx is done. It returns nil: errors are logged and retried.
func (m *Remover) Run(ctx context.Context) error {
	return db.Upkeep(ctx, m.s.log, removeEvery, "deleted releases are kept for too long", m.s.removeOld)
}

// removeOld removes the deleted releases whose time is over, one after another.
func (s *Service) removeOld(ctx context.Context) error {
	for ctx.Err() == nil {
		next, err := db.Get(ctx, s.db, func(tx *db.Tx) (*Release, error) {
			return deletedUntil(tx, tx.Now-db.Time(s.For.Microseconds()))
		})
		if errs.Is(err, errs.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		err = s.db.Write(ctx, func(tx *db.Tx) error {
			if err := repo.Lock(tx, next.RepoID); err != nil {
				return err
			}
			now, err := deletedUntil(tx, tx.Now-db.Time(s.For.Microseconds()))
			if err != nil || now.ID != next.ID { // another node removed it, or it was restored
				return err
			}
			return s.removeWithFiles(tx, next)
		})
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return nil
}
