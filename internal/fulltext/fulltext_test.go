package fulltext_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/test/dbtest"
)

// library is a database with a person, and repositories 1 and 2.
func library(t testing.TB, engine db.Engine) *db.DB {
	t.Helper()
	d := dbtest.Open(t, engine)
	mustWrite(t, d, stmt(
		`INSERT INTO accounts (id, login, login_folded, kind, created_at, updated_at) VALUES (1, 'a', 'a', 1, 1, 1)`))
	mustWrite(t, d, stmt(`INSERT INTO repos (id, owner_id, name, name_folded, private, default_branch,
		created_at, updated_at, pushed_at)
		VALUES (1, 1, 'a', 'a', FALSE, 'main', 1, 1, 1), (2, 1, 'b', 'b', FALSE, 'main', 1, 1, 1)`))
	return d
}

// writeIssue adds an issue's row and its text.
func writeIssue(t testing.TB, d *db.DB, x fulltext.Text) {
	t.Helper()
	mustWrite(t, d, func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO issues (id, repo_id, number, title, body, author_id, state, labels,
			assignees, created_at, updated_at)
			VALUES ($1, $2, $1, $3, $4, 1, 1, '', '', 1, 1)`, x.Issue, x.Repo, x.Title, x.Body)
		return errors.Join(err, fulltext.Put(tx, []fulltext.Text{x}))
	})
}

func writeComment(t testing.TB, d *db.DB, x fulltext.Text) {
	t.Helper()
	mustWrite(t, d, func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO issue_comments (id, repo_id, issue_id, author_id, body, created_at,
			updated_at)
			VALUES ($1, $2, $3, 1, $4, 1, 1)`, x.Comment, x.Repo, x.Issue, x.Body)
		return errors.Join(err, fulltext.Put(tx, []fulltext.Text{x}))
	})
}

