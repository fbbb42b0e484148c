package issue

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// issueColumns are the columns that scanIssue reads, of issues i.
const issueColumns = `i.id, i.repo_id, i.number, i.pull, i.title, i.body, i.author_id, i.state, i.state_reason,
	i.locked, i.lock_reason, COALESCE(i.milestone_id, 0), i.labels, i.assignees, i.comments, i.reacted,
	i.created_at, i.updated_at, i.closed_at, COALESCE(i.closed_by, 0), i.draft, i.merged_at, i.pinned_at,
	COALESCE(i.pinned_by, 0)`

// scanIssue reads issueColumns. Error: 404 if the row does not exist.
func scanIssue(row db.Scanner) (*Issue, error) {
	var i Issue
	var state, reason int64
	var labels, assignees string
	err := row.Scan(&i.ID, &i.RepoID, &i.Number, &i.Pull, &i.Title, &i.Body, &i.AuthorID, &state, &reason,
		&i.Locked, &i.LockReason, &i.MilestoneID, &labels, &assignees, &i.Comments, &i.Reacted,
		&i.CreatedAt, &i.UpdatedAt, &i.ClosedAt, &i.ClosedBy, &i.Draft, &i.MergedAt, &i.PinnedAt,
		&i.PinnedBy)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	i.State, i.StateReason = State(state), Reason(reason)
	i.Labels, i.Assignees = splitIDs[int64](labels), splitIDs[account.ID](assignees)
	return &i, nil
}

// queryIssues reads issues. rest follows FROM issues i.
func queryIssues(tx *db.Tx, rest string, args ...any) ([]*Issue, error) {
	return db.QueryList(tx, scanIssue, `SELECT `+issueColumns+` FROM issues i`+rest, args...)
}

// ByNumber reads an issue or pull request of a repository. Error: 404.
func ByNumber(tx *db.Tx, repoID repo.ID, number int64) (*Issue, error) {
	return scanIssue(tx.QueryRow(byNumber, repoID, number))
}

const byNumber = `SELECT ` + issueColumns + ` FROM issues i WHERE i.repo_id = $1 AND i.number = $2`

