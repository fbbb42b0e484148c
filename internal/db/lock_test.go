package db_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"arbor/internal/db"
)

// What is counted under a lock is not changed by others before the transaction ends.
func TestLock(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		const writers = 20
		var wait sync.WaitGroup
		for w := range writers {
			wait.Go(func() {
				err := d.Write(context.Background(), func(tx *db.Tx) error {
					if err := tx.Lock("counters"); err != nil {
						return err
					}
					var n int64
					if err := tx.QueryRow(`SELECT count(*) FROM counters`).Scan(&n); err != nil {
						return err
					}
					return tx.Run(`INSERT INTO counters (name, n) VALUES ($1, $2)`, fmt.Sprint(w), n)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if n := number(t, d, `SELECT count(DISTINCT n) FROM counters`); n != writers {
			t.Errorf("%d writers counted %d different rows", writers, n)
		}
	})
}
