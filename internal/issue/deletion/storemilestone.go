package deletion

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/posting"
)

func insertDeletedMilestone(tx *db.Tx, m *deletedMilestone) error {
	return tx.SendRing(topic, `INSERT INTO deleted_milestones (milestone_id, repo_id, actor_id, title,
		deleted_at)
		VALUES ($1, $2, $3, $4, $5)`, m.id, m.repoID, m.by, m.title, m.at)
}

// nextDeletedMilestone returns the first deleted milestone with an id larger than after that issues still
// have. Error: 404 if there is none.
func nextDeletedMilestone(tx *db.Tx, after int64) (*deletedMilestone, error) {
	m := &deletedMilestone{}
	err := tx.QueryRow(`SELECT milestone_id, repo_id, actor_id, title, deleted_at FROM deleted_milestones
		WHERE milestone_id > $1 ORDER BY milestone_id LIMIT 1`, after).Scan(&m.id, &m.repoID, &m.by, &m.title, &m.at)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return m, err
}

func finishDeletedMilestone(tx *db.Tx, id int64) error {
	return tx.Run(`DELETE FROM deleted_milestones WHERE milestone_id = $1`, id)
}

// leaveMilestone removes up to atOnce issues from a milestone, updates their postings and counters and adds
// an event to each. It runs a fixed number of statements and returns the number of issues.
func leaveMilestone(tx *db.Tx, m *deletedMilestone) (n int64, err error) {
	in := posting.ByMilestone.Of(m.id)
	ids, states, err := issuesWith(tx, m.repoID, in)
	if err != nil {
		return 0, err
	}
	if n = int64(len(ids)); n == 0 {
		return 0, posting.DropCounts(tx, m.repoID, in)
	}
	detail, err := (&issue.Detail{Milestone: m.title}).Encode()
	if err != nil {
		return 0, err
	}
	within := func(first int) string { return ` IN ` + db.ValuesFrom(first, 1, len(ids)) }
	for _, s := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO issue_events (repo_id, issue_id, actor_id, kind, detail, created_at)
			SELECT i.repo_id, i.id, CAST($1 AS BIGINT), CAST($2 AS SMALLINT), CAST($3 AS TEXT),
			CAST($4 AS BIGINT)
			FROM issues i WHERE i.id` + within(5) + ` ORDER BY i.id`,
			[]any{m.by, int64(issue.EventDemilestoned), detail, m.at}},
		{`UPDATE issues SET milestone_id = NULL WHERE id` + within(1), nil},
		// Any becomes None.
		{`UPDATE postings SET value = 0 WHERE kind = 4 AND value = -1 AND issue_id` + within(1), nil},
		{`DELETE FROM postings WHERE kind = 4 AND value = $1 AND issue_id` + within(2), []any{m.id}},
	} {
		if err := tx.Run(s.query, append(s.args, ids...)...); err != nil {
			return 0, err
		}
	}
	for _, c := range []struct {
		of posting.Property
		by int64
	}{{in, -1}, {posting.ByMilestone.Of(posting.Any), -1}, {posting.ByMilestone.Of(posting.None), 1}} {
		if err := posting.CountStates(tx, m.repoID, c.of, states, c.by); err != nil {
			return 0, err
		}
	}
	if n < atOnce {
		err = posting.DropCounts(tx, m.repoID, in)
	}
	return n, err
}
