package review

import (
	"context"

	"arbor/internal/checkrun"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/status"
)

// Mark is what lists show of a pull request's checks and reviews.
type Mark struct {
	Checks string // success, failure, pending; empty: there are none
	Review string // approved, changes_requested, commented; empty: nobody reviewed it
}

// Marks finds the marks of pull requests by their numbers, with a fixed number of queries. Those that are not there are
// missing.
func (s *Service) Marks(ctx context.Context, a *repo.Access, numbers []int64) (map[int64]*Mark, error) {
	marks := map[int64]*Mark{}
	return marks, s.db.Read(ctx, func(tx *db.Tx) error {
		clear(marks)
		return loadMarks(tx, a.ID, db.Unique(numbers), marks)
	})
}

func loadMarks(tx *db.Tx, repoID repo.ID, numbers []int64, marks map[int64]*Mark) error {
	if len(numbers) == 0 {
		return nil
	}
	of := map[issue.ID]*Mark{}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var number int64
		var id issue.ID
		var statuses status.Summary
		var checks checkrun.Summary
		err := row.Scan(append(append([]any{&number, &id}, statuses.Dest()...), checks.Dest()...)...)
		m := &Mark{Checks: checkMark(statuses, checks)}
		marks[number], of[id] = m, m
		return err
	}, `SELECT i.number, i.id, `+status.SummaryColumns+
		`, `+checkrun.SummaryColumns("p.repo_id", "p.head_sha")+`
		FROM issues i JOIN pulls p ON p.issue_id = i.id`+status.SummaryJoin("p.repo_id", "p.head_sha")+`
		WHERE i.repo_id = $1 AND i.number IN `+db.ValuesFrom(2, 1, len(numbers)), db.Args(numbers, repoID)...)
	if err != nil || len(of) == 0 {
		return err
	}
	return reviewMarks(tx, of)
}

// reviewMarks sets the review state of pull requests. Of each author only the latest review that is more
// than a comment counts.
func reviewMarks(tx *db.Tx, of map[issue.ID]*Mark) error {
	args := make([]any, 0, len(of))
	for id := range of {
		args = append(args, id)
	}
	best := map[issue.ID]State{}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var id issue.ID
		var state State
		if err := row.Scan(&id, &state); err != nil {
			return err
		}
		best[id] = max(best[id], state)
		return nil
	}, `SELECT r.issue_id, r.state FROM reviews r WHERE r.state IN (2, 3, 4) AND r.issue_id IN `+
		db.Values(1, len(args))+` AND (r.state = 2 OR NOT EXISTS (SELECT 1 FROM reviews l
			WHERE l.issue_id = r.issue_id
		AND l.author_id = r.author_id AND l.id > r.id AND l.state IN (3, 4, 5))) GROUP BY r.issue_id,
		r.state`, args...)
	for id, state := range best {
		of[id].Review = eventNames[state]
	}
	return err
}

// checkMark combines the statuses and checks of a commit.
func checkMark(s status.Summary, c checkrun.Summary) string {
	switch {
	case s.Failed > 0 || c.Failing > 0:
		return "failure"
	case s.Waiting > 0 || c.Waiting > 0:
		return "pending"
	case s.Contexts > 0 || c.Runs > 0:
		return "success"
	}
	return ""
}
