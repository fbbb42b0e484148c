package reaction

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// estate creates a repository with id 1, and users with ids from 1.
func estate(t testing.TB, d *db.DB, users int) {
	t.Helper()
	write(t, d, func(tx *db.Tx) error {
		for id := 1; id <= users; id++ {
			if _, err := tx.Exec(`INSERT INTO accounts (id, login, login_folded, kind, created_at, updated_at)
				VALUES ($1, $2, $2, 1, 1, 1)`, id, fmt.Sprint("user", id)); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`INSERT INTO repos (id, owner_id, name, name_folded, private, default_branch,
			created_at, updated_at, pushed_at)
			VALUES (1, 1, 'garden', 'garden', FALSE, 'main', 1, 1, 1)`)
		return err
	})
}

func write(t testing.TB, d *db.DB, fn func(tx *db.Tx) error) {
	t.Helper()
	testkit.NoError(t, d.Write(t.Context(), fn))
}

// react adds a reaction in repository 1.
func react(t testing.TB, d *db.DB, kind Kind, id int64, user account.ID, c Content) {
	t.Helper()
	write(t, d, func(tx *db.Tx) error {
		_, _, err := insert(tx, 1, Subject{Kind: kind, ID: id}, user, c)
		return err
	})
}

func rollups(t testing.TB, d *db.DB, kind Kind, ids ...int64) (found map[int64]Rollup) {
	t.Helper()
	err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
		found, err = Rollups(tx, kind, ids)
		return err
	})
	testkit.NoError(t, err)
	return found
}

// The counts of an issue include only its own reactions, not those of a comment or issue with the same or
// the next id.
func TestRollups(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		estate(t, d, 3)
		for user := account.ID(1); user <= 3; user++ {
			react(t, d, Issue, 7, user, Heart)
			react(t, d, IssueComment, 7, user, Rocket)
		}
		for c := PlusOne; c <= Eyes; c++ {
			react(t, d, Issue, 8, 1, c)
			react(t, d, Issue, 8, 1, c) // again: it has it already
		}
		found := rollups(t, d, Issue, 7, 8, 9, 8)
		if want := (Rollup{Heart - 1: 3}); found[7] != want || found[7].Total() != 3 {
			t.Errorf("three hearts are %v", found[7])
		}
		if want := (Rollup{1, 1, 1, 1, 1, 1, 1, 1}); found[8] != want || found[8].Total() != 8 {
			t.Errorf("one of each is %v", found[8])
		}
		if (found[9] != Rollup{}) {
			t.Errorf("an issue without reactions has %v", found[9])
		}
		if want := (Rollup{Rocket - 1: 3}); rollups(t, d, IssueComment, 7)[7] != want {
			t.Error("the comment's reactions are lost")
		}
		if found := rollups(t, d, Issue); len(found) != 0 {
			t.Errorf("no subjects have %v", found)
		}
	})
}

// Somebody who deletes a comment deletes what hangs on it, and nothing else; a
// repository takes all its reactions along.
func TestDrop(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		estate(t, d, 1)
		var many []int64
		write(t, d, func(tx *db.Tx) error {
			many = nil
			for id := int64(1); id <= dropAtOnce+3; id++ {
				many = append(many, id)
				if _, _, err := insert(tx, 1, Subject{Kind: IssueComment, ID: id}, 1, Laugh); err != nil {
					return err
				}
			}
			return nil
		})
		react(t, d, IssueComment, 10_000, 1, Eyes)
		react(t, d, Issue, 1, 1, Eyes)
		write(t, d, func(tx *db.Tx) error { return Drop(tx, IssueComment) })
		if n := len(rollups(t, d, IssueComment, many...)); n != len(many) {
			t.Errorf("dropping nothing left %d of %d", n, len(many))
		}
		write(t, d, func(tx *db.Tx) error { return Drop(tx, IssueComment, many...) })
		if found := rollups(t, d, IssueComment, append(many, 10_000)...); len(found) != 1 ||
			found[10_000].Total() != 1 {
			t.Errorf("%d comments still have reactions", len(found))
		}
		if rollups(t, d, Issue, 1)[1].Total() != 1 {
			t.Error("the issue with a dropped comment's id lost its reaction")
		}
		write(t, d, func(tx *db.Tx) error {
			_, err := tx.Exec(`DELETE FROM repos WHERE id = 1`)
			return err
		})
		if found := rollups(t, d, Issue, 1); len(found) != 0 {
			t.Errorf("the deleted repository left %v", found)
		}
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, _, err := insert(tx, 1, Subject{Kind: Issue, ID: 1}, 1, Eyes)
			return err
		})
		if !errs.Is(err, errs.NotFound) {
			t.Errorf("a reaction in a repository just deleted: %v", err)
		}
	})
}

// A page of issues with many reactions stays as fast as one with few: counting
// reads an index in its order, and so does listing.
func TestPlans(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, db.SQLite)
	counting, args := rollupsQuery(Issue, []int64{1, 2, 3})
	for _, c := range []struct {
		text string
		args []any
		want string
	}{
		{counting, args, "USING COVERING INDEX"},
		{listQuery(0) + pageOrder, []any{1, 1, 1, 30, 0}, "USING INDEX reactions_listed"},
	} {
		var plan strings.Builder
		err := d.Read(t.Context(), func(tx *db.Tx) error {
			rows, err := tx.Query(`EXPLAIN QUERY PLAN `+c.text, c.args...)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var id, parent, unused int64
				var detail string
				if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
					return err
				}
				plan.WriteString(detail + "\n")
			}
			return rows.Err()
		})
		testkit.NoError(t, err)
		if !strings.Contains(plan.String(), c.want) || strings.Contains(plan.String(), "TEMP B-TREE") {
			t.Errorf("%s\nis planned as\n%s", c.text, &plan)
		}
	}
}

// BenchmarkRollups counts for a page of 30 issues with ten reactions each, in a table with as many others.
func BenchmarkRollups(b *testing.B) {
	for _, engine := range []db.Engine{db.SQLite, db.PostgreSQL} {
		b.Run(engine.String(), func(b *testing.B) {
			d := dbtest.Open(b, engine)
			estate(b, d, 5)
			const subjects = 2000
			var ids []int64
			write(b, d, func(tx *db.Tx) error {
				for id := int64(1); id <= subjects; id++ {
					for user := account.ID(1); user <= 5; user++ {
						for _, c := range []Content{PlusOne, Content(id%7) + 2} {
							if _, _, err := insert(tx, 1, Subject{Kind: Issue, ID: id}, user, c); err != nil {
								return err
							}
						}
					}
					if id%(subjects/30) == 0 && len(ids) < 30 {
						ids = append(ids, id)
					}
				}
				return nil
			})
			b.ReportAllocs()
			for b.Loop() {
				if found := rollups(b, d, Issue, ids...); len(found) != 30 {
					b.Fatal(len(found))
				}
			}
		})
	}
}
