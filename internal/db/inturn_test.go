package db_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// way is how functions are written: each by itself, or in turn with others.
type way = func(ctx context.Context, fn func(*db.Tx) error) error

// eachWay runs a test in each way on each engine.
func eachWay(t *testing.T, test func(t *testing.T, d *db.DB, write way)) {
	t.Helper()
	each(t, func(t *testing.T, d *db.DB) {
		test(t, d, d.Write)
		if d.Engine() == db.SQLite { // has one queue for both
			return
		}
		t.Run("in turn", func(t *testing.T) {
			d := openTest(t, db.PostgreSQL)
			test(t, d, inTurn(d))
		})
	})
}

func inTurn(d *db.DB) way {
	return func(ctx context.Context, fn func(*db.Tx) error) error { return d.WriteInTurn(ctx, "all", fn) }
}

// Those who wait for their turn share a commit, and those of another key do not wait for them. Who gives up
// has not written.
func TestWritersInTurn(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := openTest(t, engine)
		if engine == db.PostgreSQL {
			d.BatchTime(time.Minute) // however busy the machine is
		}
		const waiting = 24
		inside, release := make(chan struct{}), make(chan struct{})
		impatient, hangUp := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var mu sync.Mutex
		var wrote []int
		transactions := map[string]bool{}
		all.Go(func() {
			err := d.WriteInTurn(t.Context(), "one", func(tx *db.Tx) error {
				close(inside)
				<-release
				return count("ran")(tx)
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-inside
		for i := range waiting {
			ctx := t.Context()
			if i%3 == 0 {
				ctx = impatient
			}
			all.Go(func() {
				var id string
				err := d.WriteInTurn(ctx, "one", func(tx *db.Tx) error {
					if i%3 == 0 {
						t.Error("the function of a writer that gave up ran")
					}
					if engine == db.PostgreSQL {
						if err := tx.QueryRow(`SELECT CAST(pg_current_xact_id() AS TEXT)`).Scan(
							&id); err != nil {
							return err
						}
					}
					tx.OnCommit(func() {
						mu.Lock()
						defer mu.Unlock()
						wrote = append(wrote, i)
						transactions[id] = true
					})
					return errors.Join(count("waited")(tx), count("ran")(tx))
				})
				if i%3 == 0 != errors.Is(err, context.Canceled) {
					t.Errorf("writer %d: %v", i, err)
				}
			})
			time.Sleep(2 * time.Millisecond) // so that they come one after the other
		}
		if engine == db.PostgreSQL {
			if err := d.WriteInTurn(t.Context(), "other", count("other")); err != nil {
				t.Error(err)
			}
		}
		hangUp()
		time.Sleep(10 * time.Millisecond)
		close(release)
		all.Wait()
		if n := number(t, d, `SELECT n FROM counters WHERE name = 'waited'`); n != waiting*2/3 ||
			len(wrote) != waiting*2/3 {
			t.Errorf("%d of the patient wrote, and %d were told, want %d", n, len(wrote), waiting*2/3)
		}
		if len(transactions) > waiting/4 {
			t.Errorf("%d transactions for %d writers", len(transactions), len(wrote))
		}
		if slices.Sort(wrote); len(slices.Compact(wrote)) != waiting*2/3 {
			t.Errorf("not each was told once: %v", wrote)
		}
	})
}

// A connection that breaks takes the parts along that it holds: all of them are written again, and nobody
// notices.
func TestASharedWriteThatBreaks(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		if engine == db.SQLite {
			t.Skip("has no connection to lose")
		}
		d := openTest(t, engine)
		var mu sync.Mutex
		cuts := 0
		crowd(8, 30, func(w, i int) {
			err := inTurn(d)(t.Context(), func(tx *db.Tx) error {
				if err := count("all")(tx); err != nil || w > 0 || i%10 != 0 {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				if cuts > i/10 {
					return nil
				}
				cuts++
				return stmt(`SELECT pg_terminate_backend(pg_backend_pid())`)(tx)
			})
			if err != nil {
				t.Errorf("writer %d: %v", w, err)
			}
		})
		if n := number(t, d, `SELECT n FROM counters WHERE name = 'all'`); n != 8*30 || cuts != 3 {
			t.Errorf("counted to %d with %d cuts", n, cuts)
		}
	})
}

// A part that fails before its savepoint is there takes nothing back of the parts before it, though one
// of those before failed as well and left a savepoint of its own.
func TestAPartThatFailsBeforeItsSavepoint(t *testing.T) {
	t.Parallel()
	d := openTest(t, db.PostgreSQL)
	d.BatchTime(time.Minute)
	refused := errors.New("refused")
	parts := []func(*db.Tx) error{
		count("first"),
		func(tx *db.Tx) error {
			return errors.Join(stmt(`DELETE FROM counters WHERE name = 'x'`)(tx), refused)
		},
		count("acknowledged"),
		// PostgreSQL refuses to plan it, before the savepoint
		stmt(`INSERT INTO nowhere (name) VALUES ('x')`),
		count("last"),
	}
	inside, release := make(chan struct{}), make(chan struct{})
	enter := sync.OnceFunc(func() { close(inside) }) // the lost parts run again
	failures := make([]error, len(parts))
	var all sync.WaitGroup
	all.Go(func() {
		_ = inTurn(d)(t.Context(), func(tx *db.Tx) error {
			enter()
			<-release
			return count("holds")(tx)
		})
	})
	<-inside
	for i, part := range parts {
		all.Go(func() { failures[i] = inTurn(d)(t.Context(), part) })
		time.Sleep(5 * time.Millisecond) // so that they come one after the other
	}
	close(release)
	all.Wait()
	for i, name := range map[int]string{0: "first", 2: "acknowledged", 4: "last"} {
		if n := number(t, d, `SELECT count(*) FROM counters WHERE name = $1`,
			name); failures[i] != nil || n != 1 {
			t.Errorf("%s: %v, and %d rows", name, failures[i], n)
		}
	}
	if !errors.Is(failures[1], refused) || failures[3] == nil {
		t.Errorf("the parts that fail: %v and %v", failures[1], failures[3])
	}
}
