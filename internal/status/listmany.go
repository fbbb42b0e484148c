package status

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxMany is of how many commits one request asks for the statuses.
const maxMany = 100

// CombineMany answers what the statuses of the commits of the parameter shas come to, for GraphQL: for each
// an object with statuses and total_count, as the first page of GET
// /repos/{owner}/{repo}/commits/{ref...}/status; with the parameter creators also who made each. The commits
// were found for the caller before.
func (api *API) CombineMany(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	shas := git.ParseSHAs(web.QueryOf(r).Get("shas"), maxMany)
	var list []*Status
	var sums map[git.SHA]Summary
	var people map[account.ID]*account.Account
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if sums, err = Combined(tx, a.ID, shas...); err != nil {
			return err
		}
		if list, err = latestOfMany(tx, a.ID, shas, web.ReadPageSize(r)); err != nil {
			return err
		}
		if web.QueryOf(r).Get("creators") == "" {
			return nil
		}
		by := make([]account.ID, len(list))
		for n, s := range list {
			by[n] = s.CreatorID
		}
		people, err = account.ByIDs(tx, db.Unique(by))
		return err
	})
	if err != nil {
		return err
	}
	type combined struct {
		Statuses []Payload `json:"statuses"`
		Total    int64     `json:"total_count"`
	}
	info, out := web.From(r.Context()), map[git.SHA]*combined{}
	for _, sha := range shas {
		out[sha] = &combined{Statuses: []Payload{}, Total: sums[sha].Contexts}
	}
	for _, s := range list {
		out[s.SHA].Statuses = append(out[s.SHA].Statuses,
			newPayload(s, people[s.CreatorID], place(info, a), info))
	}
	return web.JSON(w, r, http.StatusOK, out)
}
