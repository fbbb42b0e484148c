package db_test

import (
	"context"
	"testing"

	"arbor/internal/db"
	"arbor/internal/db/dbtest"
)

func TestSmoke(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		err := d.Write(context.Background(), func(tx *db.Tx) error { return tx.Bump("x") })
		if err != nil {
			t.Fatal(err)
		}
		if n, err := d.Generation(context.Background(), "x"); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	})
}
