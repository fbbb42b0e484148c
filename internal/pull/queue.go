package pull

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/pull/automerge"
	"arbor/internal/pull/mergequeue"
	"arbor/internal/repo"
	"arbor/internal/rule"
)

// Why pull requests leave a merge queue, in the words of GitHub's webhooks.
const (
	leftMerged    = "MERGE"
	leftByHand    = "MANUAL" // somebody removed or changed the pull request
	leftConflict  = "MERGE_CONFLICT"
	leftFailure   = "CI_FAILURE"
	leftTimeout   = "CI_TIMEOUT"
	leftElsewhere = "ALREADY_MERGED"
	leftCleared   = "QUEUE_CLEARED"      // the branch has no merge queue any more
	leftRules     = "BRANCH_PROTECTIONS" // rules, or the right of the one who enqueued
)

// Errors of merge queues.
var (
	errNoQueue   = errs.New(errs.Invalid, "The base branch has no merge queue")
	errNotQueued = errs.New(errs.Invalid, "Pull request is not in the merge queue")
)

// QueueOptions say how a pull request joins a merge queue.
type QueueOptions struct {
	SHA  string // expected head; empty: not checked
	Jump bool   // before all others, for administrators
}

// Enqueue puts a pull request into the merge queue of its base, which merges it as the caller. All that rules ask
// of the pull request itself must be there. The caller must have push access, and admin access to jump the queue.
// Errors: 403, 404, 409, 422.
func (s *Service) Enqueue(ctx context.Context, a *repo.Access, number int64, o QueueOptions) error {
	if o.Jump && a.Role < account.Admin {
		return errs.New(errs.Forbidden, "Must have admin rights to Repository to jump the merge queue.")
	}
	page, err := s.testedPage(ctx, a, number, whole)
	if err != nil {
		return err
	}
	i := page.Issues()[0]
	p := page.pulls[i.ID]
	outlook := page.outlooks[int64(i.ID)]
	state := page.mergeState(i, p)
	switch {
	case !p.Open:
		return notWaiting("closed")
	case outlook == nil || outlook.Queue == nil:
		return errNoQueue
	case len(outlook.Missing) > 0 && state == "blocked":
		return lacking(outlook)
	case state != "clean" && state != "unstable":
		return notWaiting(state)
	}
	return s.enqueueNow(ctx, a, p, o)
}

// enqueueNow is Enqueue for a pull request that was found to be ready.
func (s *Service) enqueueNow(ctx context.Context, a *repo.Access, p *Pull, o QueueOptions) error {
	_, err := s.issues.Change(ctx, a, p.Number, func(c *issue.Change) error { return enqueue(c, a, p, o) })
	return err
}

func lacking(o *rule.Outlook) error {
	return errs.New(errs.Invalid, "Pull request is not ready for the merge queue: "+strings.Join(o.Missing, " "))
}

// enqueue is the transaction of Enqueue. What was checked before may have changed; code owners are asked again when
// the pull request is merged.
func enqueue(c *issue.Change, a *repo.Access, p *Pull, o QueueOptions) error {
	now, err := byID(c.Tx, p.IssueID)
	switch {
	case err != nil:
		return err
	case !now.Open || now.Merged() || now.HeadRepoID == 0:
		return notWaiting("closed")
	case c.Issue.Draft:
		return notWaiting("draft")
	case o.SHA != "" && !strings.EqualFold(o.SHA, string(now.HeadSHA)), now.HeadSHA != p.HeadSHA:
		return errHeadModified
	case now.Tested() && now.TestSHA == "":
		return notWaiting("dirty")
	}
	found, err := rule.Outlooks(c.Tx, []rule.Candidate{now.candidate()})
	if err != nil {
		return err
	}
	outlook := found[int64(p.IssueID)]
	if outlook == nil || outlook.Queue == nil {
		return errNoQueue
	}
	if len(outlook.Missing) > 0 {
		return lacking(outlook)
	}
	if _, err := automerge.Drop(c.Tx, p.IssueID); err != nil {
		return err
	}
	c.Event(issue.EventEnqueued, issue.Event{})
	c.Touch()
	return mergequeue.Put(c.Tx, mergequeue.Branch{Repo: p.RepoID, Name: now.BaseRef}, &mergequeue.Entry{
		IssueID: p.IssueID, By: a.Caller.ID, Installation: a.Caller.InstallationOf(), At: c.Tx.Now, Jumped: o.Jump})
}

// Dequeue takes a pull request out of its merge queue, for people with push access and for the author. Errors: 403,
// 404; 422 if it is in none.
func (s *Service) Dequeue(ctx context.Context, a *repo.Access, number int64) error {
	_, i, err := s.Find(ctx, a, number)
	if err == nil {
		err = mayEdit(a, i, account.Push)
	}
	if err != nil {
		return err
	}
	_, err = s.issues.Change(ctx, a, number, func(c *issue.Change) error {
		left, err := dequeue(c, leftByHand)
		if err == nil && !left {
			err = errNotQueued
		}
		return err
	})
	return err
}

// dequeue takes a pull request out of its merge queue and says why. It reports whether it was in one.
func dequeue(c *issue.Change, why string) (bool, error) {
	e, err := mergequeue.Remove(c.Tx, c.Issue.ID)
	if err != nil {
		return false, ignoreAbsent(err)
	}
	if why == leftElsewhere {
		merged, err := mergequeue.WasMerged(c.Tx, e.ID)
		if err != nil {
			return false, err
		}
		if merged {
			why = leftMerged
		}
	}
	c.Event(issue.EventDequeued, issue.Event{Detail: issue.Detail{Reason: why}})
	c.Touch()
	return true, nil
}

// queueActor returns the repository as the account sees it that put a pull request into a queue. Errors: lostError
// if that account may no longer merge; 404 for a deleted repository.
func queueActor(tx *db.Tx, e *mergequeue.Entry, in repo.ID) (*repo.Access, error) {
	return actorOf(tx, e.By, e.Installation, in)
}
