package search

import (
	"arbor/internal/db"
	"arbor/internal/fulltext"
)

// queue is a table of notes about what changed, and what indexes the oldest of them.
type queue struct {
	table string
	index func(tx *db.Tx, most int) error
}

// texts are issues and comments, names are repositories and accounts.
func texts() queue { return queue{"texts_changed", indexChanged} }
func names() queue { return queue{"names_changed", indexNames} }

func queues() []queue { return []queue{texts(), names()} }

// notes returns the ids of the first and the last note in a table; 0: there are none.
func notes(tx *db.Tx, table string) (first, last int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE((SELECT MIN(id) FROM `+table+`), 0),
		COALESCE((SELECT MAX(id) FROM `+table+`), 0)`).Scan(&first, &last)
	return first, last, err
}

// indexChanged takes the oldest notes and indexes the texts as they are now.
//
// Two workers on PostgreSQL cannot bring back an older text: the notes of a text have
// ids in the order of its changes, so a worker that takes a later note takes the earlier
// ones, too, or waits here until the worker that has them is done.
func indexChanged(tx *db.Tx, most int) error {
	issues, comments, err := takeNotes(tx, `texts_changed`, `issue_id, comment_id`, most)
	if err != nil {
		return err
	}
	list, err := queryTexts(tx, `SELECT id, 0, repo_id, title, COALESCE(body, '') FROM issues WHERE id IN `,
		issues)
	if err != nil {
		return err
	}
	more, err := queryTexts(tx, `SELECT issue_id, id, repo_id, '', body FROM issue_comments WHERE id IN `,
		comments)
	if err != nil {
		return err
	}
	if err := linkPulls(tx, issues); err != nil {
		return err
	}
	return fulltext.Put(tx, append(list, more...))
}

// takeNotes takes the oldest notes of a table, whose two columns hold an id and 0, or in the second one
// another id.
func takeNotes(tx *db.Tx, table, columns string, most int) (first, second map[int64]bool, err error) {
	first, second = map[int64]bool{}, map[int64]bool{}
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var a, b int64
		if err := row.Scan(&a, &b); err != nil {
			return err
		}
		if b == 0 {
			first[a] = true
		} else {
			second[b] = true
		}
		return nil
	}, `DELETE FROM `+table+` WHERE id IN (SELECT id FROM `+table+` ORDER BY id LIMIT $1) RETURNING `+columns,
		most)
	return first, second, err
}

func queryTexts(tx *db.Tx, query string, ids map[int64]bool) ([]fulltext.Text, error) {
	return queryAmong(tx, func(row db.Scanner) (x fulltext.Text, err error) {
		err = row.Scan(&x.Issue, &x.Comment, &x.Repo, &x.Title, &x.Body)
		return x, err
	}, query, ids)
}

// queryAmong is db.QueryList for a statement that ends with IN, of ids.
func queryAmong[T any](
	tx *db.Tx, scan func(db.Scanner) (T, error), query string, ids map[int64]bool,
) ([]T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := make([]any, 0, len(ids))
	for id := range ids {
		args = append(args, id)
	}
	return db.QueryList(tx, scan, query+db.ValuesFrom(1, 1, len(args)), args...)
}
