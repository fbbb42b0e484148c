package checkrun

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/pull/automerge"
	"arbor/internal/repo"
)

// Change is an update of a run. Nil fields keep their values.
type Change struct {
	Name        *string
	Status      Status // 0 keeps the value
	Conclusion  Conclusion
	ExternalID  *string
	DetailsURL  *string
	StartedAt   db.Time // zero keeps the value
	CompletedAt db.Time
	Title       *string
	Summary     *string
	Text        *string
	Images      *string // JSON
	Actions     *string // JSON
	Annotations []Annotation
}

// apply writes the change to r.
func (c *Change) apply(r *Run, now db.Time) {
	if c.Name != nil {
		r.Name = *c.Name
	}
	if c.ExternalID != nil {
		r.ExternalID = *c.ExternalID
	}
	for _, f := range []struct{ to, from **string }{{&r.DetailsURL, &c.DetailsURL}, {&r.Title, &c.Title},
		{&r.Summary, &c.Summary}, {&r.Text, &c.Text}, {&r.Images, &c.Images}, {&r.Actions, &c.Actions}} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	if !c.StartedAt.IsZero() {
		r.StartedAt = c.StartedAt
	}
	switch {
	case c.Status == Completed:
		r.Status, r.Conclusion = Completed, c.Conclusion
		if !c.CompletedAt.IsZero() {
			r.CompletedAt = c.CompletedAt
		} else if r.CompletedAt.IsZero() {
			r.CompletedAt = now
		}
	case c.Status != 0: // restarted
		r.Status, r.Conclusion, r.CompletedAt = c.Status, 0, 0
	}
	r.UpdatedAt = now
}

// Create creates a run of the calling App for a commit of the repository, and its suite if needed. Errors:
// 403 if the caller is not an App; 404 if the repository was deleted; 422 if the commit does not exist or
// the suite is full.
func (s *Service) Create(ctx context.Context, a *repo.Access, sha git.SHA, c *Change) (*Run, error) {
	branch, err := s.check(ctx, a, sha)
	if err != nil {
		return nil, err
	}
	var run *Run
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		suite, err := ensureSuite(tx, a, sha, branch)
		if err != nil {
			return err
		}
		run = &Run{SuiteID: suite.ID, RepoID: a.ID, AppID: suite.AppID, SHA: sha, Status: Queued,
			Latest:    true,
			StartedAt: tx.Now, CreatedAt: tx.Now}
		c.apply(run, tx.Now)
		if err := makeRoom(tx, suite, run); err != nil {
			return err
		}
		if err := insertRun(tx, run); err != nil {
			return err
		}
		if err := annotate(tx, suite, run, 0, c.Annotations); err != nil {
			return err
		}
		return settle(tx, a, suite, append([]hook.Event{event(a, run, "created")}, completed(a, nil, run)...))
	})
	return run, err
}

// check verifies that the caller may write checks and that the repository has the commit. It returns the
// branch whose tip the commit is, or nil. Errors: 403, 422.
func (s *Service) check(ctx context.Context, a *repo.Access, sha git.SHA) (branch *string, err error) {
	if err := mayWrite(a); err != nil {
		return nil, err
	}
	if err = s.repos.CheckNamed(ctx, a, sha); err == nil {
		_, err = s.commit(ctx, a, sha)
	}
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		return nil, noCommit(string(sha))
	}
	if err != nil {
		return nil, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		name, err := repo.BranchAt(tx, a.ID, sha)
		if name != "" {
			branch = &name
		}
		return err
	})
	return branch, err
}

// commit reads a commit. Errors: 404, 422.
func (s *Service) commit(ctx context.Context, a *repo.Access, sha git.SHA) (*git.Commit, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	return objects.Commit(ctx, sha)
}

func noCommit(name string) error { return errs.Newf(errs.Invalid, "No commit found for SHA: %s", name) }

// Edit updates a run of the calling App. Annotations are added to the existing ones. Errors: 403 for other
// callers, 404, 422 for too many annotations.
func (s *Service) Edit(ctx context.Context, a *repo.Access, id int64, c *Change) (run *Run, err error) {
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		suite, before, err := hold(tx, a, id)
		if err != nil {
			return err
		}
		now := *before
		run = &now
		c.apply(run, tx.Now)
		if run.Name != before.Name {
			if err := rename(tx, suite, before, run); err != nil {
				return err
			}
		}
		if err := annotate(tx, suite, run, before.Bytes-before.size(), c.Annotations); err != nil {
			return err
		}
		return settle(tx, a, suite, completed(a, before, run))
	})
	return run, err
}

