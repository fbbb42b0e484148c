package maintenance

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"arbor/internal/db"
	"arbor/internal/journal"
	"arbor/internal/repo"
)

// The folder of a deleted repository is renamed at once, and removed a while later, when no
// process on any node uses it. In that while a standby database that took over without the last
// seconds still finds what it needs (the sweep gives the folder its name back). Until the folder is
// gone it counts in its owner's quota: otherwise a user could fill the disk by deleting and pushing in turns. The same
// holds for packs in a depot, which stay there for some days unless the repository was removed at once; those that a
// fork has count for the fork.

// discardWait is how long the folder of a deleted repository stays at least.
const discardWait = 5 * time.Minute

// depotLook is how often it is looked whether packs have left the depot.
const depotLook = 24 * time.Hour

// discards are the folders that are to go.
var discards = db.Jobs{Table: "discarded", Key: "repo_id"}

// Discard arranges that the folder of a repository goes, which the transaction deletes.
func (s *Service) Discard(tx *db.Tx, r *repo.Repo) error {
	now, err := tx.Clock()
	if err != nil {
		return err
	}
	err = tx.Run(`INSERT INTO discarded (repo_id, due_at, purges, at, owner_id, size_kb, at_once, request)
		SELECT id, $2, $3, $4, $5, size_kb + files_kb, at_once, $6 FROM repos WHERE id = $1`,
		r.ID, now+db.Time(discardWait.Microseconds()), r.Purges, now, r.OwnerID, journal.ID(tx))
	tx.OnCommit(func() { s.repos.SetAside(repo.Folder{ID: r.ID, Purges: r.Purges}, now, nil) })
	return err
}

// removeDiscarded removes the folders that are due. While a backup runs they stay. However many are due, the sweep gets
// its turn.
func (s *Service) removeDiscarded(ctx context.Context) error {
	for end := time.Now().Add(pollTime); ctx.Err() == nil && time.Now().Before(end); {
		var due, backup bool
		err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
			if due, err = discards.Due(tx, `TRUE`); err == nil && due {
				backup, err = repo.BackupRuns(tx)
			}
			return err
		})
		if err != nil || !due || backup {
			return err
		}
		if err := s.removeNext(ctx); err != nil {
			return err
		}
	}
	return nil
}

// removeNext removes one folder that is due, or puts it off.
func (s *Service) removeNext(ctx context.Context) error {
	var l *db.Lease
	var gone repo.GoneFolder
	var request string
	var atOnce bool
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if l, err = discards.Take(tx, leaseTime, 1, `TRUE`); err != nil || l == nil {
			return err
		}
		return tx.QueryRow(`SELECT repo_id, purges, at, at_once, COALESCE(request, '') FROM discarded
			WHERE repo_id = $1`, l.IDs[0]).Scan(&gone.ID, &gone.Purges, &gone.At, &atOnce, &request)
	})
	if err != nil || l == nil {
		return err
	}
	ctx = journal.WithJobOf(ctx, "removal", request)
	removed := true
	l, failed := s.db.Hold(ctx, discards, l, leaseTime, func(ctx context.Context) (err error) {
		path := s.repos.Path(gone.ID, gone.Purges) // where it is if the server died after the commit
		for _, path := range []string{path, filepath.Join(filepath.Dir(path), gone.Name())} {
			if err == nil && removed {
				removed, err = s.git.RemoveUnused(ctx, path, 0, nil)
			}
		}
		if err == nil && removed && s.repos.Packs != nil {
			err = s.repos.Packs.Forget(ctx, gone.Folder, atOnce)
		}
		return err
	})
	if errors.Is(failed, db.ErrLeaseLost) {
		return failed
	}
	if failed != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "the folder of a deleted repository stays for now",
			"repository", gone.ID, "error", failed)
	}
	done := false
	err = s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) (err error) {
		if !removed || failed != nil {
			return discards.PutOff(tx, l, discardWait)
		}
		done, err = endDiscard(tx, l, gone.ID)
		return err
	})
	if done && err == nil {
		s.log.InfoContext(ctx, "the folder of a deleted repository is removed", "repository", gone.ID)
	}
	return err
}
