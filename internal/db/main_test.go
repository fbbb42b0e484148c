package db_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"testing/fstest"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// schema is what these tests work on.
var schema = fstest.MapFS{
	"0001_tests.sql": {Data: []byte(`
CREATE TABLE counters (name {{text}} PRIMARY KEY, n BIGINT NOT NULL);
CREATE TABLE parents (id {{id}}, name {{text}} NOT NULL UNIQUE);
CREATE TABLE children (
	id        {{id}},
	parent_id BIGINT NOT NULL REFERENCES parents (id),
	later_id  BIGINT REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED
);
CREATE TABLE vals (
	id {{key}}, s {{text}}, b {{bytes}}, ok BOOLEAN, n BIGINT, small SMALLINT, f DOUBLE PRECISION, at BIGINT
);
CREATE TABLE jobs (id BIGINT PRIMARY KEY, kind BIGINT NOT NULL, due_at BIGINT NOT NULL,
	tries SMALLINT NOT NULL DEFAULT 0);
CREATE TABLE pairs (worker BIGINT NOT NULL, n BIGINT NOT NULL, half BIGINT NOT NULL, PRIMARY KEY (worker, n, half));
`)},
}

func openTest(t testing.TB, engine db.Engine) *db.DB {
	t.Helper()
	return openAt(t, dbtest.Empty(t, engine))
}

// each runs a test on both engines, on a database of its own.
func each(t *testing.T, test func(t *testing.T, d *db.DB)) {
	t.Helper()
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) { test(t, openTest(t, engine)) })
}

// crowd has writers do something at the same time, each of them a number of
// times, and waits for them.
func crowd(writers, times int, do func(w, i int)) {
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range times {
				do(w, i)
			}
		})
	}
	wg.Wait()
}

func openAt(t testing.TB, address string) *db.DB {
	t.Helper()
	d, err := db.OpenWith(context.Background(), db.Options{URL: address}, schema)
	testkit.NoError(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

// The short names of what tests do all the time.
var (
	stmt      = dbtest.Statement
	mustWrite = dbtest.MustWrite
	number    = dbtest.Number
)

func count(name string) func(*db.Tx) error {
	return stmt(`INSERT INTO counters (name, n) VALUES ($1, 1)
		ON CONFLICT (name) DO UPDATE SET n = counters.n + 1`, name)
}

// The tests start this program again for what only a second process shows.
func TestMain(m *testing.M) {
	address, role := os.Getenv("ARBOR_DB_CHILD_URL"), os.Getenv("ARBOR_DB_CHILD")
	if role == "" {
		os.Exit(m.Run())
	}
	d, err := db.OpenWith(context.Background(), db.Options{URL: address}, schema)
	if err == nil {
		switch role {
		case "count":
			err = childCount(d)
		case "pairs":
			err = childPairs(d)
		case "bump":
			err = childBump(d)
		case "open":
		default:
			err = errors.New("no such role")
		}
		err = errors.Join(err, d.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child starts this program in a role, on a database.
func child(t *testing.T, role, address string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "ARBOR_DB_CHILD="+role, "ARBOR_DB_CHILD_URL="+address)
	c.Stderr = os.Stderr
	return c
}

// childCount counts to 300, and bumps a topic each time.
func childCount(d *db.DB) error {
	for range 300 {
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			if err := count("shared")(tx); err != nil {
				return err
			}
			return tx.Bump("shared")
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// childBump bumps a topic again and again until it is killed, and prints the number of
// acknowledged bumps.
func childBump(d *db.DB) error {
	for n := 1; ; n++ {
		err := d.Write(context.Background(), func(tx *db.Tx) error { return tx.Bump("revoked") })
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// childPairs writes pairs of rows from 8 goroutines and prints each pair once
// it was acknowledged, until it is killed.
func childPairs(d *db.DB) error {
	out := make(chan string)
	for worker := range 8 {
		go func() {
			for n := 0; ; n++ {
				err := d.Write(context.Background(), func(tx *db.Tx) error {
					for half := range 2 {
						_, err := tx.Exec(`INSERT INTO pairs (worker, n, half) VALUES ($1, $2, $3)`,
							worker, n, half)
						if err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				out <- fmt.Sprintf("%d %d\n", worker, n)
			}
		}()
	}
	w := bufio.NewWriterSize(os.Stdout, 1)
	for line := range out {
		w.WriteString(line)
		w.Flush()
	}
	return nil
}
