package keywords

import (
	"errors"
	"slices"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/journal"
	"arbor/internal/repo"
)

// maxBranches is the number of branches in one statement.
const maxBranches = db.MaxValues

// insert leaves work for later: branches that a push has moved.
func insert(tx *db.Tx, repoID repo.ID, list []repo.RefUpdate) error {
	request := journal.ID(tx)
	for part := range slices.Chunk(list, maxBranches) {
		args := make([]any, 0, 8*len(part))
		for _, u := range part {
			args = append(args, repoID, u.By, u.Name, string(u.Old), string(u.New), tx.Now, 0, request)
		}
		err := tx.Send(`INSERT INTO pushed_commits
			(repo_id, actor_id, name, old_sha, new_sha, created_at, due_at, request)
			VALUES `+db.Values(len(part), 8), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// jobs are the rows: branches whose new commits are to be read.
var jobs = db.Jobs{Table: "pushed_commits", Key: "id"}

// take leases the longest due branches that one account has pushed to one repository; it
// may find none. A branch that failed before is taken alone.
func take(tx *db.Tx, length time.Duration) ([]pushed, error) {
	var repoID repo.ID
	var actorID account.ID
	var firstID, tries int64
	err := tx.QueryRow(`SELECT repo_id, actor_id, id, tries FROM pushed_commits
		WHERE due_at <= `+tx.Engine().Clock()+`
		ORDER BY due_at, id LIMIT 1`).Scan(&repoID, &actorID, &firstID, &tries)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var l *db.Lease
	if tries == 0 {
		l, err = jobs.Take(tx, length, maxBranches,
			`repo_id = $3 AND actor_id = $4 AND tries = 0`, repoID, actorID)
	} else {
		l, err = jobs.Take(tx, length, 1, `id = $3`, firstID)
	}
	if err != nil || l == nil {
		return nil, err
	}
	where, args := `id IN `+db.Values(1, len(l.IDs)), make([]any, len(l.IDs))
	for i, id := range l.IDs {
		args[i] = id
	}
	return db.QueryList(tx, func(row db.Scanner) (p pushed, err error) {
		err = row.Scan(&p.id, &p.repoID, &p.actorID, &p.name, &p.old, &p.new, &p.tries, &p.request)
		return p, err
	}, `SELECT id, repo_id, actor_id, name, old_sha, new_sha, tries, COALESCE(request, '')
		FROM pushed_commits WHERE `+where+` ORDER BY id`, args...)
}

// postpone sets leased work to be due after wait.
func postpone(tx *db.Tx, list []pushed, wait time.Duration) error {
	where, args := among(list, 2)
	err := tx.Run(`UPDATE pushed_commits SET due_at = `+tx.Engine().Clock()+` + $1 WHERE `+where,
		append([]any{wait.Microseconds()}, args...)...)
	return err
}

// remove removes work that is done.
func remove(tx *db.Tx, list []pushed) error {
	where, args := among(list, 1)
	err := tx.Run(`DELETE FROM pushed_commits WHERE `+where, args...)
	return err
}

func among(list []pushed, first int) (where string, args []any) {
	for _, p := range list {
		args = append(args, p.id)
	}
	return `id IN ` + db.ValuesFrom(first, 1, len(list)), args
}

// unreadBranches returns, for each branch with unread pushes, the commit before the first of these.
func unreadBranches(tx *db.Tx, repoID repo.ID) (map[string]git.SHA, error) {
	return db.QueryMap[string, git.SHA](tx,
		`SELECT name, old_sha FROM pushed_commits WHERE repo_id = $1 ORDER BY id DESC`, repoID)
}

// closedBy returns all pairs of an issue and a commit that has closed it.
func closedBy(tx *db.Tx, issues []issue.ID) (map[commitOfIssue]bool, error) {
	found := map[commitOfIssue]bool{}
	if len(issues) == 0 {
		return found, nil
	}
	args := []any{int64(issue.EventClosed)}
	for _, id := range issues {
		args = append(args, id)
	}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var k commitOfIssue
		if err := row.Scan(&k.issue, &k.sha); err != nil {
			return err
		}
		found[k] = true
		return nil
	}, `SELECT issue_id, commit_sha FROM issue_events WHERE kind = $1 AND commit_sha IS NOT NULL
		AND issue_id IN `+db.ValuesFrom(2, 1, len(issues)), args...)
	return found, err
}

// Backlog is what is left of pushed commits that are to be read.
func (s *Service) Backlog(tx *db.Tx) (db.Backlog, error) { return jobs.Backlog(tx, `TRUE`) }
