package db_test

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// The command line works while the server runs: neither may ever see
// "database is locked", nor wait long behind the other.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.Empty(t, engine)
		d := openAt(t, address)
		ctx, stop := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		var mine [4]atomic.Int64
		for w := range mine {
			wg.Go(func() {
				for ctx.Err() == nil {
					if err := d.Write(context.Background(), count("shared")); err != nil {
						t.Errorf("write: %v", err)
						return
					}
					mine[w].Add(1)
				}
			})
			wg.Go(func() {
				for last := int64(0); ctx.Err() == nil; {
					n := number(t, d, `SELECT coalesce(max(n), 0) FROM counters`)
					if n < last {
						t.Errorf("a counter went from %d to %d", last, n)
					}
					last = n
				}
			})
		}
		var children []error
		theirs := int64(0)
		written := func() (sum int64) {
			for w := range mine {
				sum += mine[w].Load()
			}
			return sum
		}
		const fair = 20 // writes, that tell that this process does not starve
		for began := time.Now(); len(children) < 2 || time.Since(began) < time.Second ||
			written() < fair && len(children) < 30; theirs += 300 {
			children = append(children, child(t, "count", address).Run())
		}
		stop()
		wg.Wait()
		want := theirs + written()
		if mine := written(); mine < fair || mine > 100*theirs {
			t.Errorf("while others wrote %d times, this process wrote %d times", theirs, mine)
		}
		if n := number(t, d, `SELECT n FROM counters`); n != want {
			t.Errorf("%d, want %d; children: %v", n, want, children)
		}
		if n, err := d.Generation(context.Background(), "shared"); n != theirs || err != nil {
			t.Errorf("the other processes' bumps: %d, %v", n, err)
		}
	})
}

// What was acknowledged is there after a kill, and nothing is half there.
func TestCrash(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.Empty(t, engine)
		acknowledged := map[[2]int64]bool{}
		for range 3 {
			c := child(t, "pairs", address)
			out, err := c.StdoutPipe()
			testkit.NoError(t, err)
			testkit.NoError(t, c.Start())
			lines := bufio.NewScanner(out)
			for seen := 0; lines.Scan(); seen++ {
				var k [2]int64
				if _, err := fmt.Sscan(lines.Text(), &k[0], &k[1]); err != nil {
					break // cut by the kill
				}
				acknowledged[k] = true
				if seen == 400 {
					c.Process.Kill()
				}
			}
			c.Wait()
			checkPairs(t, address, acknowledged)
		}
	})
}

func checkPairs(t *testing.T, address string, acknowledged map[[2]int64]bool) {
	t.Helper()
	d := openAt(t, address)
	if len(acknowledged) < 400 {
		t.Errorf("only %d pairs were acknowledged", len(acknowledged))
	}
	for k := range acknowledged {
		if n := number(t, d, `SELECT count(*) FROM pairs WHERE worker = $1 AND n = $2`, k[0], k[1]); n != 2 {
			t.Errorf("pair %v was acknowledged; %d of its halves are there", k, n)
		}
	}
	if n := number(t, d, `SELECT count(*) FROM (
			SELECT worker FROM pairs GROUP BY worker, n HAVING count(*) <> 2) AS torn`); n != 0 {
		t.Errorf("%d pairs are torn", n)
	}
	mustWrite(t, d, stmt(`DELETE FROM pairs`))
	clear(acknowledged)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// A command that starts while the server does must not disturb it.
func TestOpenAtTheSameTime(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		for range 2 {
			address := dbtest.Empty(t, engine)
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					if err := child(t, "open", address).Run(); err != nil {
						t.Errorf("another process: %v", err)
					}
				})
			}
			for range 4 {
				wg.Go(func() {
					d, err := db.OpenWith(context.Background(), db.Options{URL: address}, schema)
					if err != nil {
						t.Error(err)
						return
					}
					if err := d.Write(context.Background(), count("opened")); err != nil {
						t.Error(err)
					}
					if err := d.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if n := number(t, openAt(t, address), `SELECT n FROM counters`); n != 4 {
				t.Errorf("%d of 4 wrote", n)
			}
		}
	})
}

// A bump of another process counts once it is acknowledged, whatever this process writes
// at the same moment: also a write that changes no row, and so commits nothing. Else a
// token that the command line revokes would live on in the server.
func TestBumpsOfAnotherProcess(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0, ", 500) // to prepare it takes a while, in which others commit
	var texts atomic.Int64
	writes := map[string]func(d *db.DB) error{
		"one that changes no row": func(d *db.DB) error {
			statement := fmt.Sprintf(`UPDATE counters SET n = 1 WHERE n IN (%s -%d)`, long, texts.Add(1))
			return d.Write(context.Background(), func(tx *db.Tx) error { return tx.Run(statement) })
		},
		"one that changes a row to what it is": func(d *db.DB) error {
			return d.Write(context.Background(), func(tx *db.Tx) error { return tx.Run(`UPDATE counters SET n = n`) })
		},
		"a transaction that changes nothing": func(d *db.DB) error {
			return d.Write(context.Background(), func(*db.Tx) error { return nil })
		},
		"one that changes a row": func(d *db.DB) error {
			return d.Write(context.Background(), func(tx *db.Tx) error { return tx.Run(`UPDATE counters SET n = n + 1`) })
		},
	}
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		most := int64(1500)
		if engine == db.PostgreSQL { // which keeps nothing that could be wrong
			most = 50
		}
		for name, write := range writes {
			t.Run(name, func(t *testing.T) {
				address := dbtest.Empty(t, engine)
				d := openAt(t, address)
				mustWrite(t, d, count("a"))
				ctx, stop := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				wg.Go(func() {
					for ctx.Err() == nil {
						if err := write(d); err != nil {
							t.Error(err)
							return
						}
					}
				})
				defer wg.Wait()
				defer stop()
				c := child(t, "bump", address)
				out, err := c.StdoutPipe()
				testkit.NoError(t, err)
				testkit.NoError(t, c.Start())
				defer c.Wait()
				defer c.Process.Kill()
				for lines := bufio.NewScanner(out); lines.Scan(); {
					var acknowledged int64
					if _, err := fmt.Sscan(lines.Text(), &acknowledged); err != nil {
						t.Fatal(err)
					}
					if n, err := d.Generation(ctx, "revoked"); err != nil || n < acknowledged {
						t.Fatalf("after bump %d of the other process the number is %d, %v",
							acknowledged, n, err)
					}
					if acknowledged == most {
						return
					}
				}
				t.Error("the other process ended")
			})
		}
	})
}
