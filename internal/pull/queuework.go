package pull

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/journal"
	"arbor/internal/pull/mergequeue"
	"arbor/internal/repo"
)

// runQueues does what the merge queues that were woken do next.
func (s *Service) runQueues(ctx context.Context) {
	s.queueing.Lock()
	defer s.queueing.Unlock()
	ctx = journal.WithJob(ctx, "merge-queue")
	for {
		more, err := s.runQueue(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "merge queue failed", "error", err)
		}
		if err != nil || !more {
			return
		}
	}
}

// runQueue takes a queue that is due and does all that can be done. It reports whether others may be due.
func (s *Service) runQueue(ctx context.Context) (more bool, err error) {
	var q *mergequeue.Queue
	var l *db.Lease
	err = s.db.WriteDue(ctx, mergequeue.Jobs, `wanted`, func(tx *db.Tx) (err error) {
		q, l, err = mergequeue.Take(tx, leaseTime)
		return err
	})
	if err != nil || l == nil {
		return false, err
	}
	var wait time.Duration
	l, err = s.db.Hold(ctx, mergequeue.Jobs, l, leaseTime, func(ctx context.Context) (err error) {
		wait, err = s.advanceQueue(ctx, q)
		return err
	})
	switch {
	case errors.Is(err, db.ErrLeaseLost):
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err == nil || errs.Is(err, errs.NotFound): // the repository is being deleted
		err = s.db.Write(ctx, func(tx *db.Tx) error {
			if err := mergequeue.Wait(tx, l, wait); err != nil {
				return err
			}
			return mergequeue.DropUnused(tx, q.ID)
		})
	default:
		s.log.WarnContext(ctx, "a merge queue is tried again", "repo", q.RepoID, "branch", q.Base, "error", err)
		pause := time.Second << min(q.Tries, 6)
		err = s.db.Write(ctx, func(tx *db.Tx) error { return mergequeue.Jobs.PutOff(tx, l, pause) })
	}
	if errors.Is(err, db.ErrLeaseLost) {
		err = nil
	}
	return true, err
}

// Bounds of what a worker does for one queue before others have their turn. Somebody may have many pull requests
// built again and again.
const (
	maxSteps = 50
	maxTurn  = 2 * time.Second
)

// advanceQueue makes one step of a queue after another, and returns for how long there is nothing to do then: less
// than 0 if there is more to do at once.
func (s *Service) advanceQueue(ctx context.Context, queue *mergequeue.Queue) (time.Duration, error) {
	start := time.Now()
	for step := 0; step < maxSteps && time.Since(start) < maxTurn; step++ {
		q, err := db.Get(ctx, s.db, func(tx *db.Tx) (*queueState, error) { return readQueue(tx, queue.ID) })
		if err != nil {
			return 0, err
		}
		next := q.next()
		if next.kind == stepWait {
			return next.wait, nil
		}
		if err := s.take(ctx, q, next); err != nil && !errors.Is(err, errMoved) {
			return 0, err
		}
	}
	return -1, nil
}

// take makes a step. Error: errMoved if it is no longer the next.
func (s *Service) take(ctx context.Context, q *queueState, step *queueStep) error {
	switch step.kind {
	case stepDrop:
		return s.dropGroup(ctx, q, step)
	case stepBuild:
		return s.buildGroup(ctx, q, step)
	case stepMerge:
		return s.mergeGroups(ctx, q, step)
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := q.still(tx, step); err != nil {
			return err
		}
		if step.kind == stepInvalidate {
			return mergequeue.End(tx, step.groups, mergequeue.Invalidated)
		}
		for _, l := range step.leave {
			if err := s.removeEntry(tx, q, l.entry, l.why); err != nil {
				return err
			}
		}
		return nil
	})
}

// still locks the repository and returns errMoved unless a step is still the next one.
func (q *queueState) still(tx *db.Tx, step *queueStep) error {
	if err := issuekit.Lock(tx, q.RepoID); err != nil {
		return err
	}
	now, err := readQueue(tx, q.ID)
	if err == nil && (now.Base != q.Base || now.next().key() != step.key()) {
		err = errMoved
	}
	return err
}

// removeEntry takes an entry out of the queue as the account that put it there.
func (s *Service) removeEntry(tx *db.Tx, q *queueState, e *mergequeue.Entry, why string) error {
	return s.change(tx, q.pulls[e.IssueID], e.By, func(c *issue.Change) error {
		_, err := dequeue(c, why)
		return err
	})
}

