package team

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// API implements the HTTP handlers of teams.
type API struct{ s *Service }

// NewAPI returns the handlers of s.
func NewAPI(s *Service) *API { return &API{s} }

// refOf reads which team an address names. Error: 404.
func refOf(r *http.Request) (ref Ref, err error) {
	if org := web.Param(r, "org"); org != "" {
		return Ref{Org: org, Slug: web.Param(r, "team_slug")}, nil
	}
	id, err := web.Number(r, "team_id")
	if err != nil || web.Param(r, "organization_id") == "" {
		return Ref{ID: ID(id)}, err
	}
	org, err := web.Number(r, "organization_id")
	return Ref{ID: ID(id), OrgID: account.ID(org)}, err
}

// GET /orgs/{org}/teams
//
// List lists the teams of an organization that the caller may see, for members. Errors: 403, 404.
func (api *API) List(w http.ResponseWriter, r *http.Request) error {
	page := web.ReadPage(r)
	list, total, err := api.s.List(r.Context(), account.CallerFrom(r.Context()), web.Param(r, "org"), false,
		page)
	return answer(w, r, page, list, total, err)
}

// answer answers a page of teams, unless reading it failed.
func answer(w http.ResponseWriter, r *http.Request, page web.Page, list []*Team, total int64,
	err error) error {
	if err != nil {
		return err
	}
	web.Link(w, r, page, total)
	return web.JSON(w, r, http.StatusOK, NewPayloads(list, web.From(r.Context())))
}

// GET /user/teams
//
// ListOwn lists the teams that the caller belongs to in all organizations, by id.
func (api *API) ListOwn(w http.ResponseWriter, r *http.Request) error {
	page, caller := web.ReadPage(r), account.CallerFrom(r.Context())
	list, total, err := api.s.OfCaller(r.Context(), caller, page)
	if err != nil {
		return err
	}
	full, err := api.full(r, list)
	if err != nil {
		return err
	}
	web.Link(w, r, page, total)
	return web.JSON(w, r, http.StatusOK, full)
}

// full renders teams in full, with a fixed number of statements.
func (api *API) full(r *http.Request, list []*Team) (out []*FullPayload, err error) {
	info, caller := web.From(r.Context()), account.CallerFrom(r.Context())
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		counts, err := countsOf(tx, caller, list)
		if err != nil {
			return err
		}
		orgs := make([]account.ID, len(list))
		for n, t := range list {
			orgs[n] = t.Org.ID
		}
		shown, err := account.OrgsByID(tx, orgs, caller, info)
		if err != nil {
			return err
		}
		out = make([]*FullPayload, len(list))
		for n, t := range list {
			c := counts[t.ID]
			out[n] = &FullPayload{Payload: newPayload(t, info), MembersCount: c.Members, ReposCount: c.Repos,
				CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Organization: shown[t.Org.ID]}
		}
		return nil
	})
	return out, err
}

// answerFull answers a team in full.
func (api *API) answerFull(w http.ResponseWriter, r *http.Request, status int, a *Access) error {
	full, err := api.full(r, []*Team{a.Team})
	if err != nil {
		return err
	}
	if status == http.StatusCreated {
		return web.Created(w, r, full[0].URL, full[0])
	}
	return web.JSON(w, r, status, full[0])
}

// GET /orgs/{org}/teams/{team_slug}
// GET /organizations/{organization_id}/team/{team_id}
// GET /teams/{team_id}
//
// Get returns a team, for those who see it. Error: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request) error {
	ref, err := refOf(r)
	if err != nil {
		return err
	}
	a, err := api.s.Get(r.Context(), account.CallerFrom(r.Context()), ref)
	if err != nil {
		return err
	}
	return api.answerFull(w, r, http.StatusOK, a)
}

