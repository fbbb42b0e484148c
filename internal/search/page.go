package search

import "arbor/internal/db"

// Statement is the text in SQL of a search for things with ids, of whose conditions Conditions
// has the arguments.
type Statement struct {
	ID     string // the column of the ids
	Scored bool   // whether f.score is what they are scored by; otherwise each one's score is 1
	Rest   string // the statement after the columns, from FROM on
	Order  string // ORDER BY, in which no two are equal
}

// ReadPage finds the ids and the scores of the requested page. It sets found.Total.
func ReadPage[ID ~int64](
	c *Conditions, q *Asked, s Statement, found *Found,
) (ids []ID, scores []Score, err error) {
	score := "1"
	if s.Scored {
		score = "f.score"
	}
	counted := c.Args
	limit, offset := c.Arg(q.MaxRows()), c.Arg(q.Page.Offset())
	err = db.QueryEach(c.Tx, func(row db.Scanner) error {
		var id ID
		var score Score
		if err := row.Scan(&id, &score, &found.Total); err != nil {
			return err
		}
		ids, scores = append(ids, id), append(scores, score)
		return nil
	}, `SELECT `+s.ID+`, CAST(`+score+` AS BIGINT), count(*) OVER ()`+s.Rest+s.Order+
		` LIMIT `+limit+` OFFSET `+offset, c.Args...)
	if err != nil || len(ids) > 0 || q.Page.Number == 1 {
		return ids, scores, err
	}
	// The page is behind the last one.
	return nil, nil, c.Tx.QueryRow(`SELECT count(*)`+s.Rest, counted...).Scan(&found.Total)
}