// evict removes an entry that cannot be built or merged.
func (s *Service) evict(ctx context.Context, q *queueState, step *queueStep, e *mergequeue.Entry, why string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := q.still(tx, step); err != nil {
			return err
		}
		return s.removeEntry(tx, q, e, why)
	})
}

// dropGroup deletes the branch of a group that ended, and tells webhooks.
func (s *Service) dropGroup(ctx context.Context, q *queueState, step *queueStep) error {
	g := step.group
	push := repo.Push{RepoID: q.RepoID, Purges: q.in.Purges, As: db.Server, Queue: true, Updates: []repo.RefUpdate{
		{Name: g.Ref, Old: g.Head, New: git.ZeroSHA, By: g.By, Forward: g.Ended == mergequeue.Merged}}}
	return s.repos.WritePush(ctx, push, func(tx *db.Tx) error {
		if err := q.still(tx, step); err != nil {
			return err
		}
		if _, err := s.repos.MoveRefsIn(tx, push); err != nil { // a branch that is gone is refused
			return err
		}
		if err := tellGroup(tx, q.RepoID, g, "destroyed"); err != nil {
			return err
		}
		return mergequeue.DropGroup(tx, g.ID)
	})
}

// buildGroup merges a pull request onto the group before it and gives the result a branch, for which checks are
// requested. One that conflicts leaves the queue.
func (s *Service) buildGroup(ctx context.Context, q *queueState, step *queueStep) error {
	e := step.entry
	p := *q.pulls[e.IssueID]
	p.BaseTip = step.base
	var a *repo.Access
	var i *issue.Issue
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if a, err = queueActor(tx, e, q.RepoID); err == nil {
			i, err = issue.ByNumber(tx, q.RepoID, p.Number)
		}
		return err
	})
	if err != nil {
		return s.orEvict(ctx, q, step, e, err)
	}
	stopping := ctx
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	method, err := ParseMethod(strings.ToLower(q.rule.Method))
	if err != nil {
		return err
	}
	sha, err := s.commit(ctx, a, &p, i, MergeOptions{Method: method})
	if err != nil && ctx.Err() != nil && stopping.Err() == nil && q.Tries >= tooLong { // as for test merges
		return s.evict(stopping, q, step, e, leftConflict)
	}
	if err != nil {
		return s.orEvict(ctx, q, step, e, err)
	}
	g := &mergequeue.Group{Queue: q.ID, Entry: e.ID, By: e.By, Base: step.base, Head: sha, PullSHA: p.HeadSHA,
		Ref: fmt.Sprintf("%s%s/pr-%d-%s", repo.QueueRefs, q.Base, p.Number, step.base)}
	if g.Told, err = s.groupJSON(ctx, a, g, q.Base); err != nil {
		return err
	}
	push := repo.Push{RepoID: q.RepoID, Purges: a.Purges, As: db.Server, Queue: true,
		Updates: []repo.RefUpdate{{Name: g.Ref, Old: git.ZeroSHA, New: sha, By: e.By, Forward: true}}}
	return s.repos.WritePush(ctx, push, func(tx *db.Tx) error {
		if err := q.still(tx, step); err != nil {
			return err
		}
		refused, err := s.repos.MoveRefsIn(tx, push)
		if err == nil {
			err = refused[0]
		}
		if err != nil {
			return err
		}
		g.At = tx.Now
		if err := mergequeue.AddGroup(tx, g); err != nil {
			return err
		}
		return tellGroup(tx, q.RepoID, g, "checks_requested")
	})
}

// orEvict removes an entry if an error says that it can never be merged, else it returns the error.
func (s *Service) orEvict(ctx context.Context, q *queueState, step *queueStep, e *mergequeue.Entry, err error) error {
	switch {
	case errors.Is(err, errNotMergeable):
		return s.evict(ctx, q, step, e, leftConflict)
	case isLost(err):
		return s.evict(ctx, q, step, e, leftRules)
	}
	return err
}

func isLost(err error) bool {
	var lost *lostError
	return errors.As(err, &lost)
}

