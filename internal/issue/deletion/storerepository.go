package deletion

import (
	"errors"
	"fmt"
	"strings"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// bulk are the tables that may hold much of a repository, in the order in which they are emptied: what hangs on
// a row goes before it. key tells the rows apart, or groups of few. atOnce is how many rows one transaction
// removes: nobody else writes to SQLite meanwhile, so they are fewer where rows hold texts or others hang on
// them. The few rows of other tables go with the repository's own.
var bulk = [...]struct {
	table, key string
	atOnce     int64
}{
	{"reactions", "id", 2000},
	{"activities", "id", 2000},
	{"issue_comments", "id", 50},
	{"issue_events", "id", 2000},
	{"review_comments", "id", 50},
	{"reviews", "id", 50},
	{"pull_commits", "sha", 1000},
	{"issues", "id", 100},
	{"departed_issues", "number", 2000},
	{"labels", "id", 1000},
	{"milestones", "id", 50},
	{"commit_comments", "id", 50},
	{"check_runs", "id", 20},
	{"check_suites", "id", 1000},
	{"statuses", "id", 1000},
	{"status_contexts", "sha", 500},
	{"status_commits", "sha", 1000},
	{"pull_branches", "id", 1000},
	{"unreached_objects", "sha", 2000},
	{"refs", "name", 2000},
}

// hasMany reports whether the repository has more rows somewhere than one transaction may remove, or has given
// out more numbers of issues.
func hasMany(tx *db.Tx, id repo.ID) (many bool, err error) {
	parts := []string{"next_number - 1 > 200"}
	for _, b := range bulk {
		parts = append(parts, fmt.Sprintf("EXISTS (SELECT 1 FROM %s x WHERE x.repo_id = r.id LIMIT 1 OFFSET %d)",
			b.table, b.atOnce))
	}
	err = tx.QueryRow(`SELECT `+strings.Join(parts, " OR ")+` FROM repos r WHERE r.id = $1`, id).Scan(&many)
	return many, err
}

// RemoveSome removes some of the rows that hang on a repository which is being deleted, and returns how many; 0:
// few are left, which go with the repository's row.
func RemoveSome(tx *db.Tx, id repo.ID) (int64, error) {
	for _, b := range bulk {
		n, err := tx.Exec(fmt.Sprintf(`DELETE FROM %s WHERE repo_id = $1 AND %s IN (
			SELECT %s FROM %s WHERE repo_id = $1 LIMIT %d)`, b.table, b.key, b.key, b.table, b.atOnce), id)
		if err != nil || n > 0 {
			return n, err
		}
	}
	return 0, nil
}

// insertDeletedRepo notes the job once.
func insertDeletedRepo(tx *db.Tx, id repo.ID, request string) error {
	return tx.RunRing(topic, `INSERT INTO deleted_repos (repo_id, request) VALUES ($1, $2)
		ON CONFLICT (repo_id) DO NOTHING`, id, db.OrNull(request))
}

// nextDeletedRepo finds the first deleted repository with a larger id that is still there, and the request that
// deleted it; 0 when there is none.
func nextDeletedRepo(tx *db.Tx, after int64) (id repo.ID, request string, err error) {
	err = tx.QueryRow(`SELECT repo_id, COALESCE(request, '') FROM deleted_repos WHERE repo_id > $1
		ORDER BY repo_id LIMIT 1`, after).Scan(&id, &request)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return id, request, err
}
