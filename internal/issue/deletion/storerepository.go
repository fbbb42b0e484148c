package deletion

import (
	"errors"
	"fmt"
	"strings"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// bulk lists the tables that may have many rows of a repository, in the order of deletion: dependent rows
// first. atOnce is the number of rows deleted in one transaction. On SQLite other writes wait for it, so it
// is smaller for tables with texts or dependent rows. Rows of other tables, such as stars and watches, are
// deleted with the repository's row.
var bulk = [...]struct {
	table  string
	key    string // columns that identify a row, or a few rows together
	within bool   // the key is unique only within a repository
	atOnce int64
}{
	{"files", "id", false, 500}, // with assets and attachments
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
	{"imported", "kind, source_id", true, 2000},
	{"milestones", "id", false, 50},
	{"commit_comments", "id", false, 50},
	{"deployment_statuses", "id", false, 1000},
	{"deployments", "id", false, 100},
	{"check_runs", "id", false, 20},
	{"check_suites", "id", false, 1000},
	{"statuses", "id", false, 1000},
	{"status_contexts", "sha", true, 500},
	{"status_commits", "sha", true, 1000},
	{"pull_branches", "id", false, 1000},
	{"unreached_objects", "sha", true, 2000},
	{"refs", "name", true, 2000},
}

// HasMany reports whether a repository has more rows in some table than one transaction may delete, or has
// used more issue numbers than that.
func HasMany(tx *db.Tx, id repo.ID) (many bool, err error) {
	parts := []string{fmt.Sprint("next_number - 1 > ", atOnce)}
	for _, b := range bulk {
		parts = append(parts, fmt.Sprintf("EXISTS (SELECT 1 FROM %s x WHERE x.repo_id = r.id LIMIT 1 OFFSET %d)",
			b.table, b.atOnce))
	}
	err = tx.QueryRow(`SELECT `+strings.Join(parts, " OR ")+` FROM repos r WHERE r.id = $1`, id).Scan(&many)
	return many, err
}

// RemoveSome deletes up to most rows of a repository that is being deleted, and returns their number. It
// returns 0 if the remaining rows are few enough to be deleted with the repository's row.
func RemoveSome(tx *db.Tx, id repo.ID, most int64) (int64, error) {
	for _, b := range bulk {
		// If the key alone is unique, a condition on repo_id would make SQLite scan all rows of the
		// repository.
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

// insertDeletedRepo adds the job unless it exists.
func insertDeletedRepo(tx *db.Tx, id repo.ID, request string) error {
	return tx.SendRing(topic, `INSERT INTO deleted_repos (repo_id, request) VALUES ($1, $2)
		ON CONFLICT (repo_id) DO NOTHING`, id, db.OrNull(request))
}

// nextDeletedRepo returns the first deleted repository with an id larger than after that still exists, and
// the id of the request that deleted it, or 0 if there is none.
func nextDeletedRepo(tx *db.Tx, after int64) (id repo.ID, request string, err error) {
	err = tx.QueryRow(`SELECT repo_id, COALESCE(request, '') FROM deleted_repos WHERE repo_id > $1
		ORDER BY repo_id LIMIT 1`, after).Scan(&id, &request)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return id, request, err
}
