package repo

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// POST /repos/{owner}/{repo}/forks
//
// CreateFork forks the repository for the caller or an organization. Where that
// owner has one of its network already, this one is the answer, as at GitHub.
func (api *API) CreateFork(w http.ResponseWriter, r *http.Request, a *Access) error {
	body, err := web.ReadOptional(r, resource)
	if err != nil {
		return err
	}
	organization := body.String("organization", 0)
	name := body.String("name", 0)
	if name.Given() && name.Value != "" {
		if message := CheckName(name.Value); message != "" {
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
	return api.full(w, r, http.StatusAccepted, fork)
}

// GET /repos/{owner}/{repo}/forks
//
// ListForks answers the repository's own forks that the caller may see: newest
// (default), oldest, stargazers or watchers first (decisions 13, 24).
func (api *API) ListForks(w http.ResponseWriter, r *http.Request, a *Access) error {
	sort, err := web.QueryEnum(r, resource, "sort", "newest", "oldest", "stargazers", "watchers")
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	var forks []*Access
	if page.Offset() < a.Forks {
		err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
			forks, err = listForks(tx, a, sort, page)
			return err
		})
		if err != nil {
			return err
		}
	}
	info := web.From(r.Context())
	out := make([]*Payload, len(forks))
	for i, f := range forks {
		out[i] = NewPayload(f, info)
	}
	web.Link(w, r, page, a.Forks)
	return web.JSON(w, r, http.StatusOK, out)
}
