package deployment

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses
//
// ListStatuses lists the statuses of a deployment, the newest first. Error: 404.
func (api *API) ListStatuses(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	d, err := api.get(r, a)
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	var found []*Status
	var people map[account.ID]*account.Account
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if found, err = statusesOf(tx, d.ID, page); err != nil {
			return err
		}
		ids := make([]account.ID, len(found))
		for n, s := range found {
			ids[n] = s.CreatorID
		}
		people, err = account.ByIDs(tx, db.Unique(ids))
		return err
	})
	if err != nil {
		return err
	}
	web.Link(w, r, page, d.Statuses)
	info := web.From(r.Context())
	out := make([]*StatusPayload, len(found))
	for n, s := range found {
		out[n] = newStatusPayload(s, people[s.CreatorID], place(info, a), info)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses
//
// CreateStatus adds a status to a deployment, which has its state from then on. A success makes earlier
// deployments to the environment inactive, unless auto_inactive is false. Errors: 404, 422.
func (api *API) CreateStatus(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "deployment_id")
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, StatusResource)
	if err != nil {
		return err
	}
	n, deactivate, err := ReadNewStatus(body)
	if err != nil {
		return err
	}
	made, _, err := api.s.AddStatus(r.Context(), a, id, n, deactivate)
	if err != nil {
		return err
	}
	by, err := api.s.account(r, made.CreatorID)
	if err != nil {
		return err
	}
	info := web.From(r.Context())
	p := newStatusPayload(made, by, place(info, a), info)
	return web.Created(w, r, p.URL, p)
}

// ReadNewStatus reads a new status, and whether it makes earlier deployments inactive. Error: 422.
func ReadNewStatus(body *web.Object) (n Status, deactivate bool, err error) {
	body.Require("state")
	state := body.Enum("state", states[:]...).Value
	n = Status{State: State(slices.Index(states[:], state) + 1),
		Description: body.String("description", maxDescription).Value,
		Environment: body.String("environment", maxName).Value, URL: readURL(body, "environment_url")}
	n.LogURL = cmp.Or(readURL(body, "log_url"), readURL(body, "target_url"))
	deactivate = body.Bool("auto_inactive").Or(true)
	return n, deactivate, body.Err()
}

// readURL reads an address to which a page may link.
func readURL(body *web.Object, field string) string {
	text := body.String(field, maxURL).Value
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") || u.Host == "" {
		body.Wrong(field, errs.Custom, field+" must use http(s) scheme")
	}
	return text
}

// GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses/{status_id}
//
// GetStatus returns a status of a deployment. Error: 404.
func (api *API) GetStatus(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	d, err := api.get(r, a)
	if err != nil {
		return err
	}
	id, err := web.Number(r, "status_id")
	if err != nil {
		return err
	}
	var s *Status
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		s, err = statusByID(tx, a.ID, id)
		if err == nil && s.DeploymentID != d.ID {
			err = errs.Absent()
		}
		return err
	})
	if err != nil {
		return err
	}
	by, err := api.s.account(r, s.CreatorID)
	if err != nil {
		return err
	}
	info := web.From(r.Context())
	return web.JSON(w, r, http.StatusOK, newStatusPayload(s, by, place(info, a), info))
}
