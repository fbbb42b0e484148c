package hook

import (
	"strconv"

	"arbor/internal/db"
)

var limit = ` LIMIT ` + strconv.Itoa(perPrune)

// aged finds deliveries that are too old to be kept.
func aged(tx *db.Tx) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT id FROM hook_deliveries
		WHERE created_at < `+tx.Engine().Clock()+` - $1 ORDER BY created_at`+limit, keepFor.Microseconds())
}

// sized reads deliveries with, of each, which one of its hook's it is, the newest being the first, and how many bytes
// it, the newer ones of its hook, and those of all hooks of its owner take together.
const sized = `SELECT d.id, d.state, d.created_at, ROW_NUMBER() OVER of_hook AS n, SUM(d.size) OVER of_hook AS bytes,
		SUM(d.size) OVER of_owner AS owned
	FROM (SELECT id, hook_id, state, created_at, OCTET_LENGTH(about) + COALESCE(OCTET_LENGTH(payload), 0)
			+ COALESCE(OCTET_LENGTH(body), 0) AS size
		FROM hook_deliveries WHERE `

const sizedOf = `) d JOIN hooks h ON h.id = d.hook_id LEFT JOIN repos r ON r.id = h.repo_id
	LEFT JOIN apps p ON p.id = h.app_id
	WINDOW of_hook AS (PARTITION BY d.hook_id ORDER BY d.id DESC),
		of_owner AS (PARTITION BY COALESCE(h.org_id, r.owner_id, p.owner_id) ORDER BY d.id DESC)`

// surplusKept finds deliveries beyond what is kept of each hook, by number and by size, and of each owner.
func surplusKept(tx *db.Tx) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT id FROM (`+sized+`state <> 0`+sizedOf+`) x
		WHERE n > $1 OR bytes > $2 OR owned > $3`+limit, maxKept, maxBytes, maxOwned)
}

// surplusWaiting finds deliveries that wait although too many later ones do, or too large ones, or for too long to be
// tried.
func surplusWaiting(tx *db.Tx) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT id FROM (`+sized+`state = 0`+sizedOf+`) x
		WHERE n > $1 OR bytes > $2 OR owned > $3 OR created_at < `+tx.Engine().Clock()+` - $4 - $5`+limit,
		maxQueue, maxBytes, maxOwned, giveUp.Microseconds(), pauses[len(pauses)-1].Microseconds())
}

func removeDeliveries(tx *db.Tx, ids []int64) error {
	args := make([]any, perPrune) // always as many, so that one text is prepared
	for n := range args {
		args[n] = ids[min(n, len(ids)-1)]
	}
	return tx.Run(`DELETE FROM hook_deliveries WHERE id IN `+db.Values(1, perPrune), args...)
}

// bequeathed finds some hooks without an owner that were told their last event.
func bequeathed(tx *db.Tx) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT h.id FROM hooks h WHERE h.repo_id IS NULL AND h.org_id IS NULL AND h.app_id IS NULL
		AND NOT EXISTS (SELECT 1 FROM hook_deliveries d WHERE d.hook_id = h.id AND d.state = 0) LIMIT 20`)
}

// backlog counts what waits.
func backlog(tx *db.Tx) (db.Backlog, error) {
	return db.Jobs{Table: "hook_deliveries", Key: "id"}.Backlog(tx, `state = 0`)
}
