package search

import (
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/issue"
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

// notes gives the first and the last of the notes in a table; 0: there are none.
func notes(tx *db.Tx, table string) (first, last int64, err error) {
	if span, ok := db.Recall[noteSpan](tx, notesOf(table)); ok {
		return span.first, span.last, nil
	}
	err = tx.QueryRow(`SELECT COALESCE((SELECT MIN(id) FROM `+table+`), 0),
		COALESCE((SELECT MAX(id) FROM `+table+`), 0)`).Scan(&first, &last)
	if err == nil {
		db.Keep(tx, notesOf(table), noteSpan{first, last})
	}
	return first, last, err
}

// noteSpan is the notes of a table, which notesOf names for the transactions of one request.
type (
	noteSpan struct{ first, last int64 }
	notesOf  string
)

// indexChanged takes the oldest notes and indexes the texts as they are now.
//
// Two workers on PostgreSQL cannot bring back an older text: the notes of a text have
// ids in the order of its changes, so a worker that takes a later note takes the earlier
// ones, too, or waits here until the worker that has them is done.
func indexChanged(tx *db.Tx, most int) error {
	issues, comments := map[issue.ID]bool{}, map[int64]bool{}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var issueID issue.ID
		var commentID int64
		if err := row.Scan(&issueID, &commentID); err != nil {
			return err
		}
		if commentID == 0 {
			issues[issueID] = true
		} else {
			comments[commentID] = true
		}
		return nil
	}, `DELETE FROM texts_changed WHERE id IN (SELECT id FROM texts_changed ORDER BY id LIMIT $1)
		RETURNING issue_id, comment_id`, most)
	if err != nil {
		return err
	}
	list, err := queryTexts(tx, `SELECT id, 0, repo_id, title, COALESCE(body, '') FROM issues WHERE id IN `, issues)
	if err != nil {
		return err
	}
	more, err := queryTexts(tx, `SELECT issue_id, id, repo_id, '', body FROM issue_comments WHERE id IN `, comments)
	if err != nil {
		return err
	}
	return fulltext.Put(tx, append(list, more...))
}

func queryTexts[ID ~int64](tx *db.Tx, query string, ids map[ID]bool) (list []fulltext.Text, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var args []any
	for id := range ids {
		args = append(args, id)
	}
	return db.QueryList(tx, func(row db.Scanner) (x fulltext.Text, err error) {
		err = row.Scan(&x.Issue, &x.Comment, &x.Repo, &x.Title, &x.Body)
		return x, err
	}, query+db.ValuesFrom(1, 1, len(args)), args...)
}
