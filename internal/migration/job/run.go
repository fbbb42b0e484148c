package job

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"strings"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook/outgoing"
	"arbor/internal/journal"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
	"arbor/internal/repo"
)

// turns are the runs on this node.
type turns struct {
	mu      sync.Mutex
	running map[repo.ID]turn
}

type turn struct {
	by    account.ID
	began time.Time
}

// begin takes a slot for an import. full reports that there is none for any.
func (t *turns) begin(c candidate) (ok, full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	recent := 0
	for id, of := range t.running {
		if id == c.id || of.by == c.by {
			return false, len(t.running) >= mostRuns
		}
		if time.Since(of.began) < fresh {
			recent++
		}
	}
	if recent >= slots || len(t.running) >= mostRuns {
		return false, true
	}
	t.running[c.id] = turn{c.by, time.Now()}
	return true, false
}

func (t *turns) end(c candidate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.running, c.id)
}

// Run runs imports that are due until ctx is done, and then waits for those that run. It returns nil: what fails is
// stored or logged.
func (s *Service) Run(ctx context.Context) error {
	db.Work(ctx, s.db, db.Worker[candidate]{Bell: Topic, Every: pollTime, Due: due, Begin: s.turns.begin, End: s.turns.end,
		Run:  func(ctx context.Context, c candidate) { s.run(ctx, c.id) },
		Fail: func(ctx context.Context, err error) { s.warn(ctx, "looking for imports failed", 0, err) }})
	return nil
}

// Backlog returns the numbers of imports that are due.
func (s *Service) Backlog(tx *db.Tx) (db.Backlog, error) {
	return jobs.Backlog(tx, `active = TRUE AND due_at <= `+tx.Engine().Clock())
}

func (s *Service) warn(ctx context.Context, what string, id repo.ID, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, what, "repository", id, "error", err)
	}
}

// run leases an import, does its work, and stores the outcome.
func (s *Service) run(ctx context.Context, id repo.ID) {
	ctx = journal.WithJob(ctx, "import")
	var l *db.Lease
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		l, err = jobs.Take(tx, leased, 1, `repo_id = $3 AND active = TRUE`, id)
		return err
	})
	if err != nil || l == nil {
		s.warn(ctx, "an import could not be leased", id, err)
		return
	}
	var w *work
	l, err = s.db.Hold(ctx, jobs, l, leased, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, maxTime, errLong)
		defer cancel()
		w = s.work(ctx, id)
		return nil
	})
	if errors.Is(err, db.ErrLeaseLost) || errors.Is(w.err, db.ErrLeaseLost) || ctx.Err() != nil {
		return // it was cancelled, another worker has it, or the lease ends by itself
	}
	problem := problemOf(w.err)
	if problem == failedHere {
		s.warn(ctx, "an import failed", id, w.err)
	}
	err = s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		return finish(tx, l, w.hide(problem), w.kept())
	})
	if !errors.Is(err, db.ErrLeaseLost) {
		s.warn(ctx, "the outcome of an import was not stored", id, err)
	}
}

// kept returns the report as JSON for the database, with shortened lists and without the token.
func (w *work) kept() string {
	if w.report == nil {
		return ""
	}
	r := *w.report
	shown := r.Problems[:min(len(r.Problems), maxLines)]
	r.Omitted += int64(len(r.Problems) - len(shown))
	r.Problems = make([]string, len(shown))
	for n, line := range shown {
		r.Problems[n] = w.hide(line)
	}
	r.Mannequins = r.Mannequins[:min(len(r.Mannequins), maxLines)]
	text, err := json.Marshal(&r)
	if err != nil {
		return ""
	}
	return string(text)
}

// hide is a text without the token, which a source might repeat.
func (w *work) hide(text string) string {
	if w.token == "" {
		return text
	}
	return strings.ReplaceAll(text, w.token, "***")
}

// failedHere is what the administrators of a repository read of errors that are for the log.
const failedHere = "internal error of this server: see its log"

// errLong ends a run that takes too long.
var errLong = errs.New(errs.Invalid, "It was stopped after 24 hours. Start it again to import the rest.")

// problemOf is why an import ended early, for the administrators of the repository; empty: it did not.
func problemOf(err error) string {
	if err == nil {
		return ""
	}
	var reason *git.RemoteError
	var refusal *remote.Refusal
	var request *url.Error
	var disk *fs.PathError
	var source *sourceError
	text := failedHere
	switch {
	case errors.As(err, &reason):
		text = reason.Reason
	case errors.As(err, &refusal):
		text = refusal.Text
	case errors.As(err, &request):
		text = request.URL
		if u, err := url.Parse(request.URL); err == nil {
			text = u.Host
		}
		text += ": " + outgoing.Describe(request.Err)
	case errors.As(err, &disk):
	case errs.KindOf(err) != errs.Internal:
		text = repo.ErrText(err)
	case errors.As(err, &source):
		text = source.Error()
	}
	return migration.Clip(strings.ToValidUTF8(text, "?"), maxProblem)
}
