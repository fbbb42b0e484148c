// Package fulltext finds words in the texts of issues and comments, by each engine's
// own index: SQLite's FTS5 and PostgreSQL's tsvector. Both are given words that were
// cut and folded here, so both find the same.
//
//	words.go  the words of texts and of searches
//	index.go  putting texts into the index
//	find.go   finding them, inside larger statements
//
// Tables: issue_texts, comment_texts.
package fulltext

import (
	"fmt"
	"strings"

	"arbor/internal/db"
)

// Part is a set of the places in which words may stand.
type Part uint8

// The parts; none of them stands for all.
const (
	InTitle Part = 1 << iota
	InBody
	InComments
)

// Find says what to look for among the texts. A term is a word or, of several
// words, a phrase. Whatever it holds, it is text and never syntax.
type Find struct {
	Terms []string // each must be Searchable; at least one
	Any   bool     // one of them is enough; else each must stand somewhere in the issue or its comments
	In    Part
	Repos []int64 // where to look: best when few; nil: everywhere
}

// Searchable reports whether a text holds any word at all: punctuation is not
// looked for.
func Searchable(text string) bool {
	found := false
	words(text, func(string) { found = true })
	return found
}

// SQL returns a SELECT of issue_id and score, with one row per issue, to be used
// inside a larger statement; arg adds an argument to that and returns its
// placeholder. A term scores 4 in the title, else 2 in the body, else 1 in a
// comment.
//
// Every term is one scan of its postings and the union of them is grouped, so
// that a word of the title and one of a comment find the issue together.
func (f Find) SQL(tx *db.Tx, arg func(any) string) string {
	if f.In == 0 {
		f.In = InTitle | InBody | InComments
	}
	hits := f.sqliteHits
	if tx.Engine() == db.PostgreSQL {
		hits = f.postgresHits
	}
	var all []string
	for n, term := range f.Terms {
		all = append(all, hits(n, term, arg)...)
	}
	union := strings.Join(all, "\nUNION ALL ")
	if len(f.Terms) == 1 {
		return "SELECT issue_id, max(score) AS score FROM (" + union + ") hits GROUP BY issue_id"
	}
	best := "SELECT issue_id, term, max(score) AS score FROM (" + union + ") hits GROUP BY issue_id, term"
	sum := "SELECT issue_id, sum(score) AS score FROM (" + best + ") terms GROUP BY issue_id"
	if !f.Any {
		sum += fmt.Sprintf(" HAVING count(*) = %d", len(f.Terms))
	}
	return sum
}

// sqliteHits returns the SELECTs that find the nth term. Columns are searched one
// after another, because to ask in which a word stands costs more than both.
func (f Find) sqliteHits(n int, term string, arg func(any) string) (list []string) {
	scope := ""
	for i, id := range f.Repos {
		scope += []string{" OR ", "scope : ("}[bit(i == 0)] + sqliteScope(id)
	}
	if scope != "" {
		scope += ") AND "
	}
	phrase := ` : "` + joinWords(term) + `"`
	add := func(part Part, id, table, column string, score int) {
		if f.In&part != 0 {
			list = append(list, fmt.Sprintf(
				"SELECT %s AS issue_id, %d AS term, %d AS score FROM %s WHERE %[4]s MATCH %[5]s",
				id, n, score, table, arg(scope+column+phrase)))
		}
	}
	add(InTitle, "rowid", "issue_texts", "title", 4)
	add(InBody, "rowid", "issue_texts", "body", 2)
	add(InComments, "issue_id", "comment_texts", "body", 1)
	return list
}

func (f Find) postgresHits(n int, term string, arg func(any) string) (list []string) {
	var scopes []string
	for _, id := range f.Repos {
		scopes = append(scopes, postgresScope(id))
	}
	scope := ""
	if scopes != nil {
		scope = "(" + strings.Join(scopes, "|") + ") & "
	}
	query := func(weights string) string {
		var phrase []string
		words(term, func(w string) { phrase = append(phrase, "'"+w+"'"+weights) })
		return "CAST(CAST(" + arg(scope+"("+strings.Join(phrase, " <-> ")+")") + " AS TEXT) AS TSQUERY)"
	}
	add := func(weights, score string) {
		list = append(list, fmt.Sprintf(`SELECT id AS issue_id, %d AS term, %s AS score
			FROM issue_texts WHERE words @@ %s`,
			n, score, query(weights)))
	}
	switch f.In &^ InComments {
	case InTitle:
		add(":A", "4")
	case InBody:
		add(":B", "2")
	case InTitle | InBody:
		add(":AB", "CASE WHEN words @@ "+query(":A")+" THEN 4 ELSE 2 END")
	}
	if f.In&InComments != 0 {
		list = append(list, fmt.Sprintf(
			`SELECT issue_id, %d AS term, 1 AS score FROM comment_texts WHERE words @@ %s`, n, query("")))
	}
	return list
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
