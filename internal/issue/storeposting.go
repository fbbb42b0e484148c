package issue

import (
	"fmt"
	"strings"

	"arbor/internal/db"
)

// addPostings adds postings that are not there yet, and counts them.
func addPostings(tx *db.Tx, i *Issue, list []Property) error {
	args := make([]any, 0, 7*len(list))
	for _, p := range list {
		args = append(args, i.ID, int64(p.Kind), p.Value, i.RepoID, int64(i.State), i.UpdatedAt, i.Comments)
	}
	_, err := tx.Exec(`INSERT INTO postings (issue_id, kind, value, repo_id, state, updated_at, comments) VALUES `+
		db.Values(len(list), 7), args...)
	if err != nil {
		return err
	}
	return count(tx, i.RepoID, list, i.State, 1)
}

// dropPostings removes postings that are there, and counts them off.
func dropPostings(tx *db.Tx, i *Issue, list []Property) error {
	where, args := make([]string, len(list)), []any{i.ID}
	for n, p := range list {
		where[n] = fmt.Sprintf("kind = $%d AND value = $%d", 2*n+2, 2*n+3)
		args = append(args, int64(p.Kind), p.Value)
	}
	_, err := tx.Exec(`DELETE FROM postings WHERE issue_id = $1 AND (`+strings.Join(where, " OR ")+`)`, args...)
	if err != nil {
		return err
	}
	return count(tx, i.RepoID, list, i.State, -1)
}

// movePostings gives all postings of the issue what they are ordered by.
func movePostings(tx *db.Tx, i *Issue) error {
	_, err := tx.Exec(`UPDATE postings SET state = $2, updated_at = $3, comments = $4 WHERE issue_id = $1`,
		i.ID, int64(i.State), i.UpdatedAt, i.Comments)
	return err
}

// count adds to the counters of the properties.
func count(tx *db.Tx, repoID int64, list []Property, s State, by int64) error {
	args := make([]any, 0, 5*len(list))
	for _, p := range list {
		args = append(args, repoID, int64(p.Kind), p.Value, int64(s), by)
	}
	_, err := tx.Exec(`INSERT INTO posting_counts (repo_id, kind, value, state, n) VALUES `+db.Values(len(list), 5)+`
		ON CONFLICT (repo_id, kind, value, state) DO UPDATE SET n = posting_counts.n + excluded.n`, args...)
	return err
}

// moveCounts counts all postings of an issue from one state to another.
func moveCounts(tx *db.Tx, issueID int64, from, to State) error {
	_, err := tx.Exec(`INSERT INTO posting_counts (repo_id, kind, value, state, n)
		SELECT repo_id, kind, value, CAST($2 AS SMALLINT), -1 FROM postings WHERE issue_id = $1
		UNION ALL SELECT repo_id, kind, value, CAST($3 AS SMALLINT), 1 FROM postings WHERE issue_id = $1
		ON CONFLICT (repo_id, kind, value, state) DO UPDATE SET n = posting_counts.n + excluded.n`, issueID, int64(from), int64(to))
	return err
}

// posted tells which of the properties the issue has.
func posted(tx *db.Tx, issueID int64, k Kind, values []int64) (map[int64]bool, error) {
	has := map[int64]bool{}
	if len(values) == 0 {
		return has, nil
	}
	args := []any{issueID, int64(k)}
	for _, v := range values {
		args = append(args, v)
	}
	there, err := tx.QueryIDs(`SELECT value FROM postings WHERE issue_id = $1 AND kind = $2 AND value IN `+
		db.ValuesFrom(3, 1, len(values)), args...)
	for _, v := range there {
		has[v] = true
	}
	return has, err
}
