package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/migration"
	"arbor/internal/migration/foreign"
	"arbor/internal/migration/remote"
	"arbor/internal/repo"
)

// work is one run.
type work struct {
	s      *Service
	job    *Job
	to     *repo.Access // as nobody
	token  string
	server *foreign.Server   // of the source, once it was asked
	report *migration.Report // nil: it did not come that far
	err    error

	stop context.CancelCauseFunc

	mu   sync.Mutex
	told time.Time // when it was last said how far it is
}

// sourceError is an error of reading the source.
type sourceError struct{ error }

// Unwrap returns the error.
func (e *sourceError) Unwrap() error { return e.error }

// refusedError ends a run that may not go on.
type refusedError struct{ error }

// Unwrap returns the error.
func (e *refusedError) Unwrap() error { return e.error }

// work does the work of an import.
func (s *Service) work(ctx context.Context, id repo.ID) (w *work) {
	w = &work{s: s}
	ctx, w.stop = context.WithCancelCause(ctx)
	defer w.stop(nil)
	defer func() { // data of the source must not crash the server
		if v := recover(); v != nil {
			w.err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if w.err = w.begin(ctx, id); w.err != nil {
		return w
	}
	source, err := w.read(ctx)
	if err != nil {
		w.err = &sourceError{err}
	} else {
		w.report, w.err = w.fill(ctx, source)
		w.err = errors.Join(w.err, source.Close())
	}
	var refused *refusedError
	if cause := context.Cause(ctx); w.err != nil && (errors.Is(cause, errLong) || errors.As(cause, &refused)) {
		w.err = cause
	}
	return w
}

// begin reads the job.
func (w *work) begin(ctx context.Context, id repo.ID) error {
	err := w.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if w.job, err = byRepo(tx, id); err != nil {
			return err
		}
		if w.to, err = repo.ByID(tx, &account.Caller{SiteAdmin: true}, id); err != nil {
			return err
		}
		return w.mayRun(tx)
	})
	switch {
	case err != nil:
		return err
	case w.s.Off():
		return errs.New(errs.Gone, "Imports are switched off on this server.")
	case w.job.tries > maxTries:
		return errs.Newf(errs.Invalid, "It was interrupted %d times.", maxTries)
	}
	w.token, err = w.s.forge.Mirrors.OpenToken(id, w.job.secret)
	return err
}

// mayRun returns why the import must end. It is asked in each transaction that writes.
func (w *work) mayRun(tx *db.Tx) error {
	same, err := holds(tx, w.job)
	if err != nil {
		return err
	}
	if !same {
		return db.ErrLeaseLost
	}
	if w.job.AskedBy == 0 {
		return errs.New(errs.Forbidden, "The account that asked for the import was deleted.")
	}
	now, err := repo.ByID(tx, &account.Caller{SiteAdmin: true}, w.job.RepoID)
	if err != nil {
		return err
	}
	people, err := repo.PeopleByID(tx, now.Repo, []account.ID{w.job.AskedBy})
	if err != nil {
		return err
	}
	suspended, siteAdmin, err := stateOf(tx, w.job.AskedBy)
	switch {
	case err != nil:
		return err
	case now.Deleted():
		return errs.New(errs.Forbidden, "The repository was deleted.")
	case suspended || people[w.job.AskedBy].Role < account.Admin:
		return errs.Newf(errs.Forbidden, "%s, who asked for the import, is no longer an administrator of the repository.",
			w.job.By)
	case w.job.people != "" && !siteAdmin:
		return errs.Newf(errs.Forbidden, "%s mapped people of the source to users here, but is no longer a site administrator.",
			w.job.By)
	}
	return nil
}

// check is that of the import: whether it may go on, and add bytes of text to what counts for the owner.
func (w *work) check(tx *db.Tx, bytes int64) error {
	if err := w.mayRun(tx); err != nil || bytes == 0 {
		return err
	}
	repos := w.s.forge.Repos
	if err := repos.Room.Check(); err != nil {
		return err
	}
	if err := repos.MayAdd(tx, w.job.RepoID, (bytes+1023)/1024); err != nil {
		return err
	}
	return addText(tx, w.job.RepoID, bytes)
}

// tell returns a function that stores the progress of the import from time to time. If the import may not go on,
// the function stops it, even while it only reads.
func (w *work) tell(ctx context.Context) func(part string, done, all int64) {
	return func(part string, done, all int64) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if time.Since(w.told) < tellEvery {
			return
		}
		w.told = time.Now()
		err := w.s.db.Write(ctx, func(tx *db.Tx) error {
			if err := w.mayRun(tx); err != nil {
				return err
			}
			return tell(tx, w.job, w.hide(migration.Clip(part, maxProblem)), done, all)
		})
		if errors.Is(err, db.ErrLeaseLost) || err != nil && errs.KindOf(err) == errs.Forbidden {
			w.stop(&refusedError{err})
			return
		}
		w.s.warn(ctx, "how far an import is was not stored", w.job.RepoID, err)
	}
}

// read reads all records of the source into a temporary folder.
func (w *work) read(ctx context.Context) (foreign.Source, error) {
	repos := w.s.forge.Repos
	o := remote.Options{Token: w.token, Git: w.s.git, Dir: repos.Dir(), Room: repos.Room.Check, Progress: w.tell(ctx),
		Bounds: &remote.Bounds{Networks: w.s.forge.Mirrors.Networks, Answer: maxAnswer, Answers: maxAnswers, Refs: maxRefs,
			Room: w.s.forge.Repos.Room.Check}}
	server, err := foreign.Find(ctx, w.job.URL, o)
	if err == nil && server.IsOrganization() {
		err = errors.New("it is the address of an organization or a group, not of a repository")
	}
	if err != nil {
		return nil, err
	}
	w.server = server
	known, err := w.s.migrations.NumbersOf(ctx, w.to.ID)
	if err != nil {
		return nil, err
	}
	return server.Open(ctx, nil, "", known, o.Progress)
}

// fill imports what the source gave.
func (w *work) fill(ctx context.Context, source foreign.Source) (*migration.Report, error) {
	people, err := w.people(ctx, source)
	if err != nil {
		return nil, err
	}
	return w.s.migrations.Import(ctx, source, migration.ImportOptions{Into: w.to, People: people, ByMap: true,
		MostPeople: mostPeople, Check: w.check, Progress: w.tell(ctx)})
}

// people says whose records become whose: as a site administrator gave it, else those of the token's owner become
// those of the person who asked.
func (w *work) people(ctx context.Context, source foreign.Source) (map[string]string, error) {
	if w.job.people != "" {
		var people map[string]string
		return people, json.Unmarshal([]byte(w.job.people), &people)
	}
	var siteAdmin bool
	err := w.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		_, siteAdmin, err = stateOf(tx, w.job.AskedBy)
		return err
	})
	if err != nil || siteAdmin || w.token == "" {
		return nil, err
	}
	self := w.server.Login(ctx, source)
	if self == "" { // a token that does not tell whose it is maps nobody
		return nil, nil
	}
	return map[string]string{account.Fold(self): w.job.By}, nil
}