// found gives "issue:score" for each that is found, by id.
func found(t testing.TB, d *db.DB, f fulltext.Find) (list []string) {
	t.Helper()
	err := d.Read(context.Background(), func(tx *db.Tx) error {
		var args []any
		arg := func(v any) string {
			args = append(args, v)
			return fmt.Sprintf("$%d", len(args))
		}
		list = nil
		rows, err := tx.Query(`SELECT issue_id, CAST(score AS BIGINT) FROM (`+f.SQL(tx,
			arg)+`) f ORDER BY issue_id`, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, score int64
			if err := rows.Scan(&id, &score); err != nil {
				return err
			}
			list = append(list, fmt.Sprintf("%d:%d", id, score))
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	return list
}

func wantFound(t testing.TB, d *db.DB, f fulltext.Find, want ...string) {
	t.Helper()
	if got := found(t, d, f); !slices.Equal(got, want) {
		t.Errorf("%+v finds %v, want %v", f, got, want)
	}
}

// Both engines find the same, with the same scores.
func TestFind(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := library(t, engine)
		writeIssue(t, d, fulltext.Text{Issue: 1, Repo: 1, Title: "Crash on start",
			Body: "The parser of r1 reads too far, segfault"})
		writeIssue(t, d, fulltext.Text{Issue: 2, Repo: 1, Title: "Parser is slow", Body: "crash crash crash"})
		writeIssue(t, d, fulltext.Text{Issue: 3, Repo: 2, Title: "Café au lait", Body: "nothing of r2 here"})
		writeIssue(t, d, fulltext.Text{Issue: 4, Repo: 2, Title: "empty"})
		writeComment(t, d, fulltext.Text{Issue: 3, Comment: 1, Repo: 2, Body: "It is the parser, too far"})
		writeComment(t, d, fulltext.Text{Issue: 3, Comment: 2, Repo: 2, Body: "CRASH on monday"})
		writeComment(t, d, fulltext.Text{Issue: 1, Comment: 3, Repo: 1, Body: "crash"})
		one := func(terms ...string) fulltext.Find { return fulltext.Find{Terms: terms} }
		for _, c := range []struct {
			f    fulltext.Find
			want []string
		}{
			{one("crash"), []string{"1:4", "2:2", "3:1"}},
			{one("CRASH!"), []string{"1:4", "2:2", "3:1"}},
			{one("cafe"), []string{"3:4"}},
			{one("crash", "parser"), []string{"1:6", "2:6", "3:2"}},
			{one("crash", "lait"), []string{"3:5"}},
			{one("crash", "absent"), nil},
			{fulltext.Find{Terms: []string{"slow", "lait", "slow"}, Any: true}, []string{"2:8", "3:4"}},
			{one("crash on"), []string{"1:4", "3:1"}},
			{one("on crash"), nil},
			{one("far-segfault"), []string{"1:2"}},
			{one("slow crash"), nil}, // a phrase does not cross from the title into the body
			{one("cras"), nil},
			{fulltext.Find{Terms: []string{"crash"}, In: fulltext.InTitle}, []string{"1:4"}},
			{fulltext.Find{Terms: []string{"crash"}, In: fulltext.InBody}, []string{"2:2"}},
			{fulltext.Find{Terms: []string{"crash"}, In: fulltext.InComments}, []string{"1:1", "3:1"}},
			{fulltext.Find{Terms: []string{"crash"}, In: fulltext.InTitle | fulltext.InBody},
				[]string{"1:4", "2:2"}},
			{fulltext.Find{Terms: []string{"crash"}, In: fulltext.InTitle | fulltext.InComments},
				[]string{"1:4", "3:1"}},
			{fulltext.Find{Terms: []string{"crash"}, In: fulltext.InBody | fulltext.InComments},
				[]string{"1:1", "2:2", "3:1"}},
			{fulltext.Find{Terms: []string{"crash"}, Repos: []int64{2}}, []string{"3:1"}},
			{fulltext.Find{Terms: []string{"crash"}, Repos: []int64{1, 7}}, []string{"1:4", "2:2"}},
			{fulltext.Find{Terms: []string{"crash", "parser"}, Repos: []int64{2, 1}},
				[]string{"1:6", "2:6", "3:2"}},
			{one("r1"), []string{"1:2"}}, // the word in the text, not the repository's
			{fulltext.Find{Terms: []string{"r2"}, Repos: []int64{1}}, nil},
		} {
			wantFound(t, d, c.f, c.want...)
		}
	})
}

// Text is never syntax: whatever somebody writes is stored, found by itself,
// and breaks neither the statement nor the search of anybody else.
func TestFindHostileText(t *testing.T) {
	t.Parallel()
	hostile := []string{
		`"`, `""quoted" text"`, `it's '; DROP TABLE issues; --`, `back\slash \' \\`,
		"a AND b OR NOT c NEAR(d, 5)", "star* ^caret title:x {title body}:y - + (paren",
		"!bang & amp | pipe <-> :A :* 'q':1A", "ünïcödé ΣΑΣ ß", "emoji 🔥 👩‍💻", "東京都庁の検索", "مرحبا بالعالم",
		"ไทยภาษา", "🔥", "x'0041' $1 ?1 @p :p %s %_", "a\tb\nc\r\x01d", "\u0301 lone",
		strings.Repeat("e\u0301", 300), strings.Repeat("longword", 40), "/1 r1 '/2'",
	}
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := library(t, engine)
		for n, text := range hostile {
			id := int64(n + 1)
			writeIssue(t, d, fulltext.Text{Issue: id, Repo: 1, Title: text, Body: text})
			writeComment(t, d, fulltext.Text{Issue: id, Comment: id, Repo: 1, Body: text})
		}
		for n, text := range hostile {
			if !fulltext.Searchable(text) {
				continue
			}
			for _, f := range []fulltext.Find{{Terms: []string{text}},
				{Terms: []string{text, text}, Repos: []int64{1}},
				{Terms: []string{text}, In: fulltext.InComments}} {
				got := strings.Join(found(t, d, f), " ")
				if !strings.Contains(" "+got, fmt.Sprintf(" %d:", n+1)) {
					t.Errorf("%q is not found by itself, but %s", text, got)
				}
			}
			wantFound(t, d, fulltext.Find{Terms: []string{text}, Repos: []int64{2}})
		}
		mustWrite(t, d, func(tx *db.Tx) error { // no row holds such text; an index must not break by it
			return fulltext.Put(tx,
				[]fulltext.Text{{Issue: 1, Repo: 1, Title: "left\x00right", Body: "bad\xff\xc3 utf8"}})
		})
		wantFound(t, d, fulltext.Find{Terms: []string{"left right", "utf8"}}, "1:6")
	})
}

