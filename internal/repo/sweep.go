package repo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/journal"
)

// Times after which something counts as left behind.
const (
	// grace is the age at which a folder without a row is set aside, how long it then
	// waits for its removal, and the age at which a quarantine's owner must be dead: no
	// push, clone or fork takes that long.
	grace = 3 * time.Hour
	// reservedFor is how long the making of a repository may take.
	reservedFor = 24 * time.Hour
	// sweepLap is the time in which all shards are looked through once.
	sweepLap = 6 * time.Hour
)

// sweeps is one row, for the next shard to look through.
var sweeps = db.Jobs{Table: "folder_sweep", Key: "id"}

// sweepDue looks through the next shard if that is due. Only one node does it at a time,
// and a start of a server does not make it due.
func (s *Service) sweepDue(ctx context.Context) error {
	var begun, due bool
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if begun, err = sweepBegun(tx); err == nil && begun {
			due, err = sweeps.Due(tx, `TRUE`)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !begun:
		return s.db.Write(ctx, func(tx *db.Tx) error { return beginSweep(tx, sweepLap/shards) })
	case !due:
		return nil
	}
	var shard int64
	var l *db.Lease
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if l, err = sweeps.Take(tx, leaseTime, 1, `TRUE`); err != nil || l == nil {
			return err
		}
		shard, err = sweptNext(tx)
		return err
	})
	if err != nil || l == nil {
		return err
	}
	ctx = journal.WithJob(ctx, "sweep")
	l, failed := s.db.Hold(ctx, sweeps, l, leaseTime, func(ctx context.Context) error {
		return s.sweepShard(ctx, shard, grace)
	})
	if errors.Is(failed, db.ErrLeaseLost) {
		return failed
	}
	// A shard that failed waits for the next lap.
	err = s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		if err := sweeps.PutOff(tx, l, sweepLap/shards); err != nil {
			return err
		}
		return sweepNext(tx, (shard+1)%shards)
	})
	return errors.Join(failed, err)
}

// Sweep looks through all shards at once, with a grace of its own: for tests.
func (s *Service) Sweep(ctx context.Context, grace time.Duration) error {
	err := s.db.Write(ctx, func(tx *db.Tx) error { return expireReservations(tx, reservedFor) })
	if err != nil {
		return err
	}
	for shard := range int64(shards) {
		if err := s.sweepShard(ctx, shard, grace); err != nil {
			return err
		}
	}
	return nil
}

// sweepShard looks through one of the folders that hold repositories' folders, and with it
// one of those that hold files.
func (s *Service) sweepShard(ctx context.Context, shard int64, grace time.Duration) error {
	var all error
	if s.Files != nil {
		all = s.Files.SweepShard(ctx, shard, grace)
	}
	if shard == 0 {
		all = errors.Join(all, git.SweepMirrors(s.dir, max(grace, reservedFor)))
	}
	dir := s.shard(shard)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return errors.Join(all, err)
	}
	var folders []folder
	var gone []goneFolder
	for _, e := range entries {
		if f, ok := parseFolder(e.Name()); ok {
			folders = append(folders, f)
		} else if g, ok := parseGone(e.Name()); ok {
			gone = append(gone, g)
		}
	}
	// The folders are known: from here on the database may be asked.
	all = errors.Join(all, chunks(folders, func(part []folder) error { return s.sweepFolders(ctx, part, grace) }))
	return errors.Join(all, chunks(gone, func(part []goneFolder) error {
		return s.sweepGone(ctx, part, grace)
	}))
}

// owned is which folders belong to repositories, and which ids are reserved.
type owned struct {
	repos    map[ID]int64 // with their purges
	reserved map[ID]bool
	backup   bool    // one runs, which may need what is set aside
	now      db.Time // by the database's clock
}

// owns reports whether the folder is that of a repository.
func (o owned) owns(f folder) bool {
	purges, there := o.repos[f.id]
	return there && purges == f.purges
}

// ask asks the database about folders.
func (s *Service) ask(ctx context.Context, folders []folder) (o owned, err error) {
	ids := make([]ID, len(folders))
	for i, f := range folders {
		ids[i] = f.id
	}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if o.reserved, err = reservedOf(tx, ids); err != nil {
			return err
		}
		if o.repos, err = purgesIn(tx, ids); err != nil {
			return err
		}
		if o.backup, err = backupRuns(tx); err != nil {
			return err
		}
		o.now, err = tx.Clock()
		return err
	})
	return o, err
}

// sweepFolders sets aside those of the folders that have no row, and tidies the others.
func (s *Service) sweepFolders(ctx context.Context, folders []folder, grace time.Duration) error {
	o, err := s.ask(ctx, folders)
	if err != nil {
		return err
	}
	var all error
	for _, f := range folders {
		if err := ctx.Err(); err != nil {
			return errors.Join(all, err)
		}
		all = errors.Join(all, s.sweepFolder(ctx, o, f, grace))
	}
	return all
}

func (s *Service) sweepFolder(ctx context.Context, o owned, f folder, grace time.Duration) error {
	objects, release, err := s.git.Open(ctx, s.path(f.id, f.purges))
	if errs.Is(err, errs.NotFound) {
		return nil // it goes when its last user has left it
	}
	if err != nil {
		return err
	}
	defer release()
	switch {
	case o.owns(f) && o.backup:
		return objects.SweepQuarantines(grace)
	case o.owns(f):
		s.packing.add(f.id)
		return errors.Join(objects.SweepQuarantines(grace), objects.SweepReplaced(o.now.Time(), grace))
	case o.reserved[f.id]:
		return nil
	}
	old, err := objects.Untouched(grace)
	if err == nil && old {
		s.setAside(f, o.now, nil)
	}
	return err
}

// sweepGone removes folders that were set aside long enough ago.
func (s *Service) sweepGone(ctx context.Context, list []goneFolder, grace time.Duration) error {
	folders := make([]folder, len(list))
	for i, g := range list {
		folders[i] = g.folder
	}
	o, err := s.ask(ctx, folders)
	if err != nil {
		return err
	}
	var all error
	for _, g := range list {
		if err := ctx.Err(); err != nil {
			return errors.Join(all, err)
		}
		all = errors.Join(all, s.sweepGoneFolder(ctx, o, g, grace))
	}
	return all
}

func (s *Service) sweepGoneFolder(ctx context.Context, o owned, g goneFolder, grace time.Duration) error {
	name, kept := g.name(), s.path(g.id, g.purges)
	if g.at == 0 {
		name = "gone-" + g.folder.name()
	}
	path := filepath.Join(filepath.Dir(kept), name)
	switch {
	case o.owns(g.folder) || o.reserved[g.id]:
		// A database from before the deletion was restored: it needs the folder.
		s.log.ErrorContext(ctx, "the folder of a repository was set aside", "repository", g.id, "folder", path)
		if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.Rename(path, kept)
	case g.at == 0:
		return os.Rename(path, filepath.Join(filepath.Dir(path), goneFolder{g.folder, o.now}.name()))
	case o.backup || o.now.Time().Sub(g.at.Time()) < grace:
		return nil
	}
	return os.RemoveAll(path)
}
