package mergequeue

import (
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// Take leases a queue that is due, or returns nil.
func Take(tx *db.Tx, length time.Duration) (*Queue, *db.Lease, error) {
	l, err := Jobs.Take(tx, length, 1, `wanted`)
	if err != nil || l == nil {
		return nil, nil, err
	}
	if err := tx.Run(`UPDATE merge_queues SET again = FALSE WHERE id = $1`, l.IDs[0]); err != nil {
		return nil, nil, err
	}
	q, err := ByID(tx, l.IDs[0])
	return q, l, err
}

// Wait ends a lease: the queue is due again after some time, or, after all that are due already, if it has been woken
// since or wait is less than 0. With wait 0 it waits to be woken. Error: db.ErrLeaseLost.
func Wait(tx *db.Tx, l *db.Lease, wait time.Duration) error {
	clock := tx.Engine().Clock()
	n, err := tx.Exec(`UPDATE merge_queues SET wanted = again OR CAST($3 AS BOOLEAN), again = FALSE, tries = 0,
			due_at = CASE WHEN again THEN `+clock+` ELSE `+clock+` + CAST($4 AS BIGINT) END
		WHERE due_at = $1 AND id = $2`, l.Until, l.IDs[0], wait != 0, max(0, wait.Microseconds()))
	if err == nil && n == 0 {
		err = db.ErrLeaseLost
	}
	return err
}

// WakePull has the worker look at the queue of a pull request.
func WakePull(tx *db.Tx, id issue.ID) error {
	return wake(tx, `id IN (SELECT e.queue_id FROM queue_entries e WHERE e.issue_id = $1)`, id)
}

// WakeHead has the worker look at the queues that have a group with a commit as its head.
func WakeHead(tx *db.Tx, id repo.ID, sha git.SHA) error {
	return wake(tx, `repo_id = $1 AND EXISTS (SELECT 1 FROM merge_groups g WHERE g.queue_id = merge_queues.id
		AND g.head_sha = $2)`, id, string(sha))
}

// WakeBases has the worker look at the queues of branches of a repository.
func WakeBases(tx *db.Tx, id repo.ID, branches []string) error {
	return db.InParts(branches, func(part []string) error {
		return wake(tx, `repo_id = $1 AND base_ref IN `+db.ValuesFrom(2, 1, len(part)), db.Args(part, id)...)
	})
}

// WakeRepo has the worker look at the queues of a repository.
func WakeRepo(tx *db.Tx, id repo.ID) error { return wake(tx, `repo_id = $1`, id) }

// WakeOwner has the worker look at the queues of repositories of an account.
func WakeOwner(tx *db.Tx, id account.ID) error {
	return wake(tx, `repo_id IN (SELECT r.id FROM repos r WHERE r.owner_id = $1)`, id)
}

// WakeBy has the worker look at the queues in which an account put pull requests.
func WakeBy(tx *db.Tx, id account.ID) error {
	return wake(tx, `id IN (SELECT e.queue_id FROM queue_entries e WHERE e.enqueued_by = $1)`, id)
}

// FollowRename gives the queue of a branch the branch's new name. Its groups, which have the old one, are built again.
func FollowRename(tx *db.Tx, id repo.ID, from, to string) error {
	err := tx.Run(`UPDATE merge_groups SET ended = $1 WHERE ended = 0 AND queue_id IN (
		SELECT q.id FROM merge_queues q WHERE q.repo_id = $2 AND q.base_ref = $3)`, int64(Invalidated), id, from)
	if err != nil {
		return err
	}
	// The worker removes queues that are empty, so there is none that has the new name.
	err = tx.Run(`UPDATE merge_queues SET base_ref = $3 WHERE repo_id = $1 AND base_ref = $2
		AND NOT EXISTS (SELECT 1 FROM merge_queues o WHERE o.repo_id = $1 AND o.base_ref = $3)`, id, from, to)
	if err != nil {
		return err
	}
	return WakeBases(tx, id, []string{from, to})
}

// wake makes jobs of queues. A queue at which a worker is stays leased, and is a job again afterwards. Those that are
// due already keep their turn.
func wake(tx *db.Tx, where string, args ...any) error {
	clock := tx.Engine().Clock()
	return tx.SendRing(Bell, `UPDATE merge_queues SET wanted = TRUE, again = TRUE,
		due_at = CASE WHEN tries > 0 OR wanted AND due_at < `+clock+` THEN due_at ELSE `+clock+` END WHERE `+where, args...)
}
