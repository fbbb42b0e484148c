//go:build long

package clients

import (
	"testing"

	"github.com/google/go-github/v89/github"

	"arbor/internal/test/testkit"
)

// An organization invites somebody, who joins, and has teams: with the methods whose parameters are not those
// of the request, or that have one name for two addresses.
func invitationsAndTeams(t *testing.T, h *hub) {
	h.Users(t, "alice", "will")
	h.Org(t, "garden", "alice")
	joining(t, h)
	teams(t, h)
	signingKeys(t, h)
}

// joining by an invitation that names somebody by number, which is the only way that go-github has.
func joining(t *testing.T, h *hub) {
	ctx, alice, will := t.Context(), h.as(t, "alice"), h.as(t, "will")
	invited := got[*github.Invitation](t)(alice.Organizations.CreateOrgInvitation(ctx, "garden",
		&github.CreateOrgInvitationOptions{InviteeID: got[*github.User](t)(will.Users.Get(ctx, "")).ID}))
	equal(t, "who is invited", invited.GetLogin()+" as "+invited.GetRole(), "will as direct_member")
	open := got[[]*github.Invitation](t)(alice.Organizations.ListPendingOrgInvitations(ctx, "garden", nil))
	equal(t, "the open invitations", len(open), 1)
	own := got[*github.Membership](t)
	equal(t, "will's own", own(will.Organizations.GetOrgMembership(ctx, "", "garden")).GetState(), "pending")
	equal(t, "will's answer", own(will.Organizations.EditOrgMembership(ctx, "", "garden",
		&github.Membership{State: github.Ptr("active")})).GetState(), "active")
	joined := own(will.Organizations.GetOrgMembership(ctx, "", "garden"))
	equal(t, "will's own", joined.GetState()+" "+joined.GetRole(), "active member")
	equal(t, "by name", own(alice.Organizations.GetOrgMembership(ctx, "will", "garden")).GetState(), "active")
	open = got[[]*github.Invitation](t)(alice.Organizations.ListPendingOrgInvitations(ctx, "garden", nil))
	equal(t, "the open invitations", len(open), 0)
}

// teams are edited by both of their addresses, and get and lose the team above them.
func teams(t *testing.T, h *hub) {
	ctx, alice := t.Context(), h.as(t, "alice")
	team := got[*github.Team](t)
	closed := github.Ptr("closed")
	above := team(alice.Teams.CreateTeam(ctx, "garden", github.NewTeam{Name: "Growers", Privacy: closed}))
	sowers := team(alice.Teams.CreateTeam(ctx, "garden", github.NewTeam{Name: "Sowers", Privacy: closed,
		ParentTeamID: above.ID}))
	equal(t, "the team above", sowers.GetParent().GetSlug(), "growers")
	edited := team(alice.Teams.EditTeamBySlug(ctx, "garden", "sowers",
		github.NewTeam{Name: "Sowers", Description: github.Ptr("Of peas")}, false))
	equal(t, "edited by slug", edited.GetDescription()+" below "+edited.GetParent().GetSlug(),
		"Of peas below growers")
	org := got[*github.Organization](t)(alice.Organizations.Get(ctx, "garden")).GetID()
	edited = team(alice.Teams.EditTeamByID(ctx, org, sowers.GetID(),
		github.NewTeam{Name: "Sowers", Description: github.Ptr("Of beans")}, true))
	equal(t, "edited by number", edited.GetDescription()+" below "+edited.GetParent().GetSlug(),
		"Of beans below ")
	equal(t, "seen by slug", team(alice.Teams.GetTeamBySlug(ctx, "garden", "sowers")).GetDescription(),
		"Of beans")
}

// signingKeys are registered by their text alone.
func signingKeys(t *testing.T, h *hub) {
	ctx, will := t.Context(), h.as(t, "will")
	_, text := testkit.OpenPGP(t, "will@example.com")
	key := got[*github.GPGKey](t)(will.Users.CreateGPGKey(ctx, text))
	seen := got[*github.GPGKey](t)(will.Users.GetGPGKey(ctx, key.GetID()))
	equal(t, "the key", seen.GetKeyID(), key.GetKeyID())
}
