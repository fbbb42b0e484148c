package team

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/web"
)

// GET /orgs/{org}/teams/{team_slug}/members
// GET /organizations/{organization_id}/team/{team_id}/members
// GET /teams/{team_id}/members
//
// ListMembers lists the people of a team, those of teams below included. role=maintainer or role=member chooses.
// Errors: 404, 422.
func (api *API) ListMembers(w http.ResponseWriter, r *http.Request) error {
	ref, err := refOf(r)
	if err != nil {
		return err
	}
	caller := account.CallerFrom(r.Context())
	if _, err := api.s.Get(r.Context(), caller, ref); err != nil {
		return err // before the parameters (decision 16)
	}
	role, err := web.QueryEnum(r, Resource, "role", "all", "member", "maintainer")
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	list, total, err := api.s.Members(r.Context(), caller, ref, role, page)
	if err != nil {
		return err
	}
	out := make([]*account.Simple, len(list))
	for n, p := range list {
		out[n] = account.NewSimple(p.Account, web.From(r.Context()))
	}
	web.Link(w, r, page, total)
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /orgs/{org}/teams/{team_slug}/memberships/{username}
// GET /organizations/{organization_id}/team/{team_id}/memberships/{username}
// GET /teams/{team_id}/memberships/{username}
//
// GetMembership returns a person's place in a team. Error: 404.
func (api *API) GetMembership(w http.ResponseWriter, r *http.Request) error {
	ref, err := refOf(r)
	if err != nil {
		return err
	}
	m, err := api.s.Membership(r.Context(), account.CallerFrom(r.Context()), ref, web.Param(r, "username"))
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newMembership(m, web.From(r.Context())))
}

// PUT /orgs/{org}/teams/{team_slug}/memberships/{username}
// PUT /organizations/{organization_id}/team/{team_id}/memberships/{username}
// PUT /teams/{team_id}/memberships/{username}
//
// SetMembership adds a member of the organization to a team, at once, or changes the role; for owners and the team's
// maintainers. Errors: 403, 404, 422.
func (api *API) SetMembership(w http.ResponseWriter, r *http.Request) error {
	ref, err := api.managed(r)
	if err != nil {
		return err
	}
	body, err := web.ReadOptional(r, "TeamMember")
	if err != nil {
		return err
	}
	role := web.Some(Member)
	if body.Enum("role", "member", "maintainer").Value == "maintainer" {
		role.Value = Maintainer
	}
	if err := body.Err(); err != nil {
		return err
	}
	m, err := api.s.AddMember(r.Context(), account.CallerFrom(r.Context()), ref, web.Param(r, "username"),
		role)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newMembership(m, web.From(r.Context())))
}

// managed finds the team of a request whose caller may change who is in it (decision 51). Errors: 403, 404.
func (api *API) managed(r *http.Request) (Ref, error) {
	ref, err := refOf(r)
	if err != nil {
		return ref, err
	}
	a, err := api.s.Get(r.Context(), account.CallerFrom(r.Context()), ref)
	if err != nil {
		return ref, err
	}
	return ref, a.mayManage()
}

// DELETE /orgs/{org}/teams/{team_slug}/memberships/{username}
// DELETE /organizations/{organization_id}/team/{team_id}/memberships/{username}
// DELETE /teams/{team_id}/memberships/{username}
// DELETE /teams/{team_id}/members/{username}
//
// RemoveMembership removes a member from a team: owners and the team's maintainers anyone, everyone themselves.
// Errors: 403, 404.
func (api *API) RemoveMembership(w http.ResponseWriter, r *http.Request) error {
	ref, err := refOf(r)
	if err == nil {
		err = api.s.RemoveMember(r.Context(), account.CallerFrom(r.Context()), ref, web.Param(r, "username"))
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /teams/{team_id}/members/{username}
// GET /organizations/{organization_id}/team/{team_id}/members/{username}
//
// CheckMember answers 204 for a person in the team and 404 for anyone else.
func (api *API) CheckMember(w http.ResponseWriter, r *http.Request) error {
	ref, err := refOf(r)
	if err == nil {
		_, err = api.s.Membership(r.Context(), account.CallerFrom(r.Context()), ref, web.Param(r, "username"))
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// PUT /teams/{team_id}/members/{username}
//
// AddMember adds a member of the organization to a team; present members keep their role. Errors: 403, 404, 422.
func (api *API) AddMember(w http.ResponseWriter, r *http.Request) error {
	ref, err := refOf(r)
	if err == nil {
		_, err = api.s.AddMember(r.Context(), account.CallerFrom(r.Context()), ref, web.Param(r, "username"),
			web.Opt[Role]{})
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}
