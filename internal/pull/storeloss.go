package pull

import (
	"cmp"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/team"
)

// lostRequest is a review that is requested of somebody who lost access: a user or a team.
type lostRequest struct {
	issue issue.ID
	id    int64 // of the account or of the team
	in    issuekit.Lost
}

// FollowAccess removes review requests on open pull requests for people who no longer see the repository and for teams
// without a role on it. by is the acting account, or 0 for the repository's owner.
func FollowAccess(tx *db.Tx, scope issuekit.Scope, by account.ID) error {
	const of = ` FROM pulls p JOIN `
	in := ` AND p.open = TRUE AND p.repo_id IN (` + scope.Repos + `)`
	users := `SELECT q.issue_id, q.user_id, r.id, r.owner_id` + of + `requested_reviewers q ON q.issue_id = p.issue_id
		JOIN accounts u ON u.id = q.user_id` + repo.JoinSight("p.repo_id", "u.id") + `
		WHERE r.private = TRUE AND NOT ` + repo.KeepsSight() + in
	if err := dropLost(tx, users, scope.ID, `requested_reviewers`, `user_id`, func(l lostRequest) issue.Event {
		return issue.Event{ActorID: cmp.Or(by, l.in.Owner), UserID: account.ID(l.id)}
	}); err != nil {
		return err
	}
	teams := `SELECT q.issue_id, q.team_id, r.id, r.owner_id` + of + `requested_teams q ON q.issue_id = p.issue_id
		JOIN repos r ON r.id = p.repo_id WHERE NOT ` + team.HasRole("q.team_id", "r.id") + in
	return dropLost(tx, teams, scope.ID, `requested_teams`, `team_id`, func(l lostRequest) issue.Event {
		return issue.Event{ActorID: cmp.Or(by, l.in.Owner), Detail: issue.Detail{Team: team.ID(l.id)}}
	})
}

// dropLost deletes the requests of a query from a table; column names who is asked.
func dropLost(
	tx *db.Tx, query string, id any, table, column string, event func(lostRequest) issue.Event,
) error {
	return issuekit.DropLost(tx, func() (list []lostRequest, in []issuekit.Lost, err error) {
		err = db.QueryEach(tx, func(row db.Scanner) error {
			var l lostRequest
			err := row.Scan(&l.issue, &l.id, &l.in.Repo, &l.in.Owner)
			list, in = append(list, l), append(in, l.in)
			return err
		}, query+` ORDER BY q.issue_id, 2 LIMIT $2`, id, db.MaxValues)
		return list, in, err
	}, func(list []lostRequest) error {
		args, events := make([]any, 0, 2*len(list)), make([]issue.Event, len(list))
		for n, l := range list {
			args, events[n] = append(args, l.issue, l.id), event(l)
			events[n].RepoID, events[n].IssueID, events[n].Kind = l.in.Repo, l.issue, issue.EventRequestRemoved
		}
		if err := tx.Run(issuekit.With(len(list), "BIGINT", "BIGINT")+`DELETE FROM `+table+`
			WHERE (issue_id, `+column+`) IN (SELECT v.a, v.b FROM v)`, args...); err != nil {
			return err
		}
		return issue.InsertEvents(tx, events)
	})
}
