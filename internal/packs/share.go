package packs

import (
	"context"
	"errors"

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
// graceTime, or as long as another folder has them. With now, those that the repository brought and was the last to
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

// Purge implements repo.Packs. What a depot did not remove is found again.
func (s *Service) Purge(ctx context.Context, id repo.ID) error {
	var networks []repo.ID
	var ended []repo.Folder
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if networks, err = networksOf(tx, id); err == nil {
			ended, err = oldFoldersOf(tx, id, networks)
		}
		return err
	})
	for _, f := range ended {
		if err == nil {
			err = s.Forget(ctx, f, true)
		}
	}
	if err != nil {
		return err
	}
	return s.removeGone(ctx, `f.gone_repo = $1 OR f.network IN `+db.ValuesFrom(2, 1, len(networks)),
		db.Args(networks, id)...)
}

// removeGone removes the files that no folder has and that fulfill a condition, which calls them f.
func (s *Service) removeGone(ctx context.Context, which string, args ...any) error {
	for {
		list, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]*packFile, error) { return goneFiles(tx, which, args...) })
		if err != nil || len(list) == 0 {
			return err
		}
		if err := s.remove(ctx, list); err != nil {
			return err
		}
	}
}

// remove removes files that no folder has from their depots, and then their rows: so what a depot did not remove is
// found again.
func (s *Service) remove(ctx context.Context, list []*packFile) error {
	if err := s.delete(ctx, list); err != nil || len(list) == 0 {
		return err
	}
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error { return dropFiles(tx, list) })
}

// errCurrent says that a folder is the one that its repository has.
var errCurrent = errors.New("packs: a repository has the folder now")

// delete removes files from their depots.
func (s *Service) delete(ctx context.Context, list []*packFile) error {
	keys := map[*depot.Depot][]string{}
	for _, f := range list {
		if f.depot == 0 {
			continue
		}
		d, err := s.files.Depot(ctx, f.depot)
		if err != nil {
			return err
		}
		keys[d] = append(keys[d], keyPath(f.key))
	}
	for d, list := range keys {
		for len(list) > 0 {
			n := min(len(list), depot.MaxKeys)
			if err := d.Delete(ctx, list[:n]); err != nil {
				return err
			}
			list = list[n:]
		}
	}
	return nil
}

// Keep keeps the packs of a folder that no repository has yet: of one that is being made, or of a purge.
func (s *Service) Keep(f repo.Folder, objects *git.Repository) { objects.Keep(keeper{s, s.cacheOf(f)}) }
