package pull

import (
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
)

// requestedOf returns the requested reviewers of several pull requests by issue id, in the order of the
// requests.
func requestedOf(tx *db.Tx, issues []issue.ID) (map[issue.ID][]account.ID, error) {
	found := map[issue.ID][]account.ID{}
	if len(issues) == 0 {
		return found, nil
	}
	rows, err := tx.Query(`SELECT issue_id, user_id FROM requested_reviewers WHERE issue_id IN `+
		db.Values(1, len(issues))+`
		ORDER BY issue_id, created_at, user_id`, db.Args(issues)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var issueID issue.ID
		var userID account.ID
		if err := rows.Scan(&issueID, &userID); err != nil {
			return nil, err
		}
		found[issueID] = append(found[issueID], userID)
	}
	return found, rows.Err()
}

func insertRequests(tx *db.Tx, issueID issue.ID, users []account.ID) error {
	args := make([]any, 0, 3*len(users))
	for _, id := range users {
		args = append(args, issueID, id, tx.Now)
	}
	err := tx.Run(`INSERT INTO requested_reviewers (issue_id, user_id, created_at) VALUES `+db.Values(len(users), 3)+`
		ON CONFLICT DO NOTHING`, args...)
	return err
}

// deleteRequests deletes requests and returns the deleted ones by user id.
func deleteRequests(tx *db.Tx, issueID issue.ID, users []account.ID) (gone []account.ID, err error) {
	if len(users) == 0 {
		return nil, nil
	}
	args := []any{issueID}
	for _, id := range users {
		args = append(args, id)
	}
	gone, err = db.QueryIDs[account.ID](tx,
		`DELETE FROM requested_reviewers WHERE issue_id = $1 AND user_id IN `+db.ValuesFrom(2, 1,
			len(users))+`
		RETURNING user_id`, args...)
	slices.Sort(gone)
	return gone, err
}

// AddReviewComments adds to the number of submitted review comments; by may be negative.
func AddReviewComments(tx *db.Tx, issueID issue.ID, by int64) error {
	err := tx.Run(`UPDATE pulls SET review_comments = review_comments + $2 WHERE issue_id = $1`, issueID, by)
	return err
}
