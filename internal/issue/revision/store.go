package revision

import (
	"fmt"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// place is where the edits of texts of a kind are.
type place struct {
	table  string
	column string // with the id of the text
	shared bool   // kinds share the table, and a column has the kind
}

var places = [...]place{
	OfIssue:   {"text_edits", "issue_id", true},
	OfComment: {"text_edits", "comment_id", true},
	OfReview:  {"text_edits", "review_id", true},
	OfLine:    {"text_edits", "line_id", true},
	OfCommit:  {"commit_comment_edits", "comment_id", false},
}

// where returns the condition for the rows of texts of a kind. of follows the column with their ids: = $1.
func where(kind Kind, of string) string {
	p := places[kind]
	if p.shared {
		return fmt.Sprintf(`kind = %d AND %s %s`, kind, p.column, of)
	}
	return p.column + ` ` + of
}

// last returns the number of the last edit of a text; 0: it was never edited.
func last(tx *db.Tx, of Text) (n int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(MAX(n), 0) FROM `+places[of.Kind].table+` WHERE `+where(of.Kind, `= $1`),
		of.ID).Scan(&n)
	return n, err
}

func insert(tx *db.Tx, r *repo.Repo, issueID int64, e *Edit) error {
	if e.Of.Kind == OfCommit {
		return tx.Run(`INSERT INTO commit_comment_edits (repo_id, comment_id, n, editor_id, edited_at, was, private)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, r.ID, e.Of.ID, e.N, e.EditorID, tx.Now, e.Was, r.Private)
	}
	id := func(kind Kind) any {
		if e.Of.Kind == kind {
			return e.Of.ID
		}
		return nil
	}
	return tx.Run(`INSERT INTO text_edits (repo_id, issue_id, kind, comment_id, review_id, line_id, n, editor_id,
			edited_at, was, private) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		r.ID, issueID, int64(e.Of.Kind), id(OfComment), id(OfReview), id(OfLine), e.N, e.EditorID, tx.Now, e.Was,
		r.Private)
}

// prune deletes the edits of a text up to a number.
func prune(tx *db.Tx, of Text, n int64) error {
	return tx.Run(`DELETE FROM `+places[of.Kind].table+` WHERE `+where(of.Kind, `= $1`)+` AND n <= $2`, of.ID, n)
}

// clearText deletes the text before an edit, unless that was done.
func clearText(tx *db.Tx, of Text, id int64, by account.ID) (int64, error) {
	return tx.Exec(`UPDATE `+places[of.Kind].table+` SET was = NULL, deleted_by = $3, deleted_at = $4
		WHERE `+where(of.Kind, `= $1`)+` AND id = $2 AND was IS NOT NULL`, of.ID, id, by, tx.Now)
}

// scan reads the columns of an edit of a kind, of which the second is the id of its text.
func scan(row db.Scanner) (*Edit, error) {
	e := &Edit{}
	err := row.Scan(&e.Of.Kind, &e.Of.ID, &e.ID, &e.N, &e.EditorID, &e.At, &e.Was, &e.Private, &e.DeletedBy,
		&e.DeletedAt)
	return e, err
}

// read reads edits of texts, one query for all. was is an SQL expression of the text before; only is a further
// condition for an edit e, in which {others} stands for the edits o of the same text; order follows the query.
func read(tx *db.Tx, texts []Text, was string, only string, order string) ([]*Edit, error) {
	ids := [len(places)][]int64{}
	for _, t := range texts {
		ids[t.Kind] = append(ids[t.Kind], t.ID)
	}
	var parts []string
	var args []any
	for kind := OfIssue; kind <= OfCommit; kind++ {
		if len(ids[kind]) == 0 {
			continue
		}
		p := places[kind]
		part := fmt.Sprintf(`SELECT %d, e.%s, e.id, e.n, e.editor_id, e.edited_at, %s, e.private,
			COALESCE(e.deleted_by, 0), e.deleted_at FROM %s e WHERE %s`, kind, p.column, was, p.table,
			where(kind, `IN `+db.ValuesFrom(len(args)+1, 1, len(ids[kind]))))
		if only != "" {
			part += ` AND ` + strings.ReplaceAll(only, "{others}", p.table+` o WHERE o.`+where(kind, `= e.`+p.column))
		}
		parts, args = append(parts, part), append(args, db.Args(ids[kind])...)
	}
	if parts == nil {
		return nil, nil
	}
	return db.QueryList(tx, scan, strings.Join(parts, ` UNION ALL `)+order, args...)
}

// lastOf reads the last edit of each text, without the text before.
func lastOf(tx *db.Tx, texts []Text) ([]*Edit, error) {
	return read(tx, texts, `CAST(NULL AS TEXT)`, `NOT EXISTS (SELECT 1 FROM {others} AND o.n > e.n)`, ``)
}

// listOf reads all edits of texts, the newest first. Error: TooLarge for texts of more than maxShown bytes.
func listOf(tx *db.Tx, texts []Text, whole bool) ([]*Edit, error) {
	if !whole {
		return read(tx, texts, `CAST(NULL AS TEXT)`, ``, ` ORDER BY 1, 2, 4 DESC`)
	}
	sizes, err := read(tx, texts, `CAST(octet_length(e.was) AS TEXT)`, ``, ``)
	if err != nil {
		return nil, err
	}
	left := maxShown
	for _, e := range sizes {
		if e.Was != nil {
			size, _ := strconv.Atoi(*e.Was)
			left -= size
		}
	}
	if left < 0 {
		return nil, errs.New(errs.TooLarge, "There are too many former texts here: ask for fewer.")
	}
	return read(tx, texts, `e.was`, ``, ` ORDER BY 1, 2, 4 DESC`)
}

// pairOf reads an edit of a text and the one after it, if there is one.
func pairOf(tx *db.Tx, of Text, id int64) ([]*Edit, error) {
	number := fmt.Sprintf(`(SELECT o.n FROM {others} AND o.id = %d)`, id)
	return read(tx, []Text{of}, `e.was`, `e.n BETWEEN `+number+` AND 1 + `+number, ` ORDER BY 4`)
}
