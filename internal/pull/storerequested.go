package pull

import (
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/team"
)

// request is a user whose review of a pull request is requested.
type request struct {
	of   issue.ID
	user account.ID
}

// requestedOf returns the requested reviewers of several pull requests by issue id, in the order of the
// requests, and which of them are asked as code owners.
func requestedOf(
	tx *db.Tx, issues []issue.ID,
) (found map[issue.ID][]account.ID, owners map[request]bool, err error) {
	found, owners = map[issue.ID][]account.ID{}, map[request]bool{}
	if len(issues) == 0 {
		return found, owners, nil
	}
	return found, owners, db.QueryEach(tx, func(row db.Scanner) error {
		var r request
		var owner bool
		err := row.Scan(&r.of, &r.user, &owner)
		if found[r.of] = append(found[r.of], r.user); owner {
			owners[r] = true
		}
		return err
	}, `SELECT issue_id, user_id, code_owner FROM requested_reviewers WHERE issue_id IN `+
		db.Values(1, len(issues))+`
		ORDER BY issue_id, created_at, user_id`, db.Args(issues)...)
}

func insertRequests(tx *db.Tx, issueID issue.ID, users []account.ID, owners bool) error {
	args := make([]any, 0, 4*len(users))
	for _, id := range users {
		args = append(args, issueID, id, tx.Now, owners)
	}
	return tx.Run(`INSERT INTO requested_reviewers (issue_id, user_id, created_at, code_owner)
		VALUES `+db.Values(len(users), 4)+` ON CONFLICT DO NOTHING`, args...)
}

// setOwners notes which requested reviewers are code owners of what the pull request changes.
func setOwners(tx *db.Tx, issueID issue.ID, users []account.ID) error {
	if len(users) == 0 {
		return nil
	}
	return tx.Run(`UPDATE requested_reviewers SET code_owner = TRUE WHERE issue_id = $1 AND user_id IN `+
		db.ValuesFrom(2, 1, len(users)), db.Args(users, issueID)...)
}

// reviewersOf returns who has submitted a review of a pull request that was not dismissed.
func reviewersOf(tx *db.Tx, issueID issue.ID) ([]account.ID, error) {
	return db.QueryIDs[account.ID](tx, `SELECT DISTINCT author_id FROM reviews WHERE issue_id = $1
		AND state IN (2, 3, 4)`, issueID)
}

// pusherOf returns who pushed the head of a pull request, or its author if that is unknown.
func pusherOf(tx *db.Tx, p *Pull) (by account.ID, err error) {
	err = tx.QueryRow(`SELECT pushed_by FROM pulls WHERE issue_id = $1`, p.IssueID).Scan(&by)
	if by <= 0 {
		by = p.AuthorID
	}
	return by, err
}

// askedTeam is a team whose review of a pull request is requested.
type askedTeam struct {
	*team.Team
	owner bool // as a code owner
}

func plain(asked []askedTeam) []*team.Team {
	teams := make([]*team.Team, len(asked))
	for n, t := range asked {
		teams[n] = t.Team
	}
	return teams
}

// requestedTeamsOf returns the closed teams whose review of several pull requests is requested, by issue id, in the
// order of the requests.
func requestedTeamsOf(tx *db.Tx, issues []issue.ID) (map[issue.ID][]askedTeam, error) {
	if len(issues) == 0 {
		return nil, nil
	}
	type request struct {
		issue issue.ID
		team  team.ID
		owner bool
	}
	list, err := db.QueryList(tx, func(row db.Scanner) (r request, err error) {
		err = row.Scan(&r.issue, &r.team, &r.owner)
		return r, err
	}, `SELECT issue_id, team_id, code_owner FROM requested_teams WHERE issue_id IN `+db.Values(1, len(issues))+`
		ORDER BY issue_id, created_at, team_id`, db.Args(issues)...)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	ids := make([]team.ID, len(list))
	for n, r := range list {
		ids[n] = r.team
	}
	closed, err := team.Closed(tx, ids)
	found := map[issue.ID][]askedTeam{}
	for _, r := range list {
		if t := closed[r.team]; t != nil {
			found[r.issue] = append(found[r.issue], askedTeam{t, r.owner})
		}
	}
	return found, err
}

func insertTeamRequest(tx *db.Tx, issueID issue.ID, id team.ID, owner bool) error {
	return tx.Run(`INSERT INTO requested_teams (issue_id, team_id, created_at, code_owner) VALUES ($1, $2, $3, $4)
		ON CONFLICT (issue_id, team_id) DO UPDATE SET code_owner = excluded.code_owner`, issueID, id, tx.Now, owner)
}

func deleteTeamRequest(tx *db.Tx, issueID issue.ID, id team.ID) error {
	return tx.Run(`DELETE FROM requested_teams WHERE issue_id = $1 AND team_id = $2`, issueID, id)
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
