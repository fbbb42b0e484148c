package maintenance

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/journal"
	"arbor/internal/repo"
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

// sweeps is one row, for the next shard of the shared stores to look through.
var sweeps = db.Jobs{Table: "folder_sweep", Key: "id"}

// sweepDue looks through the next shard of what all nodes share, if that is due. Only one node does it at a time, and a
// start of a server does not make it due.
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
		return s.db.Write(ctx, func(tx *db.Tx) error { return beginSweep(tx, sweepLap/repo.Shards) })
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
		return s.sweepShared(ctx, shard, grace)
	})
	if errors.Is(failed, db.ErrLeaseLost) {
		return failed
	}
	// A shard that failed waits for the next lap.
	err = s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		if err := sweeps.PutOff(tx, l, sweepLap/repo.Shards); err != nil {
			return err
		}
		return sweepNext(tx, (shard+1)%repo.Shards)
	})
	return errors.Join(failed, err)
}

// Sweep looks through all shards at once, with a grace of its own: for tests.
func (s *Service) Sweep(ctx context.Context, grace time.Duration) error {
	err := s.db.Write(ctx, func(tx *db.Tx) error { return expireReservations(tx, reservedFor) })
	if err != nil {
		return err
	}
	for shard := range int64(repo.Shards) {
		if err := errors.Join(s.sweepShared(ctx, shard, grace), s.sweepShard(ctx, shard, grace)); err != nil {
			return err
		}
	}
	return nil
}

// sweepShared looks through a part of the stores that all nodes share.
func (s *Service) sweepShared(ctx context.Context, shard int64, grace time.Duration) error {
	var all error
	for _, store := range s.shared {
		all = errors.Join(all, store.SweepShard(ctx, shard, grace))
	}
	return all
}

// lap is where this process is in the round through its data folder, which may be another one than other nodes have.
type lap struct {
	shard int64 // comes next
	due   time.Time
}

// sweepFolderDue looks through the next shard of the data folder, if that is due. A start of a server does not make it
// due. Its first lap begins anywhere, so that servers that are often restarted get to all shards.
func (s *Service) sweepFolderDue(ctx context.Context, now time.Time) error {
	if s.lap.due.IsZero() {
		s.lap = lap{rand.Int64N(repo.Shards), now.Add(sweepLap / repo.Shards)}
	}
	if now.Before(s.lap.due) {
		return nil
	}
	shard := s.lap.shard
	s.lap = lap{(shard + 1) % repo.Shards, now.Add(sweepLap / repo.Shards)}
	return s.sweepShard(journal.WithJob(ctx, "sweep"), shard, grace)
}

// sweepShard looks through one of the folders that hold repositories' folders, and the same one of those with files.
// Several nodes may do so in one data folder.
func (s *Service) sweepShard(ctx context.Context, shard int64, grace time.Duration) error {
	all := s.files.SweepFolder(ctx, shard, grace)
	if shard == 0 {
		all = errors.Join(all, git.SweepMirrors(s.repos.Dir(), max(grace, reservedFor)))
	}
	dir := s.repos.Shard(shard)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return errors.Join(all, err)
	}
	var folders []repo.Folder
	var gone []repo.GoneFolder
	for _, e := range entries {
		if f, ok := repo.ParseFolder(e.Name()); ok {
			folders = append(folders, f)
		} else if g, ok := repo.ParseGone(e.Name()); ok {
			gone = append(gone, g)
		}
	}
	// The folders are known: from here on the database may be asked.
	all = errors.Join(all, db.InParts(folders,
		func(part []repo.Folder) error { return s.sweepFolders(ctx, part, grace) }))
	return errors.Join(all, db.InParts(gone, func(part []repo.GoneFolder) error {
		return s.sweepGone(ctx, part, grace)
	}))
}

