// Package analysis runs jobs that read the tip of a repository's default branch in the background, one after the
// other, at most a fifth of the time. A job is a row of a table with the key repo_id, leased by one process at a time.
//
//	analysis.go   the worker
//	store.go      the SQL
package analysis

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/journal"
	"arbor/internal/repo"
)

const (
	leaseTime = 30 * time.Second // then the job counts as abandoned
	pollTime  = 2 * time.Second  // interval of looking for jobs of other processes
	workTime  = time.Minute      // limit for one repository
	maxTries  = 5                // then a failing job is dropped until it is added again
)

// Job is a repository to be read.
type Job struct {
	RepoID repo.ID
	Tip    git.SHA // of the default branch; empty: no branch

	lease *db.Lease
	tries int64
}

// Worker runs the jobs of one table. Safe for concurrent use.
type Worker struct {
	DB   *db.DB
	Log  *slog.Logger
	Name string  // of the work, in the log
	Bell string  // topic that is rung when a job was added
	Jobs db.Jobs // a table whose key is repo_id
	// Read reads a repository, and returns a function that stores the result in the transaction that completes the
	// job; nil: there is nothing to store. A 404 means that the repository or its branch was just deleted, and
	// completes it, too.
	Read func(ctx context.Context, j *Job) (store func(tx *db.Tx) error, err error)

	one  sync.Mutex // serializes the work on repositories
	last repo.ID    // the last repository; guarded by one
}

// Run runs the jobs that this and other processes add until ctx is done. It returns nil: errors are logged and the
// job is retried.
func (w *Worker) Run(ctx context.Context) error {
	db.RunOnBell(ctx, w.DB.Bell(w.Bell), pollTime, func(ctx context.Context) {
		_ = db.RunInSteps(ctx, func(ctx context.Context) (bool, error) { return w.next(ctx), nil })
	})
	return nil
}

// Settle runs all jobs that were added before the call. It is for seeding and tests: errors are logged, and the job is
// left to Run.
func (w *Worker) Settle(ctx context.Context) error {
	for ctx.Err() == nil && w.next(ctx) {
	}
	return ctx.Err()
}

// Backlog returns the backlog of jobs.
func (w *Worker) Backlog(tx *db.Tx) (db.Backlog, error) { return w.Jobs.Backlog(tx, `TRUE`) }

// next runs one job, and reports whether more may be waiting.
func (w *Worker) next(ctx context.Context) (more bool) {
	w.one.Lock()
	defer w.one.Unlock()
	ctx = journal.WithJob(ctx, w.Name)
	j, err := w.take(ctx)
	if err != nil || j == nil {
		if err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "looking for repositories to read failed", "error", err)
		}
		return false
	}
	limited, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	var store func(tx *db.Tx) error
	lease, failed := w.DB.Hold(limited, w.Jobs, j.lease, leaseTime, func(ctx context.Context) (err error) {
		store, err = w.Read(ctx, j)
		return err
	})
	if errs.Is(failed, errs.NotFound) {
		failed, store = nil, nil
	}
	if failed != nil && ctx.Err() == nil {
		w.Log.WarnContext(ctx, "reading a repository failed", "repository", j.RepoID, "try", j.tries, "error", failed)
	}
	err = w.DB.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		switch {
		case failed == nil && store != nil:
			if err := store(tx); err != nil {
				return err
			}
			return w.Jobs.Remove(tx, lease)
		case failed == nil:
			return w.Jobs.Remove(tx, lease)
		case ctx.Err() != nil: // stopping: the next worker continues
			return w.Jobs.PutOff(tx, lease, 0)
		case j.tries >= maxTries:
			return w.Jobs.Remove(tx, lease)
		}
		return w.Jobs.PutOff(tx, lease, time.Minute<<j.tries)
	})
	if err != nil && !errors.Is(err, db.ErrLeaseLost) { // lost: the job was added again
		w.Log.WarnContext(ctx, "a repository is read again later", "error", err)
		return false
	}
	return true
}
