package db_test

import (
	"bufio"
	"context"
	"sync"
	"testing"

	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// kept is a number that is read again only when the state has changed.
type kept struct {
	state cache.State
	n     int64
}

func (k *kept) number(t *testing.T, d *db.DB, query string) int64 {
	t.Helper()
	s := d.State(t.Context())
	if s == cache.Unknown {
		t.Fatal("the state is not known")
	}
	if s != k.state {
		k.n = number(t, d, query)
		k.state = s
	}
	return k.n
}

// A state that stays when something was committed would show people what they
// may no longer see, for as long as nothing else happens.
func TestStateChangesWithEveryCommit(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.Empty(t, engine)
		if engine == db.PostgreSQL { // its snapshot counts what neighbours' databases commit, too
			address = dbtest.NewStandby(t).Primary
		}
		d, other := openAt(t, address), openAt(t, address)
		var k kept
		for i := range int64(600) { // beyond a checkpoint
			mustWrite(t, []*db.DB{d, other}[i%2], count("a"))
			if n := k.number(t, d, `SELECT n FROM counters`); n != i+1 {
				t.Fatalf("after %d commits the kept number is %d", i+1, n)
			}
		}
		before := d.State(t.Context())
		number(t, d, `SELECT n FROM counters`)
		if err := d.Write(t.Context(), func(*db.Tx) error { return context.Canceled }); err == nil {
			t.Fatal("no error")
		}
		if d.State(t.Context()) != before {
			t.Fatal("the state changed although nothing was committed: nothing can be kept")
		}
		if err := other.Close(); err != nil { // which must not end the first one's locks
			t.Fatal(err)
		}
		testkit.NoError(t, child(t, "count", address).Run())
		if n := k.number(t, d, `SELECT n FROM counters WHERE name = 'shared'`); n != 300 {
			t.Errorf("after another process's commits the kept number is %d", n)
		}
	})
}

// A process may also be killed in the middle of a commit, and the next one has
// to recover.
func TestStateSurvivesAnothersCrash(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.Empty(t, engine)
		d := openAt(t, address)
		const query = `SELECT count(*) FROM pairs`
		var k kept
		for range 4 {
			mustWrite(t, d, stmt(`DELETE FROM pairs`))
			c := child(t, "pairs", address)
			out, err := c.StdoutPipe()
			testkit.NoError(t, err)
			testkit.NoError(t, c.Start())
			lines := bufio.NewScanner(out)
			for acknowledged := int64(1); acknowledged < 400 && lines.Scan(); acknowledged++ {
				if n := k.number(t, d, query); n < 2*acknowledged {
					t.Fatalf("%d pairs acknowledged, the kept number is %d", acknowledged, n)
				}
			}
			c.Process.Kill()
			c.Wait()
			// PostgreSQL may still commit what the child sent before it died.
			before := number(t, d, query)
			n := k.number(t, d, query)
			if after := number(t, d, query); n < before || n > after {
				t.Fatalf("after a crash the kept number is %d, not from %d to %d", n, before, after)
			}
		}
	})
}

// Commits that have nothing to do with a topic leave its number known; those
// that bump it never do, no matter who made them.
func TestGenerationAmongOtherCommits(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.Empty(t, engine)
		d := openAt(t, address)
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for ctx.Err() == nil {
					if err := d.Write(context.Background(), count("other")); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Go(func() {
			defer stop()
			if err := child(t, "count", address).Run(); err != nil { // bumps too
				t.Error(err)
			}
		})
		for mine := int64(1); ctx.Err() == nil; mine++ {
			testkit.NoError(t, d.Write(context.Background(), func(tx *db.Tx) error {
				return tx.Bump("mine")
			}))
			if n, err := d.Generation(t.Context(), "mine"); n != mine || err != nil {
				t.Fatalf("after %d bumps: %d, %v", mine, n, err)
			}
			if _, err := d.Generation(t.Context(), "shared"); err != nil {
				t.Fatal(err)
			}
		}
		wg.Wait()
		if n, err := d.Generation(t.Context(), "shared"); n != 300 || err != nil {
			t.Errorf("another process's bumps: %d, %v", n, err)
		}
	})
}
