package file

import (
	"errors"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// insert inserts a row and sets its id. Error: 404 if the repository was deleted.
func insert(tx *db.Tx, f *File) error {
	if err := CheckAge(tx, f.kept); err != nil {
		return err
	}
	var payer *account.ID
	if f.Payer != 0 {
		payer = &f.Payer
	}
	err := tx.QueryRow(`INSERT INTO files (repo_id, name, size, sha256, payer_id, created_at, depot_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`, f.RepoID, f.Name, f.Size, f.SHA256, payer, tx.Now,
		f.Depot).Scan(&f.ID)
	if errors.Is(err, db.ErrForeignKey) {
		return errs.Absent()
	}
	return err
}

// InsertAll adds the rows of received files to a repository and sets their ids. The caller counts them. Error: 404 if
// the repository was deleted.
func InsertAll(tx *db.Tx, id repo.ID, list []*File) error {
	for part := range slices.Chunk(list, db.MaxValues/7) {
		byName, args := make(map[string]*File, len(part)), make([]any, 0, 7*len(part))
		for _, f := range part {
			if err := CheckAge(tx, f.kept); err != nil {
				return err
			}
			f.RepoID, byName[f.Name] = id, f
			args = append(args, id, f.Name, f.Size, f.SHA256, db.OrNull(f.Payer), tx.Now, f.Depot)
		}
		err := db.QueryEach(tx, func(row db.Scanner) error {
			var id ID
			var name string
			err := row.Scan(&id, &name)
			if f := byName[name]; f != nil {
				f.ID = id
			}
			return err
		}, `INSERT INTO files (repo_id, name, size, sha256, payer_id, created_at, depot_id) VALUES `+
			db.Values(len(part), 7)+` RETURNING id, name`, args...)
		if errors.Is(err, db.ErrForeignKey) {
			return errs.Absent()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// drop removes rows, and returns where the files lie and how many KiB counted for the repository's owner.
func drop(tx *db.Tx, repoID repo.ID, ids []ID) (gone []location, kb int64, err error) {
	for part := range slices.Chunk(ids, db.MaxValues) {
		args := []any{repoID}
		for _, id := range part {
			args = append(args, id)
		}
		err := each(tx, func(f *File) {
			if gone = append(gone, f.location()); f.Payer == 0 {
				kb += f.KB()
			}
		},
			`DELETE FROM files WHERE repo_id = $1 AND id IN `+db.ValuesFrom(2, 1, len(part))+
				` RETURNING `+columns, args...)
		if err != nil {
			return nil, 0, err
		}
	}
	return gone, kb, nil
}

const columns = `id, repo_id, name, size, sha256, COALESCE(payer_id, 0), depot_id`

// each calls fn for each row of a query with columns.
func each(tx *db.Tx, fn func(f *File), query string, args ...any) error {
	return db.QueryEach(tx, func(row db.Scanner) error {
		var f File
		if err := row.Scan(&f.ID, &f.RepoID, &f.Name, &f.Size, &f.SHA256, &f.Payer, &f.Depot); err != nil {
			return err
		}
		fn(&f)
		return nil
	}, query, args...)
}

// locationsOf lists where the files of a repository lie.
func locationsOf(tx *db.Tx, repoID repo.ID) (list []location, err error) {
	err = ListOf(tx, repoID, func(f *File) { list = append(list, f.location()) })
	return list, err
}

// ListOf calls fn with each file of a repository.
func ListOf(tx *db.Tx, repoID repo.ID, fn func(f *File)) error {
	return each(tx, fn, `SELECT `+columns+` FROM files WHERE repo_id = $1`, repoID)
}

// List calls fn with each file of the store, by name.
func List(tx *db.Tx, fn func(f *File)) error {
	return each(tx, fn, `SELECT `+columns+` FROM files ORDER BY name`)
}

// named returns where the files lie whose names are those of the locations and that have a row.
func named(tx *db.Tx, list []location) (map[string]DepotID, error) {
	there := make(map[string]DepotID, len(list))
	for part := range slices.Chunk(list, db.MaxValues) {
		args := make([]any, len(part))
		for i, l := range part {
			args[i] = l.name
		}
		err := each(tx, func(f *File) { there[f.Name] = f.Depot },
			`SELECT `+columns+` FROM files WHERE name IN `+db.Values(1, len(part)), args...)
		if err != nil {
			return nil, err
		}
	}
	return there, nil
}
