package comment

import (
	"context"
	"net/http"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// OwnReactions returns the caller's reactions to an issue and to comments on it, by id of the comment, and
// by 0 for the issue. It returns nil for an anonymous caller.
func (s *Service) OwnReactions(
	ctx context.Context, a *repo.Access, i issue.ID, comments []int64,
) (own map[int64][]reaction.Content, err error) {
	if a.Caller == nil {
		return nil, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		first, err := reaction.Own(tx, reaction.Issue, []repo.Of[int64]{{In: a, Key: int64(i)}})
		if err != nil {
			return err
		}
		list, err := reaction.Own(tx, reaction.IssueComment, repo.AllOf(a, comments))
		own = map[int64][]reaction.Content{0: first[repo.Of[int64]{In: a, Key: int64(i)}]}
		for of, contents := range list {
			own[of.Key] = contents
		}
		return err
	})
	return own, err
}

// subject calls Subject for the comment with the id {id}.
func (api *API) subject(r *http.Request, a *repo.Access) (reaction.Subject, error) {
	id, err := web.Number(r, "id")
	if err != nil {
		return reaction.Subject{}, err
	}
	return api.s.Subject(r.Context(), a, id)
}

// Subject returns a comment as a subject of reactions. Errors: 404, 410.
func (s *Service) Subject(ctx context.Context, a *repo.Access, id int64) (reaction.Subject, error) {
	c, err := s.ByID(ctx, a, id)
	if err != nil {
		return reaction.Subject{}, err
	}
	return reaction.Subject{Kind: reaction.IssueComment, ID: c.ID, Locked: c.Locked,
		Changed: func(tx *db.Tx) error {
			return noteReaction(tx, a.ID, c.ID)
		}}, nil
}
