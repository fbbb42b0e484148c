package deployment

import (
	"encoding/json"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/lacking"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/environments
//
// ListEnvironments lists the environments by name.
func (api *API) ListEnvironments(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	page := web.ReadPage(r)
	out := struct {
		Total        int64                `json:"total_count"`
		Environments []environmentPayload `json:"environments"`
	}{Environments: []environmentPayload{}}
	var found []*Environment
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if out.Total, err = countEnvironments(tx, a.ID); err != nil {
			return err
		}
		found, err = environmentsOf(tx, a.ID, page)
		return err
	})
	if err != nil {
		return err
	}
	people, err := api.reviewers(r, found...)
	if err != nil {
		return err
	}
	for _, e := range found {
		out.Environments = append(out.Environments, newEnvironmentPayload(e, people, a, web.From(r.Context())))
	}
	web.Link(w, r, page, out.Total)
	return web.JSON(w, r, http.StatusOK, out)
}

// reviewers reads the accounts that environments name.
func (api *API) reviewers(r *http.Request, list ...*Environment) (people map[account.ID]*account.Account, err error) {
	var ids []account.ID
	for _, e := range list {
		ids = append(ids, e.Reviewers...)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return db.Get(r.Context(), api.s.db, func(tx *db.Tx) (map[account.ID]*account.Account, error) {
		return account.ByIDs(tx, db.Unique(ids))
	})
}

// answer answers with an environment.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, e *Environment) error {
	people, err := api.reviewers(r, e)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newEnvironmentPayload(e, people, a, web.From(r.Context())))
}

// GET /repos/{owner}/{repo}/environments/{environment_name}
//
// GetEnvironment returns an environment. Error: 404.
func (api *API) GetEnvironment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	e, err := db.Get(r.Context(), api.s.db, func(tx *db.Tx) (*Environment, error) {
		return environmentNamed(tx, a.ID, web.Param(r, "environment_name"))
	})
	if err != nil {
		return err
	}
	return api.answer(w, r, a, e)
}

// GET /repos/{owner}/{repo}/environments/{environment_name}/secrets
// GET /repos/{owner}/{repo}/environments/{environment_name}/variables
//
// listNone lists what no environment has. Error: 404 for an environment that does not exist.
func (api *API) listNone(name string) repo.Handler {
	return func(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
		err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
			_, err := environmentNamed(tx, a.ID, web.Param(r, "environment_name"))
			return err
		})
		if err != nil {
			return err
		}
		return lacking.NoneOf(w, r, name)
	}
}

// PUT /repos/{owner}/{repo}/environments/{environment_name}
//
// PutEnvironment creates an environment or replaces its rules. Teams as reviewers are not implemented. Error: 422.
func (api *API) PutEnvironment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadOptional(r, EnvironmentResource)
	if err != nil {
		return err
	}
	n := Environment{Name: web.Param(r, "environment_name"), WaitTimer: body.Int("wait_timer").Value,
		PreventSelfReview: body.Bool("prevent_self_review").Or(false), Reviewers: readReviewers(body),
		Branches: readBranches(body)}
	n.check(body)
	if err := body.Err(); err != nil {
		return err
	}
	e, err := api.s.PutEnvironment(r.Context(), a, n)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, e)
}

// check notes in body what is wrong with an environment but for who reviews.
func (e *Environment) check(body *web.Object) {
	body.CheckText("name", e.Name, maxName)
	body.CheckFilled("name", e.Name)
	if e.WaitTimer < 0 || e.WaitTimer > maxWait {
		body.WrongValue("wait_timer", e.WaitTimer)
	}
	if len(e.Reviewers) > maxReviewers {
		body.Wrong("reviewers", errs.InvalidField, "reviewers must be a list of at most six")
	}
}

// problems is check for an environment that no body describes. Error: 422.
func (e *Environment) problems() error {
	body, err := web.ParseObject([]byte("{}"), EnvironmentResource)
	if err != nil {
		return err
	}
	e.check(body)
	return body.Err()
}

// readReviewers reads the ids of users.
func readReviewers(body *web.Object) (ids []account.ID) {
	var list []struct {
		Type string     `json:"type"`
		ID   account.ID `json:"id"`
	}
	raw := body.Raw("reviewers")
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, &list) != nil || len(list) > maxReviewers {
		body.Wrong("reviewers", errs.InvalidField, "reviewers must be a list of at most six")
		return nil
	}
	for _, one := range list {
		if one.Type != "User" || one.ID <= 0 {
			body.Wrong("reviewers", errs.InvalidField, "a reviewer must be a user")
			return nil
		}
		ids = append(ids, one.ID)
	}
	return db.Unique(ids)
}

// readBranches reads the policy for branches.
func readBranches(body *web.Object) Branches {
	const field = "deployment_branch_policy"
	var policy *struct {
		Protected bool `json:"protected_branches"`
		Custom    bool `json:"custom_branch_policies"`
	}
	raw := body.Raw(field)
	switch {
	case len(raw) == 0:
		return AllBranches
	case json.Unmarshal(raw, &policy) != nil:
		body.Wrong(field, errs.InvalidField, "")
	case policy == nil:
		return AllBranches
	case policy.Protected == policy.Custom:
		body.Wrong(field, errs.InvalidField, "protected_branches and custom_branch_policies cannot have the same value")
	case policy.Custom:
		return CustomBranches
	}
	return ProtectedBranches
}

// DELETE /repos/{owner}/{repo}/environments/{environment_name}
//
// DeleteEnvironment deletes an environment. The deployments to it stay. Error: 404.
func (api *API) DeleteEnvironment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.DeleteEnvironment(r.Context(), a, web.Param(r, "environment_name")); err != nil {
		return err
	}
	return web.NoContent(w)
}
