// Package automerge stores which pull requests are merged as soon as rules allow it. Package pull enables
// auto-merge, and merges.
//
// Table: auto_merges. Each row is a job as well (db.Jobs). Whatever may have been the last thing that a pull
// request lacked calls one of the Wake functions in its transaction: a review, a resolved conversation, a status,
// a check run, a push, a rule, a setting. They run one statement, however many pull requests it concerns. The
// worker of package pull then examines the pull requests. So nothing is lost with a killed server, and packages
// that pull imports can wake it. The Wake functions wake merge queues as well.
package automerge

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/pull/mergequeue"
	"arbor/internal/repo"
)

// Request is a row of table auto_merges.
type Request struct {
	ID           int64
	IssueID      issue.ID // of the pull request
	RepoID       repo.ID  // the base repository
	By           account.ID
	Installation account.InstallationID // of an App; 0: By is a user
	At           db.Time
	Method       int64   // a pull.Method
	Title        *string // of the commit; nil: the default
	Message      *string // below the title; nil: the default
	Email        *string // of the commit's author; nil: the address of the account
	Tries        int64
}

// Jobs are the requests to be examined: rows with wanted set.
var Jobs = db.Jobs{Table: "auto_merges", Key: "id"}

// Bell is the topic of the bell for new jobs.
const Bell = "auto-merges"

const columns = `m.id, m.issue_id, m.repo_id, m.enabled_by, m.installation_id, m.enabled_at, m.method,
	m.title, m.message, m.email, m.tries`

func scan(row db.Scanner) (*Request, error) {
	var r Request
	err := row.Scan(&r.ID, &r.IssueID, &r.RepoID, &r.By, &r.Installation, &r.At, &r.Method, &r.Title,
		&r.Message, &r.Email, &r.Tries)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &r, err
}

// Of reads the request of a pull request. Error: 404 if auto-merge is not enabled.
func Of(tx *db.Tx, id issue.ID) (*Request, error) {
	return scan(tx.QueryRow(`SELECT `+columns+` FROM auto_merges m WHERE m.issue_id = $1`, id))
}

// OfMany reads the requests of pull requests, by the ids of their issues.
func OfMany(tx *db.Tx, ids []issue.ID) (map[issue.ID]*Request, error) {
	return db.QueryByID(ids, func(r *Request) issue.ID { return r.IssueID }, func() ([]*Request, error) {
		return db.QueryList(tx, scan, `SELECT `+columns+` FROM auto_merges m WHERE m.issue_id IN `+
			db.Values(1, len(ids)), db.Args(ids)...)
	})
}

// Leased reads the requests of a lease.
func Leased(tx *db.Tx, l *db.Lease) ([]*Request, error) {
	return db.QueryList(tx, scan, `SELECT `+columns+` FROM auto_merges m WHERE m.id IN `+
		db.Values(1, len(l.IDs))+` ORDER BY m.id`, db.Args(l.IDs)...)
}

// Put stores a request instead of a former one of the pull request, and wakes the worker.
func Put(tx *db.Tx, r *Request) error {
	if _, err := Drop(tx, r.IssueID); err != nil {
		return err
	}
	tx.Ring(Bell)
	return tx.Run(`INSERT INTO auto_merges (issue_id, repo_id, enabled_by, installation_id, enabled_at, method,
		title, message, email) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		r.IssueID, r.RepoID, r.By, r.Installation, r.At, r.Method, r.Title, r.Message, r.Email)
}

// Drop removes the request of a pull request, and reports whether there was one.
func Drop(tx *db.Tx, id issue.ID) (bool, error) {
	n, err := tx.Exec(`DELETE FROM auto_merges WHERE issue_id = $1`, id)
	return n > 0, err
}

// Wait ends the lease of requests until something changes. Those that have been woken since they were leased stay
// jobs.
func Wait(tx *db.Tx, l *db.Lease, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return tx.Run(`UPDATE auto_merges SET wanted = FALSE, due_at = 0, tries = 0 WHERE due_at = $1 AND id IN `+
		db.ValuesFrom(2, 1, len(ids)), db.Args(ids, l.Until)...)
}

// WakePull has the worker examine a pull request if auto-merge is enabled for it.
func WakePull(tx *db.Tx, id issue.ID) error {
	if err := mergequeue.WakePull(tx, id); err != nil {
		return err
	}
	return wake(tx, `issue_id = $1`, id)
}

// WakeHead has the worker examine the pull requests of a base repository whose head is a commit.
func WakeHead(tx *db.Tx, id repo.ID, sha git.SHA) error {
	if err := mergequeue.WakeHead(tx, id, sha); err != nil {
		return err
	}
	return wake(tx, `issue_id IN (SELECT p.issue_id FROM pulls p
		WHERE p.repo_id = $1 AND p.head_sha = $2 AND p.open)`, id, string(sha))
}

// WakeBases has the worker examine the pull requests into branches of a repository.
func WakeBases(tx *db.Tx, id repo.ID, branches []string) error {
	if err := mergequeue.WakeBases(tx, id, branches); err != nil {
		return err
	}
	return db.InParts(branches, func(part []string) error {
		return wake(tx, `repo_id = $1 AND EXISTS (SELECT 1 FROM pulls p WHERE p.issue_id = auto_merges.issue_id
			AND p.base_ref IN `+db.ValuesFrom(2, 1, len(part))+`)`, db.Args(part, id)...)
	})
}

// WakeRepo has the worker examine all pull requests into a repository.
func WakeRepo(tx *db.Tx, id repo.ID) error {
	if err := mergequeue.WakeRepo(tx, id); err != nil {
		return err
	}
	return wake(tx, `repo_id = $1`, id)
}

// WakeOwner has the worker examine all pull requests into repositories of an account.
func WakeOwner(tx *db.Tx, id account.ID) error {
	if err := mergequeue.WakeOwner(tx, id); err != nil {
		return err
	}
	return wake(tx, `repo_id IN (SELECT r.id FROM repos r WHERE r.owner_id = $1)`, id)
}

// WakeBy has the worker examine the pull requests for which an account enabled auto-merge.
func WakeBy(tx *db.Tx, id account.ID) error {
	if err := mergequeue.WakeBy(tx, id); err != nil {
		return err
	}
	return wake(tx, `enabled_by = $1`, id)
}

// WakeCommits has the worker examine the pull requests that an account opened or pushed to, since its commits may be
// verified now.
func WakeCommits(tx *db.Tx, id account.ID) error {
	const theirs = ` IN (SELECT p.issue_id FROM pulls p JOIN issues i ON i.id = p.issue_id
		WHERE p.open = TRUE AND (p.pushed_by = $1 OR i.author_id = $1))`
	return wake(tx, `issue_id`+theirs, id)
}

func wake(tx *db.Tx, where string, args ...any) error {
	return tx.SendRing(Bell, `UPDATE auto_merges SET wanted = TRUE, due_at = 0, tries = 0 WHERE `+where, args...)
}
