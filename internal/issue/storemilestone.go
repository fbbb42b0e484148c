package issue

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/errs"
)

// milestoneColumns are what scanMilestone reads, of milestones under the name m.
const milestoneColumns = `m.id, m.repo_id, m.number, m.title, m.description, m.state, m.creator_id,
	m.created_at, m.updated_at, m.due_on, m.closed_at,
	COALESCE((SELECT n FROM posting_counts c WHERE c.repo_id = m.repo_id AND c.kind = 4 AND c.value = m.id AND c.state = 1), 0),
	COALESCE((SELECT n FROM posting_counts c WHERE c.repo_id = m.repo_id AND c.kind = 4 AND c.value = m.id AND c.state = 2), 0)`

// scanMilestone reads milestoneColumns. Error: 404 when there is no row.
func scanMilestone(row scanner) (*Milestone, error) {
	var m Milestone
	var state int64
	err := row.Scan(&m.ID, &m.RepoID, &m.Number, &m.Title, &m.Description, &state, &m.CreatorID,
		&m.CreatedAt, &m.UpdatedAt, &m.DueOn, &m.ClosedAt, &m.OpenIssues, &m.ClosedIssues)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	m.State = State(state)
	return &m, err
}

func queryMilestones(tx *db.Tx, rest string, args ...any) ([]*Milestone, error) {
	rows, err := tx.Query(`SELECT `+milestoneColumns+` FROM milestones m`+rest, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*Milestone
	for rows.Next() {
		m, err := scanMilestone(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, rows.Err()
}

// milestoneByNumber finds a milestone of a repository. Error: 404.
func milestoneByNumber(tx *db.Tx, repoID, number int64) (*Milestone, error) {
	return scanMilestone(tx.QueryRow(`SELECT `+milestoneColumns+` FROM milestones m WHERE m.repo_id = $1 AND m.number = $2`, repoID, number))
}

// milestonesByID finds the milestones of a page in one query.
func milestonesByID(tx *db.Tx, ids []int64) (map[int64]*Milestone, error) {
	byID := make(map[int64]*Milestone, len(ids))
	if len(ids) == 0 {
		return byID, nil
	}
	args := make([]any, len(ids))
	for n, id := range ids {
		args[n] = id
	}
	list, err := queryMilestones(tx, ` WHERE m.id IN `+db.Values(1, len(ids)), args...)
	for _, m := range list {
		byID[m.ID] = m
	}
	return byID, err
}
