package issue

import (
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/posting"
)

// ofAccount are the kinds of postings whose value is an account.
var ofAccount = fmt.Sprintf(`(%d, %d, %d, %d)`, posting.ByAuthor, posting.ByAssignee, posting.ByMention, posting.BySubscriber)

// GiveAway takes an account that is deleted out of the index of issues: what it opened is
// to's, and it is neither assigned, mentioned nor subscribed any more. The columns of issues
// besides assignees are the caller's to write.
func GiveAway(tx *db.Tx, from, to account.ID) error {
	assigned := fmt.Sprintf(`SELECT issue_id FROM postings WHERE kind = %d AND value = $1`, posting.ByAssignee)
	// Those of them that nobody is assigned to once the account is gone.
	unassigned := `SELECT p.issue_id FROM postings p JOIN issues i ON i.id = p.issue_id
		WHERE p.kind = ` + fmt.Sprint(int(posting.ByAssignee)) + ` AND p.value = $1 AND i.assignees = ''`
	statements := []string{
		// Servers hold issues in memory, under these.
		`UPDATE repos SET issues_generation = issues_generation + 1, legend_generation = legend_generation + 1
			WHERE id IN (SELECT repo_id FROM postings WHERE kind IN ` + ofAccount + ` AND value = $1
				UNION SELECT repo_id FROM issues WHERE closed_by = $1)`,
		`UPDATE issues SET changed = (SELECT issues_generation FROM repos r WHERE r.id = issues.repo_id)
			WHERE closed_by = $1 OR id IN (SELECT issue_id FROM postings WHERE kind IN ` + ofAccount + ` AND value = $1)`,
		`UPDATE issues SET assignees = TRIM(REPLACE(',' || assignees || ',',
				',' || CAST(CAST($1 AS BIGINT) AS TEXT) || ',', ','), ',') WHERE id IN (` + assigned + `)`,
		recount(`SELECT repo_id, kind, value, state, -COUNT(*) FROM postings
			WHERE kind IN ` + ofAccount + ` AND value = $1 GROUP BY repo_id, kind, value, state`),
		recount(fmt.Sprintf(`SELECT repo_id, kind, %d, state, COUNT(*) FROM postings
			WHERE kind = %d AND value = $1 GROUP BY repo_id, kind, state`, to, posting.ByAuthor)),
		fmt.Sprintf(`UPDATE postings SET value = %d WHERE kind = %d AND value = $1`, to, posting.ByAuthor),
		recount(fmt.Sprintf(`SELECT repo_id, kind, %d, state, COUNT(*) FROM postings
			WHERE kind = %d AND value = %d AND issue_id IN (%s) GROUP BY repo_id, kind, state`,
			posting.None, posting.ByAssignee, posting.Any, unassigned)),
		recount(fmt.Sprintf(`SELECT repo_id, kind, value, state, -COUNT(*) FROM postings
			WHERE kind = %d AND value = %d AND issue_id IN (%s) GROUP BY repo_id, kind, value, state`,
			posting.ByAssignee, posting.Any, unassigned)),
		fmt.Sprintf(`UPDATE postings SET value = %d WHERE kind = %d AND value = %d AND issue_id IN (%s)`,
			posting.None, posting.ByAssignee, posting.Any, unassigned),
		`DELETE FROM postings WHERE kind IN ` + ofAccount + ` AND value = $1`,
	}
	for _, s := range statements {
		if _, err := tx.Exec(s, from); err != nil {
			return err
		}
	}
	return nil
}

// recount adds to the counters of postings what a SELECT gives for each.
func recount(query string) string {
	return `INSERT INTO posting_counts (repo_id, kind, value, state, n) ` + query + `
		ON CONFLICT (repo_id, kind, value, state) DO UPDATE SET n = posting_counts.n + excluded.n`
}
