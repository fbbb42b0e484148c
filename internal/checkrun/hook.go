package checkrun

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/repo"
)

// event is what hooks are told of a run.
func event(a *repo.Access, run *Run, action string) hook.Event {
	return hook.Event{Name: "check_run", Action: action, Actor: account.IDOf(a.Caller),
		About: hook.About{ID: run.ID}}
}

// completed tells of a run that is completed now, or has come to something else.
func completed(a *repo.Access, before, run *Run) []hook.Event {
	if run.Status != Completed || before != nil && before.Status == Completed &&
		before.Conclusion == run.Conclusion {
		return nil
	}
	return []hook.Event{event(a, run, "completed")}
}

// suiteEvent is what hooks are told of a suite.
func suiteEvent(a *repo.Access, id int64, action string) hook.Event {
	return hook.Event{Name: "check_suite", Action: action, Actor: account.IDOf(a.Caller),
		About: hook.About{ID: id}}
}

// tellApp tells the App of a run or a suite alone, as it is asked for something.
func tellApp(tx *db.Tx, repoID repo.ID, app account.AppID, e hook.Event) error {
	return hook.RecordForApp(tx, app, repoID, e)
}

// RunForHook renders a run, with its suite, as hooks are told of it. Error: 404.
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

// SuiteForHook renders a suite as hooks are told of it, but for its head_commit. Error: 404.
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

// HeadForHook gives the head_commit of a suite, which git knows; since is when the suite was made.
func (s *Service) HeadForHook(ctx context.Context, a *repo.Access, sha git.SHA, since db.Time) (any, error) {
	return s.head(ctx, a, sha, since)
}
