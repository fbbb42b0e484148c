package db_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

func TestErrorsAreTranslated(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		mustWrite(t, d, stmt(`INSERT INTO parents (name) VALUES ('a')`))
		var id int64
		for _, c := range []struct {
			query string
			want  error
			names string
		}{
			{`INSERT INTO parents (name) VALUES ('a') RETURNING id`, db.ErrUnique, "parents"},
			{`INSERT INTO parents (id, name) VALUES (1, 'b') RETURNING id`, db.ErrUnique, "parents"},
			{`INSERT INTO children (parent_id) VALUES (99) RETURNING id`, db.ErrForeignKey, ""},
			{`INSERT INTO children (parent_id, later_id) VALUES (1, 99) RETURNING id`, db.ErrForeignKey, ""},
			{`DELETE FROM parents WHERE id = 1 AND name = 'z' RETURNING id`, db.ErrNoRows, ""},
			{`INSERT INTO parents (name) VALUES ('a') ON CONFLICT DO NOTHING RETURNING id`, db.ErrNoRows, ""},
		} {
			err := d.Write(context.Background(), func(tx *db.Tx) error {
				return tx.QueryRow(c.query).Scan(&id)
			})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.names) {
				t.Errorf("%s: %v; want %v", c.query, err, c.want)
			}
		}
		if n := number(t, d, `SELECT count(*) FROM children`); n != 0 {
			t.Errorf("%d rows without parents", n)
		}
		mustWrite(t, d, stmt(`INSERT INTO children (parent_id) VALUES (1)`))
		err := d.Write(context.Background(), stmt(`DELETE FROM parents`))
		if !errors.Is(err, db.ErrForeignKey) {
			t.Errorf("a parent was deleted under its child: %v", err)
		}
	})
}

func TestAffected(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		mustWrite(t, d, func(tx *db.Tx) error {
			for _, c := range []struct {
				query string
				want  int64
			}{
				{`INSERT INTO counters (name, n) VALUES ('a', 1), ('b', 2), ('c', 3)`, 3},
				{`INSERT INTO counters (name, n) VALUES ('a', 1), ('d', 2) ON CONFLICT DO NOTHING`, 1},
				{`INSERT INTO counters (name, n) VALUES ('a', 1) ON CONFLICT (name) DO UPDATE SET n = 9`, 1},
				{`UPDATE counters SET n = n`, 4},
				{`UPDATE counters SET n = 0 WHERE name = 'z'`, 0},
				{`CREATE TABLE made (n BIGINT)`, 0},
				{`SELECT name FROM counters`, 0},
				{"\n\twith old as (SELECT 'a' AS name) DELETE FROM counters WHERE name IN (SELECT name FROM old)", 1},
				{`DELETE FROM counters`, 3},
			} {
				n, err := tx.Exec(c.query)
				if err != nil {
					return err
				}
				if n != c.want {
					t.Errorf("%s: %d rows, want %d", c.query, n, c.want)
				}
			}
			return nil
		})
	})
}

// A swallowed failure must not let the rest through on the engine that could.
func TestAFailedStatementEndsTheTransaction(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			if err := count("x")(tx); err != nil {
				return err
			}
			_, _ = tx.Exec(`INSERT INTO counters (name, n) VALUES ('x', 1)`)
			if err := count("y")(tx); !errors.Is(err, db.ErrUnique) {
				t.Errorf("a statement after a failed one: %v", err)
			}
			return nil
		})
		if !errors.Is(err, db.ErrUnique) {
			t.Errorf("Write: %v", err)
		}
		if n := number(t, d, `SELECT count(*) FROM counters`); n != 0 {
			t.Errorf("%d rows were kept", n)
		}
	})
}

func TestOneStatementAtATime(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		mustWrite(t, d, stmt(`INSERT INTO counters (name, n) VALUES ('a', 1), ('b', 2)`))
		err := d.Read(context.Background(), func(tx *db.Tx) error {
			rows, err := tx.Query(`SELECT n FROM counters`)
			if err != nil {
				return err
			}
			defer rows.Close()
			rows.Next()
			_, err = tx.Query(`SELECT n FROM counters`)
			return err
		})
		if err == nil {
			t.Error("a query ran while rows were open")
		}
		if n := number(t, d, `SELECT count(*) FROM counters`); n != 2 {
			t.Error(n)
		}
	})
}

