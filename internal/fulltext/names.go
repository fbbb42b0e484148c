package fulltext

import (
	"fmt"
	"strconv"
	"strings"

	"arbor/internal/db"
)

// Index is one of the indexes of names, each with three texts per row.
type Index uint8

// The indexes.
const (
	Repos    Index = iota // of repositories: name, description and topics
	Accounts              // of accounts: login, name and e-mail address
)

// texts is the table of the words, and rows that of what they belong to.
func (i Index) texts() string { return [...]string{"repo_texts", "account_texts"}[i] }
func (i Index) rows() string  { return [...]string{"repos", "accounts"}[i] }

// The parts of an index of names, for Names.In; none of them stands for all.
const (
	InFirst Part = 1 << iota
	InSecond
	InThird
)

// Name is what can be found of a row. It goes with the row.
type Name struct {
	ID    int64
	Texts [3]string
}

// PutNames indexes rows, each by only these words. They must have been read in
// the same transaction; what was deleted since is left out.
func PutNames(tx *db.Tx, into Index, list []Name) error {
	for _, n := range list {
		var err error
		if tx.Engine() == db.PostgreSQL {
			err = tx.Run(`INSERT INTO `+into.texts()+` (id, words)
				SELECT id, CAST(CAST($2 AS TEXT) AS TSVECTOR) FROM `+into.rows()+` WHERE id = $1 FOR KEY SHARE
				ON CONFLICT (id) DO UPDATE SET words = excluded.words`, n.ID, n.vector())
		} else {
			err = tx.Run(`INSERT OR REPLACE INTO `+into.texts()+` (rowid, a, b, c) VALUES ($1, $2, $3, $4)`,
				n.ID, joinWords(n.Texts[0]), joinWords(n.Texts[1]), joinWords(n.Texts[2]))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// vector writes the texts as a tsvector. No phrase leads from one into the next.
func (n *Name) vector() string {
	var b []byte
	position := 0
	for at, text := range n.Texts {
		words(text, func(w string) {
			position = min(position+1, maxPosition)
			b = append(append(append(b, " '"...), w...), "':"...)
			b = append(strconv.AppendInt(b, int64(position), 10), "ABC"[at])
		})
		position++
	}
	return string(b)
}

// Names says what to look for among names, as Find does among texts. In the first part the last
// word of a term may be the beginning of one.
type Names struct {
	Index Index
	Terms []string // each must be Searchable; at least one
	Any   bool     // one of them is enough
	In    Part
}

// SQL returns a SELECT of id and score, with one row per name, to be used inside a larger statement;
// see Find.SQL. A term scores 4 in the first part, else 2 in the second, else 1.
func (f Names) SQL(tx *db.Tx, arg func(any) string) string {
	if f.In == 0 {
		f.In = InFirst | InSecond | InThird
	}
	var all []string
	for n, term := range f.Terms {
		for at := range 3 {
			if f.In&(1<<at) == 0 {
				continue
			}
			id, match := "id", "words @@ CAST(CAST(%s AS TEXT) AS TSQUERY)"
			wanted := postgresName
			if tx.Engine() == db.SQLite {
				id, match, wanted = "rowid", f.Index.texts()+" MATCH %s", sqliteName
			}
			match = fmt.Sprintf(match, arg(wanted(term, at)))
			all = append(all, fmt.Sprintf("SELECT %s AS id, %d AS term, %d AS score FROM %s WHERE %s",
				id, n, 4>>at, f.Index.texts(), match))
		}
	}
	if len(f.Terms) == 1 {
		return "SELECT id, max(score) AS score FROM (" + strings.Join(all,
			"\nUNION ALL ") + ") hits GROUP BY id"
	}
	best := "SELECT id, term, max(score) AS score FROM (" + strings.Join(all, "\nUNION ALL ") +
		") hits GROUP BY id, term"
	sum := "SELECT id, CAST(sum(score) AS BIGINT) AS score FROM (" + best + ") terms GROUP BY id"
	if !f.Any {
		sum += fmt.Sprintf(" HAVING count(*) = %d", len(f.Terms))
	}
	return sum
}

func sqliteName(term string, at int) string {
	phrase := "abc"[at:at+1] + ` : "` + strings.TrimSpace(joinWords(term)) + `"`
	if at == 0 {
		phrase += " *"
	}
	return phrase
}

func postgresName(term string, at int) string {
	weight := "ABC"[at : at+1]
	var phrase []string
	words(term, func(w string) { phrase = append(phrase, "'"+w+"':"+weight) })
	if last := len(phrase) - 1; at == 0 {
		phrase[last] = phrase[last][:len(phrase[last])-1] + "*A"
	}
	return strings.Join(phrase, " <-> ")
}
