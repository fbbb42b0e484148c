package team

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /orgs/{org}/teams/{team_slug}/repos
// GET /organizations/{organization_id}/team/{team_id}/repos
// GET /teams/{team_id}/repos
//
// ListRepos lists the repositories of a team that the caller may see, those of teams above included, with the role of
// the team. Error: 404.
func (api *API) ListRepos(w http.ResponseWriter, r *http.Request) error {
	ref, err := refOf(r)
	if err != nil {
		return err
	}
	page, info := web.ReadPage(r), web.From(r.Context())
	list, total, err := api.s.Repos(r.Context(), account.CallerFrom(r.Context()), ref, page)
	if err != nil {
		return err
	}
	out := make([]repoJSON, len(list))
	for n, l := range list {
		out[n] = newRepo(l.Access, l.Role, info)
	}
	web.Link(w, r, page, total)
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}
// GET /organizations/{organization_id}/team/{team_id}/repos/{owner}/{repo}
// GET /teams/{team_id}/repos/{owner}/{repo}
//
// CheckRepo answers 204 for a repository of the team, or with the media type vnd.github.v3.repository the repository
// with the role of the team. Error: 404.
func (api *API) CheckRepo(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ref, err := refOf(r)
	if err != nil {
		return err
	}
	role, err := api.s.RoleOn(r.Context(), a, ref)
	if err != nil {
		return err
	}
	if !strings.Contains(r.Header.Get("Accept"), ".repository") {
		return web.NoContent(w)
	}
	return web.JSON(w, r, http.StatusOK, newRepo(a, role, web.From(r.Context())))
}

// PUT /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}
// PUT /organizations/{organization_id}/team/{team_id}/repos/{owner}/{repo}
// PUT /teams/{team_id}/repos/{owner}/{repo}
//
// AddRepo gives a team a role on a repository of its organization: the permission of the body, or pull. Errors:
// 404, 422.
func (api *API) AddRepo(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ref, err := refOf(r)
	if err != nil {
		return err
	}
	body, err := web.ReadOptional(r, "TeamMember")
	if err != nil {
		return err
	}
	permission := body.Enum("permission", account.Grants()...)
	if err := body.Err(); err != nil {
		return err
	}
	if err := api.s.AddRepo(r.Context(), a, ref, permission.Or(account.Pull.String())); err != nil {
		return err
	}
	return web.NoContent(w)
}

// DELETE /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}
// DELETE /organizations/{organization_id}/team/{team_id}/repos/{owner}/{repo}
// DELETE /teams/{team_id}/repos/{owner}/{repo}
//
// RemoveRepo takes a repository from a team; also one that it never had is 204, as at GitHub. Errors: 403, 404.
func (api *API) RemoveRepo(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ref, err := refOf(r)
	if err == nil {
		err = api.s.RemoveRepo(r.Context(), a, ref)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /repos/{owner}/{repo}/teams
//
// ListOfRepo lists the teams with a role on the repository that the caller may see, with that role.
func (api *API) ListOfRepo(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	page, info := web.ReadPage(r), web.From(r.Context())
	list, total, err := api.s.OfRepo(r.Context(), a, page)
	if err != nil {
		return err
	}
	out := make([]*Payload, len(list))
	for n, t := range list {
		out[n] = newPayload(t.Team, info)
		out[n].Permission, out[n].Permissions = t.Role.String(), repo.NewPermissions(t.Role)
	}
	web.Link(w, r, page, total)
	return web.JSON(w, r, http.StatusOK, out)
}
