package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"arbor/internal/db"
)

// backups are the running backups. A snapshot may have repositories that are deleted during the backup, so
// no node removes a directory while a backup holds its lease. Directories old enough to be removed when a
// backup begins are not in its snapshot.
var backups = db.Jobs{Table: "backups", Key: "id"}

// backupLease is the time after which a backup that has not renewed its lease counts as dead.
const backupLease = time.Minute

// errNoFolder is fs.ErrNotExist with a message for the operator.
var errNoFolder = fmt.Errorf("its folder is missing; arbor check shows the way back: %w", fs.ErrNotExist)

// HoldFolders calls work, which makes a backup at a place (empty: a stream) and returns the time of its
// snapshot. Until work returns, or this process dies and its lease expires, all directories of repositories
// stay where FindFolder finds them. The backup is recorded for purges. Errors: that of work;
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
			l, err = backups.Take(tx, backupLease, 1, `id = $3`, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	var at time.Time
	l, err = d.Hold(ctx, backups, l, backupLease, func(ctx context.Context) (err error) {
		at, err = work(ctx)
		return err
	})
	if errors.Is(err, db.ErrLeaseLost) {
		return err
	}
	whole := err == nil
	return errors.Join(err, d.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		if !at.IsZero() { // also a failed one, which may have copied something
			if err := noteBackup(tx, db.FromTime(at), place, whole); err != nil {
				return err
			}
		}
		return backups.Remove(tx, l)
	}))
}

// BackupRuns reports whether a backup holds its lease, by the database's clock. It may need files whose
// rows were deleted: call BackupRuns after the commit of the deletion and before removing the file.
func BackupRuns(tx *db.Tx) (runs bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM backups WHERE due_at > ` + tx.Engine().Clock() +
		`)`).Scan(&runs)
	return runs, err
}

// FolderPath returns the path of a repository's directory below the parent of all, for a value of
// Repo.Purges.
func FolderPath(id ID, purges int64) string {
	shard := strconv.FormatInt(int64(id)&(Shards-1)|Shards, 16)[1:]
	return filepath.Join(shard, Folder{id, purges}.Name())
}

// FindFolder returns the directory of a repository, in its place or set aside after a deletion. dir is the
// parent of all. Error: fs.ErrNotExist.
func FindFolder(dir string, id ID, purges int64) (string, error) {
	kept := filepath.Join(dir, FolderPath(id, purges))
	if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
		return kept, err
	}
	names, err := os.ReadDir(filepath.Dir(kept))
	for _, e := range names {
		if g, ok := ParseGone(e.Name()); ok && g.Folder == (Folder{id, purges}) {
			return filepath.Join(filepath.Dir(kept), e.Name()), nil
		}
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", kept, errNoFolder)
	}
	return "", err
}

// LastBackup returns the time of the last complete backup's snapshot, or 0.
func LastBackup(tx *db.Tx) (at db.Time, err error) {
	err = tx.QueryRow(`SELECT COALESCE(MAX(at), 0) FROM past_backups WHERE whole = TRUE`).Scan(&at)
	return at, err
}

// maxPastBackups is the number of recorded backups.
const maxPastBackups = 1000

// noteBackup records a backup. For each place only the newest complete one is kept.
func noteBackup(tx *db.Tx, at db.Time, place string, whole bool) error {
	if whole && place != "" {
		if _, err := tx.Exec(`DELETE FROM past_backups WHERE place = $1`, place); err != nil {
			return err
		}
	}
	_, err := tx.Exec(`INSERT INTO past_backups (at, place, whole) VALUES ($1, $2, $3)`, at, place, whole)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`DELETE FROM past_backups WHERE id <= (SELECT MAX(id) FROM past_backups) - $1`,
		maxPastBackups)
	return err
}