// GET /orgs/{org}/teams/{team_slug}/teams
// GET /organizations/{organization_id}/team/{team_id}/teams
// GET /teams/{team_id}/teams
//
// ListChildren lists the teams whose parent the team is. Error: 404.
func (api *API) ListChildren(w http.ResponseWriter, r *http.Request) error {
	ref, err := refOf(r)
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	list, total, err := api.s.Children(r.Context(), account.CallerFrom(r.Context()), ref, page)
	return answer(w, r, page, list, total, err)
}

// POST /orgs/{org}/teams
//
// Create creates a team, for owners of the organization, who become maintainers. Errors: 403, 404, 422.
func (api *API) Create(w http.ResponseWriter, r *http.Request) error {
	caller, org := account.CallerFrom(r.Context()), web.Param(r, "org")
	if err := api.s.checkOwner(r.Context(), caller, org); err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	body.Require("name")
	n := NewTeam{Edit: readEdit(body), Maintainers: body.Strings("maintainers", maxNamed, 0).Value,
		Repos: body.Strings("repo_names", maxNamed, 0).Value}
	if err := body.Err(); err != nil {
		return err
	}
	a, err := api.s.Create(r.Context(), caller, org, n)
	if err != nil {
		return err
	}
	return api.answerFull(w, r, http.StatusCreated, a)
}

// readEdit reads what a body says of a team. Errors are recorded in the body.
func readEdit(body *web.Object) (e Edit) {
	e.Name, e.Description = body.String("name", maxName), body.String("description", maxDescription)
	privacy := body.Enum("privacy", "secret", "closed")
	if e.Secret = (web.Opt[bool]{}); privacy.Given() {
		e.Secret = web.Some(privacy.Value == "secret")
	}
	quiet := body.Enum("notification_setting", "notifications_enabled", "notifications_disabled")
	if quiet.Given() {
		e.Quiet = web.Some(quiet.Value == "notifications_disabled")
	}
	body.Enum("permission", "pull", "push",
		"admin") // of no effect at GitHub either: each repository has its own
	id := body.Int("parent_team_id")
	e.Parent = web.Opt[ID]{Set: id.Set, Null: id.Null, Value: ID(id.Value)}
	if id.Given() && id.Value < 1 {
		body.Wrong("parent_team_id", errs.InvalidField, "parent_team_id must be the id of a team")
	}
	e.ParentSlug = body.String("parent_team_slug", 0)
	if e.ParentSlug.Given() && id.Given() {
		body.Wrong("parent_team_slug", errs.InvalidField, "parent_team_slug cannot be sent with parent_team_id")
	}
	return e
}

// PATCH /orgs/{org}/teams/{team_slug}
// PATCH /organizations/{organization_id}/team/{team_id}
// PATCH /teams/{team_id}
//
// Edit changes a team, for owners of the organization. Errors: 403, 404, 422.
func (api *API) Edit(w http.ResponseWriter, r *http.Request) error {
	ref, err := refOf(r)
	if err != nil {
		return err
	}
	caller := account.CallerFrom(r.Context())
	a, err := api.s.Get(r.Context(), caller, ref)
	if err != nil {
		return err
	}
	if !a.Owner {
		return account.MustOwn(&a.Org)
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	e := readEdit(body)
	if e.Name.Null {
		body.Wrong("name", errs.InvalidField, "name must not be null")
	}
	if err := body.Err(); err != nil {
		return err
	}
	if a, err = api.s.Edit(r.Context(), caller, ref, e); err != nil {
		return err
	}
	return api.answerFull(w, r, http.StatusOK, a)
}

// DELETE /orgs/{org}/teams/{team_slug}
// DELETE /organizations/{organization_id}/team/{team_id}
// DELETE /teams/{team_id}
//
// Delete deletes a team with all teams below it, for owners of the organization. Errors: 403, 404.
func (api *API) Delete(w http.ResponseWriter, r *http.Request) error {
	ref, err := refOf(r)
	if err == nil {
		err = api.s.Delete(r.Context(), account.CallerFrom(r.Context()), ref)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}
