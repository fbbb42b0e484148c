package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/audit"
	"arbor/internal/backup"
	"arbor/internal/db"
	"arbor/internal/durable"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/identity"
	"arbor/internal/journal"
	"arbor/internal/seed"
	"arbor/internal/server"
)

// storeFlags say where everything is kept.
type storeFlags struct {
	Data     string `group:"Storage" help:"Folder of the database and the repositories, readable by its owner only." default:"./arbor-data" placeholder:"DIR"`
	Database string `group:"Storage" help:"postgres://... for PostgreSQL, or the path of a SQLite file (default: arbor.db in the data folder)." placeholder:"URL"`

	secureDelete bool   // see db.Options
	replica      string // see db.Options
	serves       bool   // a server opens the store
	claims       bool   // the folder may be another database's
	alone        bool   // nobody else may work on the store
	joins        bool   // another server works in the folder
}

// store is what the commands and the server work on.
type store struct {
	dir string
	url string // of the database
	db  *db.DB
	git *git.Git

	lock io.Closer // see storeFlags.lock
}

// identity is the store for package identity.
func (s *store) identity() identity.Store { return identity.Store{Folder: s.dir, URL: s.url} }

// locate is place for a store that is to be opened. It refuses one in which a restore did not end, and a
// SQLite file that is not there in a folder that belongs to another database.
func (f *storeFlags) locate() (seed.Store, error) {
	at, err := f.place()
	if err == nil {
		err = backup.CheckWhole(at.DataDir)
	}
	if err == nil && !f.claims {
		err = identity.Before(identity.Store{Folder: at.DataDir, URL: at.Database.URL})
	}
	return at, err
}

// bind checks that the folder belongs to the database.
func (f *storeFlags) bind(ctx context.Context, d *db.DB, at seed.Store) error {
	why := identity.Work
	switch {
	case f.claims:
		return nil
	case f.joins:
		why = identity.Join
	case f.serves:
		why = identity.Serve
	}
	return identity.Bind(ctx, d, identity.Store{Folder: at.DataDir, URL: at.Database.URL}, why)
}

// place creates the data folder if it is missing, closes it to others, and returns the
// addresses of the folder and of the database. It refuses a folder with other contents or of another user.
func (f *storeFlags) place() (seed.Store, error) {
	if f.Data == "" {
		return seed.Store{}, misuse("--data must not be empty")
	}
	if err := db.CheckURL(f.Database); err != nil {
		return seed.Store{}, err
	}
	dir, err := filepath.Abs(f.Data)
	if err != nil {
		return seed.Store{}, err
	}
	if err := errors.Join(refuseOwner(dir), refuseFile(dir, "the data folder")); err != nil {
		return seed.Store{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return seed.Store{}, err
	}
	if err := refuseForeign(dir); err != nil {
		return seed.Store{}, err
	}
	if err := closeFolder(dir); err != nil {
		return seed.Store{}, err
	}
	url := f.url(dir)
	if err := closeDatabase(url); err != nil {
		return seed.Store{}, err
	}
	return seed.Store{DataDir: dir, Database: db.Options{URL: url}}, nil
}

// open creates the data folder if it is missing, opens the database, brings
// its tables up to date, and finds git. All of them log where git does. A store
// that is half filled with a seed is refused, and so is a folder of another database.
func (f *storeFlags) open(ctx context.Context, o git.Options) (s *store, err error) {
	at, err := f.locate()
	if err != nil {
		return nil, err
	}
	lock, err := f.lock(at.DataDir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Close())
		}
	}()
	g, err := git.New(ctx, o)
	if err != nil {
		return nil, err
	}
	d, err := db.Open(ctx, db.Options{URL: at.Database.URL, Log: o.Log, Holder: admission.HolderOf,
		Replica: f.replica, SecureDelete: f.secureDelete})
	if err != nil {
		g.Close()
		return nil, err
	}
	err = f.bind(ctx, d, at)
	if err == nil {
		err = seed.CheckWhole(ctx, d)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close(), g.Close())
	}
	return &store{dir: at.DataDir, url: at.Database.URL, db: d, git: g, lock: lock}, nil
}

