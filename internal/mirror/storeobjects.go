package mirror

import (
	"slices"

	"arbor/internal/db"
	"arbor/internal/lfs"
)

// noteObjects notes objects that a mirror has to copy.
func noteObjects(tx *db.Tx, m *Mirror, list []lfs.Pointer) error {
	for part := range slices.Chunk(list, db.MaxValues/4) {
		args := make([]any, 0, 4*len(part))
		for _, p := range part {
			args = append(args, m.ID, m.RepoID, p.OID, p.Size)
		}
		err := tx.Run(`INSERT INTO mirror_objects (mirror_id, repo_id, oid, size) VALUES `+
			db.Values(len(part), 4)+` ON CONFLICT (mirror_id, oid) DO NOTHING`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// noteSearched notes that all commits up to now were searched.
func noteSearched(tx *db.Tx, m *Mirror) error {
	return tx.Run(`INSERT INTO mirror_searches (mirror_id, repo_id) VALUES ($1, $2)
		ON CONFLICT (mirror_id) DO NOTHING`, m.ID, m.RepoID)
}

// objectsAfter reads objects that a mirror has to copy, in the order of their names.
func objectsAfter(tx *db.Tx, m *Mirror, oid string, most int) ([]lfs.Pointer, error) {
	return db.QueryList(tx, func(row db.Scanner) (p lfs.Pointer, err error) {
		return p, row.Scan(&p.OID, &p.Size)
	}, `SELECT oid, size FROM mirror_objects WHERE mirror_id = $1 AND oid > $2 ORDER BY oid LIMIT $3`, m.ID, oid, most)
}

// countObjects counts them.
func countObjects(tx *db.Tx, m *Mirror) (n int, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM mirror_objects WHERE mirror_id = $1`, m.ID).Scan(&n)
	return n, err
}

// dropObjects removes objects that were copied.
func dropObjects(tx *db.Tx, m *Mirror, oids []string) error {
	return db.InParts(oids, func(part []string) error {
		return tx.Run(`DELETE FROM mirror_objects WHERE mirror_id = $1 AND oid IN `+db.ValuesFrom(2, 1, len(part)),
			db.Args(part, m.ID)...)
	})
}

// forgetObjects has the next run search all commits again.
func forgetObjects(tx *db.Tx, id int64) error {
	err := tx.Run(`DELETE FROM mirror_objects WHERE mirror_id = $1`, id)
	if err == nil {
		err = tx.Run(`DELETE FROM mirror_searches WHERE mirror_id = $1`, id)
	}
	return err
}
