package issue

import (
	"fmt"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// ofAccount are the kinds of postings whose value is an account.
var ofAccount = fmt.Sprintf(`(%d, %d, %d, %d)`,
	posting.ByAuthor, posting.ByAssignee, posting.ByMention, posting.BySubscriber)

// GiveAway updates the postings for a deleted account: issues opened by from get the author to, and its
// assignments, mentions and subscriptions are removed. The caller updates the columns of issues other than
// assignees.
func GiveAway(tx *db.Tx, from, to account.ID) error {
	statements := []string{
		`UPDATE repos SET issues_generation = issues_generation + 1 WHERE id IN (SELECT repo_id FROM postings WHERE kind IN ` + ofAccount + ` AND value = $1
				UNION SELECT repo_id FROM issues WHERE closed_by = $1)`,
	}
	statements = append(statements, unassign(`TRUE`)...)
	statements = append(statements,
		recount(`SELECT repo_id, kind, value, state, -COUNT(*) FROM postings
			WHERE kind IN `+ofAccount+` AND value = $1 GROUP BY repo_id, kind, value, state`),
		recount(fmt.Sprintf(`SELECT repo_id, kind, %d, state, COUNT(*) FROM postings
			WHERE kind = %d AND value = $1 GROUP BY repo_id, kind, state`, to, posting.ByAuthor)),
		fmt.Sprintf(`UPDATE postings SET value = %d WHERE kind = %d AND value = $1`, to, posting.ByAuthor),
		`DELETE FROM postings WHERE kind IN `+ofAccount+` AND value = $1`,
	)
	return execAll(tx, from, statements)
}

// unassign returns the statements that remove the account $1 from the assignees of issues i for which a
// condition holds.
func unassign(only string) []string {
	assigned := fmt.Sprintf(`SELECT p.issue_id FROM postings p JOIN issues i ON i.id = p.issue_id
		WHERE p.kind = %d AND p.value = $1 AND %s`, posting.ByAssignee, only)
	// Issues without an assignee afterwards.
	unassigned := assigned + ` AND i.assignees = ''`
	return []string{
		`UPDATE issues SET assignees = TRIM(REPLACE(',' || assignees || ',',
				',' || CAST(CAST($1 AS BIGINT) AS TEXT) || ',', ','), ',') WHERE id IN (` + assigned + `)`,
		recount(fmt.Sprintf(`SELECT repo_id, kind, %d, state, COUNT(*) FROM postings
			WHERE kind = %d AND value = %d AND issue_id IN (%s) GROUP BY repo_id, kind, state`,
			posting.None, posting.ByAssignee, posting.Any, unassigned)),
		recount(fmt.Sprintf(`SELECT repo_id, kind, value, state, -COUNT(*) FROM postings
			WHERE kind = %d AND value = %d AND issue_id IN (%s) GROUP BY repo_id, kind, value, state`,
			posting.ByAssignee, posting.Any, unassigned)),
		fmt.Sprintf(`UPDATE postings SET value = %d WHERE kind = %d AND value = %d AND issue_id IN (%s)`,
			posting.None, posting.ByAssignee, posting.Any, unassigned),
		recount(fmt.Sprintf(`SELECT repo_id, kind, value, state, -COUNT(*) FROM postings
			WHERE kind = %d AND value = $1 AND issue_id IN (%s) GROUP BY repo_id, kind, value, state`,
			posting.ByAssignee, assigned)),
		fmt.Sprintf(`DELETE FROM postings WHERE kind = %d AND value = $1 AND issue_id IN (%s)`,
			posting.ByAssignee, assigned),
	}
}

func execAll(tx *db.Tx, id account.ID, statements []string) error {
	for _, s := range statements {
		if _, err := tx.Exec(s, id); err != nil {
			return err
		}
	}
	return nil
}

// FollowTransfer removes assignees who can no longer be assigned after a repository got a new owner. It
// runs some statements for each of them.
func FollowTransfer(tx *db.Tx, r *repo.Repo) error {
	ids, err := db.QueryIDs[account.ID](tx, fmt.Sprintf(`SELECT DISTINCT value FROM posting_counts
		WHERE repo_id = $1 AND kind = %d AND value > %d AND n > 0
			ORDER BY value`, posting.ByAssignee, posting.None), r.ID)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(ids, 500) {
		people, err := repo.PeopleByID(tx, r, some)
		if err != nil {
			return err
		}
		for _, id := range some {
			p := people[id]
			if canBeAssigned(r, p, 0) {
				continue
			}
			only := fmt.Sprintf(`p.repo_id = %d`, r.ID)
			if canBeAssigned(r, p, p.ID) { // even to its own issues
				only += ` AND i.author_id <> $1`
			}
			if err := execAll(tx, id, unassign(only)); err != nil {
				return err
			}
		}
	}
	return nil
}

// recount returns a statement that adds the counts of a query to posting_counts.
func recount(query string) string {
	return `INSERT INTO posting_counts (repo_id, kind, value, state, n) ` + query + `
		ON CONFLICT (repo_id, kind, value, state) DO UPDATE SET n = posting_counts.n + excluded.n`
}
