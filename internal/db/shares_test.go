package db_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

type holderKey struct{}

// One account's writes to one row, which somebody has locked, wait with a part of the connections. Others
// write and read meanwhile, and the database is seen to answer.
func TestWritesOfOneHolder(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		if engine == db.PostgreSQL {
			writesOfOneHolder(t)
		}
	})
}

func writesOfOneHolder(t *testing.T) {
	const connections, most = 8, 2
	d, err := db.OpenWith(t.Context(),
		db.Options{URL: dbtest.Empty(t, db.PostgreSQL), Connections: connections,
			Holder: func(ctx context.Context) any { return ctx.Value(holderKey{}) }}, schema)
	testkit.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	mustWrite(t, d, count("one"))
	inside, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			if err := count("one")(tx); err != nil {
				return err
			}
			close(inside)
			<-release
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-inside
	crowd, hangUp := context.WithCancel(context.WithValue(t.Context(), holderKey{}, "mallory"))
	var wrote, left sync.WaitGroup
	for range connections {
		wrote.Go(func() {
			if err := d.Write(context.WithoutCancel(crowd), count("one")); err != nil {
				t.Error(err)
			}
		})
		left.Go(func() {
			if err := d.Write(crowd, count("one")); err == nil {
				t.Error("somebody wrote a row that is locked")
			}
		})
	}
	for d.Connections().Busy < 1+most {
		time.Sleep(time.Millisecond)
	}
	for _, holder := range []any{nil, "alice"} {
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), holderKey{}, holder),
			testkit.Patience)
		if err := d.Write(ctx, count("other")); err != nil {
			t.Errorf("%v cannot write: %v", holder, err)
		}
		if err := d.Answers(ctx); err != nil {
			t.Errorf("the database does not answer: %v", err)
		}
		cancel()
	}
	if busy := d.Connections().Busy; busy > 1+most {
		t.Errorf("one holder has %d connections", busy-1)
	}
	hangUp()
	left.Wait()
	close(release)
	wrote.Wait()
	all.Wait()
	if n := d.Holders(); n != 0 {
		t.Errorf("%d holders are remembered", n)
	}
}

// Writes to one row by however many accounts leave half of the connections to readers.
func TestWritesOfManyHolders(t *testing.T) {
	t.Parallel()
	const connections = 8
	d, err := db.OpenWith(t.Context(),
		db.Options{URL: dbtest.Empty(t, db.PostgreSQL), Connections: connections,
			Holder: func(ctx context.Context) any { return ctx.Value(holderKey{}) }}, schema)
	testkit.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	mustWrite(t, d, count("one"))
	inside, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	write := func(holder any, fn func(*db.Tx) error) {
		if err := d.Write(context.WithValue(t.Context(), holderKey{}, holder), fn); err != nil {
			t.Error(err)
		}
	}
	all.Go(func() {
		write(-1, func(tx *db.Tx) error {
			err := count("one")(tx)
			close(inside)
			<-release
			return err
		})
	})
	<-inside
	for n := range 4 * connections {
		all.Go(func() { write(n/2, count("one")) })
	}
	for d.Connections().Busy < connections/2 || d.Holders() < 1+2*connections {
		time.Sleep(time.Millisecond)
	}
	for range 100 {
		if n := number(t, d, `SELECT count(*) FROM counters`); n != 1 {
			t.Fatalf("%d counters", n)
		}
		if busy := d.Connections().Busy; busy > connections/2 {
			t.Fatalf("%d of %d connections wait for one row", busy, connections)
		}
	}
	close(release)
	all.Wait()
	if n := d.Holders(); n != 0 {
		t.Errorf("%d holders are remembered", n)
	}
}

// A probe does not wait for the connections of requests.
func TestAnswersBesideBusyConnections(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		const connections = 2
		d, err := db.OpenWith(t.Context(), db.Options{URL: dbtest.Empty(t, engine), Connections: connections},
			schema)
		testkit.NoError(t, err)
		d.Attach("once", true)
		mustWrite(t, d, count("one"))
		release := make(chan struct{})
		var inside, all sync.WaitGroup
		inside.Add(connections)
		for range connections {
			all.Go(func() {
				err := d.Read(t.Context(), func(tx *db.Tx) error {
					var n int64
					err := tx.QueryRow(`SELECT n FROM counters`).Scan(&n)
					inside.Done()
					<-release
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		inside.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
		defer cancel()
		if err := d.Answers(ctx); err != nil {
			t.Error(err)
		}
		close(release)
		all.Wait()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := d.Answers(t.Context()); errs.KindOf(err) != errs.Unavailable {
			t.Errorf("after its end: %v", err)
		}
	})
}
