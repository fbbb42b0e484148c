package packs

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Share gives a new folder all packs that a repository has now: a fork of a public one, which has refs. It copies
// nothing.
// Errors: 404 if the repository was deleted; 409 if it was moved meanwhile.
func (s *Service) Share(ctx context.Context, from repo.ID, to repo.Folder) error {
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		// so that nobody replaces a pack while the new folder gets it
		if err := repo.Lock(tx, from); err != nil {
			return err
		}
		n, err := tx.Exec(`INSERT INTO packs (repo_id, purges, name, file_id, added_at)
			SELECT $2, $3, p.name, p.file_id, $4 FROM packs p
			JOIN repos r ON r.id = p.repo_id AND r.purges = p.purges WHERE r.id = $1`,
			from, to.ID, to.Purges, tx.Now)
		if err == nil && n == 0 {
			err = errs.New(errs.Conflict, "The repository is being moved. Try again.")
		}
		return err
	})
}

// Adopt implements repo.Packs.
func (s *Service) Adopt(tx *db.Tx, parent, fork repo.ID) error {
	return tx.Run(`UPDATE pack_files SET network = `+networkOf("$1")+` WHERE network = $2`, parent, fork)
}

// Forget ends the keeping of a folder's packs, and removes the folder if nobody uses it. Their files stay for
// s.Grace, or as long as another folder has them. With now, those that the repository brought and was the last to
// have go at once, also from its folders before; those of its parent do not, since anybody could remove them with a
// fork. The folder that a repository has now stays. Bundles of the folder go at once.
func (s *Service) Forget(ctx context.Context, f repo.Folder, now bool) error {
	if err := s.removeBundlesOf(ctx, f, now); err != nil {
		return err
	}
	err := s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		if is, err := isCurrentFolder(tx, f); err != nil || is {
			return errors.Join(err, errCurrent)
		}
		ids, err := lockFilesOf(tx, f)
		if err == nil {
			err = tx.Run(`DELETE FROM packs WHERE repo_id = $1 AND purges = $2`, f.ID, f.Purges)
		}
		if err != nil {
			return err
		}
		return markGone(tx, f.ID, ids)
	})
	if err == nil && now {
		err = s.removeGone(ctx, `f.gone_repo = $1 AND f.made_for = $1`, f.ID)
	}
	if err != nil {
		return err
	}
	c := s.cacheOf(f)
	c.mu.Lock()
	c.names, c.generation = nil, 0
	c.mu.Unlock()
	_, err = s.evict(c)
	return err
}

// left is what a purge of a repository removes: the folders with packs that it or its networks had before, and files
// that no folder has.
type left struct {
	ended []repo.Folder
	which string // the condition for the files, which it calls f
	args  []any
}

func leftOf(tx *db.Tx, id repo.ID) (l left, err error) {
	networks, err := networksOf(tx, id)
	if err == nil {
		l.ended, err = oldFoldersOf(tx, id, networks)
	}
	l.which, l.args = `(f.gone_repo = $1 OR f.network IN `+db.ValuesFrom(2, 1, len(networks))+`)`, db.Args(networks, id)
	return l, err
}

// HasLeft implements repo.Packs.
func (s *Service) HasLeft(ctx context.Context, id repo.ID) (bool, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (bool, error) {
		l, err := leftOf(tx, id)
		if err != nil || len(l.ended) > 0 {
			return err == nil, err
		}
		gone, err := goneFiles(tx, l.which, l.args...)
		return len(gone) > 0, err
	})
}

// Purge implements repo.Packs. What a depot did not remove is found again.
func (s *Service) Purge(ctx context.Context, id repo.ID) error {
	l, err := db.Get(ctx, s.db, func(tx *db.Tx) (left, error) { return leftOf(tx, id) })
	for _, f := range l.ended {
		if err == nil {
			err = s.Forget(ctx, f, true)
		}
	}
	if err != nil {
		return err
	}
	return s.removeGone(ctx, l.which, l.args...)
}

// removeGone removes the files that no folder has and that fulfill a condition, which calls them f.
func (s *Service) removeGone(ctx context.Context, which string, args ...any) error {
	return s.inPlaces(ctx, func(here string) error {
		for {
			list, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]*packFile, error) {
				return goneFiles(tx, which+here, args...)
			})
			if err != nil || len(list) == 0 {
				return err
			}
			if err := s.remove(ctx, list); err != nil {
				return err
			}
		}
	})
}

// inPlaces calls do for the database and each depot, with the condition for files f that lie there. One that refuses
// keeps the others from nothing.
func (s *Service) inPlaces(ctx context.Context, do func(here string) error) error {
	places, err := s.files.Depots(ctx)
	if err != nil {
		return err
	}
	places[0] = nil
	var all error
	for id := range places {
		all = errors.Join(all, do(` AND f.depot_id = `+strconv.FormatInt(int64(id), 10)))
	}
	return all
}

// remove removes files that no folder has from the place where all of them lie, and then their rows: so what a depot did
// not remove is found again.
func (s *Service) remove(ctx context.Context, list []*packFile) error {
	if len(list) == 0 {
		return nil
	}
	if err := s.delete(ctx, list); err != nil {
		return err
	}
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error { return dropFiles(tx, list) })
}

// errCurrent says that a folder is the one that its repository has.
var errCurrent = errors.New("packs: a repository has the folder now")

// delete removes files from the depot in which all of them lie.
func (s *Service) delete(ctx context.Context, list []*packFile) error {
	if list[0].depot == 0 {
		return nil
	}
	d, err := s.files.Depot(ctx, list[0].depot)
	for part := range slices.Chunk(list, depot.MaxKeys) {
		keys := make([]string, len(part))
		for n, f := range part {
			keys[n] = keyPath(f.key)
		}
		if err == nil {
			err = d.Delete(ctx, keys)
		}
	}
	return err
}

// Keep keeps the packs of a folder that no repository has yet: of one that is being made, or of a purge.
func (s *Service) Keep(f repo.Folder, objects *git.Repository) { objects.Keep(keeper{s, s.cacheOf(f)}) }