// lock locks the data folder until the store is closed, together with others: nobody gives the folder to
// another database during that. Those who do, by a claim or a move, lock it alone: what somebody writes to the
// old database then would be lost.
func (f *storeFlags) lock(dir string) (io.Closer, error) {
	lock, err := durable.LockFolder(dir, f.alone)
	switch {
	case err == nil && f.serves:
		return f.lockServing(dir, lock)
	case !errors.Is(err, durable.ErrLocked):
		return lock, err
	case f.alone:
		return nil, errors.New("a server or a command works on the data folder: stop it first")
	}
	return nil, errors.New("the data folder is being given to another database: run this again when that has ended")
}

// servingFile is in the data folder, a file that servers lock, and commands do not.
const servingFile = ".serving"

// lockServing locks the file of servers as well, and finds out whether another one has it.
func (f *storeFlags) lockServing(dir string, folder io.Closer) (io.Closer, error) {
	path := filepath.Join(dir, servingFile)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err == nil {
		err = file.Close()
	}
	var first, lock io.Closer
	if err == nil {
		if first, err = durable.LockFolder(path, true); err == nil {
			err = first.Close()
		} else if errors.Is(err, durable.ErrLocked) {
			f.joins, err = true, nil
		}
	}
	if err == nil {
		lock, err = durable.LockFolder(path, false)
	}
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return closers{lock, folder}, nil
}

// closers are closed together, in their order.
type closers []io.Closer

// Close closes all.
func (c closers) Close() (err error) {
	for _, one := range c {
		err = errors.Join(err, one.Close())
	}
	return err
}

// close ends the processes of git and closes the database, whose queued writes
// are finished first.
func (s *store) close() error {
	gitErr := s.git.Close()
	err := s.db.Close()
	if err == nil {
		err = gitErr
	}
	return errors.Join(err, s.lock.Close())
}

// forge returns the features, for commands that change the store while a server may run.
func (s *store) forge(log *slog.Logger) *forge.Forge {
	f := forge.New(s.db, s.git, log, s.dir)
	server.TellHooks(s.db, f, nil)
	return f
}

// exists checks that there is a store. A misspelt folder is an error: creating an
// empty store there would let a backup of it succeed.
func (f *storeFlags) exists() error {
	if err := db.CheckURL(f.Database); err != nil {
		return err
	}
	if err := errors.Join(refuseOwner(f.Data), refuseFile(f.Data, "the data folder")); err != nil {
		return err
	}
	folder, err := filepath.Abs(f.Data)
	if err != nil {
		return err
	}
	file := f.url(f.Data)
	if strings.Contains(file, "://") {
		file = f.Data
	}
	_, err = os.Stat(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := identity.Before(identity.Store{Folder: folder, URL: f.url(folder)}); err != nil && !f.claims {
		return err
	}
	return fmt.Errorf("no store found: %s does not exist. Use --data or ARBOR_DATA to name its folder, "+
		"or start a new one with arbor serve", file)
}

// url is the address of the database of a data folder.
func (f *storeFlags) url(folder string) string {
	if f.Database == "" {
		return filepath.Join(folder, "arbor.db")
	}
	return f.Database
}

// withStore calls do with the existing store, for a command of the operator. The log contains only warnings.
func withStore(p *process, f *storeFlags, do func(*store, *slog.Logger) error) error {
	if err := f.exists(); err != nil {
		return err
	}
	return withNewStore(p, f, do)
}

// withNewStore is withStore for commands that also make sense in a new store. It creates the store if there is none.
func withNewStore(p *process, f *storeFlags, do func(*store, *slog.Logger) error) error {
	p.ctx = audit.With(p.ctx, operator())
	log := slog.New(journal.Text(p.stderr, slog.LevelWarn))
	s, err := f.open(p.ctx, git.Options{Log: log})
	if err != nil {
		return err
	}
	err = do(s, log)
	if closeErr := s.close(); err == nil {
		err = closeErr
	}
	return err
}

// splitRepo reads OWNER/NAME.
func splitRepo(s string) (owner, name string, err error) {
	owner, name, ok := strings.Cut(s, "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return "", "", misuse("%q is not OWNER/NAME", s)
	}
	return owner, name, nil
}
