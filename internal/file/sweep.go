package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/durable"
	"arbor/internal/repo"
)

// Drop removes rows of files, which no other row names any longer, and their files after the commit. The
// repository's row is locked.
func (s *Store) Drop(tx *db.Tx, repoID repo.ID, ids []ID) error {
	names, kb, err := drop(tx, repoID, ids)
	if err != nil || len(names) == 0 {
		return err
	}
	if err := repo.AddFilesKB(tx, repoID, -kb); err != nil {
		return err
	}
	tx.OnCommit(func() { s.removeLater(names) })
	return nil
}

// Forget removes the files of a repository after the commit of the transaction that deletes it. Its
// rows go with the repository's.
func (s *Store) Forget(tx *db.Tx, repoID repo.ID) error {
	names, err := namesOf(tx, repoID)
	if err == nil && len(names) > 0 {
		tx.OnCommit(func() { s.removeLater(names) })
	}
	return err
}

// removeTime bounds how long the removal of files may wait for the database.
const removeTime = time.Minute

func (s *Store) removeLater(names []string) {
	s.ending.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), removeTime)
		defer cancel()
		s.remove(ctx, names)
	})
}

// Wait returns when files being removed are gone.
func (s *Store) Wait() { s.ending.Wait() }

// remove removes those of the files that have no row, unless a backup runs that may need them. What stays
// is swept.
func (s *Store) remove(ctx context.Context, names []string) {
	gone, err := s.unreferenced(ctx, names)
	for _, name := range gone {
		err = errors.Join(err, ignoreMissing(os.Remove(s.path(name))))
	}
	if err != nil {
		s.log.WarnContext(ctx, "files that are gone stay on the disk until they are swept", "error", err)
	}
}

// unreferenced returns the files without a row: none while a backup runs.
func (s *Store) unreferenced(ctx context.Context, names []string) (gone []string, err error) {
	var backup bool
	there := map[string]bool{}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if backup, err = repo.BackupRuns(tx); err == nil && !backup {
			there, err = named(tx, names)
		}
		return err
	})
	if err != nil || backup {
		return nil, err
	}
	for _, name := range names {
		if !there[name] {
			gone = append(gone, name)
		}
	}
	return gone, nil
}

// SweepShard removes leftovers older than grace in one of the directories: files without a row, and parts
// of interrupted uploads. Only one node at a time may call it.
func (s *Store) SweepShard(ctx context.Context, shard int64, grace time.Duration) error {
	dir := filepath.Join(s.dir, shardName(shard))
	old, err := olderThan(dir, grace)
	if err != nil {
		return err
	}
	var names []string
	for _, name := range old {
		if fileName.MatchString(name) {
			names = append(names, name)
		} else if strings.HasPrefix(name, durable.Temporary) {
			err = errors.Join(err, ignoreMissing(os.Remove(filepath.Join(dir, name))))
		}
	}
	// The files are listed: query the database only after that.
	gone, askErr := s.unreferenced(ctx, names)
	err = errors.Join(err, askErr)
	for _, name := range gone {
		err = errors.Join(err, ignoreMissing(os.Remove(filepath.Join(dir, name))))
	}
	return err
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
