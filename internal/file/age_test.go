package file

import (
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/dbtest"
)

// A file that a depot took long ago, before the machine was suspended, gets no row: the sweep may have removed it.
func TestRowThatComesTooLate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		for age, refused := range map[time.Duration]bool{0: false, maxUnnamed / 2: false, maxUnnamed + time.Minute: true} {
			err := d.Write(t.Context(), func(tx *db.Tx) error { return CheckAge(tx, time.Now().Add(-age)) })
			if errs.Is(err, errs.Unavailable) != refused {
				t.Errorf("after %v: %v", age, err)
			}
		}
		if err := d.Write(t.Context(), func(tx *db.Tx) error { return CheckAge(tx, time.Time{}) }); err != nil {
			t.Errorf("a file in the data folder: %v", err)
		}
	})
}
