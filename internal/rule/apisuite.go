package rule

import (
	"net/http"
	"slices"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// suiteJSON is GitHub's rule-suite in lists.
type suiteJSON struct {
	ID        int64      `json:"id"`
	ActorID   account.ID `json:"actor_id"`
	Actor     *string    `json:"actor_name"`
	Before    git.SHA    `json:"before_sha"`
	After     git.SHA    `json:"after_sha"`
	Ref       string     `json:"ref"`
	RepoID    repo.ID    `json:"repository_id"`
	Repo      string     `json:"repository_name"`
	PushedAt  db.Time    `json:"pushed_at"`
	Result    string     `json:"result"`
	Evaluated *string    `json:"evaluation_result"`
}

// fullSuiteJSON is GitHub's rule-suite.
type fullSuiteJSON struct {
	suiteJSON
	Evaluations []evaluationJSON `json:"rule_evaluations"`
}

type evaluationJSON struct {
	Source struct {
		Type string `json:"type"`
		ID   *int64 `json:"id"`
		Name string `json:"name"`
	} `json:"rule_source"`
	Enforcement string  `json:"enforcement"`
	Result      string  `json:"result"`
	Kind        Kind    `json:"rule_type"`
	Details     *string `json:"details"`
}

// periods are the values of time_period.
var periods = map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
	"month": 30 * 24 * time.Hour}

// suiteFilter chooses among suites. Zero values do not matter.
type suiteFilter struct {
	ref    string
	repo   string // of an organization's: the name of the repository
	actor  string // a login
	period time.Duration
	result Result
}

// GET /repos/{owner}/{repo}/rulesets/rule-suites
//
// ListSuites answers what rules said about updates of refs, the newest first: by default of the last day. Error:
// 422.
func (api *API) ListSuites(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.listSuites(w, r, owner{repo: a.ID})
}

// GET /orgs/{org}/rulesets/rule-suites
//
// ListOrgSuites is ListSuites for all repositories of the organization, or the one of repository_name. Errors: 403,
// 404, 422.
func (api *API) ListOrgSuites(w http.ResponseWriter, r *http.Request, o Owner, _ string) error {
	return api.listSuites(w, r, o.owner)
}

func (api *API) listSuites(w http.ResponseWriter, r *http.Request, of owner) error {
	period, err := web.QueryEnum(r, Resource, "time_period", "day", "hour", "week", "month")
	if err != nil {
		return err
	}
	result, err := web.QueryEnum(r, Resource, "rule_suite_result", "all", "pass", "fail", "bypass")
	if err != nil {
		return err
	}
	q := web.QueryOf(r)
	f := suiteFilter{ref: q.Get("ref"), actor: q.Get("actor_name"), period: periods[period],
		result: Result(max(0, slices.Index(results[:], result)))}
	if of.org != 0 {
		f.repo = q.Get("repository_name")
	}
	page := web.ReadPage(r)
	var list []*Suite
	var total int64
	var people map[account.ID]*account.Account
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if list, total, err = readSuites(tx, of, f, page); err != nil {
			return err
		}
		people, err = account.ByIDs(tx, actorsOf(list))
		return err
	})
	if err != nil {
		return err
	}
	web.Link(w, r, page, total)
	out := []suiteJSON{}
	for _, s := range list {
		out = append(out, newSuiteJSON(s, people))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /repos/{owner}/{repo}/rulesets/rule-suites/{rule_suite_id}
//
// GetSuite answers what each rule said about one update. Error: 404.
func (api *API) GetSuite(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.getSuite(w, r, owner{repo: a.ID})
}

// GET /orgs/{org}/rulesets/rule-suites/{rule_suite_id}
//
// GetOrgSuite is GetSuite for a repository of the organization. Errors: 403, 404.
func (api *API) GetOrgSuite(w http.ResponseWriter, r *http.Request, o Owner, _ string) error {
	return api.getSuite(w, r, o.owner)
}

func (api *API) getSuite(w http.ResponseWriter, r *http.Request, of owner) error {
	id, err := web.Number(r, "rule_suite_id")
	if err != nil {
		return err
	}
	var s *Suite
	var people map[account.ID]*account.Account
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if s, err = suiteByID(tx, of, id); err == nil {
			people, err = account.ByIDs(tx, []account.ID{s.Actor})
		}
		return err
	})
	if err != nil {
		return err
	}
	out := &fullSuiteJSON{suiteJSON: newSuiteJSON(s, people), Evaluations: []evaluationJSON{}}
	for _, e := range s.Evaluations {
		one := evaluationJSON{Enforcement: e.Enforcement, Result: Pass.String(), Kind: e.Kind,
			Details: web.OrNil(e.Problem)}
		if e.Problem != "" {
			one.Result = Fail.String()
		}
		one.Source.Type, one.Source.ID, one.Source.Name = "ruleset", new(e.Ruleset), e.Name
		if e.Protection {
			one.Source.Type, one.Source.ID = "protected_branch", nil
		}
		out.Evaluations = append(out.Evaluations, one)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

func actorsOf(list []*Suite) []account.ID {
	ids := make([]account.ID, len(list))
	for n, s := range list {
		ids[n] = s.Actor
	}
	return db.Unique(ids)
}

func newSuiteJSON(s *Suite, people map[account.ID]*account.Account) suiteJSON {
	out := suiteJSON{ID: s.ID, ActorID: s.Actor, Before: s.Before, After: s.After, Ref: s.Ref, RepoID: s.RepoID,
		Repo: s.RepoName, PushedAt: s.PushedAt, Result: s.Result.String(), Evaluated: web.OrNil(s.Evaluated.String())}
	if by := people[s.Actor]; by != nil {
		out.Actor = &by.Login
	}
	return out
}
