package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

var jobs = db.Jobs{Table: "jobs", Key: "id"}

// twoHandles opens one database with n due jobs twice, like two nodes whose clocks differ
// by hours.
func twoHandles(t *testing.T, engine db.Engine, n int) [2]*db.DB {
	t.Helper()
	address := dbtest.Empty(t, engine)
	var handles [2]*db.DB
	for i := range handles {
		off := time.Duration(i*2-1) * 5 * time.Hour
		now := func() time.Time { return time.Now().Add(off) }
		d, err := db.OpenWith(t.Context(), db.Options{URL: address, Now: now}, schema)
		testkit.NoError(t, err)
		t.Cleanup(func() { _ = d.Close() })
		handles[i] = d
	}
	mustWrite(t, handles[0], func(tx *db.Tx) error {
		for i := range n {
			_, err := tx.Exec(`INSERT INTO jobs (id, due_at, kind) VALUES ($1, 0, $2)`, i+1, i%2)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return handles
}

func take(t testing.TB, d *db.DB, length time.Duration, most int) (l *db.Lease) {
	t.Helper()
	mustWrite(t, d, func(tx *db.Tx) (err error) {
		l, err = jobs.Take(tx, length, most, `kind >= $3`, 0)
		return err
	})
	return l
}

// Two nodes ask for the same jobs at the same time, again and again. Each job goes to
// one of them only: two nodes that did it at once would work against each other.
func TestLeasesAreExclusive(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		const n = 60
		handles := twoHandles(t, engine, n)
		var mu sync.Mutex
		var got []int64
		crowd(8, 20, func(w, _ int) {
			if l := take(t, handles[w%2], time.Hour, 3); l != nil {
				mu.Lock()
				got = append(got, l.IDs...)
				mu.Unlock()
			}
		})
		for l := take(t, handles[0], time.Hour, n); l != nil; l = take(t, handles[0], time.Hour, n) {
			got = append(got, l.IDs...)
		}
		slices.Sort(got)
		if len(got) != n || len(slices.Compact(got)) != n {
			t.Errorf("%d jobs were given out %d times: %v", n, len(got), got)
		}
	})
}

// When a lease has ended and another node has taken the row, the first holder can no
// longer extend it, put it off or finish it. Before that no other node can take it,
// whatever the nodes' own clocks say.
func TestLeaseTokens(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		handles := twoHandles(t, engine, 1)
		first := take(t, handles[0], time.Hour, 1)
		if first == nil || !slices.Equal(first.IDs, []int64{1}) {
			t.Fatalf("the first lease is %v", first)
		}
		for i, d := range handles {
			if l := take(t, d, time.Hour, 1); l != nil {
				t.Errorf("handle %d is given a job that is leased: %v", i, l)
			}
		}
		var longer *db.Lease
		mustWrite(t, handles[0], func(tx *db.Tx) (err error) {
			longer, err = jobs.Extend(tx, first, time.Minute)
			return err
		})
		if longer.Until <= first.Until {
			t.Errorf("an extended lease ends at %d, before it at %d", longer.Until, first.Until)
		}
		mustWrite(t, handles[0], func(tx *db.Tx) error { return jobs.PutOff(tx, longer, -time.Second) })
		second := take(t, handles[1], time.Hour, 1)
		if second == nil {
			t.Fatal("a job that was put off into the past is not due")
		}
		for name, late := range map[string]func(*db.Tx) error{
			"extend": func(tx *db.Tx) error { _, err := jobs.Extend(tx, longer, time.Hour); return err },
			"putoff": func(tx *db.Tx) error { return jobs.PutOff(tx, longer, 0) },
			"remove": func(tx *db.Tx) error { return jobs.Remove(tx, longer) },
		} {
			if err := handles[0].Write(t.Context(), late); !errors.Is(err, db.ErrLeaseLost) {
				t.Errorf("%s by who lost the lease: %v", name, err)
			}
		}
		if n := number(t, handles[0], `SELECT tries FROM jobs`); n != 2 {
			t.Errorf("%d tries were counted of 2", n)
		}
		mustWrite(t, handles[1], func(tx *db.Tx) error { return jobs.Remove(tx, second) })
		if n := number(t, handles[0], `SELECT count(*) FROM jobs`); n != 0 {
			t.Errorf("%d jobs are left", n)
		}
	})
}

// Work that takes longer than its lease keeps the lease. Work is stopped when its row
// was given to another node.
func TestHold(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		handles := twoHandles(t, engine, 1)
		const length = 6 * time.Second // which a busy machine may be late in
		l := take(t, handles[0], length, 1)
		l, err := handles[0].Hold(t.Context(), jobs, l, length, func(ctx context.Context) error {
			const extended = `SELECT count(*) FROM jobs WHERE due_at > $1`
			for ctx.Err() == nil && number(t, handles[1], extended, l.Until) == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			return ctx.Err()
		})
		testkit.NoError(t, err)
		mustWrite(t, handles[0], func(tx *db.Tx) error { return jobs.PutOff(tx, l, 0) })
		l = take(t, handles[0], length, 1)
		_, err = handles[0].Hold(t.Context(), jobs, l, length, func(ctx context.Context) error {
			// Another node has it.
			mustWrite(t, handles[1], stmt(`UPDATE jobs SET due_at = due_at + 3600000000`))
			<-ctx.Done()
			return fmt.Errorf("stopped: %w", ctx.Err())
		})
		if !errors.Is(err, db.ErrLeaseLost) {
			t.Errorf("work whose lease was lost ends with %v", err)
		}
	})
}

// An error of the database does not say that the lease was lost.
func TestFailuresAreNotLostLeases(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := twoHandles(t, engine, 1)[0]
		l := take(t, d, time.Hour, 1)
		absent := db.Jobs{Table: "no_jobs", Key: "id"}
		for name, end := range map[string]func(*db.Tx) error{
			"put off": func(tx *db.Tx) error { return absent.PutOff(tx, l, 0) },
			"remove":  func(tx *db.Tx) error { return absent.Remove(tx, l) },
		} {
			if err := d.Write(t.Context(), end); err == nil || errors.Is(err, db.ErrLeaseLost) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
