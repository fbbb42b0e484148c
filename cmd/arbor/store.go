package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/audit"
	"arbor/internal/backup"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/seed"
	"arbor/internal/server"
)

// storeFlags say where everything is kept.
type storeFlags struct {
	Data     string `help:"Folder of the database and the repositories. It and all below it are made readable by their owner alone." default:"./arbor-data" placeholder:"DIR"`
	Database string `help:"postgres://... for PostgreSQL, or the path of a SQLite file (default: arbor.db in the data folder)." placeholder:"URL"`

	secureDelete bool // see db.Options
}

// store is what the commands and the server work on.
type store struct {
	dir string
	db  *db.DB
	git *git.Git
}

// locate is place for a store that is to be opened: one in which a restore did not end is
// refused.
func (f *storeFlags) locate() (seed.Store, error) {
	at, err := f.place()
	if err == nil {
		err = backup.CheckWhole(at.DataDir)
	}
	return at, err
}

// place makes the data folder if it is missing, closes it to others, and gives the
// addresses of the folder and of the database. A folder of something else is refused.
func (f *storeFlags) place() (seed.Store, error) {
	if f.Data == "" {
		return seed.Store{}, misuse("--data names no folder")
	}
	dir, err := filepath.Abs(f.Data)
	if err != nil {
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
	url := f.Database
	if url == "" {
		url = filepath.Join(dir, "arbor.db")
	}
	if err := closeDatabase(url); err != nil {
		return seed.Store{}, err
	}
	return seed.Store{DataDir: dir, Database: db.Options{URL: url}}, nil
}

// open makes the data folder where it is missing, opens the database, brings
// its tables up to date, and finds git. All of them log where git does. A store
// that is half filled with a seed is refused.
func (f *storeFlags) open(ctx context.Context, o git.Options) (*store, error) {
	at, err := f.locate()
	if err != nil {
		return nil, err
	}
	g, err := git.New(ctx, o)
	if err != nil {
		return nil, err
	}
	d, err := db.Open(ctx, db.Options{URL: at.Database.URL, Log: o.Log, Holder: admission.HolderOf,
		SecureDelete: f.secureDelete})
	if err != nil {
		g.Close()
		return nil, err
	}
	if err := seed.CheckWhole(ctx, d); err != nil {
		return nil, errors.Join(err, d.Close(), g.Close())
	}
	return &store{at.DataDir, d, g}, nil
}

// close ends the processes of git and closes the database, whose queued writes
// are finished first.
func (s *store) close() error {
	gitErr := s.git.Close()
	if err := s.db.Close(); err != nil {
		return err
	}
	return gitErr
}

// forge is the features, for commands that change the store beside a server.
func (s *store) forge(log *slog.Logger) *forge.Forge {
	f := forge.New(s.db, s.git, log, s.dir)
	server.TellHooks(s.db, f, nil)
	return f
}

// exists makes sure that there is a store. A folder that was named wrongly is an error, and does not become
// an empty store, of which a backup would succeed.
func (f *storeFlags) exists() error {
	file := f.Database
	if strings.Contains(file, "://") {
		file = f.Data
	} else if file == "" {
		file = filepath.Join(f.Data, "arbor.db")
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no store: %s does not exist", file)
	} else if err != nil {
		return err
	}
	return nil
}

// administer runs one command of the operator on a store that is there. What goes wrong is
// the command's error; the log has only warnings.
func administer(p *process, f *storeFlags, do func(*store, *slog.Logger) error) error {
	if err := f.exists(); err != nil {
		return err
	}
	return establish(p, f, do)
}

// establish is administer for commands that make sense in a new store, which it makes where there is none.
func establish(p *process, f *storeFlags, do func(*store, *slog.Logger) error) error {
	p.ctx = audit.With(p.ctx, operator())
	log := slog.New(newLog(p.stderr, "text", slog.LevelWarn))
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
