package issue

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Handlers for GraphQL operations that have no REST endpoint. They require the right of PATCH
// /repos/{owner}/{repo}/issues/{number}; the operations require more.

// PinIssue pins the issue, or unpins it if pinned is false: 204. Errors: those of Service.Pin.
func (api *API) PinIssue(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	pin := api.s.Unpin
	if body.Bool("pinned").Or(true) {
		pin = api.s.Pin
	}
	if err := body.Err(); err != nil {
		return err
	}
	if _, err := pin(r.Context(), a, n); err != nil {
		return err
	}
	return web.NoContent(w)
}

// DeleteIssue deletes the issue: 204. Errors: those of Service.Delete.
func (api *API) DeleteIssue(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	if err := api.s.Delete(r.Context(), a, n); err != nil {
		return err
	}
	return web.NoContent(w)
}

// TransferIssue moves the issue to the repository given by owner and name, and returns the new issue. The
// caller must have found both repositories with the rights of the token. Errors: those of Service.Transfer.
func (api *API) TransferIssue(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	owner, name := body.String("owner", 0), body.String("name", 0)
	labels := body.Bool("create_labels")
	body.Require("owner", "name")
	if err := body.Err(); err != nil {
		return err
	}
	to, err := api.s.repos.Find(r.Context(), account.CallerFrom(r.Context()), owner.Value, name.Value)
	if err != nil {
		return err
	}
	moved, err := api.s.Transfer(r.Context(), a, n, Transfer{To: &to.Access, CreateLabels: labels.Or(false)})
	if err != nil {
		return err
	}
	return api.answer(w, r, &to.Access, http.StatusOK, moved)
}
