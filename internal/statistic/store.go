package statistic

import (
	"encoding/json"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// jobs are rows of repositories whose statistics somebody waits for.
var jobs = db.Jobs{Table: "statistics_jobs", Key: "repo_id"}

// store stores the counts of a tip. It locks the repository's row first, like pushes, to avoid a deadlock.
func (c *counts) store(tx *db.Tx, id repo.ID, tip git.SHA) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := repo.Lock(tx, id); err != nil {
		return err
	}
	return tx.Run(`INSERT INTO repo_statistics (repo_id, tip_sha, counts)
		SELECT id, $2, $3 FROM repos WHERE id = $1
		ON CONFLICT (repo_id) DO UPDATE SET tip_sha = excluded.tip_sha, counts = excluded.counts`,
		id, string(tip), string(text))
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
