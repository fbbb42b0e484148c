package pull

import (
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// maxFixingText is how many bytes of bodies one request parses for closing keywords.
const maxFixingText = 16 << 20

// issuesAmong returns the numbers that are issues and not pull requests.
func issuesAmong(tx *db.Tx, repoID repo.ID, numbers []int64) (map[int64]bool, error) {
	there := make(map[int64]bool, len(numbers))
	if len(numbers) == 0 {
		return there, nil
	}
	args := []any{repoID}
	for _, n := range numbers {
		args = append(args, n)
	}
	list, err := db.QueryIDs[int64](tx,
		`SELECT number FROM issues WHERE repo_id = $1 AND pull = FALSE AND number IN `+
			db.ValuesFrom(2, 1, len(numbers)), args...)
	for _, n := range list {
		there[n] = true
	}
	return there, err
}

// naming calls each for the pull requests of the repository that refer to one of the issues, with their
// bodies, in the order of their numbers. If closed is true, it includes those closed without a merge.
func naming(
	tx *db.Tx, repoID repo.ID, numbers []int64, closed bool, each func(named, by int64, body *string),
) error {
	if len(numbers) == 0 {
		return nil
	}
	args := []any{repoID, issue.EventCrossReferenced, closed, issue.Closed, maxFixing}
	for _, n := range numbers {
		args = append(args, n)
	}
	rows, err := tx.Query(`SELECT x.named, s.number, s.body FROM (
			SELECT t.number AS named, e.source_id AS source, row_number() OVER (PARTITION BY t.id
			ORDER BY e.id DESC) AS place
			FROM issues t JOIN issue_events e ON e.issue_id = t.id AND e.kind = $2
			JOIN issues p ON p.id = e.source_id AND p.repo_id = $1 AND p.pull = TRUE
				AND ($3 = TRUE OR p.state <> $4 OR p.merged_at IS NOT NULL)
			WHERE t.repo_id = $1 AND t.pull = FALSE AND t.number IN `+db.ValuesFrom(6, 1, len(numbers))+`
		) x JOIN issues s ON s.id = x.source WHERE x.place <= $5 ORDER BY s.number, x.named`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	left := maxFixingText
	for rows.Next() && left > 0 {
		var named, by int64
		var body *string
		if err := rows.Scan(&named, &by, &body); err != nil {
			return err
		}
		if body != nil {
			left -= len(*body)
		}
		each(named, by, body)
	}
	return rows.Err()
}