// The longest bodies that there may be are found by their first and last words.
func TestFindLongText(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := library(t, engine)
		for n, filler := range []string{"x ", "字", "🔥", "w\u0301", "é-"} {
			runes := []rune("first " + strings.Repeat(filler, 65_536))[:65_530]
			writeIssue(t, d, fulltext.Text{Issue: int64(n + 1), Repo: 1, Body: string(runes) + " last"})
		}
		var many strings.Builder
		for n := range 8000 {
			fmt.Fprintf(&many, "w%d ", n)
		}
		writeIssue(t, d, fulltext.Text{Issue: 9, Repo: 1, Body: "first " + many.String() + "last"})
		all := []string{"1:2", "2:2", "3:2", "4:2", "5:2", "9:2"}
		wantFound(t, d, fulltext.Find{Terms: []string{"first"}}, all...)
		wantFound(t, d, fulltext.Find{Terms: []string{"last"}}, all...)
		wantFound(t, d, fulltext.Find{Terms: []string{"first 字字"}}, "2:2")
		wantFound(t, d, fulltext.Find{Terms: []string{"w7998 w7999"}}, "9:2")
	})
}

// What was edited is found by its new words only; what was deleted, alone or
// with its issue or its repository, is not found at all.
func TestFindNothingStale(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := library(t, engine)
		for id := range int64(4) {
			writeIssue(t, d, fulltext.Text{Issue: id + 1, Repo: 1 + id/3, Title: "secret", Body: "old"})
			writeComment(t, d, fulltext.Text{Issue: id + 1, Comment: id + 1, Repo: 1 + id/3,
				Body: "secret remark"})
		}
		mustWrite(t, d, func(tx *db.Tx) error {
			return fulltext.Put(tx, []fulltext.Text{{Issue: 1, Repo: 1, Title: "new"},
				{Issue: 1, Comment: 1, Repo: 1, Body: "other"}})
		})
		wantFound(t, d, fulltext.Find{Terms: []string{"secret"}}, "2:4", "3:4", "4:4")
		wantFound(t, d, fulltext.Find{Terms: []string{"new", "other"}}, "1:5")
		mustWrite(t, d, stmt(`DELETE FROM issue_comments WHERE id = 2`))
		wantFound(t, d, fulltext.Find{Terms: []string{"remark"}}, "3:1", "4:1")
		mustWrite(t, d, stmt(`DELETE FROM issues WHERE id = 3`))
		wantFound(t, d, fulltext.Find{Terms: []string{"secret"}}, "2:4", "4:4")
		wantFound(t, d, fulltext.Find{Terms: []string{"remark"}}, "4:1")
		mustWrite(t, d, stmt(`DELETE FROM repos WHERE id = 2`))
		wantFound(t, d, fulltext.Find{Terms: []string{"secret"}}, "2:4")
		wantFound(t, d, fulltext.Find{Terms: []string{"remark"}})
		failed := errors.New("no")
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			return errors.Join(fulltext.Put(tx, []fulltext.Text{{Issue: 2, Repo: 1, Title: "undone"}}),
				failed)
		})
		if !errors.Is(err, failed) {
			t.Error(err)
		}
		wantFound(t, d, fulltext.Find{Terms: []string{"undone"}})
		wantFound(t, d, fulltext.Find{Terms: []string{"secret"}}, "2:4")
	})
}

// A note is a row for each text: without one, a search would not find it.
func TestNotes(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := library(t, engine)
		writeIssue(t, d, fulltext.Text{Issue: 5, Repo: 1, Title: "t"})
		writeComment(t, d, fulltext.Text{Issue: 5, Comment: 6, Repo: 1, Body: "b"})
		mustWrite(t, d, func(tx *db.Tx) error {
			return errors.Join(fulltext.NoteTexts(tx, 5), fulltext.NoteTexts(tx, 5, 6, 0),
				fulltext.NoteIssue(tx, 5), fulltext.NoteRepo(tx, 7), fulltext.NoteAccount(tx, 8))
		})
		for query, want := range map[string]int64{
			`SELECT count(*) FROM texts_changed WHERE issue_id = 5 AND comment_id = 0`: 2,
			`SELECT count(*) FROM texts_changed WHERE issue_id = 5 AND comment_id = 6`: 2,
			`SELECT count(*) FROM texts_changed`:                                       4,
			`SELECT SUM(repo_id) FROM names_changed WHERE account_id = 0`:              7,
			`SELECT SUM(account_id) FROM names_changed WHERE repo_id = 0`:              8,
		} {
			if got := number(t, d, query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
	})
}
