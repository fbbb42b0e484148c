package issue

import (
	"context"
	"net/http"

	"arbor/internal/repo"
	"arbor/internal/web"
)

// lockReasons are the valid values of lock_reason.
var lockReasons = [...]string{"off-topic", "too heated", "resolved", "spam"}

// PUT /repos/{owner}/{repo}/issues/{number}/lock
//
// Lock locks the conversation of an issue or pull request: 204. A lock_reason replaces that of a locked
// conversation. It is a preview (decision 6). Errors: 404, 410, 415, 422.
func (api *API) Lock(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.lock(w, r, a, true)
}

// DELETE /repos/{owner}/{repo}/issues/{number}/lock
//
// Unlock unlocks the conversation: 204. It is a preview (decision 6). Errors: 404, 410, 415.
func (api *API) Unlock(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.lock(w, r, a, false)
}

func (api *API) lock(w http.ResponseWriter, r *http.Request, a *repo.Access, locked bool) error {
	i, err := api.s.Requested(r, a)
	if err != nil {
		return err
	}
	if err := web.RequirePreview(r, web.Locking, "Locking is"); err != nil {
		return err
	}
	var reason *string
	if locked {
		body, err := web.ReadOptional(r, Resource)
		if err != nil {
			return err
		}
		if v := body.String("lock_reason", 0); v.Given() {
			reason = &v.Value
		}
		if err := body.Err(); err != nil {
			return err
		}
	}
	if err := api.s.SetLock(r.Context(), a, i.Number, locked, reason); err != nil {
		return err
	}
	return web.NoContent(w)
}

// SetLock locks the conversation of an issue or pull request, with a reason that may be nil, or unlocks it.
// Errors: 404, 422 for an unknown reason.
func (s *Service) SetLock(ctx context.Context, a *repo.Access, number int64, locked bool, reason *string) error {
	if reason != nil {
		f := web.Faults{Resource: Resource}
		f.CheckEnum("lock_reason", *reason, lockReasons[:]...)
		if err := f.Err(); err != nil {
			return err
		}
	}
	_, err := s.Change(ctx, a, number, func(c *Change) error {
		c.SetLock(locked, reason)
		return nil
	})
	return err
}
