package ratelimit

import (
	"context"

	"arbor/internal/db"
)

// share adds what was used to what all nodes have counted in the window that ends then, and
// gives the totals of these callers. If the nodes count in a window that ends at another
// time, it gives that and changes nothing.
func share(
	ctx context.Context, d *db.DB, ends, now db.Time, used []use,
) (agreed db.Time, totals map[string]int64, err error) {
	err = d.Write(ctx, func(tx *db.Tx) error {
		totals = make(map[string]int64, len(used))
		if _, err := tx.Exec(`DELETE FROM rate_counts WHERE ends <= $1`,
			now-db.Time(db.MaxSkew.Microseconds())); err != nil {
			return err
		}
		err := tx.QueryRow(`SELECT COALESCE(min(ends), $1) FROM rate_counts WHERE ends > $2`,
			ends, now).Scan(&agreed)
		if err != nil || agreed != ends {
			return err
		}
		args := make([]any, 0, 3*len(used))
		for _, u := range used {
			args = append(args, ends, u.key, u.n)
		}
		return db.QueryEach(tx, func(row db.Scanner) error {
			var key string
			var total int64
			if err := row.Scan(&key, &total); err != nil {
				return err
			}
			totals[key] = total
			return nil
		}, `INSERT INTO rate_counts (ends, key, used) VALUES `+db.ValuesFrom(1, len(used), 3)+`
			ON CONFLICT (ends, key) DO UPDATE SET used = rate_counts.used + excluded.used RETURNING key,
			used`, args...)
	})
	return agreed, totals, err
}
