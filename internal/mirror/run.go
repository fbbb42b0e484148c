package mirror

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issuekit"
	"arbor/internal/journal"
	"arbor/internal/repo"
)

// How mirrors share the server, and when they are tried again.
const (
	slots       = 8 // runs at one time on a node
	perOwner    = 2 // of the repositories of one owner
	leased      = time.Minute
	pollTime    = 5 * time.Second
	pause       = time.Second         // between two runs of a mirror
	firstWait   = 2 * time.Minute     // after a first failure; doubled with each further one
	maxWait     = 12 * time.Hour      // between failures
	maxFailing  = 14 * 24 * time.Hour // of failures, after which a mirror is stopped
	minFailures = 10                  // failures, in that time
	never       = 10 * 365 * 24 * time.Hour
	idleWait    = time.Hour // of mirrors of archived and deleted repositories
)

// turns are the runs on this node.
type turns struct {
	mu      sync.Mutex
	running map[int64]bool
	owners  map[account.ID]int
}

// begin takes a slot for a mirror. full reports that all slots are taken.
func (t *turns) begin(c candidate) (ok, full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.running) >= slots {
		return false, true
	}
	if t.running[c.id] || t.owners[c.owner] >= perOwner {
		return false, false
	}
	t.running[c.id] = true
	t.owners[c.owner]++
	return true, false
}

func (t *turns) end(c candidate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.running, c.id)
	if t.owners[c.owner]--; t.owners[c.owner] == 0 {
		delete(t.owners, c.owner)
	}
}

// Run runs mirrors that are due until ctx is done, and then waits for those that run. It returns nil: what fails is
// stored or logged, and tried again.
func (s *Service) Run(ctx context.Context) error {
	if s.Off {
		return nil
	}
	db.Work(ctx, s.db, db.Worker[candidate]{Bell: Topic, Every: pollTime, Due: due, Begin: s.turns.begin, End: s.turns.end,
		Run:  func(ctx context.Context, c candidate) { s.run(ctx, c.id) },
		Fail: func(ctx context.Context, err error) { s.warn(ctx, "looking for mirrors failed", 0, err) }})
	return nil
}

// Settle runs mirrors that are due until none is.
func (s *Service) Settle(ctx context.Context) error {
	for {
		list, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]candidate, error) { return due(tx) })
		if err != nil || len(list) == 0 {
			return err
		}
		for _, c := range list {
			s.run(ctx, c.id)
		}
	}
}

// Backlog returns the numbers of mirrors that are due.
func (s *Service) Backlog(tx *db.Tx) (db.Backlog, error) {
	return jobs.Backlog(tx, `active = TRUE AND due_at <= `+tx.Engine().Clock())
}

func (s *Service) warn(ctx context.Context, what string, id int64, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, what, "mirror", id, "error", err)
	}
}

// stopError is the reason for which a mirror stops until an administrator sets it up again.
type stopError string

func (e stopError) Error() string { return string(e) }

// errIdle says that nothing is copied as long as the repository is archived or deleted.
var errIdle = errors.New("mirror: the repository is archived or deleted")

// run leases a mirror, does its work, and stores the outcome.
func (s *Service) run(ctx context.Context, id int64) {
	ctx = journal.WithJob(ctx, "mirror")
	var l *db.Lease
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		l, err = jobs.Take(tx, leased, 1, `id = $3 AND active = TRUE`, id)
		return err
	})
	if err != nil || l == nil {
		s.warn(ctx, "a mirror could not be leased", id, err)
		return
	}
	var m *Mirror
	var failed error
	l, err = s.db.Hold(ctx, jobs, l, leased, func(ctx context.Context) error {
		m, failed = s.work(ctx, id)
		return nil
	})
	if errors.Is(err, db.ErrLeaseLost) || m == nil || ctx.Err() != nil {
		s.warn(ctx, "a mirror did not run", id, errors.Join(err, failed))
		return // another worker has it, it was removed, or the lease ends by itself
	}
	if failed != nil && !errors.Is(failed, errIdle) && problemOf(failed) == internalErrorText {
		s.warn(ctx, "a mirror failed", id, failed)
	}
	err = s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error { return s.settle(tx, l, m, failed) })
	if errors.Is(err, db.ErrLeaseLost) || errs.Is(err, errs.NotFound) {
		return
	}
	s.warn(ctx, "the outcome of a mirror was not stored", id, err)
}

// work does the work of a mirror. m is nil if it could not be read.
func (s *Service) work(ctx context.Context, id int64) (m *Mirror, err error) {
	var a *repo.Access
	var by account.ID
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		m = nil
		found, err := byID(tx, id)
		if err != nil {
			return err
		}
		if a, err = repo.ByID(tx, &account.Caller{SiteAdmin: true}, found.RepoID); err != nil {
			return err
		}
		m = found
		by, err = m.pusher(tx, a)
		return err
	})
	switch {
	case err != nil:
		return m, err
	case a.Archived || a.Deleted():
		return m, errIdle
	}
	remote, err := s.remote(ctx, m)
	if err != nil {
		return m, err
	}
	if m.Push {
		return m, s.push(ctx, m, a, remote)
	}
	return m, s.pull(ctx, m, a, remote, by)
}

