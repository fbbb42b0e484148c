package file

import (
	"errors"

	"arbor/internal/db"
)

// depotRow is a row of the table depots.
type depotRow struct {
	id       DepotID
	address  string // empty: the data folder
	store    string
	chosenAt db.Time
}

const depotColumns = `SELECT id, address, store, chosen_at FROM depots`

// oneDepot reads a row; nil if there is none.
func oneDepot(tx *db.Tx, rest string, args ...any) (*depotRow, error) {
	var r depotRow
	err := tx.QueryRow(depotColumns+rest, args...).Scan(&r.id, &r.address, &r.store, &r.chosenAt)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	return &r, err
}

func depotByID(tx *db.Tx, id DepotID) (*depotRow, error) { return oneDepot(tx, ` WHERE id = $1`, id) }

func depotAt(tx *db.Tx, address string) (*depotRow, error) {
	return oneDepot(tx, ` WHERE address = $1`, address)
}

// chosenDepot reads the row to whose place new files go; nil: the data folder always was that.
func chosenDepot(tx *db.Tx) (*depotRow, error) {
	return oneDepot(tx, ` ORDER BY chosen_at DESC LIMIT 1`)
}

// chooseDepot makes an address the place of new files.
func chooseDepot(tx *db.Tx, address, store string) (*depotRow, error) {
	now, err := tx.Clock()
	if err != nil {
		return nil, err
	}
	last, err := chosenDepot(tx)
	if err != nil {
		return nil, err
	}
	if last != nil {
		now = max(now, last.chosenAt+1)
	}
	err = tx.Run(`INSERT INTO depots (address, store, chosen_at) VALUES ($1, $2, $3)
		ON CONFLICT (address) DO UPDATE SET chosen_at = excluded.chosen_at`, address, store, now)
	if err != nil {
		return nil, err
	}
	return depotAt(tx, address)
}

// depots lists the depots, the data folder not among them.
func depots(tx *db.Tx) ([]depotRow, error) {
	return db.QueryList(tx, func(row db.Scanner) (r depotRow, err error) {
		err = row.Scan(&r.id, &r.address, &r.store, &r.chosenAt)
		return r, err
	}, depotColumns+` WHERE address <> '' ORDER BY id`)
}

func removeDepot(tx *db.Tx, id DepotID) error {
	return tx.Run(`DELETE FROM depots WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM files WHERE depot_id = $1)
		AND NOT EXISTS (SELECT 1 FROM pack_files WHERE depot_id = $1)
		AND NOT EXISTS (SELECT 1 FROM bundles WHERE depot_id = $1)`, id)
}

// hasFiles reports whether there are rows of files.
func hasFiles(tx *db.Tx) (has bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM files)`).Scan(&has)
	return has, err
}

// storeID reads the id of the store (package identity); empty: it has none yet.
func storeID(tx *db.Tx) (id string, err error) {
	err = tx.QueryRow(`SELECT store FROM store_identity`).Scan(&id)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return id, err
}

// outside counts the files that do not lie in a depot, and their bytes.
func outside(tx *db.Tx, id DepotID) (n, bytes int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*), CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM files WHERE depot_id <> $1`,
		id).Scan(&n, &bytes)
	return n, bytes, err
}

// nextOutside lists files that do not lie in a depot, by name, behind a name.
func nextOutside(tx *db.Tx, id DepotID, after string, most int) (list []*File, err error) {
	err = each(tx, func(f *File) { list = append(list, f) }, `SELECT `+columns+` FROM files
		WHERE name > $1 AND depot_id <> $2 ORDER BY name LIMIT $3`, after, id, most)
	return list, err
}

// setDepot notes that a file lies in another depot, unless it does not lie where it did.
func setDepot(tx *db.Tx, f *File, to DepotID) (done bool, err error) {
	n, err := tx.Exec(`UPDATE files SET depot_id = $3 WHERE id = $1 AND depot_id = $2`, f.ID, f.Depot, to)
	return n == 1, err
}

// fileByID reads a row; nil: it is gone.
func fileByID(tx *db.Tx, id ID) (f *File, err error) {
	err = each(tx, func(found *File) { f = found }, `SELECT `+columns+` FROM files WHERE id = $1`, id)
	return f, err
}

// liesIn reports whether files lie in a depot.
func liesIn(tx *db.Tx, id DepotID) (has bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM files WHERE depot_id = $1)
		OR EXISTS (SELECT 1 FROM pack_files WHERE depot_id = $1)
		OR EXISTS (SELECT 1 FROM bundles WHERE depot_id = $1)`, id).Scan(&has)
	return has, err
}
