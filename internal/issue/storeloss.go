package issue

import (
	"cmp"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// assignment is an assignee of an issue.
type assignment struct {
	issue     ID
	user      account.ID
	assignees []account.ID // of the issue
	in        issuekit.Lost
}

// FollowLoss unassigns people who lost access to repositories. The owner, members of the owner and collaborators keep
// what they are assigned to as long as they see the repository, and authors their own issues. by is the acting account;
// without one it is the repository's owner.
func FollowLoss(tx *db.Tx, in issuekit.Scope, by account.ID) error {
	return issuekit.DropLost(tx, func() ([]assignment, []issuekit.Lost, error) {
		return assignments(tx, lostIn(in.Repos), in.ID)
	}, func(list []assignment) error {
		events := make([]Event, len(list))
		for n, a := range list {
			events[n] = Event{RepoID: a.in.Repo, IssueID: a.issue, ActorID: cmp.Or(by, a.in.Owner),
				Kind: EventUnassigned, UserID: a.user}
		}
		if err := unassign(tx, list); err != nil {
			return err
		}
		return InsertEvents(tx, events)
	})
}

// lostIn selects the postings p of assignees who lost access to repositories, whose ids are selected.
func lostIn(repos string) string {
	const belongs = `(r.owner_id = u.id OR m.user_id IS NOT NULL OR EXISTS (SELECT 1 FROM collaborators c
		WHERE c.repo_id = r.id AND c.user_id = u.id))`
	sees := repo.KeepsSight()
	// The counters tell who is assigned at all: a few rows of each repository.
	return fmt.Sprintf(`(SELECT DISTINCT h.repo_id, h.value, r.owner_id, `+sees+` AS sees FROM posting_counts h
			JOIN accounts u ON u.id = h.value`+repo.JoinSight("h.repo_id", "u.id")+`
			WHERE h.kind = %[1]d AND h.value > %[2]d AND h.n > 0 AND h.repo_id IN (`+repos+`)
			AND NOT (`+belongs+` AND `+sees+`)) x
		JOIN postings p ON p.kind = %[1]d AND p.value = x.value AND p.repo_id = x.repo_id
		JOIN issues i ON i.id = p.issue_id WHERE NOT (x.sees AND i.author_id = p.value)`,
		posting.ByAssignee, posting.None)
}

// assignments reads some assignees. from selects postings p of issues i in repositories of x.owner_id.
func assignments(tx *db.Tx, from string, id any) (list []assignment, in []issuekit.Lost, err error) {
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var a assignment
		var assignees string
		err := row.Scan(&a.issue, &a.user, &assignees, &a.in.Repo, &a.in.Owner)
		a.assignees = splitIDs[account.ID](assignees)
		list, in = append(list, a), append(in, a.in)
		return err
	}, `SELECT p.issue_id, p.value, i.assignees, p.repo_id, x.owner_id FROM `+from+`
		ORDER BY p.issue_id, p.value LIMIT $2`, id, db.MaxValues)
	return list, in, err
}

// unassign removes assignees from issues whose repositories are locked.
func unassign(tx *db.Tx, list []assignment) error {
	left, pairs := map[ID][]account.ID{}, make([]any, 0, 2*len(list))
	for _, a := range list {
		if _, ok := left[a.issue]; !ok {
			left[a.issue] = a.assignees
		}
		left[a.issue] = difference(left[a.issue], []account.ID{a.user})
		pairs = append(pairs, a.issue, a.user)
	}
	var rows, without []any
	for id, assignees := range left {
		rows = append(rows, id, joinIDs(assignees))
		if len(assignees) == 0 {
			without = append(without, id)
		}
	}
	with := issuekit.With(len(left), "BIGINT", "TEXT")
	if err := tx.Run(with+`UPDATE issues SET assignees = (SELECT v.b FROM v WHERE v.a = issues.id)
		WHERE id IN (SELECT v.a FROM v)`, rows...); err != nil {
		return err
	}
	const gone = `(issue_id, value) IN (SELECT v.a, v.b FROM v)`
	with = issuekit.With(len(list), "BIGINT", "BIGINT")
	if err := dropPostings(tx, with, gone, pairs); err != nil || len(without) == 0 {
		return err
	}
	return nobodyAssigned(tx, without)
}

// dropPostings removes and counts off postings of assignees for which a condition holds.
func dropPostings(tx *db.Tx, with, gone string, args []any) error {
	gone = fmt.Sprintf(`kind = %d AND %s`, posting.ByAssignee, gone)
	return runAll(tx, args,
		with+recount(`SELECT repo_id, kind, value, state, -COUNT(*) FROM postings WHERE `+gone+`
			GROUP BY repo_id, kind, value, state`),
		with+`DELETE FROM postings WHERE `+gone)
}

// nobodyAssigned updates the postings of issues that lost their last assignee.
func nobodyAssigned(tx *db.Tx, issues []any) error {
	had := fmt.Sprintf(`FROM postings WHERE kind = %d AND value = %d AND issue_id IN `+db.Values(1, len(issues)),
		posting.ByAssignee, posting.Any)
	const group = ` GROUP BY repo_id, kind, state`
	return runAll(tx, issues,
		recount(fmt.Sprintf(`SELECT repo_id, kind, %d, state, COUNT(*) `, posting.None)+had+group),
		recount(fmt.Sprintf(`SELECT repo_id, kind, %d, state, -COUNT(*) `, posting.Any)+had+group),
		fmt.Sprintf(`UPDATE postings SET value = %d WHERE kind = %d AND value = %d AND issue_id IN `,
			posting.None, posting.ByAssignee, posting.Any)+db.Values(1, len(issues)))
}

func runAll(tx *db.Tx, args []any, statements ...string) error {
	for _, s := range statements {
		if err := tx.Run(s, args...); err != nil {
			return err
		}
	}
	return nil
}

// recount returns a statement that adds the counts of a query to posting_counts.
func recount(query string) string {
	return `INSERT INTO posting_counts (repo_id, kind, value, state, n) ` + query + `
		ON CONFLICT (repo_id, kind, value, state) DO UPDATE SET n = posting_counts.n + excluded.n`
}

// unassignEverywhere unassigns an account that is deleted.
func unassignEverywhere(tx *db.Tx, id account.ID) error {
	from := fmt.Sprintf(`postings p JOIN issues i ON i.id = p.issue_id JOIN repos x ON x.id = p.repo_id
		WHERE p.kind = %d AND p.value = $1`, posting.ByAssignee)
	return issuekit.DropLost(tx, func() ([]assignment, []issuekit.Lost, error) {
		return assignments(tx, from, id)
	}, func(list []assignment) error { return unassign(tx, list) })
}
