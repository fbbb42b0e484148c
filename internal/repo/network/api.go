package network

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API answers the requests about forks.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }

// Routes are the endpoints of forks.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	metadata := repos.Router(route.Needs(scope.PublicRepo, "metadata"))
	creation := repos.Router(route.Needs(scope.PublicRepo, route.Never))
	return []route.Route{
		metadata.Pull("GET /repos/{owner}/{repo}/forks", api.ListForks),
		creation.OnArchived().Pull("POST /repos/{owner}/{repo}/forks", api.CreateFork),
	}
}

// POST /repos/{owner}/{repo}/forks
//
// CreateFork forks the repository for the caller or an organization. If that
// owner already has a repository of the network, it is the answer, as at GitHub.
func (api *API) CreateFork(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadOptional(r, repo.Resource)
	if err != nil {
		return err
	}
	organization := body.String("organization", 0)
	name := body.String("name", 0)
	if name.Given() && name.Value != "" {
		if message := repo.CheckName(name.Value); message != "" {
			body.Wrong("name", errs.Custom, message)
		}
	}
	only := body.Bool("default_branch_only")
	if err := body.Err(); err != nil {
		return err
	}
	fork, err := api.s.Fork(r.Context(), a, NewFork{
		Organization: organization.Value, Name: name.Value, DefaultBranchOnly: only.Or(false),
	})
	if err != nil {
		return err
	}
	return api.s.repos.Answer(w, r, http.StatusAccepted, fork)
}

// GET /repos/{owner}/{repo}/forks
//
// ListForks answers the repository's own forks that the caller may see: newest
// (default), oldest, stargazers or watchers first (decisions 13, 24).
func (api *API) ListForks(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sort, err := web.QueryEnum(r, repo.Resource, "sort", "newest", "oldest", "stargazers", "watchers")
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	forks, err := api.s.Forks(r.Context(), a, sort, page)
	if err != nil {
		return err
	}
	web.Link(w, r, page, a.Forks)
	return web.JSON(w, r, http.StatusOK, repo.NewPayloads(forks, web.From(r.Context())))
}