func TestReadIsASnapshotAndReadOnly(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		d.Attach("once", true)
		mustWrite(t, d, count("x"))
		err := d.Read(context.Background(), func(tx *db.Tx) error {
			for range 2 {
				var n int64
				if err := tx.QueryRow(`SELECT n FROM counters WHERE name = 'x'`).Scan(&n); err != nil {
					return err
				}
				if n != 1 {
					t.Errorf("the snapshot moved: %d", n)
				}
				mustWrite(t, d, count("x")) // another connection's
			}
			return nil
		})
		testkit.NoError(t, err)
		if n := number(t, d, `SELECT n FROM counters WHERE name = 'x'`); n != 3 {
			t.Errorf("a read missed acknowledged writes: %d", n)
		}
		if err := d.Read(context.Background(), count("x")); err == nil {
			t.Error("a read wrote")
		}
		if err := d.ReadLong(context.Background(), count("x")); err == nil {
			t.Error("a long read wrote")
		}
	})
}

func TestTheClockIsFrozen(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		at := time.Date(2020, 1, 2, 3, 4, 5, 678901234, time.UTC)
		d, err := db.OpenWith(context.Background(),
			db.Options{URL: dbtest.Empty(t, engine), Now: func() time.Time { return at }}, schema)
		testkit.NoError(t, err)
		defer d.Close()
		check := func(tx *db.Tx) error {
			if got := tx.Now.Time(); !got.Equal(at.Truncate(time.Microsecond)) {
				t.Errorf("now is %v", got)
			}
			return nil
		}
		if err := errors.Join(d.Read(context.Background(), check),
			d.Write(context.Background(), check)); err != nil {
			t.Error(err)
		}
	})
}

// A client that hangs up must not keep a core busy.
func TestALongStatementIsStopped(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		err := d.ReadLong(ctx, func(tx *db.Tx) error {
			var n int64
			return tx.QueryRow(`WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c
				WHERE n < 2000000000)
				SELECT count(*) FROM c`).Scan(&n)
		})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > testkit.Patience {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		mustWrite(t, d, count("x"))
		if n := number(t, d, `SELECT n FROM counters`); n != 1 {
			t.Error(n)
		}
		stopped, stop := context.WithCancel(context.Background())
		rowsSeen := 0
		err = d.Read(stopped, func(tx *db.Tx) error {
			rows, err := tx.Query(`WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c
				WHERE n < 100000)
				SELECT n FROM c`)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				if rowsSeen++; rowsSeen == 10 {
					stop()
				}
			}
			return rows.Err()
		})
		stop()
		if !errors.Is(err, context.Canceled) || rowsSeen > 10 {
			t.Errorf("%d rows after hanging up: %v", rowsSeen, err)
		}
	})
}

// The server delivers a request to stop a statement when it comes to it. By then the client that hung up may
// be through, and the request stops somebody else's statement, who must not notice.
func TestStrayCancelRequests(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, db.PostgreSQL)
	for name, run := range map[string]func(context.Context, func(*db.Tx) error) error{
		"Read": d.Read, "Write": d.Write,
	} {
		runs := 0
		err := run(t.Context(), func(tx *db.Tx) error {
			if runs++; runs > 1 {
				return nil
			}
			var stopped bool
			return tx.QueryRow(`SELECT pg_cancel_backend(pg_backend_pid()) FROM pg_sleep(0.01)`).Scan(
				&stopped)
		})
		if err != nil || runs != 2 {
			t.Errorf("%s, whose statement somebody stopped: %v after %d runs", name, err, runs)
		}
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.Empty(t, engine)
		d := openAt(t, address)
		const writers = 6
		var begun, ended sync.WaitGroup
		var acknowledged sync.Map
		for i := range writers {
			begun.Add(1)
			ended.Go(func() {
				var once sync.Once
				err := d.Write(context.Background(), func(tx *db.Tx) error {
					once.Do(begun.Done)
					time.Sleep(5 * time.Millisecond)
					return count("x")(tx)
				})
				if err == nil {
					acknowledged.Store(i, true)
				} else if !errs.Is(err, errs.Unavailable) {
					t.Errorf("a write while closing: %v", err)
				}
				once.Do(begun.Done)
			})
			if i == 0 {
				begun.Wait()
			}
		}
		time.Sleep(time.Millisecond)
		testkit.NoError(t, d.Close())
		ended.Wait()
		for _, err := range []error{
			d.Write(context.Background(), count("x")),
			d.Read(context.Background(), count("x")),
		} {
			if !errs.Is(err, errs.Unavailable) {
				t.Errorf("after Close: %v", err)
			}
		}
		want := int64(0)
		acknowledged.Range(func(any, any) bool { want++; return true })
		if n := number(t, openAt(t, address), `SELECT n FROM counters`); n != want || n == 0 {
			t.Errorf("%d writes are there, %d were acknowledged", n, want)
		}
	})
}
