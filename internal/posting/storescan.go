package posting

import "arbor/internal/db"

// from returns the FROM clause and the rest of a SELECT for all results.
func (s *scanned) from() string {
	b, find := s.b, ""
	where := []string{}
	for _, e := range s.rest {
		where = append(where, b.condition(e))
	}
	if s.words != nil {
		// On SQLite: from the results to the postings, never the other way.
		find = "(" + b.words(*s.words) + ") f CROSS JOIN "
		where = append(where, "p.issue_id = f.issue_id")
	}
	from := " FROM " + find + "postings p"
	if b.issues {
		from += " JOIN issues i ON i.id = p.issue_id"
	}
	repos := "p.repo_id"
	if s.named && len(b.repos) != 1 {
		repos = "+p.repo_id" // not each repository with each value
	}
	from += " WHERE p.kind = " + s.kind + " AND p.value IN " + s.of + " AND " + repos + " IN " + b.scope
	for _, condition := range where {
		from += " AND " + condition
	}
	return from
}

// orderBy is total: what was made later has the greater id.
func (s *scanned) orderBy(p string) string {
	column := map[Sort]string{Updated: p + "updated_at", Comments: p + "comments"}[s.order.Sort]
	if s.order.Sort == Score && s.words != nil {
		column = p + "score"
	}
	if column != "" {
		column += s.order.direction() + ", "
	}
	return " ORDER BY " + column + p + "issue_id" + s.order.direction()
}

// find counts, and reads the page.
func (s *scanned) find(offset, size int64) (found Found, err error) {
	from := s.from()
	err = s.b.tx.QueryRow(`SELECT count(*)`+from, s.b.args...).Scan(&found.Total)
	if err != nil || offset >= found.Total {
		return found, err
	}
	found.IDs, err = db.QueryIDs[int64](s.b.tx, `SELECT p.issue_id`+from+s.orderBy("p.")+
		` LIMIT `+s.b.value(size)+` OFFSET `+s.b.value(offset), s.b.args...)
	return found, err
}

// findOnce searches once, for words or other rare properties, counts the results and takes
// the page of them.
func (s *scanned) findOnce(offset, size int64) (found Found, err error) {
	score := "0 AS score"
	if s.words != nil {
		score = "f.score"
	}
	query := `WITH hits AS MATERIALIZED (SELECT p.issue_id, p.updated_at, p.comments, ` + score +
		s.from() + `)
		SELECT n.total, h.issue_id, CAST(h.score AS BIGINT)
		FROM (SELECT count(*) AS total FROM hits) n
		LEFT JOIN (SELECT * FROM hits` + s.orderBy("") +
		` LIMIT ` + s.b.value(size) + ` OFFSET ` + s.b.value(offset) + `) h ON TRUE` + s.orderBy("h.")
	err = db.QueryEach(s.b.tx, func(row db.Scanner) error {
		var id, score *int64
		if err := row.Scan(&found.Total, &id, &score); err != nil {
			return err
		}
		if id != nil {
			found.IDs = append(found.IDs, *id)
			if s.words != nil {
				found.Scores = append(found.Scores, *score)
			}
		}
		return nil
	}, query, s.b.args...)
	return found, err
}
