package checkrun

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/repo"
)

// event returns the webhook event of a run.
func event(a *repo.Access, run *Run, action string) hook.Event {
	return hook.Event{Name: "check_run", Action: action, Actor: account.IDOf(a.Caller),
		About: hook.About{ID: run.ID}}
}

// completed returns the webhook event if the run has just been completed, or its conclusion has changed.
func completed(a *repo.Access, before, run *Run) []hook.Event {
	if run.Status != Completed || before != nil && before.Status == Completed &&
		before.Conclusion == run.Conclusion {
		return nil
	}
	return []hook.Event{event(a, run, "completed")}
}

// suiteEvent returns the webhook event of a suite.
func suiteEvent(a *repo.Access, id int64, action string) hook.Event {
	return hook.Event{Name: "check_suite", Action: action, Actor: account.IDOf(a.Caller),
		About: hook.About{ID: id}}
}

// tellApp sends an event only to the App that owns the run or suite.
func tellApp(tx *db.Tx, repoID repo.ID, app account.AppID, e hook.Event) error {
	return hook.RecordForApp(tx, app, repoID, e)
}

// RunForHook renders a run with its suite for a webhook payload. Error: 404.
func (s *Service) RunForHook(ctx context.Context, tx *db.Tx, a *repo.Access, id int64) (*Payload, error) {
	run, err := runByID(tx, a.ID, id)
	if err != nil {
		return nil, err
	}
	suite, err := suiteByID(tx, a.ID, run.SuiteID)
	if err != nil {
		return nil, err
	}
	v, err := s.look(ctx, tx, a, run.SHA, []account.AppID{run.AppID})
	if err != nil {
		return nil, err
	}
	p := v.run(run)
	p.Suite = v.suite(suite)
	return p, nil
}

// SuiteForHook renders a suite for a webhook payload, without head_commit. Error: 404.
func (s *Service) SuiteForHook(
	ctx context.Context, tx *db.Tx, a *repo.Access, id int64,
) (*SuitePayload, error) {
	suite, err := suiteByID(tx, a.ID, id)
	if err != nil {
		return nil, err
	}
	v, err := s.look(ctx, tx, a, suite.SHA, []account.AppID{suite.AppID})
	if err != nil {
		return nil, err
	}
	return v.suite(suite), nil
}

// HeadForHook returns the head_commit of a suite, read from git. since is the creation time of the suite.
func (s *Service) HeadForHook(ctx context.Context, a *repo.Access, sha git.SHA, since db.Time) (any, error) {
	return s.head(ctx, a, sha, since)
}
