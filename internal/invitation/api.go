package invitation

import (
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API implements the HTTP handlers of invitations.
type API struct{ s *Service }

// NewAPI returns the handlers of s.
func NewAPI(s *Service) *API { return &API{s} }

// Routes returns the routes of invitations.
func (api *API) Routes() []route.Route {
	administration := api.s.repos.Router(route.Needs(scope.PublicRepo, route.Never).ForApps("administration"))
	ending := administration.OnArchived()
	own, accepts := route.Needs(scope.RepoInvite, route.Never), route.Needs(scope.WriteOrg, route.Never)
	members, memberships := route.Needs(scope.AdminOrg, route.Never), route.Needs(scope.ReadOrg, route.Never)
	ofTeams := route.Needs(scope.ReadOrg, route.Never).ForApps("members")
	readsMembers, removes := members.ForApps("members=read"), members.ForApps("members=write")
	return []route.Route{
		administration.Admin("GET /repos/{owner}/{repo}/invitations", api.ListOfRepo),
		administration.Admin("PATCH /repos/{owner}/{repo}/invitations/{invitation_id}", api.Update),
		ending.Admin("DELETE /repos/{owner}/{repo}/invitations/{invitation_id}", api.Cancel),
		own.SignedIn("GET /user/repository_invitations", api.ListOwn),
		own.SignedIn("PATCH /user/repository_invitations/{invitation_id}", api.Accept),
		own.SignedIn("DELETE /user/repository_invitations/{invitation_id}", api.Decline),

		readsMembers.SignedIn("GET /orgs/{org}/invitations", api.ListOfOrg),
		readsMembers.SignedIn("GET /orgs/{org}/failed_invitations", api.ListFailed),
		members.SignedIn("POST /orgs/{org}/invitations", api.InviteMember),
		removes.SignedIn("DELETE /orgs/{org}/invitations/{invitation_id}", api.CancelMember),
		readsMembers.SignedIn("GET /orgs/{org}/invitations/{invitation_id}/teams", api.ListTeams),
		ofTeams.SignedIn("GET /orgs/{org}/teams/{team_slug}/invitations", api.ListOfTeam),
		ofTeams.SignedIn("GET /teams/{team_id}/invitations", api.ListOfTeam),
		ofTeams.SignedIn("GET /organizations/{organization_id}/team/{team_id}/invitations", api.ListOfTeam),
		memberships.SignedIn("GET /user/memberships/orgs", api.ListOwnMemberships),
		memberships.SignedIn("GET /user/memberships/orgs/{org}", api.GetOwnMembership),
		accepts.SignedIn("PATCH /user/memberships/orgs/{org}", api.AcceptMembership),
	}
}

// Payload is GitHub's repository-invitation.
type Payload struct {
	ID          ID              `json:"id"`
	NodeID      string          `json:"node_id"`
	Repository  *repo.Payload   `json:"repository"`
	Invitee     *account.Simple `json:"invitee"`
	Inviter     *account.Simple `json:"inviter"`
	Permissions string          `json:"permissions"`
	CreatedAt   db.Time         `json:"created_at"`
	Expired     bool            `json:"expired"` // always false: lists have open ones only
	URL         string          `json:"url"`
	HTMLURL     string          `json:"html_url"`
}

// NewPayload renders an invitation. of is its repository as the reader sees it.
func NewPayload(i *Invitation, of *repo.Access, info *web.Info) *Payload {
	r := i.Repo
	return &Payload{ID: i.ID, NodeID: account.NodeID("RepositoryInvitation", i.ID),
		Repository: repo.NewPayload(of, info), Invitee: account.NewSimple(i.Invitee, info),
		Inviter: account.NewSimple(i.Inviter, info), Permissions: i.Role.Name(), CreatedAt: i.CreatedAt,
		URL:     info.API("/user/repository_invitations/" + strconv.FormatInt(int64(i.ID), 10)),
		HTMLURL: info.Page(Path(r.Repo))}
}

// Path is the page where people answer an invitation to a repository.
func Path(r *repo.Repo) string { return web.Path(r.Owner.Login, r.Name, "invitations") }

// unread is the repository of an invitation as the invitee sees it: of a private one its name.
func unread(a *repo.Access) *repo.Access {
	if !a.Private {
		return a
	}
	name := repo.Repo{ID: a.ID, OwnerID: a.OwnerID, Name: a.Name, Private: true, Owner: a.Owner}
	return &repo.Access{Repo: &name}
}

func number(r *http.Request) (ID, error) {
	n, err := web.Number(r, "invitation_id")
	return ID(n), err
}

// GET /repos/{owner}/{repo}/invitations
//
// ListOfRepo lists the open invitations to the repository, the oldest first.
func (api *API) ListOfRepo(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, info := web.ReadPage(r), web.From(r.Context())
	list, total, err := api.s.OfRepo(r.Context(), a, p)
	if err != nil {
		return err
	}
	out := make([]*Payload, len(list))
	for n, i := range list {
		out[n] = NewPayload(i, a, info)
	}
	web.Link(w, r, p, total)
	return web.JSON(w, r, http.StatusOK, out)
}

// PATCH /repos/{owner}/{repo}/invitations/{invitation_id}
//
// Update gives an open invitation another role. Errors: 404, 422.
func (api *API) Update(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	body.Require("permissions")
	name := body.Enum("permissions", names()...)
	if err := body.Err(); err != nil {
		return err
	}
	role, _ := account.RoleNamed(name.Value)
	i, err := api.s.Update(r.Context(), a, id, role)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, NewPayload(i, a, web.From(r.Context())))
}

// DELETE /repos/{owner}/{repo}/invitations/{invitation_id}
//
// Cancel ends an open invitation. Error: 404.
func (api *API) Cancel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := number(r)
	if err == nil {
		err = api.s.Cancel(r.Context(), a, id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /user/repository_invitations
//
// ListOwn lists the caller's open invitations to repositories. A private repository shows its name only.
func (api *API) ListOwn(w http.ResponseWriter, r *http.Request) error {
	p, info := web.ReadPage(r), web.From(r.Context())
	list, total, err := api.s.OfInvitee(r.Context(), account.CallerFrom(r.Context()), p)
	if err != nil {
		return err
	}
	out := make([]*Payload, len(list))
	for n, i := range list {
		out[n] = NewPayload(i, unread(i.Repo), info)
	}
	web.Link(w, r, p, total)
	return web.JSON(w, r, http.StatusOK, out)
}

// PATCH /user/repository_invitations/{invitation_id}
//
// Accept makes the caller a collaborator. Errors: 403 if the repository is archived or the inviter does not
// administer it any more, 404.
func (api *API) Accept(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r)
	if err == nil {
		err = api.s.Accept(r.Context(), account.CallerFrom(r.Context()), id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// DELETE /user/repository_invitations/{invitation_id}
//
// Decline ends an invitation of the caller. Error: 404.
func (api *API) Decline(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r)
	if err == nil {
		err = api.s.Decline(r.Context(), account.CallerFrom(r.Context()), id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// names are the roles that can be granted, as invitations name them.
func names() (list []string) {
	for _, grant := range account.Grants() {
		role, _ := account.ParseRole(grant)
		list = append(list, role.Name())
	}
	return list
}
