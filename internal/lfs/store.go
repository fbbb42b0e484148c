package lfs

import (
	"errors"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/repo"
)

const columns = `x.id, x.oid, x.size, f.id, f.repo_id, f.name, f.size, f.sha256, f.created_at, f.depot_id`

const tables = ` FROM lfs_objects x JOIN files f ON f.id = x.file_id`

func scan(row db.Scanner) (*Object, error) {
	var o Object
	err := row.Scan(&o.ID, &o.OID, &o.Size, &o.File.ID, &o.File.RepoID, &o.File.Name, &o.File.Size, &o.File.SHA256,
		&o.CreatedAt, &o.File.Depot)
	return &o, err
}

func byOID(list []*Object) map[string]*Object {
	found := make(map[string]*Object, len(list))
	for _, o := range list {
		found[o.OID] = o
	}
	return found
}

// byOIDs reads those of the named objects that a repository has.
func byOIDs(tx *db.Tx, id repo.ID, oids []string) (map[string]*Object, error) {
	var all []*Object
	err := db.InParts(oids, func(part []string) error {
		list, err := db.QueryList(tx, scan, `SELECT `+columns+tables+` WHERE x.repo_id = $1 AND x.oid IN `+
			db.ValuesFrom(2, 1, len(part)), db.Args(part, id)...)
		all = append(all, list...)
		return err
	})
	return byOID(all), err
}

// allOf reads all objects of a repository.
func allOf(tx *db.Tx, id repo.ID) ([]*Object, error) {
	return db.QueryList(tx, scan, `SELECT `+columns+tables+` WHERE x.repo_id = $1 ORDER BY x.id`, id)
}

// summary returns how many objects a repository has, and the id of the newest.
func summary(tx *db.Tx, id repo.ID) (n, newest int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*), CAST(COALESCE(MAX(id), 0) AS BIGINT) FROM lfs_objects WHERE repo_id = $1`,
		id).Scan(&n, &newest)
	return n, newest, err
}

// KB returns what the objects of a repository count, in KiB.
func KB(tx *db.Tx, id repo.ID) (kb int64, err error) {
	err = tx.QueryRow(`SELECT CAST(COALESCE(SUM((f.size + 1023) / 1024), 0) AS BIGINT)`+tables+` WHERE x.repo_id = $1`,
		id).Scan(&kb)
	return kb, err
}

// missingFrom reports whether a repository has objects that another one lacks.
func missingFrom(tx *db.Tx, from, to repo.ID) (missing bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM lfs_objects x WHERE x.repo_id = $1 AND NOT EXISTS
		(SELECT 1 FROM lfs_objects y WHERE y.repo_id = $2 AND y.oid = x.oid))`, from, to).Scan(&missing)
	return missing, err
}

// inNetwork finds the named objects in repositories of a network that a caller may read.
func inNetwork(tx *db.Tx, caller *account.Caller, root, but repo.ID, oids []string) (map[string]*Object, error) {
	var all []*Object
	err := db.InParts(oids, func(part []string) error {
		list, err := db.QueryList(tx, scan, `SELECT `+columns+tables+repo.JoinSight("x.repo_id", "$1")+`
			WHERE COALESCE(r.root_id, r.id) = $2 AND r.id <> $3 AND `+repo.Visible(caller)+` AND x.oid IN `+
			db.ValuesFrom(4, 1, len(part))+` ORDER BY x.id`, db.Args(part, account.IDOf(caller), root, but)...)
		all = append(all, list...)
		return err
	})
	return byOID(all), err
}

// insert adds the row of an object whose file has one.
func insert(tx *db.Tx, o *Object) error {
	err := tx.QueryRow(`INSERT INTO lfs_objects (repo_id, file_id, oid, size) VALUES ($1, $2, $3, $4) RETURNING id`,
		o.File.RepoID, o.File.ID, o.OID, o.Size).Scan(&o.ID)
	if errors.Is(err, db.ErrUnique) {
		return errHave
	}
	return err
}

// insertAll adds the rows of many objects to a repository, with those of their files.
func insertAll(tx *db.Tx, id repo.ID, list []*Object) error {
	files := make([]*file.File, len(list))
	for n, o := range list {
		files[n] = &o.File
	}
	if err := file.InsertAll(tx, id, files); err != nil {
		return err
	}
	for part := range slices.Chunk(list, db.MaxValues/4) {
		args := make([]any, 0, 4*len(part))
		for _, o := range part {
			args = append(args, id, o.File.ID, o.OID, o.Size)
		}
		err := tx.Run(`INSERT INTO lfs_objects (repo_id, file_id, oid, size) VALUES `+db.Values(len(part), 4), args...)
		if err != nil {
			return err
		}
	}
	return nil
}
