package subscription

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/posting"
)

// wishOf returns an account's explicit choice for an issue and its time, or NoWish.
func wishOf(tx *db.Tx, issueID issue.ID, userID account.ID) (wish Wish, at db.Time, err error) {
	err = tx.QueryRow(`SELECT wish, created_at FROM issue_subscriptions WHERE issue_id = $1 AND user_id = $2`,
		issueID, userID).Scan(&wish, &at)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return wish, at, err
}

// relation is the relation of an account to an issue.
type relation struct {
	wish         Wish
	at           db.Time // of the wish
	participates bool    // subscribed by participation

	// The first reason for the subscription of an account other than the author, and its time: an
	// assignment, a mention or a comment. Empty if that comment was deleted.
	reason string
	since  db.Time
}

// relationOf reads the relation of an account to an issue in one statement.
func relationOf(tx *db.Tx, issueID issue.ID, userID account.ID) (s relation, err error) {
	const none = -1
	var kind int64
	err = tx.QueryRow(`SELECT COALESCE(s.wish, $4), COALESCE(s.created_at, 0), p.told, COALESCE(f.kind, $7),
		COALESCE(f.created_at, 0)
		FROM (SELECT EXISTS (SELECT 1 FROM postings WHERE issue_id = $1 AND kind = $3
		AND value = $2) AS told) p
		LEFT JOIN issue_subscriptions s ON s.issue_id = $1 AND s.user_id = $2
		LEFT JOIN (SELECT kind, created_at FROM (
				SELECT kind, created_at FROM issue_events WHERE issue_id = $1 AND user_id = $2
				AND kind IN ($5, $6)
				UNION ALL SELECT CAST(0 AS SMALLINT), created_at FROM issue_comments WHERE issue_id = $1
				AND author_id = $2
			) parts ORDER BY created_at, kind DESC LIMIT 1) f ON p.told`,
		issueID, userID, int64(posting.BySubscriber), int64(NoWish),
		int64(issue.EventAssigned), int64(issue.EventMentioned), int64(none)).Scan(&s.wish, &s.at,
		&s.participates, &kind, &s.since)
	reasons := map[int64]string{int64(issue.EventAssigned): "assign", int64(issue.EventMentioned): "mention",
		0: "comment"}
	s.reason = reasons[kind]
	return s, err
}

// statesOf reads the caller's subscriptions to issues.
func statesOf(tx *db.Tx, userID account.ID, ids []issue.ID) (map[issue.ID]Wish, error) {
	args := []any{userID, int64(posting.BySubscriber), int64(NoWish)}
	for _, id := range ids {
		args = append(args, id)
	}
	type state struct {
		id           issue.ID
		wish         Wish
		participates bool
	}
	list, err := db.QueryList(tx, func(row db.Scanner) (s state, err error) {
		err = row.Scan(&s.id, &s.wish, &s.participates)
		return s, err
	}, `SELECT i.id, COALESCE(s.wish, $3), EXISTS (SELECT 1 FROM postings p WHERE p.issue_id = i.id AND p.kind = $2
		AND p.value = $1) FROM issues i LEFT JOIN issue_subscriptions s ON s.issue_id = i.id AND s.user_id = $1
		WHERE i.id IN `+db.ValuesFrom(4, 1, len(ids)), args...)
	found := make(map[issue.ID]Wish, len(list))
	for _, s := range list {
		if found[s.id] = s.wish; s.wish == NoWish && s.participates {
			found[s.id] = Subscribe
		}
	}
	return found, err
}

func putWish(tx *db.Tx, issueID issue.ID, userID account.ID, wish Wish) error {
	err := tx.Run(`INSERT INTO issue_subscriptions (issue_id, user_id, wish, created_at)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT (issue_id, user_id) DO UPDATE SET wish = excluded.wish, created_at = excluded.created_at`,
		issueID, userID, int64(wish), tx.Now)
	return err
}
