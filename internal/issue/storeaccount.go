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

// GiveAway takes an account that is deleted out of the index of issues: what it opened is
// to's, and it is neither assigned, mentioned nor subscribed any more. The columns of issues
// besides assignees are the caller's to write.
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

// unassign takes the account $1 off the issues p.issue_id for which a condition holds.
func unassign(only string) []string {
	assigned := fmt.Sprintf(`SELECT p.issue_id FROM postings p JOIN issues i ON i.id = p.issue_id
		WHERE p.kind = %d AND p.value = $1 AND %s`, posting.ByAssignee, only)
	// Those of them that nobody is assigned to then.
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

// FollowTransfer takes those off the issues of a repository with a new owner who may not be
// assigned any more. It costs some statements for each of them.
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
			if canBeAssigned(r, p, p.ID) { // to what it wrote itself
				only += ` AND i.author_id <> $1`
			}
			if err := execAll(tx, id, unassign(only)); err != nil {
				return err
			}
		}
	}
	return nil
}

// recount adds to the counters of postings what a SELECT gives for each.
func recount(query string) string {
	return `INSERT INTO posting_counts (repo_id, kind, value, state, n) ` + query + `
		ON CONFLICT (repo_id, kind, value, state) DO UPDATE SET n = posting_counts.n + excluded.n`
}
