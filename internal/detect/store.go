package detect

import (
	"context"
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
	return tx.Run(`INSERT INTO detections (repo_id, due_at) VALUES ($1, 0)
		ON CONFLICT (repo_id) DO UPDATE SET due_at = 0, tries = 0`, id)
}

// work is a repository to be processed.
type work struct {
	lease  *db.Lease
	repoID repo.ID
	tries  int64
	tip    git.SHA // of the default branch; empty: no branch
	seen   git.SHA // the tree read last; empty: none
}

// take leases a job, or returns nil. Repositories take turns by id, so that frequent pushes to one do not
// delay the others.
func (s *Service) take(ctx context.Context) (w *work, err error) {
	err = s.db.WriteDue(ctx, jobs, `TRUE`, func(tx *db.Tx) error {
		w = nil
		lease, err := jobs.Take(tx, leaseTime, 1, `repo_id > $3`, s.last)
		if err == nil && lease == nil {
			lease, err = jobs.Take(tx, leaseTime, 1, `TRUE`)
		}
		if err != nil || lease == nil {
			return err
		}
		w = &work{lease: lease, repoID: repo.ID(lease.IDs[0])}
		return tx.QueryRow(`SELECT d.tries, COALESCE(f.sha, ''), COALESCE(l.tree_sha, '')
			FROM detections d JOIN repos r ON r.id = d.repo_id
			LEFT JOIN refs f ON f.repo_id = r.id AND f.name = 'refs/heads/' || r.default_branch
			LEFT JOIN repo_languages l ON l.repo_id = r.id
			WHERE d.repo_id = $1`, w.repoID).Scan(&w.tries, &w.tip, &w.seen)
	})
	if err == nil && w != nil {
		s.last = w.repoID
	}
	return w, err
}

// end stores the result and completes the job. It locks the repository's row first, like pushes, to avoid a
// deadlock. Error: db.ErrLeaseLost.
func (w *work) end(tx *db.Tx, r result) error {
	if !r.seen {
		var main *string
		if len(r.languages) > 0 {
			main = &r.languages[0].Name
		}
		err := tx.Run(`UPDATE repos SET language = $2, license = $3 WHERE id = $1
			AND (COALESCE(language, '') <> COALESCE($2, '') OR COALESCE(license, '') <> COALESCE($3, ''))`,
			w.repoID, main, r.license)
		if err != nil {
			return err
		}
		err = tx.Run(`INSERT INTO repo_languages (repo_id, tree_sha, languages)
			SELECT id, $2, $3 FROM repos WHERE id = $1
			ON CONFLICT (repo_id) DO UPDATE SET tree_sha = excluded.tree_sha, languages = excluded.languages`,
			w.repoID, string(r.tree), string(object(r.languages)))
		if err != nil {
			return err
		}
	}
	return jobs.Remove(tx, w.lease)
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

// Backlog returns the backlog of detection.
func (s *Service) Backlog(tx *db.Tx) (db.Backlog, error) { return jobs.Backlog(tx, `TRUE`) }
