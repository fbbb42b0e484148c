package invitation

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/team"
	"arbor/internal/web"
)

// OrgResource is the name of invitations to organizations in validation errors.
const OrgResource = "OrganizationInvitation"

// OrgPayload is GitHub's organization-invitation.
type OrgPayload struct {
	ID           ID              `json:"id"`
	NodeID       string          `json:"node_id"`
	Login        *string         `json:"login"` // null: who has the address
	Email        *string         `json:"email"` // null: it is to an account
	Role         string          `json:"role"`  // admin or direct_member
	CreatedAt    db.Time         `json:"created_at"`
	FailedAt     db.Time         `json:"failed_at"`
	FailedReason *string         `json:"failed_reason"`
	Inviter      *account.Simple `json:"inviter"`
	TeamCount    int             `json:"team_count"`
	TeamsURL     string          `json:"invitation_teams_url"`
	Source       string          `json:"invitation_source"`
}

var failedReason = "Invitation expired. User did not accept this invitation for 7 days."

func newOrgPayload(i *Invitation, info *web.Info) *OrgPayload {
	role := "direct_member"
	if i.Owner {
		role = "admin"
	}
	at := web.Path("orgs", i.Org.Login, "invitations", strconv.FormatInt(int64(i.ID), 10))
	var login *string
	if i.Invitee != nil {
		login = &i.Invitee.Login
	}
	return &OrgPayload{ID: i.ID, NodeID: account.NodeID("OrganizationInvitation", i.ID),
		Login: login, Email: web.OrNil(i.Address), Role: role, CreatedAt: i.CreatedAt,
		Inviter: account.NewSimple(i.Inviter, info), Source: "member", TeamCount: i.Teams,
		TeamsURL: info.API(at + "/teams")}
}

// POST /orgs/{org}/invitations
//
// InviteMember invites a user by id, login or verified address, for owners, or mails an invitation to an address that no
// account has verified, if the server sends mail; as an owner (role admin) or as a member
// (direct_member, the default), who joins the teams when accepting. Errors: 403, 404, 422, 429.
func (api *API) InviteMember(w http.ResponseWriter, r *http.Request) error {
	caller, org := account.CallerFrom(r.Context()), web.Param(r, "org")
	if err := api.s.accounts.CheckOwner(r.Context(), caller, org); err != nil {
		return err
	}
	o, err := web.ReadObject(r, OrgResource)
	if err != nil {
		return err
	}
	who := Person{ID: account.ID(o.Int("invitee_id").Value), Login: o.String("login", maxLogin).Value,
		Email: o.String("email", maxEmail).Value}
	role := o.Enum("role", "direct_member", "admin")
	if who == (Person{}) {
		o.Require("invitee_id")
	}
	var teams []team.ID
	raw := o.Raw("team_ids")
	if len(raw) > 0 && json.Unmarshal(raw, &teams) != nil || len(teams) > maxTeams {
		o.Wrong("team_ids", errs.Custom, fmt.Sprintf("team_ids must be an array of at most %d ids", maxTeams))
	}
	if err := o.Err(); err != nil {
		return err
	}
	i, err := api.s.InviteMember(r.Context(), caller, org, who, role.Value == "admin", teams)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusCreated, newOrgPayload(i, web.From(r.Context())))
}

// What a request may name.
const maxLogin, maxEmail = 100, 254

// GET /orgs/{org}/invitations
//
// ListOfOrg lists the open invitations to an organization, for owners, the oldest first; role chooses. Errors: 403,
// 404, 422.
func (api *API) ListOfOrg(w http.ResponseWriter, r *http.Request) error {
	caller := account.CallerFrom(r.Context())
	if err := api.s.accounts.CheckOwner(r.Context(), caller, web.Param(r, "org")); err != nil {
		return err // before the parameters (decision 16)
	}
	role, err := web.QueryEnum(r, OrgResource, "role", "all", "admin", "direct_member", "billing_manager",
		"hiring_manager")
	if err != nil {
		return err
	}
	source, err := web.QueryEnum(r, OrgResource, "invitation_source", "all", "member", "scim")
	if err != nil {
		return err
	}
	if source == "scim" {
		role = source // there are none
	}
	return api.listOfOrg(w, r, OrgFilter{Role: role}, newOrgPayload)
}

// GET /orgs/{org}/failed_invitations
//
// ListFailed lists the invitations to an organization that expired within the last month, for owners. Errors: 403,
// 404.
func (api *API) ListFailed(w http.ResponseWriter, r *http.Request) error {
	failed := func(i *Invitation, info *web.Info) *OrgPayload {
		p := newOrgPayload(i, info)
		p.FailedAt, p.FailedReason = i.ExpiresAt(), &failedReason
		return p
	}
	return api.listOfOrg(w, r, OrgFilter{Failed: true, Role: "all"}, failed)
}

func (api *API) listOfOrg(
	w http.ResponseWriter, r *http.Request, f OrgFilter, render func(*Invitation, *web.Info) *OrgPayload,
) error {
	p, info := web.ReadPage(r), web.From(r.Context())
	list, total, err := api.s.OfOrg(r.Context(), account.CallerFrom(r.Context()), web.Param(r, "org"), f, p)
	if err != nil {
		return err
	}
	out := make([]*OrgPayload, len(list))
	for n, i := range list {
		out[n] = render(i, info)
	}
	web.Link(w, r, p, total)
	return web.JSON(w, r, http.StatusOK, out)
}

// DELETE /orgs/{org}/invitations/{invitation_id}
//
// CancelMember ends an open invitation, for owners. Errors: 403, 404.
func (api *API) CancelMember(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r)
	if err == nil {
		err = api.s.CancelMember(r.Context(), account.CallerFrom(r.Context()), web.Param(r, "org"), id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}