// owned is which folders belong to repositories, and which ids are reserved.
type owned struct {
	repos    map[repo.ID]int64 // with their purges
	reserved map[repo.ID]bool
	backup   bool    // one runs, which may need what is set aside
	now      db.Time // by the database's clock
}

// owns reports whether the folder is that of a repository.
func (o owned) owns(f repo.Folder) bool {
	purges, there := o.repos[f.ID]
	return there && purges == f.Purges
}

// ask asks the database about folders.
func (s *Service) ask(ctx context.Context, folders []repo.Folder) (o owned, err error) {
	ids := make([]repo.ID, len(folders))
	for i, f := range folders {
		ids[i] = f.ID
	}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if o.reserved, err = reservedOf(tx, ids); err != nil {
			return err
		}
		if o.repos, err = purgesIn(tx, ids); err != nil {
			return err
		}
		if o.backup, err = repo.BackupRuns(tx); err != nil {
			return err
		}
		o.now, err = tx.Clock()
		return err
	})
	return o, err
}

// sweepFolders sets aside those of the folders that have no row, and tidies the others.
func (s *Service) sweepFolders(ctx context.Context, folders []repo.Folder, grace time.Duration) error {
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

func (s *Service) sweepFolder(ctx context.Context, o owned, f repo.Folder, grace time.Duration) error {
	objects, release, err := s.git.Open(ctx, s.repos.Path(f.ID, f.Purges))
	if errs.Is(err, errs.NotFound) {
		return nil // it goes when its last user has left it
	}
	if err != nil && o.owns(f) && ctx.Err() == nil {
		return s.repos.NoteBroken(ctx, f, err)
	}
	if err != nil {
		return err
	}
	defer release()
	switch {
	case o.owns(f) && o.backup:
		return objects.SweepQuarantines(grace)
	case o.owns(f):
		s.repos.Wrote(f.ID)
		return errors.Join(objects.SweepQuarantines(grace), objects.SweepReplaced(o.now.Time(), grace))
	case o.reserved[f.ID]:
		return nil
	}
	old, err := objects.Untouched(grace)
	if err == nil && old {
		s.repos.SetAside(f, o.now, nil)
	}
	return err
}

// sweepGone removes folders that were set aside long enough ago.
func (s *Service) sweepGone(ctx context.Context, list []repo.GoneFolder, grace time.Duration) error {
	folders := make([]repo.Folder, len(list))
	for i, g := range list {
		folders[i] = g.Folder
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

func (s *Service) sweepGoneFolder(
	ctx context.Context, o owned, g repo.GoneFolder, grace time.Duration,
) error {
	name, kept := g.Name(), s.repos.Path(g.ID, g.Purges)
	if g.At == 0 {
		name = "gone-" + g.Folder.Name()
	}
	path := filepath.Join(filepath.Dir(kept), name)
	switch {
	case o.owns(g.Folder) || o.reserved[g.ID]:
		// A database from before the deletion was restored: it needs the folder.
		s.log.ErrorContext(ctx, "the folder of a repository was set aside", "repository", g.ID,
			"folder", path)
		if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.Rename(path, kept)
	case g.At == 0:
		return os.Rename(path, filepath.Join(filepath.Dir(path),
			repo.GoneFolder{Folder: g.Folder, At: o.now}.Name()))
	case o.backup || o.now.Time().Sub(g.At.Time()) < grace:
		return nil
	}
	return os.RemoveAll(path)
}

// Unowned returns those of the folder names that belong neither to a repository nor to
// one that is being created: they are left over. List the folders first.
func (s *Service) Unowned(ctx context.Context, names []string) (left []string, err error) {
	folders := make([]repo.Folder, len(names))
	for i, name := range names {
		folders[i], _ = repo.ParseFolder(name)
	}
	o, err := s.ask(ctx, folders)
	for i, f := range folders {
		if !o.owns(f) && !o.reserved[f.ID] {
			left = append(left, names[i])
		}
	}
	return left, err
}
