package db_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// Lost or doubled updates would be wrong counters and duplicate issue numbers.
func TestConcurrentWriters(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		const writers, each = 8, 500
		crowd(writers, each, func(w, _ int) {
			err := d.Write(context.Background(), func(tx *db.Tx) error {
				return errors.Join(count(fmt.Sprintf("own %d", w))(tx), count("all")(tx), tx.Bump("all"))
			})
			if err != nil {
				t.Error(err)
			}
		})
		if n := number(t, d, `SELECT n FROM counters WHERE name = 'all'`); n != writers*each {
			t.Errorf("all: %d, want %d", n, writers*each)
		}
		if n := number(t, d, `SELECT count(*) FROM counters WHERE n = $1`, each); n != writers {
			t.Errorf("%d writers counted exactly", n)
		}
		if n, err := d.Generation(context.Background(), "all"); n != writers*each || err != nil {
			t.Errorf("generation %d, %v", n, err)
		}
	})
}

// Transactions that lock the same rows in different order deadlock on
// PostgreSQL; callers must not see that.
func TestDeadlocksAreRetried(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		mustWrite(t, d, stmt(`INSERT INTO counters (name, n) VALUES ('a', 0), ('b', 0)`))
		crowd(4, 5, func(w, _ int) {
			names := []string{"a", "b"}
			err := d.Write(context.Background(), func(tx *db.Tx) error {
				if err := count(names[w%2])(tx); err != nil {
					return err
				}
				if d.Engine() == db.PostgreSQL {
					time.Sleep(time.Millisecond)
				}
				return count(names[1-w%2])(tx)
			})
			if err != nil {
				t.Error(err)
			}
		})
		if n := number(t, d, `SELECT count(*) FROM counters WHERE n = 20`); n != 2 {
			t.Error("counters are not exact")
		}
	})
}

var errRefused = errors.New("refused")

// One user's refused, panicking or abandoned request must take nothing of the
// others' along, nor leave anything of its own.
func TestNeighbours(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		const writers, each = 8, 60
		crowd(writers, each, func(w, i int) {
			name, way := fmt.Sprintf("%d %d", w, i), (w+i)%6
			switch err := misbehave(d, name, way); {
			case way < 2 && err != nil:
				t.Errorf("%s: %v", name, err)
			case way == 2 && !errors.Is(err, errRefused):
				t.Errorf("%s: %v; want its own error", name, err)
			case way == 3 && !errors.Is(err, db.ErrUnique):
				t.Errorf("%s: %v; want a unique violation", name, err)
			}
		})
		if n := number(t, d, `SELECT count(*) FROM counters`); n != writers*each/3 {
			t.Errorf("%d rows, want those of the %d that returned nil", n, writers*each/3)
		}
	})
}

// misbehave inserts a row and then ends in one of six ways, the first two of
// them well.
func misbehave(d *db.DB, name string, way int) (err error) {
	done := make(chan struct{})
	go func() { // of its own, for Goexit
		defer close(done)
		defer func() {
			if p := recover(); p != nil && p != "oops" {
				panic(p)
			}
		}()
		err = d.Write(context.Background(), func(tx *db.Tx) error {
			if err := stmt(`INSERT INTO counters (name, n) VALUES ($1, 1)`, name)(tx); err != nil {
				return err
			}
			switch way {
			case 2:
				return errRefused
			case 3:
				return stmt(`INSERT INTO counters (name, n) VALUES ($1, 1)`, name)(tx)
			case 4:
				panic("oops")
			case 5:
				runtime.Goexit()
			}
			return nil
		})
	}()
	<-done
	return err
}

// Whose deferred constraint fails at the shared COMMIT is not known; the
// neighbours run again and must not notice.
func TestASharedCommitThatFails(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		mustWrite(t, d, stmt(`INSERT INTO parents (name) VALUES ('a')`))
		const writers, each = 8, 30
		crowd(writers, each, func(w, _ int) {
			later, want := 1, error(nil)
			if w == 0 {
				later, want = 99, db.ErrForeignKey
			}
			err := d.Write(context.Background(),
				stmt(`INSERT INTO children (parent_id, later_id) VALUES (1, $1)`, later))
			if !errors.Is(err, want) {
				t.Errorf("writer %d: %v", w, err)
			}
		})
		if n := number(t, d, `SELECT count(*) FROM children`); n != (writers-1)*each {
			t.Errorf("%d rows, want %d", n, (writers-1)*each)
		}
	})
}

