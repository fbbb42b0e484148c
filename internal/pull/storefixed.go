package pull

import (
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// maxFixingText is how many bytes of bodies one request parses for closing keywords.
const maxFixingText = 16 << 20

// issuesAmong returns the numbers that are issues and not pull requests.
func issuesAmong(tx *db.Tx, numbers []repo.Of[int64]) (map[repo.Of[int64]]bool, error) {
	there := map[repo.Of[int64]]bool{}
	if len(numbers) == 0 {
		return there, nil
	}
	in := repo.In(numbers)
	with, args := repo.Pairs(numbers, "BIGINT")
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var id repo.ID
		var n int64
		err := row.Scan(&id, &n)
		there[repo.Of[int64]{In: in[id], Key: n}] = true
		return err
	}, with+`SELECT i.repo_id, i.number FROM v JOIN issues i ON i.repo_id = v.repo AND i.number = v.key
		WHERE i.pull = FALSE`, args...)
	return there, err
}

// naming calls each for the pull requests of the repositories that refer to one of the issues, with their
// bodies, in the order of their numbers; with byState open ones come first, then merged ones. If closed is true, it
// includes those closed without a merge.
func naming(
	tx *db.Tx, issues []repo.Of[int64], closed, byState bool, each func(named repo.Of[int64], by int64, body *string),
) error {
	if len(issues) == 0 {
		return nil
	}
	in := repo.In(issues)
	with, args := repo.Pairs(issues, "BIGINT", issue.EventCrossReferenced, closed, issue.Closed, maxFixing, byState)
	rows, err := tx.Query(with+`SELECT x.repo_id, x.named, s.number, s.body FROM (
			SELECT t.repo_id, t.number AS named, e.source_id AS source, row_number() OVER (PARTITION BY t.id
			ORDER BY e.id DESC) AS place
			FROM v JOIN issues t ON t.repo_id = v.repo AND t.number = v.key
			JOIN issue_events e ON e.issue_id = t.id AND e.kind = $1
			JOIN issues p ON p.id = e.source_id AND p.repo_id = t.repo_id AND p.pull = TRUE
				AND ($2 = TRUE OR p.state <> $3 OR p.merged_at IS NOT NULL)
			WHERE t.pull = FALSE
		) x JOIN issues s ON s.id = x.source WHERE x.place <= $4
		ORDER BY CASE WHEN $5 = FALSE OR s.state <> $3 THEN 0 WHEN s.merged_at IS NOT NULL THEN 1 ELSE 2 END,
			s.number, x.named`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	left := maxFixingText
	for rows.Next() && left > 0 {
		var id repo.ID
		var named, by int64
		var body *string
		if err := rows.Scan(&id, &named, &by, &body); err != nil {
			return err
		}
		if body != nil {
			left -= len(*body)
		}
		each(repo.Of[int64]{In: in[id], Key: named}, by, body)
	}
	return rows.Err()
}
