package detect

import (
	"encoding/json"
	"errors"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// jobs are rows of repositories whose default branch may have moved.
var jobs = db.Jobs{Table: "detections", Key: "repo_id"}

// Note schedules the detection of a repository. It must be called in the transaction that changes the
// default branch.
func Note(tx *db.Tx, id repo.ID) error {
	return tx.Send(`INSERT INTO detections (repo_id, due_at) VALUES ($1, 0)
		ON CONFLICT (repo_id) DO UPDATE SET due_at = 0, tries = 0`, id)
}

// treeOf returns the tree that was read last of a repository; empty: none.
func treeOf(tx *db.Tx, id repo.ID) (sha git.SHA, err error) {
	err = tx.QueryRow(`SELECT tree_sha FROM repo_languages WHERE repo_id = $1`, id).Scan(&sha)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return sha, err
}

// store stores the result. It locks the repository's row first, like pushes, to avoid a deadlock.
func (r *result) store(tx *db.Tx, id repo.ID) error {
	var main *string
	if len(r.languages) > 0 {
		main = &r.languages[0].Name
	}
	err := tx.Run(`UPDATE repos SET language = $2, license = $3 WHERE id = $1
		AND (COALESCE(language, '') <> COALESCE($2, '') OR COALESCE(license, '') <> COALESCE($3, ''))`,
		id, main, r.license)
	if err != nil {
		return err
	}
	return tx.Run(`INSERT INTO repo_languages (repo_id, tree_sha, languages)
		SELECT id, $2, $3 FROM repos WHERE id = $1
		ON CONFLICT (repo_id) DO UPDATE SET tree_sha = excluded.tree_sha, languages = excluded.languages`,
		id, string(r.tree), string(object(r.languages)))
}

// object renders languages as a JSON object in their order.
func object(list []language) []byte {
	out := []byte{'{'}
	for n, l := range list {
		if n > 0 {
			out = append(out, ',')
		}
		name, _ := json.Marshal(l.Name) // a string can always be encoded
		size, _ := json.Marshal(l.Bytes)
		out = append(append(append(out, name...), ':'), size...)
	}
	return append(out, '}')
}

// languagesOfMany reads the languages of repositories as JSON objects. Those without a result are missing.
func languagesOfMany(tx *db.Tx, ids []repo.ID) (map[repo.ID]string, error) {
	return db.QueryMap[repo.ID, string](tx, `SELECT repo_id, languages FROM repo_languages WHERE repo_id IN `+
		db.Values(1, len(ids)), db.Args(ids)...)
}

// languagesOf reads the languages of a repository, or an empty object if there is no result yet.
func languagesOf(tx *db.Tx, id repo.ID) (json.RawMessage, error) {
	var text string
	err := tx.QueryRow(`SELECT languages FROM repo_languages WHERE repo_id = $1`, id).Scan(&text)
	if errors.Is(err, db.ErrNoRows) {
		return json.RawMessage("{}"), nil
	}
	return json.RawMessage(text), err
}
