package pull

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// Numbered reads the issues of the pull requests of the numbers. Those that do not exist are missing.
func Numbered(tx *db.Tx, pulls []repo.Of[int64]) (map[repo.Of[int64]]*issue.Issue, error) {
	found := map[repo.Of[int64]]*issue.Issue{}
	if len(pulls) == 0 {
		return found, nil
	}
	with, args := repo.Pairs(pulls, "BIGINT")
	ids, err := db.QueryIDs[issue.ID](tx, with+`SELECT p.issue_id
		FROM v JOIN pulls p ON p.repo_id = v.repo AND p.number = v.key`, args...)
	if err != nil {
		return nil, err
	}
	in := repo.In(pulls)
	list, err := issue.ByIDs(tx, ids)
	for _, i := range list {
		found[repo.Of[int64]{In: in[i.RepoID], Key: i.Number}] = i
	}
	return found, err
}

// Answer removes the review requests of a user who has submitted a review of a pull request, and of teams that the
// user is in: the review keeps these.
func Answer(tx *db.Tx, issueID issue.ID, userID account.ID, reviewID int64) error {
	if _, err := deleteRequests(tx, issueID, []account.ID{userID}); err != nil {
		return err
	}
	const of = ` FROM requested_teams WHERE issue_id = $1
		AND team_id IN (SELECT team_id FROM team_members WHERE user_id = $2)`
	if err := tx.Run(`INSERT INTO review_teams (review_id, team_id) SELECT CAST($3 AS BIGINT), team_id`+of+`
		ON CONFLICT DO NOTHING`, issueID, userID, reviewID); err != nil {
		return err
	}
	return tx.Run(`DELETE`+of, issueID, userID)
}