// Who gives up while waiting has not written; who runs gets the truth.
func TestCancelledWriters(t *testing.T) {
	t.Parallel()
	d := openTest(t, db.SQLite)
	inside, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	running, hangUp := context.WithCancel(context.Background())
	wg.Go(func() {
		err := d.Write(running, func(tx *db.Tx) error {
			close(inside)
			<-release
			return count("ran")(tx)
		})
		if err != nil {
			t.Errorf("a writer that hung up while it ran: %v", err)
		}
	})
	<-inside
	hangUp()
	ctx, cancel := context.WithCancel(context.Background())
	const waiting = 10
	for i := range waiting {
		wg.Go(func() {
			patience := context.Background()
			if i%2 == 0 {
				patience = ctx
			}
			err := d.Write(patience, func(tx *db.Tx) error {
				if i%2 == 0 {
					t.Error("the function of a writer that gave up ran")
				}
				return count("waited")(tx)
			})
			if i%2 == 0 != errors.Is(err, context.Canceled) {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	cancel()
	time.Sleep(20 * time.Millisecond)
	close(release)
	wg.Wait()
	if n := number(t, d, `SELECT n FROM counters WHERE name = 'waited'`); n != waiting/2 {
		t.Errorf("%d of the patient wrote, want %d", n, waiting/2)
	}
}

// Cancelling at random moments must never lie about the outcome.
func TestAcknowledgementsUnderCancellation(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		acknowledgements(t, d, "counters", func(ctx context.Context, name string) error {
			return d.Write(ctx, count(name))
		})
	})
}

// acknowledgements has many write names into a table with little patience, and
// demands that those are there, and only those, that were acknowledged.
func acknowledgements(
	t *testing.T, d *db.DB, table string, write func(ctx context.Context, name string) error,
) {
	t.Helper()
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	crowd(8, 60, func(w, i int) {
		name := fmt.Sprintf("%d %d", w, i)
		ctx, cancel := context.WithTimeout(context.Background(), rand.N(3*time.Millisecond))
		err := write(ctx, name)
		cancel()
		mu.Lock()
		defer mu.Unlock()
		acknowledged[name] = err == nil
	})
	for name, want := range acknowledged {
		if got := number(t, d, `SELECT count(*) FROM `+table+` WHERE name = $1`, name) == 1; got != want {
			t.Errorf("%s: there %v, acknowledged %v", name, got, want)
		}
	}
}

// A server that restarts breaks every idle connection; requests afterwards must
// not pay for it with errors.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		if engine == db.SQLite {
			t.Skip("has no connection to lose")
		}
		address := dbtest.Empty(t, engine)
		d := openAt(t, address)
		for round := range 5 {
			crowd(8, 1, func(int, int) {
				if err := d.Write(context.Background(), count("x")); err != nil {
					t.Error(err)
				}
			})
			dbtest.Cut(t, address)
			switch round % 3 {
			case 0:
				mustWrite(t, d, count("y"))
			case 1:
				number(t, d, `SELECT count(*) FROM counters`)
			case 2:
				if _, err := d.Generation(context.Background(), "x"); err != nil {
					t.Error(err)
				}
			}
		}
		// And one that breaks inside a transaction: it runs again.
		runs := 0
		mustWrite(t, d, func(tx *db.Tx) error {
			if runs++; runs == 1 {
				_, err := tx.Exec(`SELECT pg_terminate_backend(pg_backend_pid())`)
				return err
			}
			return count("y")(tx)
		})
		if n := number(t, d, `SELECT sum(n) FROM counters`); n != 5*8+3 || runs != 2 {
			t.Errorf("counted to %d, %d runs", n, runs)
		}
		// The rows that were read are right, though the connection breaks before the snapshot ends.
		err := d.Read(t.Context(), func(tx *db.Tx) error {
			err := stmt(`SELECT 1`)(tx)
			dbtest.Cut(t, address)
			return err
		})
		if err != nil {
			t.Errorf("a read at whose end the connection broke: %v", err)
		}
	})
}

// A statement that only COMMIT would have sent, and whose argument does not fit, is its caller's error:
// nothing is written, and the next transaction of the connection is a new one.
func TestAStatementThatCannotBeSent(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		if d.Engine() == db.SQLite {
			t.Skip("takes any number")
		}
		for range 3 {
			err := d.Write(context.Background(), func(tx *db.Tx) error {
				return errors.Join(count("lost")(tx),
					tx.Run(`UPDATE counters SET n = CAST($1 AS SMALLINT)`, 1<<40))
			})
			if err == nil || errors.Is(err, db.ErrOutcomeUnknown) {
				t.Errorf("%v: want an error that says that nothing is there", err)
			}
			if err := d.Write(context.Background(), count("next")); err != nil {
				t.Error(err)
			}
		}
		if n := number(t, d, `SELECT count(*) FROM counters WHERE name = 'lost'`); n != 0 {
			t.Error("a transaction that failed was written with the next one")
		}
		if n := number(t, d, `SELECT n FROM counters WHERE name = 'next'`); n != 3 {
			t.Errorf("counted to %d, want 3", n)
		}
	})
}
