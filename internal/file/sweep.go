package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/durable"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// Drop removes rows of files, which no other row names any longer, and their files after the commit. The
// repository's row is locked.
func (s *Store) Drop(tx *db.Tx, repoID repo.ID, ids []ID) error {
	gone, kb, err := drop(tx, repoID, ids)
	if err != nil || len(gone) == 0 {
		return err
	}
	if err := repo.AddFilesKB(tx, repoID, -kb); err != nil {
		return err
	}
	tx.OnCommit(func() { s.removeLater(gone) })
	return nil
}

// Forget removes the files of a repository after the commit of the transaction that deletes it. Its
// rows go with the repository's.
func (s *Store) Forget(tx *db.Tx, repoID repo.ID) error {
	gone, err := locationsOf(tx, repoID)
	if err == nil && len(gone) > 0 {
		tx.OnCommit(func() { s.removeLater(gone) })
	}
	return err
}

// maxUnnamed is how long a file may lie in a depot before the transaction with its row, such as the first of a batch: less
// than the three hours after which package maintenance sweeps it, also if clocks differ.
const maxUnnamed = 150 * time.Minute

// CheckAge refuses to add the row of a file that a depot took at a time by this machine's clock, if the sweep may have
// removed the file since: the machine was suspended. A zero time is that of a file in no depot. Error: 503.
func CheckAge(tx *db.Tx, kept time.Time) error {
	if !kept.IsZero() && tx.Now.Time().Sub(kept) > maxUnnamed {
		return errs.New(errs.Unavailable, "The server did not store the upload in time. Try again.")
	}
	return nil
}

// removeTime bounds how long the removal of files may wait for the database.
const removeTime = time.Minute

func (s *Store) removeLater(list []location) {
	s.ending.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), removeTime)
		defer cancel()
		s.remove(ctx, list)
	})
}

// Wait returns when files being removed are gone.
func (s *Store) Wait() { s.ending.Wait() }

// remove removes those of the files that have no row, unless a backup runs that may need them. What stays
// is swept.
func (s *Store) remove(ctx context.Context, list []location) {
	if err := s.removeUnreferenced(ctx, list); err != nil {
		s.log.WarnContext(ctx, "deleted files could not be removed: the sweep tries again", "error", err)
	}
}

func (s *Store) removeUnreferenced(ctx context.Context, list []location) error {
	gone, err := s.unreferenced(ctx, list)
	if err != nil {
		return err
	}
	return s.delete(ctx, gone)
}

// unreferenced returns the files without a row; none while a backup runs. A copy of a file whose row names another
// place counts as unreferenced, unless both places are the same folder.
func (s *Store) unreferenced(ctx context.Context, list []location) (gone []location, err error) {
	var backup bool
	there := map[string]DepotID{}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if backup, err = repo.BackupRuns(tx); err == nil && !backup {
			there, err = named(tx, list)
		}
		return err
	})
	if err != nil || backup {
		return nil, err
	}
	for _, l := range list {
		at, has := there[l.name]
		same := has && at == l.depot
		if has && !same {
			if same, err = s.samePlace(ctx, l.name, at, l.depot); err != nil {
				return nil, err
			}
		}
		if !same {
			gone = append(gone, l)
		}
	}
	return gone, nil
}

// SweepFolder removes leftovers older than grace in one of the directories of this node: files without a row, and parts
// of interrupted uploads. Several nodes may do so in one data folder.
func (s *Store) SweepFolder(ctx context.Context, shard int64, grace time.Duration) error {
	dir := filepath.Join(s.dir, shardName(shard))
	old, err := olderThan(dir, grace)
	if err != nil {
		return err
	}
	var list []location
	for _, name := range old {
		if fileName.MatchString(name) {
			list = append(list, location{0, name})
		} else if strings.HasPrefix(name, durable.Temporary) {
			err = errors.Join(err, ignoreMissing(os.Remove(filepath.Join(dir, name))))
		}
	}
	// The files are listed: query the database only after that.
	return errors.Join(err, s.removeUnreferenced(ctx, list))
}

// SweepShard is SweepFolder for what lies in depots under the same name. Only one node at a time may call it.
func (s *Store) SweepShard(ctx context.Context, shard int64, grace time.Duration) error {
	rows, err := db.Get(ctx, s.db, depots)
	for _, row := range rows {
		err = errors.Join(err, s.sweepDepot(ctx, &row, shard, grace))
	}
	return err
}

// sweepDepot is SweepShard for one depot. Its clock may be off by the quarter of an hour that signatures allow.
func (s *Store) sweepDepot(ctx context.Context, row *depotRow, shard int64, grace time.Duration) error {
	d, err := s.open(row)
	if err != nil {
		return err
	}
	var list []location
	var parts []string // of uploads into a folder that were killed
	before := time.Now().Add(-grace)
	err = d.List(ctx, Folder+"/"+shardName(shard)+"/", func(e depot.Entry) error {
		switch name := path.Base(e.Key); {
		case e.Modified.After(before):
		case IsPath(e.Key):
			list = append(list, location{row.id, name})
		case IsTemporary(e.Key):
			parts = append(parts, e.Key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(parts, depot.MaxKeys) {
		if err := d.Delete(ctx, part); err != nil {
			return err
		}
	}
	return s.removeUnreferenced(ctx, list)
}

func shardName(shard int64) string { return strconv.FormatInt(shard|shards, 16)[1:] }

// olderThan lists files of a folder by the clock of the file system, which may be another machine's.
func olderThan(dir string, grace time.Duration) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return nil, ignoreMissing(err)
	}
	now, err := durable.Clock(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() && now.Sub(info.ModTime()) >= grace {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
