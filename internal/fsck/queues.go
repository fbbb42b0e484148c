package fsck

import (
	"context"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/pull/mergequeue"
	"arbor/internal/repo"
)

// queues compares merge queues with pull requests and with the branches of merge groups. Repair removes what has no
// counterpart: the worker builds the groups that are missing then.
func (c *checker) queues(ctx context.Context) error {
	for _, look := range []func(context.Context) error{c.queueEntries, c.queueGroups, c.queueRefs} {
		if err := look(ctx); err != nil {
			return err
		}
	}
	return nil
}

// queueRow is something that is wrong with a queue.
type queueRow struct {
	repo  repo.ID
	name  string // OWNER/NAME
	id    int64  // of an issue, a group, or the owner of the repository
	about string // #N, or a branch
	sha   git.SHA
}

// queueRows runs a query whose columns are those of queueRow but for the name, for repositories that are not being
// deleted.
func (c *checker) queueRows(ctx context.Context, query string) (list []queueRow, err error) {
	err = c.DB.ReadLong(ctx, func(tx *db.Tx) (err error) {
		list, err = db.QueryList(tx, func(row db.Scanner) (r queueRow, err error) {
			return r, row.Scan(&r.repo, &r.id, &r.about, &r.sha, &r.name)
		}, `SELECT x.repo_id, x.id, x.about, x.sha, a.login||'/'||r.name FROM (`+query+`) x
			JOIN repos r ON r.id = x.repo_id JOIN accounts a ON a.id = r.owner_id
			WHERE NOT EXISTS (SELECT 1 FROM deleted_repos d WHERE d.repo_id = x.repo_id)
			ORDER BY x.repo_id, x.id LIMIT $1`, maxFindings)
		return err
	})
	return list, err
}

func (c *checker) tellQueue(r queueRow, problem string) {
	c.find(Finding{Part: "queues", Repository: r.name, Problem: problem, Repairable: true, Repaired: c.Repair})
}

// queueEntries finds entries of pull requests that are closed, or are not into the branch of the queue.
func (c *checker) queueEntries(ctx context.Context) error {
	list, err := c.queueRows(ctx, `SELECT q.repo_id, e.issue_id AS id, '#'||p.number AS about, '' AS sha
		FROM queue_entries e JOIN merge_queues q ON q.id = e.queue_id JOIN pulls p ON p.issue_id = e.issue_id
		WHERE p.open = FALSE OR p.repo_id <> q.repo_id OR p.base_ref <> q.base_ref`)
	for _, r := range list {
		if err == nil && c.Repair {
			err = c.DB.Write(ctx, func(tx *db.Tx) error {
				_, err := mergequeue.Remove(tx, issue.ID(r.id))
				return ignoreGone(err)
			})
		}
		c.tellQueue(r, r.about+" is in a merge queue, but it is closed or has another base")
	}
	return err
}

// queueGroups finds groups without their branch.
func (c *checker) queueGroups(ctx context.Context) error {
	const lost = `g.ended = 0 AND NOT EXISTS (SELECT 1 FROM refs f
		WHERE f.repo_id = q.repo_id AND f.name = g.ref AND f.sha = g.head_sha)`
	list, err := c.queueRows(ctx, `SELECT q.repo_id, g.id, g.ref AS about, g.head_sha AS sha
		FROM merge_groups g JOIN merge_queues q ON q.id = g.queue_id WHERE `+lost)
	for _, r := range list {
		if err == nil && c.Repair {
			err = c.DB.Write(ctx, func(tx *db.Tx) error {
				err := tx.Run(`DELETE FROM merge_groups WHERE id IN (SELECT g.id FROM merge_groups g
					JOIN merge_queues q ON q.id = g.queue_id WHERE g.id = $1 AND `+lost+`)`, r.id)
				if err != nil {
					return err
				}
				return mergequeue.WakeRepo(tx, r.repo)
			})
		}
		c.tellQueue(r, fmt.Sprintf("the merge group %s has no branch at %s", r.about, r.sha))
	}
	return err
}

// queueRefs finds branches of merge groups that no group has.
func (c *checker) queueRefs(ctx context.Context) error {
	list, err := c.queueRows(ctx, `SELECT f.repo_id, r.owner_id AS id, f.name AS about, f.sha
		FROM refs f JOIN repos r ON r.id = f.repo_id
		WHERE f.name >= '`+repo.QueueRefs+`' AND f.name LIKE '`+repo.QueueRefs+`%/pr-%' AND NOT EXISTS (
			SELECT 1 FROM merge_groups g JOIN merge_queues q ON q.id = g.queue_id
			WHERE q.repo_id = f.repo_id AND g.ref = f.name)`)
	for _, r := range list {
		if err == nil && c.Repair {
			err = c.dropQueueRef(ctx, r)
		}
		c.tellQueue(r, fmt.Sprintf("the branch %s belongs to no merge group", r.about))
	}
	return err
}

// dropQueueRef deletes the branch unless it has moved or belongs to a merge group.
func (c *checker) dropQueueRef(ctx context.Context, r queueRow) error {
	purges, err := c.repos.Purges(ctx, r.repo)
	if err != nil {
		return ignoreGone(err)
	}
	_, err = c.repos.MoveRefs(ctx, repo.Push{RepoID: r.repo, Purges: purges, As: db.Server, Queue: true,
		Updates: []repo.RefUpdate{{Name: r.about, Old: r.sha, New: git.ZeroSHA, By: account.ID(r.id)}},
		If: func(tx *db.Tx, _ []repo.RefUpdate) ([]error, error) {
			has, err := mergequeue.HasGroup(tx, r.repo, r.about)
			if err == nil && has {
				err = errs.New(errs.Conflict, "the branch belongs to a merge group")
				return []error{err}, nil
			}
			return []error{nil}, err
		}})
	return ignoreGone(err)
}

func ignoreGone(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}
