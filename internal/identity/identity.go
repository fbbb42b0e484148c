// Package identity keeps a store's database and its data folder together. Both hold one random id, and a
// folder is never opened with another store's database.
//
//	identity.go  Bind: the check of everything that opens a store, and the first bond
//	change.go    Claim and Move: a folder gets another database
//	copied.go    a folder or a database that somebody copied with its id
//	refuse.go    what is said to those who open the wrong one
//	file.go      arbor-store.json in the data folder
//	store.go     the row of store_identity in the database
//
// The file in the folder decides which database is valid; it is replaced atomically. When a store is created, the file
// is written first. Then the database takes its id from the file, but only if the file names this database's address. So
// if a process is killed between the two steps, no manual repair is needed.
//
// A store from a version without ids gets its id when a server starts on it. Until then, commands work on it without an
// id: a command with the wrong flags must not decide which database the server may open.
package identity

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"arbor/internal/db"
)

// Store is a store as somebody opens it.
type Store struct {
	Folder string // the data folder, absolute
	URL    string // of the database, as db.Options has it
}

// Purpose is why somebody opens a store.
type Purpose uint8

// The purposes.
const (
	Work  Purpose = iota // a command
	Serve                // a server
	Join                 // a server in a folder in which another one works
	Fill                 // a restore, which fills an empty database and an empty folder
)

// Before checks what can be known before the database is opened. It refuses to make a SQLite file where the
// folder belongs to another database, or holds repositories, which no new database knows.
func Before(s Store) error {
	if s.isPostgres() {
		return nil
	}
	if _, err := os.Stat(s.URL); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := readFile(s.Folder)
	if err == nil {
		err = s.refuse(row{}, file)
	}
	if err == nil {
		err = s.refuseRepositories()
	}
	return err
}

// Check is Bind without the first bond. A SQLite file that is not there is not made.
func Check(ctx context.Context, o db.Options, s Store) (bound bool, err error) {
	file, err := readFile(s.Folder)
	if err != nil {
		return false, err
	}
	var row row
	if _, err := os.Stat(s.URL); s.isPostgres() || !errors.Is(err, fs.ErrNotExist) {
		d, err := db.Open(ctx, o)
		if err != nil {
			return false, err
		}
		row, err = read(ctx, d)
		if err = errors.Join(err, d.Close()); err != nil {
			return false, err
		}
	}
	err = s.refuse(row, file)
	if err == nil {
		err = s.refuseCopy(row, file)
	}
	return row.Store != "" && file != nil, err
}

// Bind checks that a database and a folder belong together, and binds those of a new store. A server also binds
// those of a store from a version without ids, and updates the addresses that they store of each other. Errors are
// for the operator, in one line.
func Bind(ctx context.Context, d *db.DB, s Store, why Purpose) error {
	row, err := read(ctx, d)
	if err != nil {
		return err
	}
	file, err := readFile(s.Folder)
	if err == nil && file == nil && s.mayBeNode(row) {
		file, err = s.makeNodeFile(row)
	}
	if err == nil {
		err = s.refuse(row, file)
	}
	if err != nil {
		return err
	}
	if row.Store == "" {
		switch {
		case row.Fresh && why != Fill:
			if err := s.refuseRepositories(); err != nil {
				return err
			}
		case file == nil && why == Work:
			return nil
		case file == nil && row.Refs:
			if err := s.needRepositories(); err != nil {
				return err
			}
		}
		made := file == nil
		if made {
			if file, err = s.makeFile(); err != nil {
				return err
			}
		}
		if err := s.refuse(row, file); err != nil { // another process was faster
			return err
		}
		if row, err = insert(ctx, d, file.Store, s.Folder); err != nil {
			return err
		}
		if made && row.Store != file.Store { // another process bound the database to another folder first
			return errors.Join(s.otherFolder(row), os.Remove(filepath.Join(s.Folder, fileName)))
		}
	}
	if err := s.refuse(row, file); err != nil {
		return err
	}
	if err := s.refuseCopy(row, file); err != nil || why == Work {
		return err
	}
	if why == Join {
		if err := s.refuseSecond(ctx, d, file); err != nil {
			return err
		}
	}
	return s.refresh(ctx, d, row, file)
}

// refuse returns an error unless a database and a folder belong together, or may be bound.
func (s Store) refuse(r row, f *file) error {
	switch here := f != nil && f.Database == s.address(); {
	case r.MovedTo != "":
		return s.moved(r)
	case r.Store == "" && (f == nil || here), f != nil && r.Store == f.Store:
		return nil
	case f == nil || here:
		return s.otherFolder(r)
	}
	return s.otherDatabase(f)
}

// refresh notes where the database and the folder are now.
func (s Store) refresh(ctx context.Context, d *db.DB, row row, file *file) error {
	if address := s.address(); file.Database != address {
		now := fileOf(row.Store, address)
		now.Node = file.Node
		if err := replaceFile(s.Folder, now); err != nil {
			return err
		}
	}
	if row.Folder == s.Folder || file.Node {
		return nil
	}
	return setFolder(ctx, d, s.Folder)
}

// mayBeNode reports whether a folder without a file may become the data folder of an additional node: all
// repositories and files of the store are in a depot, so any folder will do.
func (s Store) mayBeNode(r row) bool {
	return r.Store != "" && r.Away && r.Folder != s.Folder && s.isPostgres()
}

// newID returns a new store id.
func newID() string { return strings.ToLower(rand.Text()) }

// refuseRepositories returns an error if the folder holds repositories. It is for a database that is new, and
// so knows none: a server on it would remove them all.
func (s Store) refuseRepositories() error {
	holds, err := s.holdsRepositories()
	if holds {
		return s.noDatabase()
	}
	return err
}

// needRepositories returns an error unless the folder holds repositories. It is for a database that has some:
// if it were bound to an empty folder by mistake, its own folder would be refused later.
func (s Store) needRepositories() error {
	holds, err := s.holdsRepositories()
	if err == nil && !holds {
		return s.noRepositories()
	}
	return err
}

func (s Store) holdsRepositories() (bool, error) {
	dir := filepath.Join(s.Folder, "repositories")
	shards, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, shard := range shards {
		if len(shard.Name()) != 2 || err != nil {
			continue
		}
		var list []fs.DirEntry
		if list, err = os.ReadDir(filepath.Join(dir, shard.Name())); len(list) > 0 {
			return true, nil
		}
	}
	return false, err
}
