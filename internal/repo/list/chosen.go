package list

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// ListChosen answers the repositories of the account {username} that the caller may see, by more than REST's
// lists choose by at one time, for GraphQL: affiliation as in GET /user/repos, visibility, and kind (forks,
// sources). For an organization or another person affiliation is ignored, and the list holds what that account
// owns.
func (api *API) ListChosen(w http.ResponseWriter, r *http.Request) error {
	q := web.QueryOf(r)
	o, err := readOrder(r, "full_name", "created", "updated", "pushed")
	if err != nil {
		return err
	}
	at := web.ReadPage(r)
	found, total, err := api.list(r.Context(), o, at, func(tx *db.Tx) (filter, error) {
		who, err := account.ByLogin(tx, web.Param(r, "username"))
		if err != nil {
			return filter{}, err
		}
		caller := account.CallerFrom(r.Context())
		f := filter{visibleTo: caller, visibility: q.Get("visibility"), kind: q.Get("kind")}
		if who.Kind == account.Organization || account.IDOf(caller) != who.ID {
			f.owner = who.ID // the affiliations of others are private
			return f, nil
		}
		return f, f.affiliate(q.Get("affiliation"), who.ID)
	})
	return answer(w, r, at, found, total, err)
}
