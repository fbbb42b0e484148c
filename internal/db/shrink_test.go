package db_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// What was deleted leaves SQLite's file in pieces, beside other writers, and nothing else is lost. If this
// failed, a disk that one account has filled would stay full after the deletion.
func TestShrink(t *testing.T) {
	t.Parallel()
	path := dbtest.Empty(t, db.SQLite)
	d := openAt(t, path)
	text := strings.Repeat("x", 5000)
	mustWrite(t, d, func(tx *db.Tx) error {
		if err := stmt(`CREATE TABLE texts (id INTEGER PRIMARY KEY, body TEXT)`)(tx); err != nil {
			return err
		}
		for range 2000 {
			if err := stmt(`INSERT INTO texts (body) VALUES ($1)`, text)(tx); err != nil {
				return err
			}
		}
		return nil
	})
	mustWrite(t, d, stmt(`DELETE FROM texts WHERE id % 10 <> 0`))
	if more, err := d.Shrink(t.Context(), 1<<30); err != nil || more || d.Spare() < 8<<20 {
		t.Fatalf("%d bytes are free, more %v, %v", d.Spare(), more, err)
	}
	var others sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 4 {
		others.Go(func() {
			for ctx.Err() == nil {
				if err := d.Write(context.Background(), count("others")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	turns := 0
	for more := true; more; turns++ {
		var err error
		if more, err = d.Shrink(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	others.Wait()
	if turns < 10 || d.Spare() > 64<<10 {
		t.Errorf("after %d pieces %d bytes are free", turns, d.Spare())
	}
	if n := number(t, d, `SELECT count(*) FROM texts WHERE body = $1`, text); n != 200 {
		t.Errorf("%d rows are left, want 200", n)
	}
	checkIntegrity(t, d)
	testkit.NoError(t, d.Close())
	if info, err := os.Stat(path); err != nil || info.Size() > 3<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}

// A file of an older version stays as large as it is, with its free pages counted, until it is written anew.
func TestShrinkOfAnOldFile(t *testing.T) {
	t.Parallel()
	path := dbtest.Empty(t, db.SQLite)
	old, err := sql.Open("sqlite", path)
	testkit.NoError(t, err)
	_, err = old.Exec(`CREATE TABLE texts (body BLOB); INSERT INTO texts VALUES (zeroblob(3000000)); DELETE FROM texts`)
	testkit.NoError(t, errors.Join(err, old.Close()))
	d := openAt(t, path)
	if more, err := d.Shrink(t.Context(), 0); err != nil || more || d.Spare() < 2<<20 {
		t.Errorf("%d bytes are free, more %v, %v", d.Spare(), more, err)
	}
	testkit.NoError(t, d.Scrub(t.Context(), true))
	if _, err := d.Shrink(t.Context(), 0); err != nil || d.Spare() != 0 || d.Size() > 1<<20 {
		t.Errorf("%d bytes of %d are free, %v", d.Spare(), d.Size(), err)
	}
	mustWrite(t, d, stmt(`DELETE FROM counters WHERE name = 'x'`))
	if mode := number(t, d, `SELECT auto_vacuum FROM pragma_auto_vacuum`); mode != 2 {
		t.Errorf("auto_vacuum is %d", mode)
	}
}

func checkIntegrity(t *testing.T, d *db.DB) {
	t.Helper()
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		found, err := db.QueryTexts(tx, `PRAGMA integrity_check`)
		if len(found) != 1 || found[0] != "ok" {
			t.Errorf("integrity: %q", found)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
