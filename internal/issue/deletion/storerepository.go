package deletion

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// numbersBeyond reports whether the repository has given out more numbers of issues than n.
func numbersBeyond(tx *db.Tx, id repo.ID, n int64) (beyond bool, err error) {
	err = tx.QueryRow(`SELECT next_number - 1 > $2 FROM repos WHERE id = $1`, id, n).Scan(&beyond)
	return beyond, err
}

// insertDeletedRepo notes the job once.
func insertDeletedRepo(tx *db.Tx, id repo.ID, request string) error {
	return tx.RunRing(topic, `INSERT INTO deleted_repos (repo_id, request) VALUES ($1, $2)
		ON CONFLICT (repo_id) DO NOTHING`, id, db.OrNull(request))
}

// nextDeletedRepo finds a deleted repository that is still there, and the request that deleted it; 0 when
// there is none.
func nextDeletedRepo(tx *db.Tx) (id repo.ID, request string, err error) {
	err = tx.QueryRow(`SELECT repo_id, COALESCE(request, '') FROM deleted_repos ORDER BY repo_id LIMIT 1`).
		Scan(&id, &request)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return id, request, err
}
