package db_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// Addresses that are there when the server learns to verify them were verified by
// nobody (decision 64).
func TestOldAddressesAreUnverified(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		before := fstest.MapFS{}
		list, err := filepath.Glob("migrations/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range list {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if name := filepath.Base(path); name < "0029" {
				before[name] = &fstest.MapFile{Data: text}
			}
		}
		address := dbtest.Empty(t, engine)
		err = reopen(t, address, before, func(d *db.DB) {
			err := d.Write(context.Background(), func(tx *db.Tx) error {
				_, err := tx.Exec(`INSERT INTO accounts
					(login, login_folded, kind, email, created_at, updated_at) VALUES
					('Ann', 'ann', 1, 'Same@example.org', 1, 1), ('Bob', 'bob', 1, 'same@example.org', 2, 2),
					('Orb', 'orb', 2, 'org@example.org', 3, 3), ('Cid', 'cid', 1, NULL, 4, 4)`)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		d := dbtest.OpenURL(t, address)
		const claims = `SELECT count(*) FROM emails WHERE address = 'same@example.org' AND verified = FALSE`
		if n := number(t, d, claims); n != 2 {
			t.Errorf("%d people claim the address, want 2", n)
		}
		if n := number(t, d, `SELECT count(*) FROM emails`); n != 2 {
			t.Errorf("%d addresses, want 2", n)
		}
	})
}