// mergeGroups moves the base to the last of some groups and marks their pull requests as merged, in one transaction.
// If rules refuse that, it is tried for the first one alone, which leaves the queue if they refuse it, too.
func (s *Service) mergeGroups(ctx context.Context, q *queueState, step *queueStep) error {
	err := s.mergeEntries(ctx, q, step, step.merge)
	never := func() bool {
		var refused *repo.RuleError
		return errors.As(err, &refused) || isLost(err)
	}
	if never() && len(step.merge) > 1 {
		err = s.mergeEntries(ctx, q, step, step.merge[:1])
	}
	if never() {
		return s.evict(ctx, q, step, step.merge[0], leftRules)
	}
	return err
}

// mergeEntries merges some of the entries of a step.
func (s *Service) mergeEntries(
	ctx context.Context, q *queueState, step *queueStep, entries []*mergequeue.Entry,
) error {
	last := entries[len(entries)-1]
	p := q.pulls[last.IssueID]
	m := &repo.Merge{Pull: int64(last.IssueID), Number: p.Number, Head: p.HeadSHA, Auto: true}
	var groups []int64
	for _, e := range entries {
		groups = append(groups, e.Group.ID)
		m.Queue = append(m.Queue, repo.Queued{Pull: int64(e.IssueID), By: e.By, Tip: e.Group.Head})
	}
	push := repo.Push{RepoID: q.RepoID, Purges: q.in.Purges, Atomic: true, Ruled: true, As: db.Server, Merge: m,
		Updates: []repo.RefUpdate{{Name: heads + q.Base, Old: q.tip, New: last.Group.Head, By: last.By, Forward: true}}}
	return s.repos.WritePush(ctx, push, func(tx *db.Tx) error {
		if err := q.still(tx, step); err != nil {
			return err
		}
		refused, err := s.repos.MoveRefsIn(tx, push)
		if err != nil {
			return err
		}
		if err := repo.RuledOut(refused[0], errs.MethodNotAllowed); err != nil {
			return err
		}
		if refused[0] != nil {
			return errMoved
		}
		if err := mergequeue.End(tx, groups, mergequeue.Merged); err != nil {
			return err
		}
		for _, e := range entries {
			if err := s.concludeEntry(tx, q, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// concludeEntry marks the pull request of an entry as merged by the account that put it into the queue.
func (s *Service) concludeEntry(tx *db.Tx, q *queueState, e *mergequeue.Entry) error {
	p := q.pulls[e.IssueID]
	a, err := queueActor(tx, e, q.RepoID)
	if err != nil {
		return err
	}
	i, err := issue.ByNumber(tx, q.RepoID, p.Number)
	if err == nil {
		err = s.conclude(tx, a, p, i, e.Group.Head)
	}
	if err != nil || !a.Merging.Has(repo.DeletesHead) {
		return err
	}
	return s.deleteHead(tx, a, p)
}

// tellGroup records the webhook event of a group.
func tellGroup(tx *db.Tx, id repo.ID, g *mergequeue.Group, action string) error {
	parts := map[string]json.RawMessage{"merge_group": json.RawMessage(g.Told)}
	if g.Ended != mergequeue.Alive {
		reason, err := json.Marshal(g.Ended.String())
		if err != nil {
			return err
		}
		parts["reason"] = reason
	}
	return hook.Record(tx, id, hook.Event{Name: "merge_group", Action: action, Actor: g.By,
		About: hook.About{Parts: parts}})
}

// groupedJSON is GitHub's merge group.
type groupedJSON struct {
	HeadSHA git.SHA        `json:"head_sha"`
	HeadRef string         `json:"head_ref"`
	BaseSHA git.SHA        `json:"base_sha"`
	BaseRef string         `json:"base_ref"`
	Head    headCommitJSON `json:"head_commit"`
}

type headCommitJSON struct {
	ID        git.SHA    `json:"id"`
	Tree      git.SHA    `json:"tree_id"`
	Message   string     `json:"message"`
	Timestamp string     `json:"timestamp"`
	Author    personJSON `json:"author"`
	Committer personJSON `json:"committer"`
}

type personJSON struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// groupJSON returns a group as webhooks show it.
func (s *Service) groupJSON(ctx context.Context, a *repo.Access, g *mergequeue.Group, base string) (string, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return "", err
	}
	defer release()
	c, err := objects.Commit(ctx, g.Head)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(groupedJSON{g.Head, g.Ref, g.Base, heads + base, headCommitJSON{c.SHA, c.Tree,
		strings.TrimRight(c.Message, "\n"), c.Committer.When.Format(time.RFC3339),
		personJSON{c.Author.Name, c.Author.Email}, personJSON{c.Committer.Name, c.Committer.Email}}})
	return string(b), err
}
