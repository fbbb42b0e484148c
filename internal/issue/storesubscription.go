package issue

import "arbor/internal/db"

// settled tells which accounts need no subscription from having a part in the
// issue: they are subscribed, or said that they do not want to be.
func settled(tx *db.Tx, issueID int64, users []int64) (map[int64]bool, error) {
	done, err := posted(tx, issueID, BySubscriber, users)
	if err != nil || len(users) == 0 {
		return done, err
	}
	args := []any{issueID}
	for _, id := range users {
		args = append(args, id)
	}
	rows, err := tx.Query(`SELECT user_id FROM issue_subscriptions WHERE issue_id = $1 AND ignored AND user_id IN `+
		db.ValuesFrom(2, 1, len(users)), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		done[id] = true
	}
	return done, rows.Err()
}
