package checkrun

import (
	"context"
	"encoding/json"

	"arbor/internal/account"
	"arbor/internal/db"
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

// RunForHook gives a run, with its suite, as GitHub's hooks show it. Error: 404.
func (api *API) RunForHook(ctx context.Context, a *repo.Access, id int64) (*Payload, error) {
	var p *Payload
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		run, err := runByID(tx, a.ID, id)
		if err != nil {
			return err
		}
		suite, err := suiteByID(tx, a.ID, run.SuiteID)
		if err != nil {
			return err
		}
		v, err := api.s.look(ctx, tx, a, run.SHA, []account.AppID{run.AppID})
		if err == nil {
			p = v.run(run)
			p.Suite = v.suite(suite)
		}
		return err
	})
	return p, err
}

// SuiteForHook gives a suite as GitHub's hooks show it. Error: 404.
func (api *API) SuiteForHook(ctx context.Context, a *repo.Access, id int64) (*SuitePayload, error) {
	var suite *Suite
	var p *SuitePayload
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if suite, err = suiteByID(tx, a.ID, id); err != nil {
			return err
		}
		v, err := api.s.look(ctx, tx, a, suite.SHA, []account.AppID{suite.AppID})
		if err == nil {
			p = v.suite(suite)
		}
		return err
	})
	if err == nil {
		p.Commit, err = api.s.head(ctx, a, suite.SHA, suite.CreatedAt)
	}
	return p, err
}

// Extras are what pages show of a run beside what the API answers, as at GitHub.
type Extras struct {
	Images []struct {
		Alt     string `json:"alt"`
		URL     string `json:"image_url"`
		Caption string `json:"caption"`
	}
	Actions []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	}
}

// Extras reads those of a run. Error: 404.
func (api *API) Extras(ctx context.Context, a *repo.Access, id int64) (*Extras, error) {
	var e Extras
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		run, err := runByID(tx, a.ID, id)
		if err == nil && run.Images != nil {
			err = json.Unmarshal([]byte(*run.Images), &e.Images)
		}
		if err == nil && run.Actions != nil {
			err = json.Unmarshal([]byte(*run.Actions), &e.Actions)
		}
		return err
	})
	return &e, err
}
