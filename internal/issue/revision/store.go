package revision

import (
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// columns are the columns that hold the id of a text of each kind.
var columns = [...]string{OfIssue: "issue_id", OfComment: "comment_id", OfReview: "review_id", OfLine: "line_id"}

// where is the condition for the rows of the text whose kind and id are two parameters, the first of them number at.
func where(kind Kind, at int) string {
	return `kind = $` + strconv.Itoa(at) + ` AND ` + columns[kind] + ` = $` + strconv.Itoa(at+1)
}

// last returns the number of the last edit of a text; 0: it was never edited.
func last(tx *db.Tx, of Text) (n int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(MAX(n), 0) FROM text_edits WHERE `+where(of.Kind, 1),
		int64(of.Kind), of.ID).Scan(&n)
	return n, err
}

func insert(tx *db.Tx, r *repo.Repo, issueID int64, e *Edit) error {
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
	return tx.Run(`DELETE FROM text_edits WHERE `+where(of.Kind, 1)+` AND n <= $3`, int64(of.Kind), of.ID, n)
}

// clearText deletes the text before an edit, unless that was done.
func clearText(tx *db.Tx, of Text, id int64, by account.ID) (int64, error) {
	return tx.Exec(`UPDATE text_edits SET was = NULL, deleted_by = $4, deleted_at = $5
		WHERE `+where(of.Kind, 1)+` AND id = $3 AND was IS NOT NULL`, int64(of.Kind), of.ID, id, by, tx.Now)
}

// scan reads the columns of an edit of a kind, of which the second is the id of its text.
func scan(row db.Scanner) (*Edit, error) {
	e := &Edit{}
	err := row.Scan(&e.Of.Kind, &e.Of.ID, &e.ID, &e.N, &e.EditorID, &e.At, &e.Was, &e.Private, &e.DeletedBy,
		&e.DeletedAt)
	return e, err
}

// read reads edits of texts, one query for all of a kind. rest follows the condition; was is an SQL expression of the
// text before.
func read(tx *db.Tx, texts []Text, was string, only string, order string) ([]*Edit, error) {
	ids := [len(columns)][]int64{}
	for _, t := range texts {
		ids[t.Kind] = append(ids[t.Kind], t.ID)
	}
	var parts []string
	var args []any
	for kind := OfIssue; kind <= OfLine; kind++ {
		if len(ids[kind]) == 0 {
			continue
		}
		args = append(args, int64(kind))
		at := len(args)
		column := columns[kind]
		part := `SELECT e.kind, e.` + column + `, e.id, e.n, e.editor_id, e.edited_at, ` + was +
			`, e.private, COALESCE(e.deleted_by, 0), e.deleted_at FROM text_edits e WHERE e.kind = $` +
			strconv.Itoa(at) + ` AND e.` + column + ` IN ` + db.ValuesFrom(at+1, 1, len(ids[kind]))
		if only != "" {
			part += ` AND ` + strings.ReplaceAll(only, "{id}", column)
		}
		for _, id := range ids[kind] {
			args = append(args, id)
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return nil, nil
	}
	return db.QueryList(tx, scan, strings.Join(parts, ` UNION ALL `)+order, args...)
}

// lastOf reads the last edit of each text, without the text before.
func lastOf(tx *db.Tx, texts []Text) ([]*Edit, error) {
	return read(tx, texts, `CAST(NULL AS TEXT)`, `NOT EXISTS (SELECT 1 FROM text_edits o WHERE o.kind = e.kind AND o.{id} = e.{id}
		AND o.n > e.n)`, ``)
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
	list, err := read(tx, []Text{of}, `e.was`, `e.n BETWEEN (SELECT o.n FROM text_edits o WHERE o.id = `+
		strconv.FormatInt(id, 10)+` AND o.kind = e.kind AND o.{id} = e.{id}) AND 1 + (SELECT o.n FROM text_edits o WHERE o.id = `+
		strconv.FormatInt(id, 10)+`)`, ` ORDER BY 4`)
	return list, err
}
