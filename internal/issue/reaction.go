package issue

import (
	"context"
	"net/http"

	"arbor/internal/db"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// subject calls Subject for the issue with the number {number}.
func (api *API) subject(r *http.Request, a *repo.Access) (reaction.Subject, error) {
	n, err := web.Number(r, "number")
	if err != nil {
		return reaction.Subject{}, err
	}
	return api.s.Subject(r.Context(), a, n)
}

// Subject returns an issue as a subject of reactions. Errors: those of ByNumber.
func (s *Service) Subject(ctx context.Context, a *repo.Access, number int64) (reaction.Subject, error) {
	i, err := s.ByNumber(ctx, a, number)
	if err != nil {
		return reaction.Subject{}, err
	}
	return reaction.Subject{Kind: reaction.Issue, ID: int64(i.ID), Locked: i.Locked,
		Changed: func(tx *db.Tx) error {
			return noteReaction(tx, a.ID, i.ID)
		}}, nil
}
