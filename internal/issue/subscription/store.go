package subscription

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/posting"
)

// wishOf is what an account said about an issue, and when; NoWish when it said
// nothing.
func wishOf(tx *db.Tx, issueID issue.ID, userID account.ID) (wish Wish, at db.Time, err error) {
	err = tx.QueryRow(`SELECT wish, created_at FROM issue_subscriptions WHERE issue_id = $1 AND user_id = $2`,
		issueID, userID).Scan(&wish, &at)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return wish, at, err
}

// standing is wishOf, and whether the account is told of the issue by the part that it has.
func standing(tx *db.Tx, issueID issue.ID, userID account.ID) (wish Wish, at db.Time, told bool, err error) {
	err = tx.QueryRow(`SELECT COALESCE(s.wish, $4), COALESCE(s.created_at, 0), p.told
		FROM (SELECT EXISTS (SELECT 1 FROM postings WHERE issue_id = $1 AND kind = $3 AND value = $2) AS told) p
		LEFT JOIN issue_subscriptions s ON s.issue_id = $1 AND s.user_id = $2`,
		issueID, userID, int64(posting.BySubscriber), int64(NoWish)).Scan(&wish, &at, &told)
	return wish, at, told, err
}

func putWish(tx *db.Tx, issueID issue.ID, userID account.ID, wish Wish) error {
	err := tx.Run(`INSERT INTO issue_subscriptions (issue_id, user_id, wish, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (issue_id, user_id) DO UPDATE SET wish = excluded.wish, created_at = excluded.created_at`,
		issueID, userID, int64(wish), tx.Now)
	return err
}

// firstPart is what first subscribed somebody who is not the author, and when:
// an assignment, a mention or an own comment.
func firstPart(tx *db.Tx, issueID issue.ID, userID account.ID) (reason string, at db.Time, err error) {
	var kind issue.EventKind
	err = tx.QueryRow(`SELECT kind, created_at FROM (
			SELECT kind, created_at FROM issue_events WHERE issue_id = $1 AND user_id = $2 AND kind IN ($3, $4)
			UNION ALL SELECT CAST(0 AS SMALLINT), created_at FROM issue_comments WHERE issue_id = $1 AND author_id = $2
		) parts ORDER BY created_at, kind DESC LIMIT 1`,
		issueID, userID, int64(issue.EventAssigned), int64(issue.EventMentioned)).Scan(&kind, &at)
	if errors.Is(err, db.ErrNoRows) {
		return "", 0, nil // a comment that is deleted
	}
	reasons := map[issue.EventKind]string{issue.EventAssigned: "assign", issue.EventMentioned: "mention", 0: "comment"}
	return reasons[kind], at, err
}
