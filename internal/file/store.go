package file

import (
	"context"
	"errors"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// insert inserts a row and sets its id. Error: 404 if the repository was deleted.
func insert(tx *db.Tx, f *File) error {
	var payer *account.ID
	if f.Payer != 0 {
		payer = &f.Payer
	}
	err := tx.QueryRow(`INSERT INTO files (repo_id, name, size, sha256, payer_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`, f.RepoID, f.Name, f.Size, f.SHA256, payer, tx.Now).Scan(&f.ID)
	if errors.Is(err, db.ErrForeignKey) {
		return errs.Absent()
	}
	return err
}

// InsertAll adds the rows of received files to a repository and sets their ids. The caller counts them. Error: 404 if
// the repository was deleted.
func InsertAll(tx *db.Tx, id repo.ID, list []*File) error {
	for part := range slices.Chunk(list, db.MaxValues/6) {
		byName, args := make(map[string]*File, len(part)), make([]any, 0, 6*len(part))
		for _, f := range part {
			f.RepoID, byName[f.Name] = id, f
			args = append(args, id, f.Name, f.Size, f.SHA256, db.OrNull(f.Payer), tx.Now)
		}
		err := db.QueryEach(tx, func(row db.Scanner) error {
			var id ID
			var name string
			err := row.Scan(&id, &name)
			if f := byName[name]; f != nil {
				f.ID = id
			}
			return err
		}, `INSERT INTO files (repo_id, name, size, sha256, payer_id, created_at) VALUES `+
			db.Values(len(part), 6)+` RETURNING id, name`, args...)
		if errors.Is(err, db.ErrForeignKey) {
			return errs.Absent()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// drop removes rows, and returns the names of the files and how many KiB counted for the repository's owner.
func drop(tx *db.Tx, repoID repo.ID, ids []ID) (names []string, kb int64, err error) {
	for part := range slices.Chunk(ids, db.MaxValues) {
		args := []any{repoID}
		for _, id := range part {
			args = append(args, id)
		}
		err := each(tx, func(f *File) {
			if names = append(names, f.Name); f.Payer == 0 {
				kb += f.KB()
			}
		},
			`DELETE FROM files WHERE repo_id = $1 AND id IN `+db.ValuesFrom(2, 1, len(part))+
				` RETURNING `+columns, args...)
		if err != nil {
			return nil, 0, err
		}
	}
	return names, kb, nil
}

const columns = `id, repo_id, name, size, sha256, COALESCE(payer_id, 0)`

// each calls fn for each row of a query with columns.
func each(tx *db.Tx, fn func(f *File), query string, args ...any) error {
	return db.QueryEach(tx, func(row db.Scanner) error {
		var f File
		if err := row.Scan(&f.ID, &f.RepoID, &f.Name, &f.Size, &f.SHA256, &f.Payer); err != nil {
			return err
		}
		fn(&f)
		return nil
	}, query, args...)
}

// namesOf lists the files of a repository.
func namesOf(tx *db.Tx, repoID repo.ID) (names []string, err error) {
	err = ListOf(tx, repoID, func(f *File) { names = append(names, f.Name) })
	return names, err
}

// ListOf calls fn with each file of a repository.
func ListOf(tx *db.Tx, repoID repo.ID, fn func(f *File)) error {
	return each(tx, fn, `SELECT `+columns+` FROM files WHERE repo_id = $1`, repoID)
}

// List calls fn with each file of the store, by name.
func List(tx *db.Tx, fn func(f *File)) error {
	return each(tx, fn, `SELECT `+columns+` FROM files ORDER BY name`)
}

// named reports which of the names have a row.
func named(tx *db.Tx, names []string) (map[string]bool, error) {
	there := make(map[string]bool, len(names))
	for part := range slices.Chunk(names, db.MaxValues) {
		args := make([]any, len(part))
		for i, name := range part {
			args[i] = name
		}
		err := each(tx, func(f *File) { there[f.Name] = true },
			`SELECT `+columns+` FROM files WHERE name IN `+db.Values(1, len(part)), args...)
		if err != nil {
			return nil, err
		}
	}
	return there, nil
}

func (s *Store) named(ctx context.Context, names []string) (there map[string]bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		there, err = named(tx, names)
		return err
	})
	return there, err
}
