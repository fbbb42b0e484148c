package issue

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// What GitHub's REST API has no address for, GraphQL asks these handlers, under the right of PATCH
// /repos/{owner}/{repo}/issues/{number}. The operations ask for more themselves.

// PinIssue pins the issue, or with pinned false takes that back: 204. Errors: those of Service.Pin.
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

// TransferIssue moves the issue to the repository to, OWNER/NAME as owner and name, and answers it as it is
// there. Its caller finds both as the token lets it. Errors: those of Service.Transfer.
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
