package fulltext_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/fulltext"
)

// prose makes texts whose words are as uneven as those of a language.
type prose struct{ zipf *rand.Zipf }

func newProse() prose {
	return prose{rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 3, 20_000)}
}

func (p prose) words(n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "word%d ", p.zipf.Uint64())
	}
	return b.String()
}

// shelve adds issues from..to-1 of 100 repositories, half of them in the first.
func shelve(b *testing.B, d *db.DB, p prose, from, to int64) {
	for at := from; at < to; at += 100 {
		mustWrite(b, d, func(tx *db.Tx) error {
			var list []fulltext.Text
			for id := at; id < min(at+100, to); id++ {
				x := fulltext.Text{Issue: id, Repo: 1, Title: p.words(8), Body: p.words(60)}
				if id%2 == 0 {
					x.Repo = id/2%99 + 2
				}
				_, err := tx.Exec(`INSERT INTO issues (id, repo_id, number, title, author_id, state, labels,
					assignees, created_at, updated_at)
					VALUES ($1, $2, $1, '', 1, 1, '', '', 1, 1)`, id, x.Repo)
				if err != nil {
					return err
				}
				list = append(list, x)
			}
			return fulltext.Put(tx, list)
		})
	}
}

func shelves(b *testing.B, d *db.DB) {
	for r := range 98 {
		mustWrite(b, d, stmt(`INSERT INTO repos (id, owner_id, name, name_folded, private, default_branch,
			created_at, updated_at, pushed_at)
			VALUES ($1, 1, $2, $2, FALSE, 'main', 1, 1, 1)`, r+3, fmt.Sprint("r", r)))
	}
}

// BenchmarkPutTexts is one text of 68 words, in batches of 100 with the row of
// its issue and the note about it.
func BenchmarkPutTexts(b *testing.B) {
	for _, engine := range []db.Engine{db.SQLite, db.PostgreSQL} {
		b.Run(engine.String(), func(b *testing.B) {
			d := library(b, engine)
			shelves(b, d)
			b.ResetTimer()
			shelve(b, d, newProse(), 1, int64(b.N)+1)
		})
	}
}

// BenchmarkFind searches 100,000 issues: for a word that nearly all have, in a
// repository with half of them or with some 500, and for a rare one.
func BenchmarkFind(b *testing.B) {
	for _, engine := range []db.Engine{db.SQLite, db.PostgreSQL} {
		d := library(b, engine)
		shelves(b, d)
		shelve(b, d, newProse(), 1, 100_001)
		if engine == db.PostgreSQL {
			mustWrite(b, d, stmt(`ANALYZE`))
		}
		for _, c := range []struct {
			name string
			f    fulltext.Find
		}{
			{"common", fulltext.Find{Terms: []string{"word0"}}},
			{"common-in-half", fulltext.Find{Terms: []string{"word0"}, Repos: []int64{1}}},
			{"common-in-500", fulltext.Find{Terms: []string{"word0"}, Repos: []int64{7}}},
			{"two-in-500", fulltext.Find{Terms: []string{"word0", "word1"}, Repos: []int64{7}}},
			{"rare", fulltext.Find{Terms: []string{"word15000"}}},
		} {
			b.Run(c.name+"/"+engine.String(), func(b *testing.B) {
				for range b.N {
					var n int64
					err := d.Read(context.Background(), func(tx *db.Tx) error {
						var args []any
						query := c.f.SQL(tx, func(v any) string {
							args = append(args, v)
							return fmt.Sprintf("$%d", len(args))
						})
						return tx.QueryRow(`SELECT count(*) FROM (`+query+`) f`, args...).Scan(&n)
					})
					if err != nil || n == 0 {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}
