package issue

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/reaction"
	"arbor/internal/repo"
)

// subject is the issue that {number} names, as package reaction sees it.
// Errors: 404, 410.
func (api *API) subject(r *http.Request, a *repo.Access) (reaction.Subject, error) {
	i, err := api.s.Requested(r, a)
	if err != nil {
		return reaction.Subject{}, err
	}
	return reaction.Subject{Kind: reaction.Issue, ID: int64(i.ID), Locked: i.Locked,
		Changed: func(tx *db.Tx) error {
			return noteReaction(tx, a.ID, i.ID)
		}}, nil
}
