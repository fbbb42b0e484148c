// Package mergequeue stores merge queues: which pull requests wait for one, and which groups are built of them.
// Package pull enqueues, builds and merges.
//
// Tables: merge_queues, a row for each branch whose queue was ever used, is a job (db.Jobs); queue_entries;
// merge_groups. Whatever may change what a queue does next calls one of the Wake functions in its transaction: a
// status, a check run, a push to the base, a rule, a right. They run one statement. Package automerge calls them
// for what wakes auto-merge as well.
//
// A group is the branch of one entry, built on the group before it or on the base. It is good as long as that and
// the head of the pull request stay. The transaction that ends a group only notes why; the worker then deletes its
// branch and tells webhooks.
package mergequeue

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// MaxEntries bounds the entries of a queue.
const MaxEntries = 500

// Queue is a row of table merge_queues.
type Queue struct {
	ID     int64
	RepoID repo.ID
	Base   string // a branch
	Tries  int64
}

// Entry is a pull request in a queue.
type Entry struct {
	ID           int64
	Queue        int64
	IssueID      issue.ID
	By           account.ID
	Installation account.InstallationID // of an App; 0: By is a user
	At           db.Time
	Jumped       bool

	Group *Group // nil: it is not built yet
}

// Ending says why a group ended.
type Ending int64

// Endings as stored.
const (
	Alive Ending = iota
	Merged
	Invalidated
	Dequeued
)

// String returns GitHub's word.
func (e Ending) String() string { return [...]string{"", "merged", "invalidated", "dequeued"}[e] }

// Group is a row of table merge_groups.
type Group struct {
	ID      int64
	Queue   int64
	Entry   int64
	By      account.ID
	Ref     string // refs/heads/gh-readonly-queue/...
	Base    git.SHA
	Head    git.SHA
	PullSHA git.SHA // the head of the pull request
	At      db.Time
	Told    string // as webhooks show it, in JSON; those of entries are read without it
	Ended   Ending
}

// Jobs are the queues in which something may be done.
var Jobs = db.Jobs{Table: "merge_queues", Key: "id"}

// Bell is the topic of the bell for new jobs.
const Bell = "merge-queues"

const queueColumns = `q.id, q.repo_id, q.base_ref, q.tries`

func scanQueue(row db.Scanner) (*Queue, error) {
	var q Queue
	err := row.Scan(&q.ID, &q.RepoID, &q.Base, &q.Tries)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &q, err
}

// ByID reads a queue. Error: 404.
func ByID(tx *db.Tx, id int64) (*Queue, error) {
	return scanQueue(tx.QueryRow(`SELECT `+queueColumns+` FROM merge_queues q WHERE q.id = $1`, id))
}

const entryColumns = `e.id, e.queue_id, e.issue_id, e.enqueued_by, e.installation_id, e.enqueued_at, e.jumped,
	COALESCE(g.id, 0), COALESCE(g.made_by, 0), COALESCE(g.ref, ''), COALESCE(g.base_sha, ''), COALESCE(g.head_sha, ''),
	COALESCE(g.pull_sha, ''), COALESCE(g.made_at, 0)`

const entryFrom = ` FROM queue_entries e LEFT JOIN merge_groups g
	ON g.queue_id = e.queue_id AND g.entry_id = e.id AND g.ended = 0 `

// inOrder is the order in which entries are merged: of those that jumped the last one first.
const inOrder = ` ORDER BY e.queue_id, e.jumped DESC, CASE WHEN e.jumped THEN -e.id ELSE e.id END`

// scanEntry reads entryColumns, and then more columns of the query.
func scanEntry(row db.Scanner, more ...any) (*Entry, error) {
	var e Entry
	g := &Group{}
	err := row.Scan(append([]any{&e.ID, &e.Queue, &e.IssueID, &e.By, &e.Installation, &e.At, &e.Jumped,
		&g.ID, &g.By, &g.Ref, &g.Base, &g.Head, &g.PullSHA, &g.At}, more...)...)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	if g.Queue, g.Entry = e.Queue, e.ID; g.ID != 0 {
		e.Group = g
	}
	return &e, err
}

// Of reads the entry of a pull request. Error: 404 if it is in no queue.
func Of(tx *db.Tx, id issue.ID) (*Entry, error) {
	return scanEntry(tx.QueryRow(`SELECT `+entryColumns+entryFrom+`WHERE e.issue_id = $1`, id))
}

// Entries reads the entries of a queue in their order.
func Entries(tx *db.Tx, queue int64) ([]*Entry, error) {
	return db.QueryList(tx, func(row db.Scanner) (*Entry, error) { return scanEntry(row) },
		`SELECT `+entryColumns+entryFrom+`WHERE e.queue_id = $1`+inOrder, queue)
}

// Branch is a branch of a repository.
type Branch struct {
	Repo repo.ID
	Name string
}

// EntriesOf reads the entries of the queues of branches in their order.
func EntriesOf(tx *db.Tx, list []Branch) (map[Branch][]*Entry, error) {
	found := map[Branch][]*Entry{}
	var ids []repo.ID
	wanted := map[Branch]bool{}
	for _, b := range list {
		ids, wanted[b] = append(ids, b.Repo), true
	}
	ids = db.Unique(ids)
	if len(ids) == 0 {
		return found, nil
	}
	return found, db.QueryEach(tx, func(row db.Scanner) error {
		var in Branch
		e, err := scanEntry(row, &in.Repo, &in.Name)
		if err == nil && wanted[in] {
			found[in] = append(found[in], e)
		}
		return err
	}, `SELECT `+entryColumns+`, q.repo_id, q.base_ref`+entryFrom+`JOIN merge_queues q ON q.id = e.queue_id
		WHERE q.repo_id IN `+db.Values(1, len(ids))+inOrder, db.Args(ids)...)
}

