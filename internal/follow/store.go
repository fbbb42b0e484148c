package follow

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// putFollower stores that the user follows the target; repeating it changes nothing.
func putFollower(tx *db.Tx, userID, targetID account.ID) error {
	n, err := tx.Exec(`INSERT INTO followers (user_id, target_id, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, target_id) DO NOTHING`, userID, targetID, tx.Now)
	if err != nil || n == 0 {
		return err
	}
	return countFollowers(tx, userID, targetID, 1)
}

// dropFollower ends that; who does not follow stays so.
func dropFollower(tx *db.Tx, userID, targetID account.ID) error {
	n, err := tx.Exec(`DELETE FROM followers WHERE user_id = $1 AND target_id = $2`, userID, targetID)
	if err != nil || n == 0 {
		return err
	}
	return countFollowers(tx, userID, targetID, -1)
}

// countFollowers changes the counters of both sides. The generation of accounts
// stays: nothing that is kept under it shows them.
func countFollowers(tx *db.Tx, userID, targetID account.ID, by int64) error {
	_, err := tx.Exec(`UPDATE accounts SET
			followers = followers + CASE WHEN id = $2 THEN $3 ELSE 0 END,
			following = following + CASE WHEN id = $1 THEN $3 ELSE 0 END
		WHERE id IN ($1, $2)`, userID, targetID, by)
	return err
}

// follows reports whether one account follows another; false where either is not there.
func follows(tx *db.Tx, login, target string) (bool, error) {
	var n int64
	err := tx.QueryRow(`SELECT 1 FROM followers f JOIN accounts u ON u.id = f.user_id
		JOIN accounts t ON t.id = f.target_id
		WHERE u.login_folded = $1 AND t.login_folded = $2`, account.Fold(login), account.Fold(target)).Scan(&n)
	if errors.Is(err, db.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// followersOf lists one page of those who follow the account, the first one
// first; the page is found in an index before any account is fetched.
func followersOf(tx *db.Tx, id account.ID, p web.Page) ([]*account.Account, error) {
	return account.Query(tx, ` JOIN (SELECT user_id, created_at FROM followers WHERE target_id = $1
		ORDER BY created_at, user_id LIMIT $2 OFFSET $3) f ON a.id = f.user_id ORDER BY f.created_at, a.id`,
		id, p.Size, p.Offset())
}

// followedBy lists one page of those whom the account follows, in the same way.
func followedBy(tx *db.Tx, id account.ID, p web.Page) ([]*account.Account, error) {
	return account.Query(tx, ` JOIN (SELECT target_id, created_at FROM followers WHERE user_id = $1
		ORDER BY created_at, target_id LIMIT $2 OFFSET $3) f ON a.id = f.target_id ORDER BY f.created_at,
		a.id`,
		id, p.Size, p.Offset())
}
