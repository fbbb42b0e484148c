package deletion

import (
	"errors"
	"fmt"
	"strings"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// bulk are the tables that may hold much of a repository, in the order in which they are emptied: what hangs on
// a row goes before it. atOnce is how many rows one transaction removes: nobody else writes to SQLite meanwhile,
// so they are fewer where rows hold texts or others hang on them. What other tables hold, stars and watches
// among them, goes with the repository's own row.
var bulk = [...]struct {
	table  string
	key    string // columns that name a row, or a few rows together
	within bool   // the key names them only within their repository
	atOnce int64
}{
	{"files", "id", false, 500}, // with them assets and attachments
	{"releases", "id", false, 50},
	{"reactions", "id", false, 2000},
	{"activities", "id", false, 2000},
	{"pushed_commits", "id", false, 1000},
	{"issue_comments", "id", false, 50},
	{"issue_events", "id", false, 2000},
	{"review_comments", "id", false, 50},
	{"reviews", "id", false, 50},
	{"pull_commits", "sha", true, 1000},
	{"issues", "id", false, 100},
	{"notification_subjects", "id", false, 100},
	{"departed_issues", "number", true, 2000},
	{"posting_counts", "repo_id, kind, value, state", false, 2000},
	{"labels", "id", false, 1000},
	{"milestones", "id", false, 50},
	{"commit_comments", "id", false, 50},
	{"check_runs", "id", false, 20},
	{"check_suites", "id", false, 1000},
	{"statuses", "id", false, 1000},
	{"status_contexts", "sha", true, 500},
	{"status_commits", "sha", true, 1000},
	{"pull_branches", "id", false, 1000},
	{"unreached_objects", "sha", true, 2000},
	{"refs", "name", true, 2000},
}

// HasMany reports whether a repository has more rows in some table than one transaction may remove, or has given
// out more numbers of issues.
func HasMany(tx *db.Tx, id repo.ID) (many bool, err error) {
	parts := []string{fmt.Sprint("next_number - 1 > ", atOnce)}
	for _, b := range bulk {
		parts = append(parts, fmt.Sprintf("EXISTS (SELECT 1 FROM %s x WHERE x.repo_id = r.id LIMIT 1 OFFSET %d)",
			b.table, b.atOnce))
	}
	err = tx.QueryRow(`SELECT `+strings.Join(parts, " OR ")+` FROM repos r WHERE r.id = $1`, id).Scan(&many)
	return many, err
}

// RemoveSome removes some of the rows that hang on a repository which is being deleted, at most as many as most
// says, and returns how many; 0: few are left, which go with the repository's row.
func RemoveSome(tx *db.Tx, id repo.ID, most int64) (int64, error) {
	for _, b := range bulk {
		// Where the key alone names a row, SQLite would look at all of the repository's for repo_id.
		query := `DELETE FROM ` + b.table + ` WHERE `
		if b.within {
			query += `repo_id = $1 AND `
		}
		query += `(` + b.key + `) IN (SELECT ` + b.key + ` FROM ` + b.table + ` WHERE repo_id = $1 LIMIT $2)`
		n, err := tx.Exec(query, id, min(b.atOnce, most))
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
