package hook

import (
	"strconv"
	"time"

	"arbor/internal/db"
)

var limit = ` LIMIT ` + strconv.Itoa(perPrune)

// aged finds deliveries that are too old to be kept.
func aged(tx *db.Tx) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT id FROM hook_deliveries
		WHERE created_at < `+tx.Engine().Clock()+` - $1 ORDER BY created_at`+limit, keepFor.Microseconds())
}

// surplus returns deliveries beyond the limits of number and size of each webhook and of each owner, of
// waiting deliveries or of the others. It examines owners with recent deliveries or attempts. Surplus after
// a transfer is found with the webhook's next delivery.
func surplus(tx *db.Tx, lately time.Duration, waiting bool, most int64) ([]int64, error) {
	since := tx.Engine().Clock() + ` - $1`
	which := `x.state <> 0 AND x.delivered_at IS NOT NULL` // as an index has it
	if waiting {
		which = `x.state = 0`
	}
	return db.QueryIDs[int64](tx, `WITH touched AS (SELECT h.repo_id, h.org_id, h.app_id FROM hooks h
			WHERE h.due_at > `+since+` OR h.id IN (SELECT hook_id FROM hook_deliveries WHERE created_at > `+since+`)
		), owners AS (
			SELECT org_id AS id FROM touched WHERE org_id IS NOT NULL
			UNION SELECT r.owner_id FROM touched t JOIN repos r ON r.id = t.repo_id
			UNION SELECT p.owner_id FROM touched t JOIN apps p ON p.id = t.app_id
		), grown AS (
			SELECT h.id, o.id AS owner FROM owners o JOIN hooks h ON h.org_id = o.id
			UNION ALL SELECT h.id, o.id FROM owners o JOIN repos r ON r.owner_id = o.id JOIN hooks h ON h.repo_id = r.id
			UNION ALL SELECT h.id, o.id FROM owners o JOIN apps p ON p.owner_id = o.id JOIN hooks h ON h.app_id = p.id
		), sized AS (
			SELECT d.id, ROW_NUMBER() OVER of_hook AS n, SUM(d.size) OVER of_hook AS bytes, SUM(d.size) OVER of_owner AS owned
			FROM (SELECT x.id, x.hook_id, g.owner, OCTET_LENGTH(x.about) + COALESCE(OCTET_LENGTH(x.payload), 0)
					+ COALESCE((SELECT OCTET_LENGTH(t.told) FROM hook_told t WHERE t.mark = x.mark), 0) + COALESCE(OCTET_LENGTH(x.body), 0) AS size
				FROM grown g JOIN hook_deliveries x ON x.hook_id = g.id WHERE `+which+`) d
			WINDOW of_hook AS (PARTITION BY d.hook_id ORDER BY d.id DESC), of_owner AS (PARTITION BY d.owner ORDER BY d.id DESC)
		)
		SELECT id FROM sized WHERE n > $2 OR bytes > $3 OR owned > $4`+limit,
		lately.Microseconds(), most, maxBytes, maxOwned)
}

// stale finds deliveries that have waited for longer than they are tried.
func stale(tx *db.Tx) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT id FROM hook_deliveries WHERE state = 0 AND created_at < `+
		tx.Engine().Clock()+
		` - $1 - $2`+limit, giveUp.Microseconds(), pauses[len(pauses)-1].Microseconds())
}

func removeDeliveries(tx *db.Tx, ids []int64) error {
	args := make([]any, perPrune) // always as many, so that one text is prepared
	for n := range args {
		args[n] = ids[min(n, len(ids)-1)]
	}
	return tx.Run(`DELETE FROM hook_deliveries WHERE id IN `+db.Values(1, perPrune), args...)
}

// removeTold deletes data of deleted deliveries, and returns their number.
func removeTold(tx *db.Tx) (int64, error) {
	return tx.Exec(`DELETE FROM hook_told WHERE mark IN (SELECT t.mark FROM hook_told t
		WHERE NOT EXISTS (SELECT 1 FROM hook_deliveries d WHERE d.mark = t.mark)` + limit + `)`)
}

// bequeathed returns some webhooks without an owner whose last event was delivered.
func bequeathed(tx *db.Tx) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT h.id FROM hooks h WHERE h.repo_id IS NULL AND h.org_id IS NULL
		AND h.app_id IS NULL
		AND NOT EXISTS (SELECT 1 FROM hook_deliveries d WHERE d.hook_id = h.id AND d.state = 0) LIMIT 20`)
}

// backlog counts what waits.
func backlog(tx *db.Tx) (db.Backlog, error) {
	return db.Jobs{Table: "hook_deliveries", Key: "id"}.Backlog(tx, `state = 0`)
}
