package notification

import (
	"errors"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
)

// surplus finds threads to remove of some accounts behind an id; next is the last of these, 0 when there are
// no more.
func surplus(tx *db.Tx, after account.ID) (next account.ID, ids []int64, err error) {
	err = tx.QueryRow(`SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT 1 OFFSET `+strconv.Itoa(perPrune-1),
		after).Scan(&next)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return 0, nil, err
	}
	last := next
	if last == 0 {
		last = 1<<63 - 1
	}
	clock := tx.Engine().Clock()
	ids, err = db.QueryIDs[int64](tx, `SELECT id FROM (SELECT t.id, t.unread, t.updated_at,
			ROW_NUMBER() OVER (PARTITION BY t.user_id ORDER BY t.updated_at DESC, t.id DESC) AS n
		FROM notification_threads t WHERE t.user_id > $1 AND t.user_id <= $2) x
		WHERE n > $3 OR updated_at < `+clock+` - $4 OR NOT unread AND updated_at < `+clock+` - $5 LIMIT `+strconv.Itoa(perPrune),
		after, last, maxThreads, keepAny.Microseconds(), keepRead.Microseconds())
	return next, ids, err
}

// lonely returns those of the next subjects after an id that have no threads or subscriptions. next is the
// last examined id, or 0 at the end.
func lonely(tx *db.Tx, after int64) (next int64, ids []int64, err error) {
	err = tx.QueryRow(`SELECT id FROM notification_subjects WHERE id > $1 ORDER BY id LIMIT 1 OFFSET `+
		strconv.Itoa(perPrune-1),
		after).Scan(&next)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return 0, nil, err
	}
	last := next
	if last == 0 {
		last = 1<<63 - 1
	}
	ids, err = db.QueryIDs[int64](tx, `SELECT s.id FROM notification_subjects s WHERE s.id > $1 AND s.id <= $2
		AND `+nobodys, after, last)
	return next, ids, err
}

const nobodys = `NOT EXISTS (SELECT 1 FROM notification_threads t WHERE t.subject_id = s.id)
	AND NOT EXISTS (SELECT 1 FROM notification_wishes w WHERE w.subject_id = s.id)`

// removeRows deletes rows of a table; subjects only if they still have no threads or subscriptions.
func removeRows(tx *db.Tx, table string, ids []int64) error {
	args := make([]any, perPrune) // always as many, so that one text is prepared
	for n := range args {
		args[n] = ids[min(n, len(ids)-1)]
	}
	also := ``
	if table == `notification_subjects` {
		also = ` AND id IN (SELECT s.id FROM notification_subjects s WHERE ` + nobodys +
			` AND s.id = notification_subjects.id)`
	}
	return tx.Run(`DELETE FROM `+table+` WHERE id IN `+db.ValuesFrom(1, 1, perPrune)+also, args...)
}