// ByIDs reads issues in one query, in the order of the ids. Ids read in the same transaction are all found.
func ByIDs(tx *db.Tx, ids []ID) ([]*Issue, error) {
	found, err := db.QueryByID(ids, func(i *Issue) ID { return i.ID }, func() ([]*Issue, error) {
		return queryIssues(tx, ` WHERE i.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
	})
	if err != nil {
		return nil, err
	}
	list := make([]*Issue, 0, len(ids))
	for _, id := range ids {
		if i := found[id]; i != nil {
			list = append(list, i)
			delete(found, id) // ids may repeat
		}
	}
	return list, nil
}

// takeNumber locks the repository and takes the number of a new open issue (decision 31) and its id. Error:
// 404 if the repository was deleted.
func takeNumber(tx *db.Tx, i *Issue) error {
	err := tx.QueryRow(`UPDATE repos SET issues_generation = issues_generation + 1,
		next_number = next_number + 1,
		open_issues = open_issues + 1 WHERE id = $1 RETURNING next_number - 1`, i.RepoID).
		Scan(&i.Number)
	if errors.Is(err, db.ErrNoRows) {
		return errs.Absent()
	}
	if err != nil {
		return err
	}
	id, err := tx.NextID("issues")
	i.ID = ID(id)
	if err != nil {
		return err
	}
	return hook.Watch(tx, i.RepoID)
}

func addOpenIssues(tx *db.Tx, repoID repo.ID, by int64) error {
	err := tx.Run(`UPDATE repos SET open_issues = open_issues + $2 WHERE id = $1`, repoID, by)
	return err
}

// insertIssue inserts an issue with its number and id.
func insertIssue(tx *db.Tx, i *Issue) error {
	return tx.Run(`INSERT INTO issues (id, repo_id, number, pull, title, body, author_id, state, state_reason,
		locked, lock_reason, milestone_id, labels, assignees, comments, created_at, updated_at, draft)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		i.ID, i.RepoID, i.Number, i.Pull, i.Title, i.Body, i.AuthorID, int64(i.State),
		int64(i.StateReason), i.Locked,
		i.LockReason, db.OrNull(i.MilestoneID), joinIDs(i.Labels), joinIDs(i.Assignees), i.Comments,
		i.CreatedAt, i.UpdatedAt, i.Draft)
}

// updateIssue writes all fields that can change.
func updateIssue(tx *db.Tx, i *Issue) error {
	err := tx.Run(`UPDATE issues SET pull = $2, title = $3, body = $4, state = $5, state_reason = $6,
		locked = $7, lock_reason = $8, milestone_id = $9, labels = $10, assignees = $11, comments = $12,
		reacted = $13, updated_at = $14, closed_at = $15, closed_by = $16, draft = $17, merged_at = $18,
		pinned_at = $19, pinned_by = $20 WHERE id = $1`,
		i.ID, i.Pull, i.Title, i.Body, int64(i.State), int64(i.StateReason), i.Locked,
		i.LockReason, db.OrNull(i.MilestoneID), joinIDs(i.Labels), joinIDs(i.Assignees),
		i.Comments, i.Reacted,
		i.UpdatedAt, i.ClosedAt, db.OrNull(i.ClosedBy), i.Draft, i.MergedAt,
		i.PinnedAt, db.OrNull(i.PinnedBy))
	return err
}

// Numbered reads issues by number with one statement. Unknown numbers are missing from the map.
func Numbered(tx *db.Tx, list []repo.Of[int64]) (map[repo.Of[int64]]*Issue, error) {
	found := make(map[repo.Of[int64]]*Issue, len(list))
	if len(list) == 0 {
		return found, nil
	}
	with, args := repo.Pairs(list, "BIGINT")
	issues, err := db.QueryList(tx, scanIssue, with+`SELECT `+issueColumns+`
		FROM v JOIN issues i ON i.repo_id = v.repo AND i.number = v.key`, args...)
	in := repo.In(list)
	for _, i := range issues {
		found[repo.Of[int64]{In: in[i.RepoID], Key: i.Number}] = i
	}
	return found, err
}

// settledAccounts returns the accounts that participation in the issue does not subscribe: they are
// subscribed or have unsubscribed.
func settledAccounts(tx *db.Tx, issueID ID, users []account.ID) (map[account.ID]bool, error) {
	done := map[account.ID]bool{}
	if len(users) == 0 {
		return done, nil
	}
	in := db.ValuesFrom(3, 1, len(users))
	list, err := db.QueryIDs[account.ID](tx,
		`SELECT value FROM postings WHERE issue_id = $1 AND kind = $2 AND value IN `+
			in+` UNION ALL SELECT user_id FROM issue_subscriptions WHERE issue_id = $1 AND wish <> 1 AND user_id IN `+in,
		db.Args(users, issueID, int64(posting.BySubscriber))...)
	for _, id := range list {
		done[id] = true
	}
	return done, err
}

// noteReaction records that an issue has reactions and invalidates cached responses (decision 57). It locks
// the repository's row before it checks that the issue exists. Error: 404.
func noteReaction(tx *db.Tx, repoID repo.ID, id ID) error {
	if err := issuekit.Lock(tx, repoID); err != nil {
		return err
	}
	n, err := tx.Exec(`UPDATE issues SET reacted = TRUE, readers_generation = readers_generation + 1
		WHERE id = $1 AND repo_id = $2`, id, repoID)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	return err
}

// PinnedIn reads the pinned issues of a repository, open and closed, by the time of pinning.
func PinnedIn(tx *db.Tx, repoID repo.ID) ([]*Issue, error) {
	return queryIssues(tx, ` WHERE i.repo_id = $1 AND i.pinned_at IS NOT NULL ORDER BY i.pinned_at, i.id`,
		repoID)
}

// Pin names a pinned issue.
type Pin struct {
	ID     ID
	Number int64
	By     account.ID
}

// pinsIn reads the pinned issues of repositories, by the time of pinning.
func pinsIn(tx *db.Tx, repos []repo.ID) (map[repo.ID][]Pin, error) {
	found := map[repo.ID][]Pin{}
	if len(repos) == 0 {
		return found, nil
	}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var in repo.ID
		var p Pin
		err := row.Scan(&in, &p.ID, &p.Number, &p.By)
		found[in] = append(found[in], p)
		return err
	}, `SELECT repo_id, id, number, COALESCE(pinned_by, 0) FROM issues WHERE pinned_at IS NOT NULL AND repo_id IN `+
		db.Values(1, len(repos))+` ORDER BY pinned_at, id`, db.Args(repos)...)
	return found, err
}
