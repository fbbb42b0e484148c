package identity

import (
	"context"
	"errors"

	"arbor/internal/db"
)

// row is what the database says.
type row struct {
	Store     string // the id; empty: the database belongs to no folder yet
	Folder    string // where the folder was last
	MovedFrom string // the id of the store whose rows were moved here
	MovedTo   string // the address of the database that has the rows now; empty: this one
	MovedAt   db.Time
	Fresh     bool // nobody is registered: the database holds nothing

	Refs bool // of repositories, which have folders then
	Away bool // all repositories and files lie in a depot

	Empty bool // no repository, file or depot exists
}

func rowOf(id, folder string) row { return row{Store: id, Folder: folder} }

// read reads the row; the zero row if there is none.
func read(ctx context.Context, d *db.DB) (r row, err error) {
	return db.Get(ctx, d, func(tx *db.Tx) (row, error) { return readRow(tx) })
}

func readRow(tx *db.Tx) (r row, err error) {
	err = tx.QueryRow(`SELECT store, folder, moved_from, moved_to, moved_at FROM store_identity`).Scan(
		&r.Store, &r.Folder, &r.MovedFrom, &r.MovedTo, &r.MovedAt)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return row{}, err
	}
	return r, tx.QueryRow(`SELECT NOT EXISTS (SELECT 1 FROM accounts), EXISTS (SELECT 1 FROM refs),
		COALESCE((SELECT address FROM depots ORDER BY chosen_at DESC LIMIT 1), '') <> ''
			AND NOT EXISTS (SELECT 1 FROM repos WHERE packs = 0) AND NOT EXISTS (SELECT 1 FROM files WHERE depot_id = 0),
		NOT EXISTS (SELECT 1 FROM repos) AND NOT EXISTS (SELECT 1 FROM files) AND NOT EXISTS (SELECT 1 FROM depots)`).
		Scan(&r.Fresh, &r.Refs, &r.Away, &r.Empty)
}

// insert inserts the database's row, unless another process was faster, and returns what is there.
func insert(ctx context.Context, d *db.DB, id, folder string) (r row, err error) {
	err = d.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(`INSERT INTO store_identity (id, store, folder) VALUES (1, $1, $2)
			ON CONFLICT DO NOTHING`, id, folder); err != nil {
			return err
		}
		r, err = readRow(tx)
		return err
	})
	return r, err
}

// replace replaces the database's row.
func replace(ctx context.Context, d *db.DB, r row) error {
	return d.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(`DELETE FROM store_identity`); err != nil || r.Store == "" {
			return err
		}
		_, err := tx.Exec(`INSERT INTO store_identity (id, store, folder, moved_from) VALUES (1, $1, $2, $3)`,
			r.Store, r.Folder, r.MovedFrom)
		return err
	})
}

func setFolder(ctx context.Context, d *db.DB, folder string) error {
	return d.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE store_identity SET folder = $1`, folder)
		return err
	})
}

// setMoved marks a database whose rows are at another address.
func setMoved(ctx context.Context, d *db.DB, address string) error {
	return d.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE store_identity SET moved_to = $1, moved_at = $2`, address, tx.Now)
		return err
	})
}
