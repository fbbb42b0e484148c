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

// surplusKept finds deliveries beyond what is kept of each hook, by number and by size.
func surplusKept(tx *db.Tx) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT id FROM (SELECT id, state,
			ROW_NUMBER() OVER newest AS n,
			SUM(COALESCE(LENGTH(payload), 0) + COALESCE(LENGTH(body), 0)) OVER newest AS bytes
		FROM hook_deliveries WHERE delivered_at IS NOT NULL WINDOW newest AS (PARTITION BY hook_id ORDER BY id DESC)) d
		WHERE state <> 0 AND (n > $1 OR bytes > $2)`+limit, maxKept, maxBytes)
}

// surplusWaiting finds deliveries that wait although too many later ones do, or for too long to be tried.
func surplusWaiting(tx *db.Tx) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT id FROM (SELECT id, created_at, due_at,
			ROW_NUMBER() OVER (PARTITION BY hook_id ORDER BY id DESC) AS n
		FROM hook_deliveries WHERE state = 0) d
		WHERE n > $1 OR created_at < `+tx.Engine().Clock()+` - $2 - $3`+limit,
		maxQueue, giveUp.Microseconds(), pauses[len(pauses)-1].Microseconds())
}

func removeDeliveries(tx *db.Tx, ids []int64) error {
	args := make([]any, perPrune) // always as many, so that one text is prepared
	for n := range args {
		args[n] = ids[min(n, len(ids)-1)]
	}
	return tx.Run(`DELETE FROM hook_deliveries WHERE id IN `+db.Values(1, perPrune), args...)
}

// backlog counts what waits.
func backlog(tx *db.Tx) (db.Backlog, error) {
	return db.Jobs{Table: "hook_deliveries", Key: "id"}.Backlog(tx, `state = 0`)
}
