package pull

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/codeowner"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/journal"
	"arbor/internal/pull/automerge"
	"arbor/internal/pull/mergequeue"
	"arbor/internal/repo"
)

// trial is the result of a test merge. It depends only on the two commits.
type trial struct {
	issueID    issue.ID
	base, head git.SHA
	commit     git.SHA // empty: conflict
	purges     int64   // repo.Repo.Purges before the objects were written
	landed     bool    // the base's history contains the head

	additions, deletions, files, commits int64

	listed []git.SHA // the commits by which the pull request can be found
	owners []string  // whose reviews are to be requested; see codeowners.go
}

// fill copies the result to p.
func (t *trial) fill(p *Pull) {
	p.TestedBase, p.TestedHead, p.TestSHA, p.Wanted = t.base, t.head, t.commit, false
	p.Additions, p.Deletions, p.Files, p.Commits = t.additions, t.deletions, t.files, t.commits
}

// failed returns the result for a merge that takes too long: it counts as a conflict, so that clients do
// not wait forever.
func (p *Pull) failed() *trial {
	return &trial{issueID: p.IssueID, base: p.BaseTip, head: p.HeadSHA,
		additions: p.Additions, deletions: p.Deletions, files: p.Files, commits: p.Commits}
}

// tryMerge performs the test merge of a pull request and counts its changes. It writes objects but no rows.
func (s *Service) tryMerge(ctx context.Context, p *Pull) (*trial, error) {
	t := &trial{issueID: p.IssueID, base: p.BaseTip, head: p.HeadSHA}
	if err := s.repos.MarkUnreached(ctx, p.RepoID); err != nil { // refs must not reach its objects yet
		return nil, err
	}
	var err error
	if t.purges, err = s.repos.Purges(ctx, p.RepoID); err != nil {
		return nil, err
	}
	objects, release, err := s.repos.GitOf(ctx, p.RepoID)
	if err != nil {
		return nil, err
	}
	defer release()
	g, ctx := errgroup.WithContext(ctx)
	upToDate := false
	g.Go(func() error {
		commit, m, err := objects.TestMerge(ctx, t.base, t.head)
		if errs.Is(err, errs.TooLarge) {
			return nil // git can never merge these two
		}
		if err == nil {
			t.commit, upToDate = commit, m.UpToDate
		}
		return err
	})
	g.Go(func() error {
		common, err := objects.PullBase(ctx, p.BaseSHA, t.head)
		if err != nil {
			return err
		}
		list, err := objects.NewCommits(ctx, []git.SHA{t.head}, []git.SHA{p.BaseSHA}, maxCounted)
		if err != nil {
			return err
		}
		changes, err := diff.Compare(ctx, objects, common, t.head, diff.Page(0, 0))
		if err != nil {
			return err
		}
		t.commits, t.files = int64(len(list)), int64(changes.Total)
		t.additions, t.deletions = int64(changes.Additions), int64(changes.Deletions)
		t.listed = listed(list)
		if p.unasked() {
			t.owners, err = codeowner.Proposed(ctx, objects, t.base, common, t.head)
		}
		return err
	})
	err = g.Wait()
	t.landed = upToDate && t.commits > 0 // else the head was reset to a commit of the base
	s.repos.Wrote(p.RepoID)
	return t, err
}

// maxCounted is the maximum to which commits of a pull request are counted.
const maxCounted = 100_000

// testNow performs the test merge of a pull request before it is inserted. If that takes long it is scheduled
// instead, and the result is empty.
func (s *Service) testNow(ctx context.Context, p *Pull) (*trial, error) {
	waiting, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	t, err := s.tryMerge(waiting, p)
	switch {
	case err == nil:
		t.fill(p)
		return t, nil
	case waiting.Err() != nil && ctx.Err() == nil:
		p.Wanted = true
		return &trial{}, nil
	}
	return nil, err
}

// errStale means that the head or base has changed since the test merge.
var errStale = errors.New("pull: the head has moved, or the base is another")

// store stores the result of a test merge and updates refs/pull/N/merge.
func (s *Service) store(ctx context.Context, p *Pull, t *trial) error {
	if t.landed {
		return s.markMerged(ctx, p, t.base, 0)
	}
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		if len(t.owners) > 0 { // the pull request changes, not only its row
			if err := issuekit.Lock(tx, p.RepoID); err != nil {
				return err
			}
		}
		merge := t.commit
		if merge == "" {
			merge = git.ZeroSHA
		}
		if err := repo.SetPullRef(tx, p.RepoID, t.purges, p.Number, repo.PullMerge, merge); err != nil {
			return err
		}
		stored, err := storeTrial(tx, p, t)
		switch {
		case err != nil:
			return err
		case !stored:
			return errStale
		}
		if err := noteCommits(tx, p.RepoID, p.IssueID, t.listed); err != nil || len(t.owners) == 0 {
			return err
		}
		by, err := pusherOf(tx, p)
		if err != nil {
			return err
		}
		return s.change(tx, p, by, func(c *issue.Change) error { return askOwners(c, t.owners) })
	})
}

// trialTime is the time limit of a test merge.
const trialTime = time.Minute

// untested reports whether the pull request is open and has no test merge of its current tips.
func (p *Pull) untested() bool { return p.Open && !p.Tested() && p.BaseTip != "" }

