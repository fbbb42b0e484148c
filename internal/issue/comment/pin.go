package comment

import (
	"context"
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// PUT /repos/{owner}/{repo}/issues/comments/{id}/pin
//
// Pin pins a comment on an issue and unpins the one that was pinned. Errors: 404, 410, 422 on a pull
// request.
func (api *API) Pin(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.find(r, a)
	if err != nil {
		return err
	}
	if c.Pull {
		return errs.New(errs.Invalid, "Only comments on issues can be pinned, not those on pull requests.")
	}
	pinned, err := api.s.setPin(r.Context(), a, c, true)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, http.StatusOK, pinned)
}

// DELETE /repos/{owner}/{repo}/issues/comments/{id}/pin
//
// Unpin unpins the comment: 204. A comment that is not pinned is left unchanged. Errors: 404, 410.
func (api *API) Unpin(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.find(r, a)
	if err != nil {
		return err
	}
	if _, err := api.s.setPin(r.Context(), a, c, false); err != nil {
		return err
	}
	return web.NoContent(w)
}

// setPin pins or unpins a comment. As at GitHub, this does not change updated_at of the comment or issue.
// Error: 404.
func (s *Service) setPin(ctx context.Context, a *repo.Access, found *Comment, wanted bool) (*Comment, error) {
	return s.change(ctx, a, found, func(c *issue.Change, now *Comment) error {
		if now.PinnedAt.IsZero() == !wanted {
			return nil
		}
		if !wanted {
			now.PinnedAt, now.PinnedBy = 0, 0
			tellPin(c, "unpinned", now.ID)
			return unpin(c.Tx, c.Issue.ID)
		}
		others, err := pinnedOn(c.Tx, c.Issue.ID)
		if err != nil {
			return err
		}
		for _, other := range others { // at most one
			tellPin(c, "unpinned", other)
		}
		if err := unpin(c.Tx, c.Issue.ID); err != nil {
			return err
		}
		now.PinnedAt, now.PinnedBy = c.Tx.Now, c.Actor.ID
		tellPin(c, "pinned", now.ID)
		return pin(c.Tx, now)
	})
}

func tellPin(c *issue.Change, action string, id int64) {
	c.AddHookEvent(hook.Event{Name: "issue_comment", Action: action, About: hook.About{ID: id}})
}
