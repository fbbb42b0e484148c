// Package keywords reads what the messages of pushed commits say of issues: they
// refer to them, and close them when they land on the default branch.
//
//	keywords.go  the work that a push leaves, and who does it
//	work.go      a piece of it: which commits are new, and what they say
//	store.go     the SQL
//
// Table: pushed_commits.
//
// A push leaves a row for each branch in its own transaction ([NotePush]). Run takes
// the rows under a lease that expires, reads the commits, and removes the
// rows in the transaction that writes what the commits say. So nothing is lost
// with a process; and that two of them now and then read the same commits does
// no harm, since each commit refers to an issue, and closes it, but once.
package keywords

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/journal"
	"arbor/internal/repo"
)

const (
	leaseTime     = 5 * time.Second // after that, work counts as abandoned
	pollTime      = 2 * time.Second // between looks for work of other processes
	maxTries      = 5               // before work that fails is dropped
	workTime      = time.Minute     // for one piece of work
	maxCommits    = 1000            // commits of a push that are read, the newest
	maxReferences = 100             // in one transaction
)

const branches = "refs/heads/"

// pushed is a row of the table pushed_commits.
type pushed struct {
	id       int64
	repoID   repo.ID
	actorID  account.ID
	name     string
	old, new git.SHA
	tries    int64
	request  string // that pushed, for the log; empty: not known
}

// NotePush notes which branches got commits that are to be read, of a repository that has issues. Nothing is noted for
// refs that come into being with their repository.
func NotePush(tx *db.Tx, repoID repo.ID, moved []repo.RefUpdate) error {
	var list []repo.RefUpdate
	for _, u := range moved {
		if u.By != 0 && u.New != git.ZeroSHA && u.New != u.Old && strings.HasPrefix(u.Name, branches) {
			list = append(list, u)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return insert(tx, repoID, list)
}

// Service reads commits.
type Service struct {
	db     *db.DB
	repos  *repo.Service
	issues *issue.Service
	log    *slog.Logger
	one    sync.Mutex // commits are read by one goroutine, for which Settle waits
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, issues *issue.Service, log *slog.Logger) *Service {
	return &Service{db: d, repos: repos, issues: issues, log: log}
}

// Run reads what was pushed, to this process and to others that died, until ctx
// is done. It returns nil: what fails is logged and tried again.
func (s *Service) Run(ctx context.Context) error {
	db.RunOnBell(ctx, s.db.Bell(repo.Moved), pollTime, func(ctx context.Context) {
		for ctx.Err() == nil && s.readOne(ctx) {
		}
	})
	return nil
}

// Settle reads the commits that were pushed before the call. For stores that are
// being filled: what fails is logged, and left to Run.
func (s *Service) Settle(ctx context.Context) error {
	for ctx.Err() == nil && s.readOne(ctx) {
	}
	return ctx.Err()
}

// readOne does one piece of work, and reports whether there may be more.
func (s *Service) readOne(ctx context.Context) (more bool) {
	s.one.Lock()
	defer s.one.Unlock()
	list, err := s.take(ctx)
	if err != nil || len(list) == 0 {
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "looking for pushed commits failed", "error", err)
		}
		return false
	}
	ctx = journal.WithJobOf(ctx, "pushed-commits", list[0].request) // of several requests the first
	limited, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	if err = s.follow(limited, list); err == nil {
		return true
	}
	if ctx.Err() == nil {
		s.log.WarnContext(ctx, "reading pushed commits failed", "repository", list[0].repoID, "branch",
			list[0].name, "try", list[0].tries, "error", err)
	}
	after := context.WithoutCancel(ctx)
	err = s.db.Write(after, func(tx *db.Tx) error {
		switch {
		case ctx.Err() != nil: // a stop: the worker that comes next goes on
			return postpone(tx, list, 0)
		case list[0].tries >= maxTries:
			return remove(tx, list)
		}
		return postpone(tx, list, time.Second<<list[0].tries)
	})
	if err != nil {
		s.log.WarnContext(ctx, "pushed commits stay for a later time", "error", err)
	}
	return true
}

// take leases a piece of work, if there is any.
func (s *Service) take(ctx context.Context) (list []pushed, err error) {
	err = s.db.WriteDue(ctx, jobs, `TRUE`, func(tx *db.Tx) (err error) {
		list, err = take(tx, leaseTime)
		return err
	})
	return list, err
}
