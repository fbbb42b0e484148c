package pull

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/issue"
	"arbor/internal/journal"
	"arbor/internal/repo"
)

// trial is a test merge: a pure function of two commits.
type trial struct {
	issueID    issue.ID
	base, head git.SHA
	commit     git.SHA // empty: they do not merge
	purges     int64   // repo.Repo.Purges before the objects were written
	landed     bool    // the head came into the base's history by other means

	additions, deletions, files, commits int64

	listed []git.SHA // the commits by which the pull request is found
}

// fill notes in p what the trial found.
func (t *trial) fill(p *Pull) {
	p.TestedBase, p.TestedHead, p.TestSHA, p.Wanted = t.base, t.head, t.commit, false
	p.Additions, p.Deletions, p.Files, p.Commits = t.additions, t.deletions, t.files, t.commits
}

// failed is the trial of what takes longer to merge than anyone waits: it says
// that the two do not merge, so that nobody waits for ever.
func (p *Pull) failed() *trial {
	return &trial{issueID: p.IssueID, base: p.BaseTip, head: p.HeadSHA,
		additions: p.Additions, deletions: p.Deletions, files: p.Files, commits: p.Commits}
}

// tryMerge makes the test merge of a pull request as it stands, and counts what
// it changes. Objects are written, no row.
func (s *Service) tryMerge(ctx context.Context, p *Pull) (*trial, error) {
	t := &trial{issueID: p.IssueID, base: p.BaseTip, head: p.HeadSHA}
	if err := s.repos.MarkUnreached(ctx, p.RepoID); err != nil { // no ref may come to its merge
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
			return nil // git cannot merge these two, now or later
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
		return nil
	})
	err = g.Wait()
	t.landed = upToDate && t.commits > 0 // else the head was set back to what the base had
	s.repos.Wrote(p.RepoID)
	return t, err
}

// maxCounted is how many commits of a pull request are counted.
const maxCounted = 100_000

// testNow makes the test merge of a pull request that is about to be, and gives
// the commits by which it is found. What takes long is wanted instead.
func (s *Service) testNow(ctx context.Context, p *Pull) ([]git.SHA, error) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t, err := s.tryMerge(waiting, p)
	switch {
	case err == nil:
		t.fill(p)
		return t.listed, nil
	case waiting.Err() != nil && ctx.Err() == nil:
		p.Wanted = true
		return nil, nil
	}
	return nil, err
}

// errStale says that a test merge was of a head or for a base that is none any
// more.
var errStale = errors.New("pull: the head has moved, or the base is another")

// store writes what came of a test merge, and points refs/pull/N/merge at it.
func (s *Service) store(ctx context.Context, p *Pull, t *trial) error {
	if t.landed {
		return s.markMerged(ctx, p, t.base, 0)
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
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
		return noteCommits(tx, p.RepoID, p.IssueID, t.listed)
	})
}

// patience is how long a request waits for the test merge that it needs.
const patience = 2 * time.Second

// trialTime bounds one test merge.
const trialTime = time.Minute

// tested makes sure that an open pull request has a test merge of its present
// tips: it makes it at once, and while that takes long leaves it to the job
// (decision 36). It returns the pull request as it is then.
func (s *Service) tested(ctx context.Context, p *Pull) (*Pull, error) {
	if !p.Open || p.Tested() || p.BaseTip == "" {
		return p, nil
	}
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), trialTime)
		defer cancel()
		done <- s.try(ctx, p)
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-done:
		if err != nil && !errors.Is(err, errStale) {
			s.log.WarnContext(ctx, "test merge failed", "pull", p.IssueID, "error", err)
		}
	case <-timer.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var now *Pull
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		now, err = byID(tx, p.IssueID)
		return err
	})
	if err != nil || now.Tested() || now.Wanted || !now.Open {
		return now, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error { return want(tx, p.IssueID) })
	s.wakeWorker()
	return now, err
}

// try makes and stores a test merge, one at a time for each pair of commits and
// the base that it counts from.
func (s *Service) try(ctx context.Context, p *Pull) error {
	key := fmt.Sprint(p.IssueID, p.BaseSHA, p.BaseTip, p.HeadSHA)
	alone, err := s.trials.Enter(ctx, key)
	if err != nil || !alone {
		return err
	}
	defer s.trials.Leave(key)
	t, err := s.tryMerge(ctx, p)
	if err != nil {
		return err
	}
	return s.store(ctx, p, t)
}

// scheduled is the topic of the bell which says that there may be test merges to make.
const scheduled = "test merges"

// wakeWorker tells the worker that there is work.
func (s *Service) wakeWorker() { s.db.Ring(scheduled) }

const (
	leaseTime = 10 * time.Second // after which another worker takes the job of a dead one
	pollTime  = 5 * time.Second  // how long work of other processes waits at most
	maxTries  = 8                // of one job; then it waits until somebody asks again
	tooLong   = 3                // tries that may take all of trialTime; then the two do not merge
)

// Run makes the test merges that are scheduled, until ctx is done. A job is a row:
// it survives the process, and others take it up when its lease has ended.
func (s *Service) Run(ctx context.Context) error {
	moves, wake := s.repos.Moves(), s.db.Bell(scheduled)
	timer := time.NewTicker(pollTime)
	defer timer.Stop()
	for {
		s.catchUp(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-moves:
		case <-wake:
		case <-timer.C:
		}
	}
}

// Settle does what is due of Run's work, and waits for what Run has begun. For stores that are being filled.
func (s *Service) Settle(ctx context.Context) error {
	s.catchUp(ctx)
	return ctx.Err()
}

// catchUp does what is due.
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

// work takes a job and does it. It reports whether there may be more.
func (s *Service) work(ctx context.Context) bool {
	waiting := false
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		waiting, err = jobs.Due(tx, `wanted`)
		return err
	})
	if err != nil || !waiting {
		return false
	}
	var p *Pull
	var l *db.Lease
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
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

// job does one scheduled test merge; one that fails waits, longer each time. If the lease
// is lost, also because the pull request has another head by now, the next holder does it.
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

// failed notes that a test merge failed, and late that it took all its time.
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
