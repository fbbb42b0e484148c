package db_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// A query that is sent ahead gives what it gives when it is asked, also after a statement that changed what
// it reads. What never comes to be asked, and what no statement can have, does no harm.
func TestAhead(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := openAt(t, dbtest.Empty(t, engine))
		const query = `SELECT name FROM counters WHERE name LIKE $1 AND n = $2 ORDER BY name`
		ask := func(tx *db.Tx, like string, n int) ([]string, error) {
			return db.QueryList(tx, func(row db.Scanner) (s string, err error) {
				return s, row.Scan(&s)
			}, query, like, n)
		}
		add := func(tx *db.Tx, name string) error {
			return tx.QueryRow(`INSERT INTO counters (name, n) VALUES ($1, 7) RETURNING name`,
				name).Scan(&name)
		}
		for name, then := range map[string]struct {
			fn   func(tx *db.Tx) error
			want []string
		}{
			"at once":   {func(*db.Tx) error { return nil }, []string{"a1", "a2"}},
			"an insert": {func(tx *db.Tx) error { return add(tx, "a3") }, []string{"a1", "a2", "a3"}},
			"an update": {func(tx *db.Tx) error {
				_, err := tx.Exec(`UPDATE counters SET n = 8 WHERE name = 'a1'`)
				return err
			}, []string{"a2"}},
			"a deletion, later": {func(tx *db.Tx) error {
				return tx.Run(`DELETE FROM counters WHERE name = 'a2'`)
			}, []string{"a1"}},
			"another query": {func(tx *db.Tx) error {
				_, err := ask(tx, "b%", 7)
				return err
			}, []string{"a1", "a2"}},
		} {
			undo := fmt.Errorf("undo")
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				tx.Ahead(query, "a%", 7)
				tx.Ahead(query, "never\x00asked", 7)
				tx.Ahead(query, "b%", 7)
				if err := add(tx, "a1"); err != nil {
					return err
				}
				tx.Ahead(query, "a%", 7)
				if err := add(tx, "a2"); err != nil {
					return err
				}
				if err := then.fn(tx); err != nil {
					return err
				}
				for range 2 { // the second time it is asked anew
					if got, err := ask(tx, "a%", 7); err != nil || !slices.Equal(got, then.want) {
						t.Errorf("after %s: %v, %v", name, got, err)
					}
				}
				return undo
			})
			if err != undo {
				t.Errorf("after %s: %v", name, err)
			}
		}
		// One that fails fails the transaction, and the connection is as good as before.
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			tx.Ahead(`SELECT no_such_column FROM counters`)
			return add(tx, "a1")
		})
		if (err != nil) != (engine == db.PostgreSQL) {
			t.Errorf("beside a wrong query: %v", err)
		}
		if err := d.Read(context.Background(), func(tx *db.Tx) error {
			_, err := ask(tx, "a%", 7)
			return err
		}); err != nil {
			t.Error(err)
		}
	})
}

// A bell rings for a statement that changed rows, and for no other.
func TestRunRing(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := openAt(t, dbtest.Empty(t, engine))
		for _, c := range []struct {
			query string
			rings bool
		}{
			{`INSERT INTO counters (name, n) VALUES ('bell', 1)`, true},
			{`UPDATE counters SET n = 2 WHERE name = 'no bell'`, false},
			{`WITH v (n) AS (VALUES (3)) INSERT INTO counters (name, n) SELECT 'never', v.n FROM v WHERE v.n > 3`, false},
			{`WITH v (n) AS (VALUES (3)) INSERT INTO counters (name, n) SELECT 'second bell', v.n FROM v`,
				true},
		} {
			for _, followed := range []bool{false, true} {
				err := d.Write(t.Context(), func(tx *db.Tx) error {
					if err := tx.RunRing("the bell", c.query); err != nil || !followed {
						return err
					}
					return tx.Run(`DELETE FROM counters WHERE name IN ('bell', 'second bell')`)
				})
				if err != nil {
					t.Fatal(err)
				}
				rang := false
				select {
				case <-d.Bell("the bell"):
					rang = true
				default:
				}
				if rang != c.rings {
					t.Errorf("%s: it rang: %t", c.query, rang)
				}
				if _, err := d.WriteOne(t.Context(), `DELETE FROM counters`); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
