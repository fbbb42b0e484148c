package comment

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/reaction"
	"arbor/internal/repo"
)

// subject is the comment that {id} names, as package reaction sees it.
// Errors: 404, 410.
func (api *API) subject(r *http.Request, a *repo.Access) (reaction.Subject, error) {
	c, err := api.find(r, a)
	if err != nil {
		return reaction.Subject{}, err
	}
	return reaction.Subject{Kind: reaction.IssueComment, ID: c.ID, Locked: c.Locked, Changed: func(tx *db.Tx) error {
		return noteReaction(tx, a.ID, c.ID)
	}}, nil
}
