package list

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}
//
// Get answers the full form of a repository.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	web.LastModified(w, a.UpdatedAt.Time())
	return api.repos.Answer(w, r, http.StatusOK, a)
}

// GET /repositories/{repository_id}
//
// GetByID answers the full form of a repository by its id, which stays when its name or
// owner changes.
func (api *API) GetByID(w http.ResponseWriter, r *http.Request) error {
	id, err := web.Number(r, "repository_id")
	if err != nil {
		return err
	}
	a, err := api.repos.FindByID(r.Context(), account.CallerFrom(r.Context()), repo.ID(id))
	if err != nil {
		return err
	}
	return api.Get(w, r, a)
}

// maxFull is how many repositories one request asks for in their full form.
const maxFull = 100

// ListFull answers the full form of the repositories of the parameter ids that the caller may see, for
// GraphQL.
func (api *API) ListFull(w http.ResponseWriter, r *http.Request) error {
	var ids []repo.ID
	for _, id := range web.ParseNumbers(web.QueryOf(r).Get("ids"), maxFull) {
		ids = append(ids, repo.ID(id))
	}
	caller := account.CallerFrom(r.Context())
	var list []*repo.Access
	var origins map[repo.ID]*repo.Access
	err := api.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if list, err = repo.VisibleByID(tx, caller, db.Unique(ids)); err != nil {
			return err
		}
		var from []repo.ID
		for _, a := range list {
			if a.ParentID != 0 || a.TemplateID != 0 {
				from = append(from, a.ParentID, a.NetworkID, a.TemplateID)
			}
		}
		origins, err = repo.ByIDs(tx, caller, db.Unique(from))
		return err
	})
	if err != nil {
		return err
	}
	info, out := web.From(r.Context()), make([]any, len(list))
	for n, a := range list {
		l := repo.Lineage{Template: origins[a.TemplateID]}
		if a.ParentID != 0 {
			l.Parent, l.Source = origins[a.ParentID], origins[a.NetworkID]
		}
		out[n] = repo.NewFullPayload(a, l, info)
	}
	return web.JSON(w, r, http.StatusOK, out)
}