// Put adds a pull request to the queue of a branch and wakes the worker. Errors: 422 if it is in a queue already, and
// for a full queue.
func Put(tx *db.Tx, in Branch, e *Entry) error {
	err := tx.QueryRow(`INSERT INTO merge_queues (repo_id, base_ref, due_at) VALUES ($1, $2, `+tx.Engine().Clock()+`)
		ON CONFLICT (repo_id, base_ref) DO UPDATE SET base_ref = excluded.base_ref RETURNING id`,
		in.Repo, in.Name).Scan(&e.Queue)
	if err != nil {
		return err
	}
	var n int
	if err := tx.QueryRow(`SELECT COUNT(*) FROM queue_entries WHERE queue_id = $1`, e.Queue).Scan(&n); err != nil {
		return err
	}
	if n >= MaxEntries {
		return errs.Newf(errs.Invalid, "The merge queue has %d entries, which is the maximum.", MaxEntries)
	}
	err = tx.QueryRow(`INSERT INTO queue_entries (queue_id, issue_id, enqueued_by, installation_id, enqueued_at, jumped)
		VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`,
		e.Queue, e.IssueID, e.By, e.Installation, e.At, e.Jumped).Scan(&e.ID)
	if errors.Is(err, db.ErrUnique) {
		err = errs.New(errs.Invalid, "Pull request is already in the merge queue")
	}
	if err != nil {
		return err
	}
	return wake(tx, `id = $1`, e.Queue)
}

// Remove takes a pull request out of its queue and returns the entry. Its group ends, and the worker is woken.
// Error: 404 if it is in no queue.
func Remove(tx *db.Tx, id issue.ID) (*Entry, error) {
	e, err := Of(tx, id)
	if err != nil {
		return nil, err
	}
	if err := tx.Run(`UPDATE merge_groups SET ended = $2 WHERE entry_id = $1 AND ended = 0`, e.ID,
		int64(Dequeued)); err != nil {
		return nil, err
	}
	if err := tx.Run(`DELETE FROM queue_entries WHERE id = $1`, e.ID); err != nil {
		return nil, err
	}
	return e, wake(tx, `id = $1`, e.Queue)
}

// AddGroup stores the group of an entry.
func AddGroup(tx *db.Tx, g *Group) error {
	return tx.QueryRow(`INSERT INTO merge_groups
		(queue_id, entry_id, made_by, ref, base_sha, head_sha, pull_sha, made_at, told)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`, g.Queue, g.Entry, g.By, g.Ref, string(g.Base),
		string(g.Head), string(g.PullSHA), g.At, g.Told).Scan(&g.ID)
}

// End notes why groups end.
func End(tx *db.Tx, groups []int64, why Ending) error {
	return db.InParts(groups, func(part []int64) error {
		return tx.Run(`UPDATE merge_groups SET ended = $1 WHERE ended = 0 AND id IN `+db.ValuesFrom(2, 1, len(part)),
			db.Args(part, int64(why))...)
	})
}

// WasMerged reports whether the group of an entry that is gone was merged.
func WasMerged(tx *db.Tx, entry int64) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM merge_groups WHERE entry_id = $1 AND ended = $2)`, entry,
		int64(Merged)).Scan(&is)
	return is, err
}

// Ended reads a group of a queue that has ended, or whose entry went with its account. Error: 404 if there is none.
func Ended(tx *db.Tx, queue int64) (*Group, error) {
	var g Group
	err := tx.QueryRow(`SELECT g.id, g.queue_id, g.entry_id, g.made_by, g.ref, g.base_sha, g.head_sha, g.pull_sha,
		g.made_at, g.told, g.ended FROM merge_groups g WHERE g.queue_id = $1 AND (g.ended > 0
			OR NOT EXISTS (SELECT 1 FROM queue_entries e WHERE e.id = g.entry_id)) ORDER BY g.id LIMIT 1`, queue).
		Scan(&g.ID, &g.Queue, &g.Entry, &g.By, &g.Ref, &g.Base, &g.Head, &g.PullSHA, &g.At, &g.Told, &g.Ended)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	if g.Ended == Alive {
		g.Ended = Dequeued
	}
	return &g, err
}

// HasGroup reports whether a branch of a repository belongs to a group.
func HasGroup(tx *db.Tx, id repo.ID, ref string) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM merge_groups g JOIN merge_queues q ON q.id = g.queue_id
		WHERE q.repo_id = $1 AND g.ref = $2)`, id, ref).Scan(&is)
	return is, err
}

// DropGroup removes a group, whose branch is gone.
func DropGroup(tx *db.Tx, id int64) error {
	return tx.Run(`DELETE FROM merge_groups WHERE id = $1`, id)
}

// DropUnused removes a queue without entries and groups.
func DropUnused(tx *db.Tx, id int64) error {
	return tx.Run(`DELETE FROM merge_queues WHERE id = $1
		AND NOT EXISTS (SELECT 1 FROM queue_entries e WHERE e.queue_id = $1)
		AND NOT EXISTS (SELECT 1 FROM merge_groups g WHERE g.queue_id = $1)`, id)
}
