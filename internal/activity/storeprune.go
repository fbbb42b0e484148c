package activity

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"arbor/internal/db"
)

// progress is the row of table activity_pruning.
type progress struct{ position, began, paid int64 }

// readProgress reads the progress of pruning, and the id of the newest activity.
func readProgress(tx *db.Tx) (at progress, newest int64, err error) {
	if err := tx.QueryRow(`SELECT COALESCE(max(id), 0) FROM activities`).Scan(&newest); err != nil {
		return at, 0, err
	}
	err = tx.QueryRow(`SELECT position, began, paid FROM activity_pruning`).Scan(&at.position,
		&at.began, &at.paid)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return at, newest, err
}

// advance stores progress. mine is false if another node has made progress since from was read.
func advance(tx *db.Tx, from, to progress) (mine bool, err error) {
	n, err := tx.Exec(`UPDATE activity_pruning SET position = $1, began = $2, paid = $3 WHERE position = $4 AND began = $5 AND paid = $6`,
		to.position, to.began, to.paid, from.position, from.began, from.paid)
	if err == nil && n == 0 && from == (progress{}) {
		n, err = tx.Exec(`INSERT INTO activity_pruning (id, position, began, paid) VALUES (1, $1, $2, $3) ON CONFLICT DO NOTHING`,
			to.position, to.began, to.paid)
	}
	return n == 1, err
}

// least returns a subquery for the oldest activity of a range to be kept; NULL if all are kept. columns are
// those of the range's index before the id. All are used in conditions and in ORDER BY, because with ORDER
// BY id alone PostgreSQL scans the whole table by id.
func (p *Pruner) least(columns ...string) string {
	x, k, order, same := `x.`+strings.Join(columns, `, x.`), `k.`+strings.Join(columns, `, k.`), ``, ``
	for _, c := range columns {
		order += `x.` + c + ` DESC, `
		same += ` AND x.` + c + ` = k.` + c
	}
	return fmt.Sprintf(`(SELECT CASE WHEN TRUE%s THEN x.id END FROM activities x WHERE (%s, x.id) <= (%s, %d)
		AND x.%s IS NOT NULL
		ORDER BY %sx.id DESC LIMIT 1 OFFSET %d) AS least`, same, x, k, int64(math.MaxInt64), columns[0], order, p.kept-1)
}

// look reads the next activities after a position: their number, the id of the last, and the ids that no
// feed reads. It looks up the oldest kept activity once for each range.
func (p *Pruner) look(tx *db.Tx, position int64) (seen int, last int64, gone []int64, err error) {
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var unread bool
		if err := row.Scan(&last, &unread); err != nil {
			return err
		}
		if seen++; unread {
			gone = append(gone, last)
		}
		return nil
	}, `WITH
		batch AS MATERIALIZED (SELECT x.id, x.repo_id, x.actor_id, x.org_id, x.public FROM activities x
		WHERE x.id > $1 ORDER BY x.id LIMIT $2),
		of_repo AS MATERIALIZED (SELECT k.repo_id, k.public, `+p.least(`repo_id`, `public`)+`
			FROM (SELECT DISTINCT repo_id, public FROM batch) k),
		of_actor AS MATERIALIZED (SELECT k.actor_id, k.public, `+p.least(`actor_id`, `public`)+`
			FROM (SELECT DISTINCT actor_id, public FROM batch) k),
		of_org AS MATERIALIZED (SELECT k.org_id, k.public, `+p.least(`org_id`, `public`)+`
			FROM (SELECT DISTINCT org_id, public FROM batch WHERE org_id IS NOT NULL) k)
		SELECT b.id, COALESCE(b.id < r.least AND b.id < a.least AND (b.org_id IS NULL OR b.id < o.least),
		FALSE)
		FROM batch b JOIN of_repo r ON r.repo_id = b.repo_id AND r.public = b.public
			JOIN of_actor a ON a.actor_id = b.actor_id AND a.public = b.public
			LEFT JOIN of_org o ON o.org_id = b.org_id AND o.public = b.public
		ORDER BY b.id`, position, int64(p.perTurn))
	return seen, last, gone, err
}

// remove deletes activities. Their number is rounded up, so that few statements are prepared.
func remove(tx *db.Tx, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	n := 1
	for n < len(ids) {
		n *= 4
	}
	args := make([]any, n)
	for i := range args {
		args[i] = ids[min(i, len(ids)-1)]
	}
	err := tx.Run(`DELETE FROM activities WHERE id IN `+db.ValuesFrom(1, 1, n), args...)
	return err
}