// test makes the test merge of an untested pull request now, or leaves it to the worker if it takes long
// (decision 36).
func (s *Service) test(ctx context.Context, p *Pull) error {
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), trialTime)
		defer cancel()
		done <- s.try(ctx, p)
	}()
	timer := time.NewTimer(s.Patience)
	defer timer.Stop()
	select {
	case err := <-done:
		if err != nil && !errors.Is(err, errStale) {
			s.log.WarnContext(ctx, "test merge failed", "pull", p.IssueID, "error", err)
		}
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	now, err := db.Get(ctx, s.db, func(tx *db.Tx) (*Pull, error) { return byID(tx, p.IssueID) })
	if err != nil || now.Tested() || now.Wanted || !now.Open {
		return err
	}
	err = s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error { return want(tx, p.IssueID) })
	s.wakeWorker()
	return err
}

// try performs and stores a test merge. Concurrent calls for the same commits and base share one.
func (s *Service) try(ctx context.Context, p *Pull) error {
	_, err, _ := s.trials.Do(fmt.Sprint(p.IssueID, p.BaseSHA, p.BaseTip, p.HeadSHA), func() (any, error) {
		t, err := s.tryMerge(ctx, p)
		if err == nil {
			err = s.store(ctx, p, t)
		}
		return nil, err
	})
	return err
}

// scheduled is the bell for new test merges.
const scheduled = "test merges"

// wakeWorker wakes the worker.
func (s *Service) wakeWorker() { s.db.Ring(scheduled) }

const (
	leaseTime = 10 * time.Second // then another worker takes the job of a dead one
	pollTime  = 5 * time.Second  // maximum delay of jobs of other processes
	maxTries  = 8                // of one job; then it waits for the next request
	tooLong   = 3                // tries that may take all of trialTime; then it counts as a conflict
)

// Run performs scheduled test merges, auto-merges and the work of merge queues until ctx is done. A job is a row:
// it survives the process, and others take it when its lease has expired.
func (s *Service) Run(ctx context.Context) error {
	var merges sync.WaitGroup
	merges.Go(func() { db.RunOnBell(ctx, s.db.Bell(automerge.Bell), pollTime, s.mergeReady) })
	merges.Go(func() { db.RunOnBell(ctx, s.db.Bell(mergequeue.Bell), pollTime, s.runQueues) })
	db.RunOnBell(ctx, s.db.Bell(scheduled, repo.Moved), pollTime, s.catchUp)
	merges.Wait()
	return nil
}

// Settle does Run's pending work, and waits for work that Run has begun. It is for tests and seeding.
func (s *Service) Settle(ctx context.Context) error {
	s.mergeReady(ctx)
	s.runQueues(ctx)
	s.catchUp(ctx)
	return ctx.Err()
}

// catchUp does the pending work.
func (s *Service) catchUp(ctx context.Context) {
	s.one.Lock()
	defer s.one.Unlock()
	for _, l := range s.landings.take() {
		ctx := journal.WithJob(ctx, "landing")
		if err := s.land(ctx, l); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "a push was not searched for pull requests", "repo", l.repo, "error", err)
		}
	}
	for s.closeHeadless(ctx) {
	}
	for s.work(ctx) {
	}
}

// work takes a job and does it. It reports whether more may be pending.
func (s *Service) work(ctx context.Context) bool {
	var p *Pull
	var l *db.Lease
	err := s.db.WriteDue(ctx, jobs, `wanted`, func(tx *db.Tx) (err error) {
		p, l, err = Lease(tx, leaseTime)
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			s.log.ErrorContext(ctx, "test merges cannot be scheduled", "error", err)
		}
		return false
	}
	if l != nil {
		s.job(ctx, p, l)
	}
	return l != nil
}

// job does one scheduled test merge. A failed one is retried with increasing delays. If the lease is lost,
// for example because the head has changed, its next holder does the job.
func (s *Service) job(ctx context.Context, p *Pull, l *db.Lease) {
	late := false
	ctx = journal.WithJob(ctx, "test-merge")
	l, err := s.db.Hold(ctx, jobs, l, leaseTime, func(ctx context.Context) error {
		if p.Tested() || p.BaseTip == "" {
			return nil
		}
		work, cancel := context.WithTimeout(ctx, trialTime)
		defer cancel()
		err := s.try(work, p)
		late = work.Err() != nil
		return err
	})
	switch {
	case errors.Is(err, db.ErrLeaseLost) || errors.Is(err, errStale) || ctx.Err() != nil:
		return
	case p.Tested() || p.BaseTip == "":
		err = s.db.Write(ctx, func(tx *db.Tx) error { return giveUp(tx, l) })
	case err == nil:
		return
	default:
		err = s.failed(ctx, p, l, late, err)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, db.ErrLeaseLost) {
		s.log.ErrorContext(ctx, "a test merge cannot be put off", "pull", p.IssueID, "error", err)
	}
}

// failed records that a test merge failed; late means that it took all of its time.
func (s *Service) failed(ctx context.Context, p *Pull, l *db.Lease, late bool, cause error) error {
	s.log.WarnContext(ctx, "test merge failed", "pull", p.IssueID, "try", p.Tries, "error", cause)
	if late && p.Tries >= tooLong {
		return s.store(ctx, p, p.failed())
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if p.Tries >= maxTries {
			return giveUp(tx, l)
		}
		return jobs.PutOff(tx, l, time.Second<<min(p.Tries-1, 10))
	})
}
