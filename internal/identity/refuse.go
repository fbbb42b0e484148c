package identity

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// otherDatabase refuses a database in a folder that belongs to another one.
func (s Store) otherDatabase(f *file) error {
	return fmt.Errorf("%s belongs to the database %s, not to %s: %s, or run arbor database claim to use the folder with "+
		"this database", s.Folder, s.shown(f.Database), s.shown(s.address()), s.flag(f.Database))
}

// otherFolder refuses a folder that is not the one of the database.
func (s Store) otherFolder(r row) error {
	if r.Folder == s.Folder {
		return fmt.Errorf("%s is missing or belongs to another store, but the database %s belongs to this folder: run "+
			"arbor database claim to write the file again", filepath.Join(s.Folder, fileName), s.shown(s.address()))
	}
	return &OtherFolderError{fmt.Sprintf("the database %s belongs to the data folder %s, not to %s: use --data %s (or "+
		"ARBOR_DATA), or run arbor database claim to use this folder with it", s.shown(s.address()), r.Folder, s.Folder,
		r.Folder), r.Empty || r.Away}
}

// OtherFolderError says that a database belongs to another data folder.
type OtherFolderError struct {
	line  string
	Empty bool // nothing lies in a data folder: the store is just being made
}

// Error returns the line for the operator.
func (e *OtherFolderError) Error() string { return e.line }

// moved refuses a database whose rows are in another one.
func (s Store) moved(r row) error {
	return fmt.Errorf("the database %s was moved to %s on %s: %s, or run arbor database claim to use the old data again",
		s.shown(s.address()), s.shown(r.MovedTo), r.MovedAt.Time().UTC().Format("2006-01-02"), s.flag(r.MovedTo))
}

// noDatabase refuses a new database in a folder with repositories.
func (s Store) noDatabase() error {
	return fmt.Errorf("%s holds repositories, but the database %s is empty: set --database (or ARBOR_DATABASE) to the "+
		"database of this folder; to use the empty one, move the folder repositories away first", s.Folder,
		s.shown(s.address()))
}

// noRepositories refuses a folder without repositories if the database has some.
func (s Store) noRepositories() error {
	return fmt.Errorf("the database %s has repositories, but the data folder %s holds none: set --data (or ARBOR_DATA) "+
		"to the folder of this database, or run arbor database claim to use this folder with it", s.shown(s.address()),
		s.Folder)
}

// copiedFolder refuses a folder that was copied with its file.
func (s Store) copiedFolder(r row) error {
	return fmt.Errorf("%s is a copy of the data folder %s, to which the database %s belongs: use --data %s "+
		"(or ARBOR_DATA), or run arbor database claim to use the copy with the database", s.Folder, r.Folder,
		s.shown(s.address()), r.Folder)
}

// flag says which flag leads to the database at an address.
func (s Store) flag(address string) string {
	if address == defaultDatabase {
		return "do not set --database (or ARBOR_DATABASE)"
	}
	return "use --database " + s.shown(address) + " (or ARBOR_DATABASE)"
}

// shown returns an address for a message. It is absolute, since the reader may be in another folder.
func (s Store) shown(address string) string {
	if address == "" {
		return "(unknown)"
	}
	if strings.Contains(address, "://") || filepath.IsAbs(address) {
		return address
	}
	return filepath.Join(s.Folder, address)
}

// defaultDatabase is the address of a SQLite database in its usual place.
const defaultDatabase = "arbor.db"

// address is the database's as the folder's file has it, without a password: of SQLite the path, in the folder
// if it is there, so that the folder may be moved.
func (s Store) address() string {
	if s.isPostgres() {
		return withoutSecrets(s.URL)
	}
	path, err := filepath.Abs(s.URL)
	if err != nil {
		return s.URL
	}
	if below, err := filepath.Rel(s.Folder, path); err == nil && filepath.IsLocal(below) {
		return below
	}
	return path
}

func (s Store) isPostgres() bool { return strings.Contains(s.URL, "://") }

// shownParameters are those of a URL that identify the database and are not secrets.
var shownParameters = []string{"host", "port", "dbname", "search_path", "service"}

// withoutSecrets is a URL of PostgreSQL without its password, and with those of its parameters alone that say
// which database it is. It may name several hosts, which net/url does not take.
func withoutSecrets(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	rest, query, _ := strings.Cut(rest, "?")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		user, _, _ := strings.Cut(rest[:at], ":")
		rest = user + rest[at:]
	}
	kept := url.Values{}
	given, _ := url.ParseQuery(query) // what cannot be read is left out
	for _, name := range shownParameters {
		if given.Has(name) {
			kept.Set(name, given.Get(name))
		}
	}
	if len(kept) > 0 {
		rest += "?" + kept.Encode()
	}
	return scheme + "://" + rest
}
