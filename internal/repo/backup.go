package repo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"arbor/internal/db"
)

// backups are the backups that run. The snapshot of one may hold repositories that are
// deleted meanwhile, so no node removes a folder while one of them has its lease. What is
// old enough to go when a backup begins is in no snapshot of it.
var backups = db.Jobs{Table: "backups", Key: "id"}

// HoldFolders calls work, which makes a backup at a place (empty: a stream), and gives the
// moment that it holds. Until it returns, or this process dies and
// its lease runs out, all folders of repositories stay, where
// FindFolder finds them. The backup is remembered, for purges. Error: that of work;
// db.ErrLeaseLost.
func HoldFolders(
	ctx context.Context, d *db.DB, place string, work func(context.Context) (time.Time, error),
) error {
	var l *db.Lease
	err := d.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(`DELETE FROM backups WHERE due_at <= ` + tx.Engine().Clock()); err != nil {
			return err
		}
		var id int64
		err := tx.QueryRow(`INSERT INTO backups (due_at) VALUES (0) RETURNING id`).Scan(&id)
		if err == nil {
			l, err = backups.Take(tx, leaseTime, 1, `id = $3`, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	var at time.Time
	l, err = d.Hold(ctx, backups, l, leaseTime, func(ctx context.Context) (err error) {
		at, err = work(ctx)
		return err
	})
	if errors.Is(err, db.ErrLeaseLost) {
		return err
	}
	whole := err == nil
	return errors.Join(err, d.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		if !at.IsZero() { // also of one that failed, which may have copied something
			if err := noteBackup(tx, db.FromTime(at), place, whole); err != nil {
				return err
			}
		}
		return backups.Remove(tx, l)
	}))
}

// backupRuns reports whether a backup has its lease.
func backupRuns(tx *db.Tx) (runs bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM backups WHERE due_at > ` + tx.Engine().Clock() + `)`).Scan(&runs)
	return runs, err
}

// FolderPath is where a repository's folder is below the folder of all of them, while its
// Repo.Purges is so.
func FolderPath(id ID, purges int64) string {
	shard := strconv.FormatInt(int64(id)&(shards-1)|shards, 16)[1:]
	return filepath.Join(shard, folder{id, purges}.name())
}

// FindFolder finds the folder of a repository: in its place, or set aside after a deletion.
// It never moves back. dir is the folder of all of them. Error: fs.ErrNotExist.
func FindFolder(dir string, id ID, purges int64) (string, error) {
	kept := filepath.Join(dir, FolderPath(id, purges))
	if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
		return kept, err
	}
	names, err := os.ReadDir(filepath.Dir(kept))
	for _, e := range names {
		if g, ok := parseGone(e.Name()); ok && g.folder == (folder{id, purges}) {
			return filepath.Join(filepath.Dir(kept), e.Name()), nil
		}
	}
	if err == nil {
		err = fs.ErrNotExist
	}
	return "", err
}
