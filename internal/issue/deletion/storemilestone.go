package deletion

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/milestone"
)

// emptyMilestone takes all issues out of a milestone, with their postings and
// counters and an event for each of them, in as many statements whatever their
// number.
func emptyMilestone(tx *db.Tx, m *milestone.Milestone, actorID account.ID, detail any) error {
	const within = ` IN (SELECT issue_id FROM postings WHERE kind = 4 AND value = $1 AND repo_id = $2)`
	for _, s := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO issue_events (repo_id, issue_id, actor_id, kind, detail, created_at)
			SELECT i.repo_id, i.id, CAST($3 AS BIGINT), CAST($4 AS SMALLINT), CAST($5 AS TEXT),
			CAST($6 AS BIGINT)
			FROM issues i WHERE i.id` + within + ` ORDER BY i.id`,
			[]any{m.ID, m.RepoID, actorID, int64(issue.EventDemilestoned), detail, tx.Now}},
		{`UPDATE issues SET milestone_id = NULL,
			changed = (SELECT issues_generation FROM repos r WHERE r.id = issues.repo_id)
			WHERE id` + within, []any{m.ID, m.RepoID}},
		// Any is None now
		{`UPDATE postings SET value = 0 WHERE kind = 4 AND value = -1 AND issue_id` + within,
			[]any{m.ID, m.RepoID}},
		{`INSERT INTO posting_counts (repo_id, kind, value, state, n)
			SELECT repo_id, kind, -1, state, -n FROM posting_counts WHERE repo_id = $2 AND kind = 4
			AND value = $1
			UNION ALL SELECT repo_id, kind, 0, state, n FROM posting_counts WHERE repo_id = $2 AND kind = 4
			AND value = $1
			ON CONFLICT (repo_id, kind, value, state) DO UPDATE
			SET n = posting_counts.n + excluded.n`, []any{m.ID, m.RepoID}},
		{`DELETE FROM posting_counts WHERE repo_id = $2 AND kind = 4 AND value = $1`, []any{m.ID, m.RepoID}},
		{`DELETE FROM postings WHERE kind = 4 AND value = $1 AND repo_id = $2`, []any{m.ID, m.RepoID}},
	} {
		if err := tx.Run(s.query, s.args...); err != nil {
			return err
		}
	}
	return nil
}
