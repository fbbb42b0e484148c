package account

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/db"
	"arbor/internal/web"
)

// ListChosen answers the accounts of the parameter ids, numbers with commas between them, each as GET
// /users/{username} does: for GraphQL, which asks for many at a time. Ids that nobody has are left out.
func (a *API) ListChosen(w http.ResponseWriter, r *http.Request) error {
	var ids []ID
	for text := range strings.SplitSeq(web.QueryOf(r).Get("ids"), ",") {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			ids = append(ids, ID(id))
		}
	}
	var found map[ID]*Account
	err := a.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		found, err = ByIDs(tx, ids)
		return err
	})
	if err != nil {
		return err
	}
	list := make([]*fullUser, 0, len(found))
	for _, id := range db.Unique(ids) {
		if u := found[id]; u != nil {
			list = append(list, newFullUser(u, web.From(r.Context()), CallerFrom(r.Context())))
		}
	}
	return web.JSON(w, r, http.StatusOK, list)
}
