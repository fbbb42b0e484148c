package deployment

import (
	"bytes"
	"encoding/json"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API implements the HTTP handlers of deployments and environments.
type API struct {
	s   *Service
	git *gitdata.Service
}

// NewAPI returns the handlers of s. It uses g to resolve refs.
func NewAPI(s *Service, g *gitdata.Service) *API { return &API{s, g} }

// Routes returns the routes of deployments and environments.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	deployments := repos.Router(route.Needs(scope.PublicRepo|scope.RepoDeployment, "deployments"))
	environments := repos.Router(route.Needs(scope.PublicRepo, "actions"))
	reserved := repos.Router(route.Needs(scope.PublicRepo, "environments"))
	administration := repos.Router(route.Needs(scope.PublicRepo, "administration"))
	const one, statuses = "/repos/{owner}/{repo}/deployments/{deployment_id}", "/deployments/{deployment_id}/statuses"
	return []route.Route{
		deployments.Pull("GET /repos/{owner}/{repo}/deployments", api.List),
		deployments.Push("POST /repos/{owner}/{repo}/deployments", api.Create),
		deployments.Pull("GET "+one, api.Get),
		deployments.Push("DELETE "+one, api.Delete),
		deployments.Pull("GET /repos/{owner}/{repo}"+statuses, api.ListStatuses),
		deployments.Push("POST /repos/{owner}/{repo}"+statuses, api.CreateStatus),
		deployments.Pull("GET /repos/{owner}/{repo}"+statuses+"/{status_id}", api.GetStatus),
		environments.Pull("GET /repos/{owner}/{repo}/environments", api.ListEnvironments),
		environments.Pull("GET /repos/{owner}/{repo}/environments/{environment_name}", api.GetEnvironment),
		reserved.Push("GET /repos/{owner}/{repo}/environments/{environment_name}/secrets", api.listNone("secrets")),
		reserved.Push("GET /repos/{owner}/{repo}/environments/{environment_name}/variables", api.listNone("variables")),
		administration.Admin("PUT /repos/{owner}/{repo}/environments/{environment_name}", api.PutEnvironment),
		administration.Admin("DELETE /repos/{owner}/{repo}/environments/{environment_name}", api.DeleteEnvironment),
	}
}

// GET /repos/{owner}/{repo}/deployments
//
// List lists deployments, the newest first: those with the query's sha, ref, task and environment, where none and no
// value mean all.
func (api *API) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	q := web.QueryOf(r)
	get := func(name string) string {
		if v := q.Get(name); v != "none" {
			return v
		}
		return ""
	}
	f := Filter{SHA: get("sha"), Ref: get("ref"), Task: get("task"), Environment: get("environment")}
	page := web.ReadPage(r)
	found, total, people, err := api.s.find(r, a, f, page)
	if err != nil {
		return err
	}
	web.Link(w, r, page, total)
	info := web.From(r.Context())
	out := make([]*Payload, len(found))
	for n, d := range found {
		out[n] = newPayload(d, people[d.CreatorID], place(info, a), info)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// find reads a page of deployments with their creators.
func (s *Service) find(r *http.Request, a *repo.Access, f Filter, page web.Page) (
	found []*Deployment, total int64, people map[account.ID]*account.Account, err error,
) {
	err = s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if found, total, err = list(tx, a.ID, f, page); err != nil {
			return err
		}
		ids := make([]account.ID, len(found))
		for n, d := range found {
			ids[n] = d.CreatorID
		}
		people, err = account.ByIDs(tx, db.Unique(ids))
		return err
	})
	return found, total, people, err
}

// POST /repos/{owner}/{repo}/deployments
//
// Create creates a deployment of a branch, a tag or a commit. auto_merge is accepted, and merges nothing. Errors: 409
// for an empty repository and if a required status is not a success; 422.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	d, contexts, err := ReadNew(body)
	if err != nil {
		return err
	}
	if d.SHA, err = api.git.CommitNamed(r.Context(), a, d.Ref); errs.Is(err, errs.Invalid) {
		err = errs.Newf(errs.Invalid, "No ref found for: %s", errs.Clip(d.Ref))
	}
	if err != nil {
		return err
	}
	made, err := api.s.Create(r.Context(), a, d, contexts)
	if err != nil {
		return err
	}
	info := web.From(r.Context())
	by, err := api.s.account(r, made.CreatorID)
	if err != nil {
		return err
	}
	p := newPayload(made, by, place(info, a), info)
	return web.Created(w, r, p.URL, p)
}

// ReadNew reads a new deployment, without its commit, and the contexts that must be successes: nil means all. Error:
// 422.
func ReadNew(body *web.Object) (d Deployment, contexts []string, err error) {
	body.Require("ref")
	d = Deployment{Ref: body.String("ref", maxName).Value, Task: body.String("task", maxName).Or("deploy"),
		Environment: body.String("environment", maxName).Or("production"),
		Description: web.OrNil(body.String("description", maxDescription).Value),
		Payload:     readPayload(body), Transient: body.Bool("transient_environment").Or(false)}
	d.Production = body.Bool("production_environment").Or(d.Environment == "production")
	required := body.Strings("required_contexts", maxContexts, maxName)
	body.Bool("auto_merge")
	body.CheckFilled("task", d.Task)
	body.CheckFilled("environment", d.Environment)
	if required.Given() {
		contexts = append([]string{}, required.Value...)
	}
	return d, contexts, body.Err()
}

// readPayload reads the payload, an object or a text, as JSON.
func readPayload(body *web.Object) string {
	raw := bytes.TrimSpace(body.Raw("payload"))
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return `""`
	case raw[0] != '{' && raw[0] != '"':
		body.Wrong("payload", errs.InvalidField, "payload must be an object or a string")
	case len(raw) > maxPayload:
		body.Wrong("payload", errs.Custom, "payload is too large")
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		body.Wrong("payload", errs.InvalidField, "")
	}
	return out.String()
}

func (s *Service) account(r *http.Request, id account.ID) (by *account.Account, err error) {
	return db.Get(r.Context(), s.db, func(tx *db.Tx) (*account.Account, error) {
		return account.ByID(tx, id)
	})
}

// get reads the deployment {deployment_id}. Error: 404.
func (api *API) get(r *http.Request, a *repo.Access) (d *Deployment, err error) {
	id, err := web.Number(r, "deployment_id")
	if err != nil {
		return nil, err
	}
	return db.Get(r.Context(), api.s.db, func(tx *db.Tx) (*Deployment, error) { return byID(tx, a.ID, id) })
}

// GET /repos/{owner}/{repo}/deployments/{deployment_id}
//
// Get returns a deployment. Error: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	d, err := api.get(r, a)
	if err != nil {
		return err
	}
	by, err := api.s.account(r, d.CreatorID)
	if err != nil {
		return err
	}
	info := web.From(r.Context())
	return web.JSON(w, r, http.StatusOK, newPayload(d, by, place(info, a), info))
}

// DELETE /repos/{owner}/{repo}/deployments/{deployment_id}
//
// Delete deletes a deployment with its statuses: one that is not active, or the only one. Errors: 404, 422.
func (api *API) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "deployment_id")
	if err == nil {
		err = api.s.Delete(r.Context(), a, id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}
