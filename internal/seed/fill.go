package seed

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/server"
)

// Store says what is filled with a seed.
type Store struct {
	DataDir  string     // the data folder
	Database db.Options // its clock is the seed's while the seed is applied
	Git      git.Options
	// Admission is what Git asks for memory, and so the requests that fill the store are held to. nil: one of
	// admission.DefaultMemory.
	Admission *admission.Control
}

// Errors of stores that are not there for a seed.
var (
	// ErrNotEmpty says that a store holds something else than the seed.
	ErrNotEmpty = errors.New(
		"the store is not empty: a seed goes into an empty one, or into one that was filled with the very same seed")
	// ErrUnfinished says that a store is half filled.
	ErrUnfinished = errors.New(
		"the store is half filled with a seed. Unless another server is filling it, start one with --seed, " +
			"which empties the store and starts again")
	// ErrFilling says that another process fills the store now.
	ErrFilling = errors.New("the store is being filled with a seed by another process")
)

// Held reports whether a store was filled with this very seed, even if it was changed
// since. Errors: ErrNotEmpty for a store that holds anything else; none for
// one that is half filled, which Fill empties.
func Held(ctx context.Context, s *Seed, o db.Options) (same bool, err error) {
	d, err := db.Open(ctx, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	same, _, err = holds(ctx, d, s)
	return same, err
}

// CheckWhole returns ErrUnfinished for a store that is half filled with a seed:
// Fill would remove everything that people did there.
func CheckWhole(ctx context.Context, d *db.DB) error {
	return d.Read(ctx, func(tx *db.Tx) error {
		c, err := held(tx)
		if err == nil && c.unfinished {
			err = ErrUnfinished
		}
		return err
	})
}

func holds(ctx context.Context, d *db.DB, s *Seed) (same, unfinished bool, err error) {
	c, err := db.Get(ctx, d, func(tx *db.Tx) (contents, error) { return held(tx) })
	switch {
	case err != nil:
		return false, false, err
	case c.unfinished:
		return false, true, nil
	case bytes.Equal(c.digest, s.Digest[:]):
		return true, false, nil
	case !c.empty:
		return false, false, ErrNotEmpty
	}
	return false, false, nil
}

// Fill opens an empty store, which nothing else uses, and applies the seed to it;
// it does nothing to a store that holds this very seed. A store that was half
// filled, with any seed, by a process that has ended, is emptied first.
// Errors: ErrNotEmpty; ErrFilling; *Error for what the seed asks for and cannot
// have, found out on the way: then the store is half filled. See Rehearse.
func Fill(ctx context.Context, s *Seed, to Store) (err error) {
	mine, err := lockStore(to.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mine.release(err == nil)) }()
	g, err := git.New(ctx, to.Git)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	fixed := &clock{}
	fixed.set(s.Start)
	to.Database.Now = fixed.now
	d, same, err := open(ctx, s, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if same {
		return nil
	}
	if err := d.Write(ctx, func(tx *db.Tx) error { return begin(tx, s.Digest[:]) }); err != nil {
		return err
	}
	log := quiet(to.Database.Log)
	a := &applier{s: s, db: d, clock: fixed, callers: map[string]*account.Caller{}, made: map[*Repo]bool{}}
	a.server = server.New(server.Options{DB: d, Git: g, Log: log, DataDir: to.DataDir, Graduated: true,
		Admission: to.Admission, Authenticate: a.authenticate})
	f := a.server.Forge()
	f.Signatures.SignNothing()
	a.repos, a.transport, a.accounts, a.tokens = f.Repos, f.Transport, f.Accounts, f.Tokens
	if err := a.apply(ctx); err != nil {
		return err
	}
	a.repos.Wait()
	return d.Write(ctx, finish)
}

// open opens a store that holds nothing, or the same seed. One that is half
// filled is emptied: the objects first, since the database tells what it is.
func open(ctx context.Context, s *Seed, to Store) (d *db.DB, same bool, err error) {
	if d, err = db.Open(ctx, to.Database); err != nil {
		return nil, false, err
	}
	same, unfinished, err := holds(ctx, d, s)
	if err == nil && !unfinished {
		return d, same, nil
	}
	if err := errors.Join(err, d.Close()); err != nil {
		return nil, false, err
	}
	if err := os.RemoveAll(forge.RepositoriesDir(to.DataDir)); err != nil {
		return nil, false, err
	}
	if err := db.Erase(ctx, to.Database); err != nil {
		return nil, false, err
	}
	if to.Database.Log != nil {
		to.Database.Log.Info(
			"the store, which an ended process had half filled with a seed, was emptied")
	}
	d, err = db.Open(ctx, to.Database)
	return d, false, err
}

// Rehearse applies the seed to a store in a temporary folder, so that what it
// asks for and cannot have is known before another store is touched. Errors:
// those of Fill.
func Rehearse(ctx context.Context, s *Seed, o git.Options, control *admission.Control) (err error) {
	dir, err := os.MkdirTemp("", "arbor-rehearsal-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o.Log = quiet(o.Log)
	return Fill(ctx, s, Store{DataDir: dir, Git: o, Admission: control,
		Database: db.Options{URL: filepath.Join(dir, "arbor.db"), Log: o.Log, Throwaway: true}})
}

// quiet is a logger for problems only: a line for each request that a seed
// consists of would bury those of the people who come later.
func quiet(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(problems{log.Handler()})
}

// problems leaves out what is below a warning.
type problems struct{ slog.Handler }

func (p problems) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && p.Handler.Enabled(ctx, level)
}

// clock is the database's while a seed is applied.
type clock struct{ micros atomic.Int64 }

func (c *clock) set(t time.Time) { c.micros.Store(t.UnixMicro()) }

func (c *clock) now() time.Time { return time.UnixMicro(c.micros.Load()).UTC() }
