package settings

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// POST /repos/{owner}/{repo}/generate
//
// Generate creates a repository from a template. Errors: those of Service.Generate.
func (api *API) Generate(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, repo.Resource)
	if err != nil {
		return err
	}
	body.Require("name")
	name, owner := body.String("name", 0), body.String("owner", 0)
	description := body.String("description", maxDescription)
	all, private := body.Bool("include_all_branches"), body.Bool("private")
	if err := body.Err(); err != nil {
		return err
	}
	n := repo.NewRepo{Owner: owner.Value, Name: name.Value, Description: text(description),
		Private: private.Or(false)}
	if n.Owner == "" {
		n.Owner = a.Caller.Login
	}
	made, err := api.s.Generate(r.Context(), a, n, all.Or(false))
	if err != nil {
		return err
	}
	fresh := &repo.Access{Repo: made, Role: account.Admin, Caller: a.Caller}
	payload := repo.NewFullPayload(fresh, repo.Lineage{Template: a}, web.From(r.Context()))
	return web.Created(w, r, payload.URL, payload)
}

// Generate creates a repository from a template. Errors: those of [repo.Service.Generate]; 422 for invalid values.
func (s *Service) Generate(ctx context.Context, a *repo.Access, n repo.NewRepo, all bool) (*repo.Repo, error) {
	if err := checkNew(n); err != nil {
		return nil, err
	}
	return s.repos.Generate(ctx, a, n, all)
}
