package list

import (
	"context"
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

// ByIDs finds those of the repositories that the caller may see, with one statement.
func (s *Service) ByIDs(
	ctx context.Context, caller *account.Caller, ids []repo.ID,
) (found map[repo.ID]*repo.Access, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[repo.ID]*repo.Access, error) {
		return repo.ByIDs(tx, caller, ids)
	})
}

// Full loads the full form of repositories, as GET /repos/{owner}/{repo} shows it, with one statement.
func (s *Service) Full(ctx context.Context, list []*repo.Access) (map[repo.ID]*repo.FullPayload, error) {
	var from []repo.ID
	for _, a := range list {
		if a.ParentID != 0 || a.TemplateID != 0 {
			from = append(from, a.ParentID, a.NetworkID, a.TemplateID)
		}
	}
	var origins map[repo.ID]*repo.Access
	if len(from) > 0 {
		var err error
		if origins, err = s.ByIDs(ctx, list[0].Caller, from); err != nil {
			return nil, err
		}
	}
	info, out := web.From(ctx), map[repo.ID]*repo.FullPayload{}
	for _, a := range list {
		l := repo.Lineage{Template: origins[a.TemplateID]}
		if a.ParentID != 0 {
			l.Parent, l.Source = origins[a.ParentID], origins[a.NetworkID]
		}
		out[a.ID] = repo.NewFullPayload(a, l, info)
	}
	return out, nil
}
