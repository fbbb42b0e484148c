package analysis

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// take leases a job, or returns nil. Repositories take turns by id, so that frequent jobs of one do not delay the others.
func (w *Worker) take(ctx context.Context) (j *Job, err error) {
	err = w.DB.WriteDue(ctx, w.Jobs, `TRUE`, func(tx *db.Tx) error {
		j = nil
		lease, err := w.Jobs.Take(tx, leaseTime, 1, `repo_id > $3`, w.last)
		if err == nil && lease == nil {
			lease, err = w.Jobs.Take(tx, leaseTime, 1, `TRUE`)
		}
		if err != nil || lease == nil {
			return err
		}
		j = &Job{lease: lease, RepoID: repo.ID(lease.IDs[0])}
		return tx.QueryRow(`SELECT j.tries, COALESCE(f.sha, '') FROM `+w.Jobs.Table+` j JOIN repos r ON r.id = j.repo_id
			LEFT JOIN refs f ON f.repo_id = r.id AND f.name = 'refs/heads/' || r.default_branch
			WHERE j.repo_id = $1`, j.RepoID).Scan(&j.tries, &j.Tip)
	})
	if err == nil && j != nil {
		w.last = j.RepoID
	}
	return j, err
}
