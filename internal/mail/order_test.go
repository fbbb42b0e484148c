package mail

import (
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// A notice that the mail server refused for a while goes before notifications that wait since.
func TestNoticesGoBeforeNotifications(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		var kinds []Kind
		testkit.NoError(t, d.Write(t.Context(), func(tx *db.Tx) error {
			for n, row := range []struct {
				kind       Kind
				due, tries int64
			}{{"told", 1, 0}, {"told", 2, 1}, {"notice", 3, 2}, {"digest", 4, 0}} {
				if err := tx.Run(`INSERT INTO mails (kind, address, about, created_at, due_at, tries)
					VALUES ($1, 'a@example.org', '{}', $2, $3, $4)`, string(row.kind), n, row.due, row.tries); err != nil {
					return err
				}
			}
			kinds = nil
			for range 4 {
				_, m, err := take(tx, true)
				if err != nil {
					return err
				}
				kinds = append(kinds, m.Kind)
			}
			l, _, err := take(tx, true)
			if l != nil {
				t.Error("a fifth mail")
			}
			return err
		}))
		if kinds[0] != "notice" || kinds[1] != "told" || kinds[3] != "digest" {
			t.Errorf("the order is %v", kinds)
		}
	})
}
