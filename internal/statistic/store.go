package statistic

import (
	"context"
	"encoding/json"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// jobs are rows of repositories whose statistics somebody waits for.
var jobs = db.Jobs{Table: "statistics_jobs", Key: "repo_id"}

// work is a repository to be processed.
type work struct {
	lease  *db.Lease
	repoID repo.ID
	tries  int64
	tip    git.SHA // of the default branch; empty: no branch
}

// take leases a job, or returns nil. Repositories take turns by id.
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
		return tx.QueryRow(`SELECT j.tries, COALESCE(f.sha, '') FROM statistics_jobs j
			JOIN repos r ON r.id = j.repo_id
			LEFT JOIN refs f ON f.repo_id = r.id AND f.name = 'refs/heads/' || r.default_branch
			WHERE j.repo_id = $1`, w.repoID).Scan(&w.tries, &w.tip)
	})
	if err == nil && w != nil {
		s.last = w.repoID
	}
	return w, err
}

// end stores the counts, if there are any, and completes the job. It locks the repository's row first, like
// pushes, to avoid a deadlock. Error: db.ErrLeaseLost.
func (w *work) end(tx *db.Tx, found *counts) error {
	if found != nil {
		text, err := json.Marshal(found)
		if err != nil {
			return err
		}
		if err := repo.Lock(tx, w.repoID); err != nil {
			return err
		}
		err = tx.Run(`INSERT INTO repo_statistics (repo_id, tip_sha, counts)
			SELECT id, $2, $3 FROM repos WHERE id = $1
			ON CONFLICT (repo_id) DO UPDATE SET tip_sha = excluded.tip_sha, counts = excluded.counts`,
			w.repoID, string(w.tip), string(text))
		if err != nil {
			return err
		}
	}
	return jobs.Remove(tx, w.lease)
}

// kept is what is known of the statistics of a repository.
type kept struct {
	tip    git.SHA // of the default branch; empty: no branch
	counts *string // of that tip
	asked  bool    // a job is waiting
}

// keptOf reads what is known of a repository.
func keptOf(tx *db.Tx, id repo.ID) (k kept, err error) {
	var job *int64
	err = tx.QueryRow(`SELECT COALESCE(f.sha, ''), c.counts, j.repo_id FROM repos r
		LEFT JOIN refs f ON f.repo_id = r.id AND f.name = 'refs/heads/' || r.default_branch
		LEFT JOIN repo_statistics c ON c.repo_id = r.id AND c.tip_sha = f.sha
		LEFT JOIN statistics_jobs j ON j.repo_id = r.id
		WHERE r.id = $1`, id).Scan(&k.tip, &k.counts, &job)
	k.asked = job != nil
	return k, err
}

// ask adds a job for a repository.
func ask(tx *db.Tx, id repo.ID) error {
	err := tx.Run(`INSERT INTO statistics_jobs (repo_id, due_at) SELECT id, 0 FROM repos WHERE id = $1
		ON CONFLICT (repo_id) DO NOTHING`, id)
	tx.Ring(asked)
	return err
}

// Backlog returns the backlog of counting.
func (s *Service) Backlog(tx *db.Tx) (db.Backlog, error) { return jobs.Backlog(tx, `TRUE`) }