// pusher returns the account that counts as the pusher: the person who set the mirror up, or, if that was the
// operator, the owner of the repository. Error: a stopError if that person may no longer set up mirrors of the
// repository, or if the repository must not be copied any more.
func (m *Mirror) pusher(tx *db.Tx, a *repo.Access) (account.ID, error) {
	switch {
	case m.Push && a.Private && !m.wasPrivate:
		return 0, stopError("the repository became private since the mirror was set up")
	case m.byOperator:
		return a.DoneBy(nil), nil
	case m.CreatedBy == 0:
		return 0, stopError("the account that set the mirror up was deleted")
	}
	people, err := repo.PeopleByID(tx, a.Repo, []account.ID{m.CreatedBy})
	if err != nil {
		return 0, err
	}
	suspended, err := isSuspended(tx, m.CreatedBy)
	if err == nil && (suspended || people[m.CreatedBy].Role < account.Admin && !a.Deleted()) {
		err = stopError(people[m.CreatedBy].Login + ", who set the mirror up, is no longer an administrator of the repository")
	}
	return m.CreatedBy, err
}

// settle stores the outcome of a run, and when the next one is due. Error: db.ErrLeaseLost.
func (s *Service) settle(tx *db.Tx, l *db.Lease, of *Mirror, failed error) error {
	m := *of // the function may run again
	now, err := tx.Clock()
	if err != nil {
		return err
	}
	wait := m.Every
	if errors.Is(failed, errIdle) {
		return jobs.PutOff(tx, l, max(m.Every, idleWait))
	}
	m.note(failed, now)
	switch {
	case m.Push && m.Problem != "":
		wait = objectWait
	case m.Push:
		wait = never
	}
	if m.Failures > 0 {
		wait = max(backoff(m.Failures), m.Every)
	} else if m.Once {
		if ended, err := endImport(tx, l, &m); ended || err != nil {
			return err
		}
	}
	stored, wanted, err := finish(tx, &m)
	if err == nil && stored && !m.Active {
		err = tellStopped(tx, &m)
	}
	if err != nil {
		return err
	}
	if wanted != of.wanted && m.Failures == 0 {
		wait = pause // somebody pushed, or asked, meanwhile
	}
	return jobs.PutOff(tx, l, wait)
}

// endImport makes the repository of an import that succeeded an ordinary one. ended is false if the settings have
// changed since the run began. Error: db.ErrLeaseLost.
func endImport(tx *db.Tx, l *db.Lease, m *Mirror) (ended bool, err error) {
	if err := issuekit.Lock(tx, m.RepoID); err != nil {
		return false, err
	}
	if same, err := holds(tx, m); err != nil || !same {
		return false, err
	}
	if err := jobs.Remove(tx, l); err != nil {
		return false, err
	}
	return true, forget(tx, m)
}

// note notes the outcome of a run.
func (m *Mirror) note(failed error, now db.Time) {
	m.EndedAt = now
	var objects *objectError
	refsCopied := errors.As(failed, &objects) && (!m.Once || objects.absent)
	if failed == nil || refsCopied {
		m.Succeeded, m.Failures, m.failingSince, m.Problem = now, 0, 0, ""
		if refsCopied {
			m.Problem = problemOf(failed)
		}
		return
	}
	if m.Failures++; m.failingSince.IsZero() {
		m.failingSince = now
	}
	m.Problem = problemOf(failed)
	if _, ok := errors.AsType[stopError](failed); ok {
		m.Active, m.Problem = false, "Stopped: "+m.Problem
	} else if m.Failures >= minFailures && now.Time().Sub(m.failingSince.Time()) >= maxFailing {
		m.Active = false
		m.Problem = fmt.Sprintf("Stopped after failing since %s UTC: %s",
			m.failingSince.Time().UTC().Format("2006-01-02 15:04"), m.Problem)
	}
}

// backoff is the time until the next attempt after some failures.
func backoff(failures int64) time.Duration {
	return min(firstWait<<min(failures-1, 20), maxWait)
}

// internalErrorText is what administrators of the repository see instead of an internal error, which is only logged.
const internalErrorText = "internal error of this server: see its log"

// problemOf is why a run failed, for the administrators of the repository. It has no address and no credential in it.
func problemOf(err error) string {
	var remote *git.RemoteError
	var stop stopError
	var objects *objectError
	text := internalErrorText
	switch {
	case errors.As(err, &objects):
		text = objects.Error()
	case errors.As(err, &remote):
		text = remote.Reason
	case errors.As(err, &stop):
		text = stop.Error()
	case errs.KindOf(err) != errs.Internal:
		text = repo.ErrText(err)
	}
	return strings.ToValidUTF8(text[:min(len(text), maxProblem)], "")
}
