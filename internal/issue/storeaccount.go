package issue

import (
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/posting"
)

// ofAccount are the kinds of postings whose value is an account, without assignees.
var ofAccount = fmt.Sprintf(`(%d, %d, %d)`, posting.ByAuthor, posting.ByMention, posting.BySubscriber)

// GiveAway updates the postings for a deleted account: issues opened by from get the author to, and its
// assignments, mentions and subscriptions are removed. The caller updates the columns of issues other than
// assignees.
func GiveAway(tx *db.Tx, from, to account.ID) error {
	if err := unassignEverywhere(tx, from); err != nil {
		return err
	}
	return runAll(tx, []any{from},
		`UPDATE repos SET issues_generation = issues_generation + 1
			WHERE id IN (SELECT repo_id FROM postings WHERE kind IN `+ofAccount+` AND value = $1
				UNION SELECT repo_id FROM issues WHERE closed_by = $1)`,
		recount(`SELECT repo_id, kind, value, state, -COUNT(*) FROM postings
			WHERE kind IN `+ofAccount+` AND value = $1 GROUP BY repo_id, kind, value, state`),
		recount(fmt.Sprintf(`SELECT repo_id, kind, %d, state, COUNT(*) FROM postings
			WHERE kind = %d AND value = $1 GROUP BY repo_id, kind, state`, to, posting.ByAuthor)),
		fmt.Sprintf(`UPDATE postings SET value = %d WHERE kind = %d AND value = $1`, to, posting.ByAuthor),
		`DELETE FROM postings WHERE kind IN `+ofAccount+` AND value = $1`)
}
