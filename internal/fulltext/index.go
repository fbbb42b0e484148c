package fulltext

import (
	"strconv"
	"strings"

	"arbor/internal/db"
)

// Text is what can be found of an issue or of a comment. It goes with the row
// that it belongs to, even when a whole repository is deleted.
type Text struct {
	Issue   int64 // the issue's id
	Comment int64 // the comment's id; 0: this is the issue itself
	Repo    int64 // the repository's id
	Title   string
	Body    string
}

// Put indexes texts, each in place of the earlier text of its issue or comment.
// They must have been read in the same transaction; what was deleted
// since is left out.
func Put(tx *db.Tx, list []Text) error {
	put := putSQLite
	if tx.Engine() == db.PostgreSQL {
		put = putPostgres
	}
	for _, x := range list {
		if err := put(tx, x); err != nil {
			return err
		}
	}
	return nil
}

// Refresh causes the connection of a transaction on SQLite to reload the positions of the parts of the index
// are, as each search does. SQLite's integrity check does not, and takes for damage what others
// merged since the connection searched last.
func Refresh(tx *db.Tx) error {
	for _, table := range [...]string{"issue_texts", "comment_texts"} {
		_, err := db.QueryIDs[int64](tx, `SELECT rowid FROM `+table+` WHERE `+table+` MATCH 'any' LIMIT 1`)
		if err != nil {
			return err
		}
	}
	return nil
}

func putSQLite(tx *db.Tx, x Text) (err error) {
	scope := sqliteScope(x.Repo)
	if x.Comment == 0 {
		err = tx.Run(`INSERT OR REPLACE INTO issue_texts (rowid, scope, title, body) VALUES ($1, $2, $3, $4)`,
			x.Issue, scope, joinWords(x.Title), joinWords(x.Body))
	} else {
		err = tx.Run(`INSERT OR REPLACE INTO comment_texts (rowid, scope, body, issue_id) VALUES ($1, $2, $3, $4)`,
			x.Comment, scope, joinWords(x.Body), x.Issue)
	}
	return err
}

func putPostgres(tx *db.Tx, x Text) (err error) {
	if x.Comment == 0 {
		err = tx.Run(`INSERT INTO issue_texts (id, words)
			SELECT id, CAST(CAST($2 AS TEXT) AS TSVECTOR) FROM issues WHERE id = $1 FOR KEY SHARE
			ON CONFLICT (id) DO UPDATE SET words = excluded.words`, x.Issue, postgresVector(x))
	} else {
		err = tx.Run(`INSERT INTO comment_texts (id, issue_id, words)
			SELECT id, issue_id, CAST(CAST($2 AS TEXT) AS TSVECTOR) FROM issue_comments
			WHERE id = $1 FOR KEY SHARE
			ON CONFLICT (id) DO UPDATE SET issue_id = excluded.issue_id,
			words = excluded.words`, x.Comment, postgresVector(x))
	}
	return err
}

// sqliteScope is the word for a repository, which stands in a column of its own.
func sqliteScope(repo int64) string { return "r" + strconv.FormatInt(repo, 10) }

// postgresScope is the word for a repository: it begins as no word of a text does.
func postgresScope(repo int64) string { return "'/" + strconv.FormatInt(repo, 10) + "'" }

// joinWords returns the words of a text, joined so that the tokenizer "ascii" splits them again.
func joinWords(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 1)
	words(text, func(w string) {
		b.WriteString(w)
		b.WriteByte(' ')
	})
	return b.String()
}

// maxPosition is how far PostgreSQL counts words; phrases behind are not found
// there. Of one word it keeps 255 places in a text.
const maxPosition = 16383

// postgresVector writes a text as a tsvector, whose syntax words cannot hold.
func postgresVector(x Text) string {
	b := make([]byte, 0, 2*(len(x.Title)+len(x.Body))+32)
	b = append(b, postgresScope(x.Repo)...)
	position := 0
	put := func(text string, weight byte) {
		words(text, func(w string) {
			position = min(position+1, maxPosition)
			b = append(append(append(b, " '"...), w...), "':"...)
			b = append(strconv.AppendInt(b, int64(position), 10), weight)
		})
	}
	put(x.Title, 'A')
	position++ // no phrase leads from the title into the body
	put(x.Body, 'B')
	return string(b)
}
