package search

import (
	"fmt"

	"arbor/internal/posting"
	"arbor/internal/web"
)

// MaxReach is how many results can be read, page by page, as at GitHub.
const MaxReach = 1000

// from writes what stands behind SELECT ... for all results.
func (s *statement) from() string {
	b := " FROM "
	if s.find != "" {
		b += "(" + s.find + ") f CROSS JOIN " // on SQLite: from what is found to the postings, never the other way
		s.and("p.issue_id = f.issue_id")
	}
	b += "postings p"
	if s.issues {
		b += " JOIN issues i ON i.id = p.issue_id"
	}
	if s.base.kind == 0 {
		s.base = property{kind: posting.ByAll, values: "(0)"}
	}
	repos := "p.repo_id"
	if s.base.looked && s.few == nil {
		repos = "+p.repo_id" // not each repository with each value
	}
	b += fmt.Sprintf(" WHERE p.kind = %d AND p.value IN %s AND %s IN %s", s.base.kind, s.base.values, repos, s.scope)
	for _, condition := range s.where {
		b += " AND " + condition
	}
	return b
}

// order is total (decision 24): what was made later has the greater id.
func (s *statement) order(p string) string {
	direction := " DESC"
	if s.q.Sort.Asc {
		direction = ""
	}
	column := ""
	switch {
	case s.q.Sort.By == Updated:
		column = p + "updated_at" + direction + ", "
	case s.q.Sort.By == Comments:
		column = p + "comments" + direction + ", "
	case s.q.Sort.By == BestMatch && s.find != "":
		column = "score DESC, "
	}
	return " ORDER BY " + column + p + "issue_id" + direction
}

// run reads the page, and how many results there are.
func (s *statement) run(at web.Page) (ids, scores []int64, total int64, err error) {
	size := min(at.Size, MaxReach-at.Offset())
	if s.find != "" {
		return s.runFind(at.Offset(), size)
	}
	from := s.from()
	if err := s.tx.QueryRow(`SELECT count(*)`+from, s.args...).Scan(&total); err != nil || at.Offset() >= total {
		return nil, nil, total, err
	}
	query := `SELECT p.issue_id, 1` + from + s.order("p.") + ` LIMIT ` + s.arg(size) + ` OFFSET ` + s.arg(at.Offset())
	rows, err := s.tx.Query(query, s.args...)
	if err != nil {
		return nil, nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, score int64
		if err := rows.Scan(&id, &score); err != nil {
			return nil, nil, 0, err
		}
		ids, scores = append(ids, id), append(scores, score)
	}
	return ids, scores, total, rows.Err()
}

// runFind looks for the words once, counts what is found and takes the page of
// it.
func (s *statement) runFind(offset, size int64) (ids, scores []int64, total int64, err error) {
	query := `WITH hits AS MATERIALIZED (SELECT p.issue_id, p.updated_at, p.comments, f.score` + s.from() + `)
		SELECT n.total, h.issue_id, CAST(h.score AS BIGINT) FROM (SELECT count(*) AS total FROM hits) n LEFT JOIN (
			SELECT * FROM hits` + s.order("") + ` LIMIT ` + s.arg(size) + ` OFFSET ` + s.arg(offset) + `) h ON TRUE` + s.order("h.")
	rows, err := s.tx.Query(query, s.args...)
	if err != nil {
		return nil, nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, score *int64
		if err := rows.Scan(&total, &id, &score); err != nil {
			return nil, nil, 0, err
		}
		if id != nil {
			ids, scores = append(ids, *id), append(scores, *score)
		}
	}
	return ids, scores, total, rows.Err()
}
