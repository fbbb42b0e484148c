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
	"arbor/internal/db/dbtest"
)

// Lost or doubled updates would be wrong counters and duplicate issue numbers.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := openTest(t, engine)
		const writers, each = 8, 500
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				own := fmt.Sprintf("own %d", w)
				for range each {
					err := d.Write(context.Background(), func(tx *db.Tx) error {
						return errors.Join(count(own)(tx), count("all")(tx), tx.Bump("all"))
					})
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
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
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := openTest(t, engine)
		mustWrite(t, d, stmt(`INSERT INTO counters (name, n) VALUES ('a', 0), ('b', 0)`))
		var wg sync.WaitGroup
		for w := range 4 {
			names := []string{"a", "b"}
			if w%2 == 1 {
				names = []string{"b", "a"}
			}
			wg.Go(func() {
				for range 5 {
					err := d.Write(context.Background(), func(tx *db.Tx) error {
						if err := count(names[0])(tx); err != nil {
							return err
						}
						if engine == db.PostgreSQL {
							time.Sleep(time.Millisecond)
						}
						return count(names[1])(tx)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if n := number(t, d, `SELECT count(*) FROM counters WHERE n = 20`); n != 2 {
			t.Error("counters are not exact")
		}
	})
}

var errRefused = errors.New("refused")

// One user's refused, panicking or abandoned request must take nothing of the
// others' along, nor leave anything of its own.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := openTest(t, engine)
		const writers, each = 8, 60
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					name := fmt.Sprintf("%d %d", w, i)
					switch err := misbehave(d, name, (w+i)%6); {
					case (w+i)%6 < 2 && err != nil:
						t.Errorf("%s: %v", name, err)
					case (w+i)%6 == 2 && !errors.Is(err, errRefused):
						t.Errorf("%s: %v; want its own error", name, err)
					case (w+i)%6 == 3 && !errors.Is(err, db.ErrUnique):
						t.Errorf("%s: %v; want a unique violation", name, err)
					}
				}
			})
		}
		wg.Wait()
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
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := openTest(t, engine)
		mustWrite(t, d, stmt(`INSERT INTO parents (name) VALUES ('a')`))
		const writers, each = 8, 30
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for range each {
					later, want := 1, error(nil)
					if w == 0 {
						later, want = 99, db.ErrForeignKey
					}
					err := d.Write(context.Background(),
						stmt(`INSERT INTO children (parent_id, later_id) VALUES (1, $1)`, later))
					if !errors.Is(err, want) {
						t.Errorf("writer %d: %v", w, err)
					}
				}
			})
		}
		wg.Wait()
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
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := openTest(t, engine)
		const writers, each = 8, 60
		var mu sync.Mutex
		acknowledged := map[string]bool{}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					name := fmt.Sprintf("%d %d", w, i)
					ctx, cancel := context.WithTimeout(context.Background(), rand.N(3*time.Millisecond))
					err := d.Write(ctx, count(name))
					cancel()
					mu.Lock()
					acknowledged[name] = err == nil
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for name, want := range acknowledged {
			if got := number(t, d, `SELECT count(*) FROM counters WHERE name = $1`, name) == 1; got != want {
				t.Errorf("%s: there %v, acknowledged %v", name, got, want)
			}
		}
	})
}

// A server that restarts breaks every idle connection; requests afterwards must
// not pay for it with errors.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		if engine == db.SQLite {
			t.Skip("has no connection to lose")
		}
		address := dbtest.Empty(t, engine)
		d, other := openAt(t, address), openAt(t, address)
		for round := range 5 {
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { mustWrite(t, d, count("x")) })
			}
			wg.Wait()
			mustWrite(t, other, func(tx *db.Tx) error {
				_, err := tx.Exec(`SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
					WHERE datname = current_database() AND pid <> pg_backend_pid()`)
				return err
			})
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
	})
}
