package packs

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"time"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/file"
	"arbor/internal/repo"
)

// sweepMost is how many files of a depot one sweep removes.
const sweepMost = 1000

// SweepShard removes what is left over: files that no folder has had for s.Grace; bundles that nobody is given any
// longer; and, in one of 256 parts of each depot, files without a row that are older than grace. With the first part
// go packs of folders that no repository has. Only one node at a time may call it.
func (s *Service) SweepShard(ctx context.Context, shard int64, grace time.Duration) error {
	var all error
	if shard == 0 {
		all = errors.Join(s.sweepFolders(ctx, grace), s.mendGone(ctx))
	}
	return errors.Join(all, s.sweepGone(ctx, max(s.Grace, grace)), s.sweepBundles(ctx, min(bundleGrace, grace)),
		s.sweepDepots(ctx, shard, grace))
}

// sweepFolders takes packs from folders that no repository has, such as those of a fork that was killed; none while a
// backup runs.
func (s *Service) sweepFolders(ctx context.Context, grace time.Duration) error {
	for {
		var left []repo.Folder
		err := s.db.Read(ctx, func(tx *db.Tx) error {
			left = nil
			backup, err := repo.BackupRuns(tx)
			if err != nil || backup {
				return err
			}
			now, err := tx.Clock()
			if err == nil {
				left, err = orphanFolders(tx, now-db.Time(grace.Microseconds()))
			}
			return err
		})
		for _, f := range left {
			err = errors.Join(err, s.Forget(ctx, f, false))
		}
		if err != nil || len(left) == 0 {
			return err
		}
	}
}

// mendGone notes of all files whether they are gone, where that is not noted.
func (s *Service) mendGone(ctx context.Context) error {
	for {
		is, err := db.Get(ctx, s.db, hasWrongNotes)
		if err != nil || !is {
			return err
		}
		if err := s.db.Write(ctx, mendGone); err != nil {
			return err
		}
	}
}

// sweepGone removes files that no folder has had for some time; none while a backup runs.
func (s *Service) sweepGone(ctx context.Context, grace time.Duration) error {
	return s.inPlaces(ctx, func(here string) error {
		gone, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]*packFile, error) {
			backup, err := repo.BackupRuns(tx)
			if err != nil || backup {
				return nil, err
			}
			now, err := tx.Clock()
			if err != nil {
				return nil, err
			}
			return goneFiles(tx, `f.gone_at < $1`+here, now-db.Time(grace.Microseconds()))
		})
		if err != nil {
			return err
		}
		return s.remove(ctx, gone)
	})
}

// sweepDepots removes files without a row: of writes that failed or were killed.
func (s *Service) sweepDepots(ctx context.Context, shard int64, grace time.Duration) error {
	list, err := s.files.Depots(ctx)
	if err != nil {
		return err
	}
	var all error
	for id, d := range list {
		all = errors.Join(all, s.sweepDepot(ctx, id, d, shard, grace))
	}
	return all
}

func (s *Service) sweepDepot(
	ctx context.Context, id file.DepotID, d *depot.Depot, shard int64, grace time.Duration,
) error {
	var keys []string
	sizes := map[string]int64{}
	before := time.Now().Add(-grace)
	prefix := Folder + "/" + strconv.FormatInt(shard|repo.Shards, 16)[1:] + "/"
	err := d.List(ctx, prefix, func(e depot.Entry) error {
		if isKey(e.Key) {
			sizes[path.Base(e.Key)] = e.Size
		} else if !file.IsTemporary(e.Key) { // of an upload into a folder that was killed
			return nil // somebody else put it there
		}
		if e.Modified.Before(before) {
			keys = append(keys, e.Key)
		}
		return nil
	})
	if err == nil {
		err = s.forgetLost(ctx, id, path.Base(prefix), sizes, before)
	}
	if err != nil {
		return err
	}
	// The files are listed: query the database only after that.
	return db.InParts(keys, func(part []string) error {
		names := make([]string, len(part))
		for n, key := range part {
			names[n] = path.Base(key)
		}
		var named []string
		err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
			backup, err := repo.BackupRuns(tx)
			if err != nil || backup {
				named = names
				return err
			}
			named, err = existingKeys(tx, names)
			return err
		})
		if err != nil {
			return err
		}
		gone := slices.DeleteFunc(slices.Clone(part), func(key string) bool {
			return slices.Contains(named, path.Base(key))
		})
		for chunk := range slices.Chunk(gone, depot.MaxKeys) {
			if err := d.Delete(ctx, chunk); err != nil {
				return err
			}
		}
		return nil
	})
}