// Rerequest asks the App of a run to run it again. It queues the suite and leaves the run unchanged.
// Errors: 403, 404.
func (s *Service) Rerequest(ctx context.Context, a *repo.Access, id int64) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		suite, run, err := hold(tx, a, id)
		if err != nil {
			return err
		}
		if err := reset(tx, suite.ID); err != nil {
			return err
		}
		return tellApp(tx, a.ID, run.AppID, event(a, run, "rerequested"))
	})
}

// hold locks the repository's checks and reads a run that the caller may change, and its suite. Errors:
// 403, 404.
func hold(tx *db.Tx, a *repo.Access, id int64) (*Suite, *Run, error) {
	if err := repo.Lock(tx, a.ID); err != nil {
		return nil, nil, err
	}
	run, err := runByID(tx, a.ID, id)
	if err != nil {
		return nil, nil, err
	}
	if err := mayChange(a, run.AppID); err != nil {
		return nil, nil, err
	}
	suite, err := suiteByID(tx, a.ID, run.SuiteID)
	return suite, run, err
}

// makeRoom prepares a suite for a new latest run of this name. It deletes the oldest run of the name if
// there are too many. Error: 422.
func makeRoom(tx *db.Tx, suite *Suite, run *Run) error {
	have, err := countOfName(tx, suite.ID, run.Name)
	switch {
	case err != nil:
		return err
	case have == 0 && suite.Runs >= maxNames:
		return full(Resource, "This check suite has reached the maximum number of check runs.")
	case have >= maxOfName:
		freed, err := dropOldest(tx, suite.ID, run.Name)
		if err != nil {
			return err
		}
		suite.Bytes -= freed
	}
	return unsetLatest(tx, suite.ID, run.Name)
}

// rename changes the name of a run and updates the latest runs of both names. Error: 422.
func rename(tx *db.Tx, suite *Suite, before, now *Run) error {
	if err := makeRoom(tx, suite, now); err != nil {
		return err
	}
	if err := setName(tx, now.ID, now.Name); err != nil {
		return err
	}
	for _, name := range []string{before.Name, now.Name} {
		if err := setLatest(tx, suite.ID, name); err != nil {
			return err
		}
	}
	return nil
}

// annotate adds annotations to a run and writes the run. others is the size of its existing annotations.
// Error: 422.
func annotate(tx *db.Tx, suite *Suite, run *Run, others int64, list []Annotation) error {
	if run.Annotations+int64(len(list)) > maxAnnotations {
		return full(Resource, "This check run has reached the maximum number of annotations.")
	}
	if err := insertAnnotations(tx, run.ID, list); err != nil {
		return err
	}
	for n := range list {
		others += list[n].size()
	}
	run.Annotations += int64(len(list))
	before := run.Bytes
	run.Bytes = run.size() + others
	if suite.Bytes += run.Bytes - before; suite.Bytes > maxSuiteBytes {
		return full(SuiteResource, "This check suite has reached its maximum size.")
	}
	return updateRun(tx, run)
}

func full(resource, message string) error {
	return errs.Validation(errs.Field{Resource: resource, Code: errs.Custom, Message: message})
}

// settle updates the state of a suite after its runs changed, deletes old suites if the repository has too
// many, wakes auto-merge, and records the events.
func settle(tx *db.Tx, a *repo.Access, suite *Suite, events []hook.Event) error {
	t, err := tallyOf(tx, suite.ID)
	if err != nil {
		return err
	}
	was := suite.Status
	suite.Status, suite.Conclusion = t.state()
	suite.Runs = t.Runs
	if err := updateSuite(tx, suite, t.Summary); err != nil {
		return err
	}
	if err := bound(tx, suite); err != nil {
		return err
	}
	if suite.Status == Completed && was != Completed {
		events = append(events, suiteEvent(a, suite.ID, "completed"))
	}
	if err := automerge.WakeHead(tx, a.ID, suite.SHA); err != nil {
		return err
	}
	return hook.Record(tx, a.ID, events...)
}
