package accounts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/invitation"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// inviting makes the organization guild of alice, and people who are no members.
func inviting(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Users(t, "alice", "bob", "carol", "dora")
	s.Admin(t, "keeper")
	s.Org(t, "guild", "alice")
	s.Ask(t, "keeper", "PUT /orgs/guild/memberships/bob", `{"role": "member"}`, 200)
}

// pending reports whether somebody has an open invitation to the guild.
func pending(t *testing.T, s *apitest.Server, login string) bool {
	t.Helper()
	a := s.Check(t, apitest.Case{Do: "GET /user/memberships/orgs?state=pending", As: login, Status: 200})
	return strings.Contains(string(a.Body), `"state":"pending"`)
}

// Where invitations are required nobody becomes a member unasked: the membership is pending until the invitee
// accepts.
func TestRequiredMemberships(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		inviting(t, s)
		const at, own = "/orgs/guild/memberships/", "/user/memberships/orgs/guild"
		s.Run(t, []apitest.Case{
			{Do: "PUT " + at + "carol", As: "alice", Send: `{"role": "admin"}`, Status: 200,
				Want: `{"state": "pending", "role": "admin", "user": {"login": "carol"}}`},
			{Do: "PUT " + at + "carol", As: "bob", Status: 403},
			{Name: "a member gets another role at once", Do: "PUT " + at + "bob", As: "alice",
				Send: `{"role": "admin"}`, Status: 200, Want: `{"state": "active", "role": "admin"}`},
			{Do: "PUT " + at + "bob", As: "alice", Send: `{"role": "member"}`, Status: 200},
			{Name: "our own address", Do: "PUT /orgs/guild/members/dora", As: "alice", Status: 403},
			{Do: "GET " + at + "dora", As: "alice", Status: 404},
			{Name: "a site administrator", Do: "PUT /orgs/guild/members/dora", As: "keeper", Status: 204},
			{Do: "GET " + at + "carol", As: "alice", Status: 200, Want: `{"state": "pending"}`},
			{Name: "a member", Do: "GET " + at + "carol", As: "bob", Status: 404},
			{Do: "GET " + at + "carol", As: "carol", Status: 200, Want: `{"state": "pending"}`},
			{Do: "GET /orgs/guild/members/carol", As: "alice", Status: 404},
			{Do: "GET " + own, As: "carol", Status: 200, Want: `{"state": "pending", "role": "admin"}`},
			{Do: "PATCH " + own, As: "carol", Send: `{"state": "pending"}`, Status: 422},
			{Do: "PATCH " + own, As: "carol", Send: `{"state": "active"}`, Status: 200,
				Want: `{"state": "active", "role": "admin"}`},
			{Name: "again", Do: "PATCH " + own, As: "carol", Send: `{"state": "active"}`, Status: 200},
			{Do: "PATCH " + own, As: "keeper", Send: `{"state": "active"}`, Status: 404},
			{Do: "GET /user/memberships/orgs?state=pending", As: "carol", Status: 200, Body: "[]"},
			{Do: "GET /user/memberships/orgs?state=x", As: "carol", Status: 422},
			{Do: "GET /user/memberships/orgs", As: "carol", Status: 200, Want: `[{"state": "active"}]`},
			{Do: "GET /orgs/guild/audit-log?phrase=actor:carol", As: "alice", Status: 200,
				Want: `[{"action": "org.add_member", "right": "self", "user": "carol"}]`},
		})
	}, func(o *server.Options) { o.MustInvite = true })
}

// Owners invite people at any server, by three names; others cannot, and not everybody can be invited.
func TestInvitationsToOrganizations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		inviting(t, s)
		s.Users(t, "gone", "erin")
		s.Email(t, "dora", "dora@example.org")
		carol, err := s.Accounts.Find(t.Context(), "carol")
		testkit.NoError(t, err)
		s.Ask(t, "keeper", "PUT /users/gone/suspended", "", 204)
		const at = "/orgs/guild/invitations"
		invite := func(as, body string, status int, want string) apitest.Case {
			return apitest.Case{Name: as + " " + body, Do: "POST " + at, As: as, Send: body, Status: status,
				Want: want}
		}
		s.Run(t, []apitest.Case{
			invite("alice", fmt.Sprintf(`{"invitee_id": %d}`, carol.ID), 201,
				`{"id": 1, "login": "carol", "role": "direct_member", "inviter": {"login": "alice"},
				"failed_at": null}`),
			invite("alice", `{"email": "Dora@example.org", "role": "admin"}`, 201,
				`{"login": "dora", "role": "admin"}`),
			invite("alice", `{"login": "carol", "role": "admin"}`, 201, `{"id": 1, "role": "admin"}`),
			invite("alice", `{"login": "erin", "team_ids": []}`, 201, ``),
			invite("alice", `{"login": "erin", "team_ids": [1]}`, 422, ``), // there are none
			invite("alice", `{"login": "erin", "role": "reinstate"}`, 422, ``),
			invite("alice", `{}`, 422, ``),
			invite("alice", `{"login": "nobody"}`, 422, ``),
			invite("alice", `{"login": "guild"}`, 422, ``),
			invite("alice", `{"email": "nobody@example.org"}`, 422, ``),
			invite("alice", `{"invitee_id": 9999}`, 422, ``),
			invite("alice", `{"login": "bob"}`, 422, ``),
			invite("alice", `{"login": "alice"}`, 422, ``),
			invite("alice", `{"login": "gone"}`, 422, ``),
			invite("bob", `{"login": "erin"}`, 403, ``),
			invite("carol", `{"login": "erin"}`, 403, ``),
			{Do: "GET " + at, As: "bob", Status: 403},
			{Do: "GET " + at, As: "alice", Status: 200,
				Want: `[{"login": "carol"}, {"login": "dora"}, {"login": "erin"}]`},
			{Do: "GET " + at + "?role=direct_member", As: "alice", Status: 200, Want: `[{"login": "erin"}]`},
			{Do: "GET " + at + "?role=hiring_manager", As: "alice", Status: 200, Body: "[]"},
			{Do: "GET " + at + "?role=x", As: "alice", Status: 422},
			{Do: "GET " + at + "?invitation_source=scim", As: "alice", Status: 200, Body: "[]"},
			{Do: "GET /orgs/guild/failed_invitations", As: "alice", Status: 200, Body: "[]"},
			{Do: "DELETE " + at + "/1", As: "bob", Status: 403},
			{Do: "DELETE " + at + "/1", As: "alice", Status: 204},
			{Do: "DELETE " + at + "/1", As: "alice", Status: 404},
			{Do: "PATCH /user/memberships/orgs/guild", As: "carol", Send: `{"state": "active"}`, Status: 404},
			{Name: "an owner cancels", Do: "DELETE /orgs/guild/memberships/erin", As: "alice", Status: 204},
			{Name: "the invitee declines", Do: "DELETE /orgs/guild/memberships/dora", As: "dora",
				Status: 204},
			{Do: "DELETE /orgs/guild/memberships/dora", As: "dora", Status: 404},
			{Do: "GET /orgs/guild/audit-log?phrase=action:org.decline_invitation", As: "alice", Status: 200,
				Want: `[{"user": "dora", "right": "self"}]`},
		})
		s.SetToken("reads", s.Scoped(t, "carol", "read:org"))
		s.Ask(t, "alice", "POST "+at, `{"login": "carol"}`, 201)
		s.Ask(t, "reads", "GET /user/memberships/orgs?state=pending", "", 200)
		s.Ask(t, "reads", "PATCH /user/memberships/orgs/guild", `{"state": "active"}`, 403)
	})
}

// What becomes of an invitation to the guild that gail, an owner, sent to carol.
func TestOrganizationInvitationTransitions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do     []apitest.Case
		org    string // its login then
		open   bool
		status int
	}{
		"nothing": {nil, "guild", true, 200},
		"the organization is renamed": {[]apitest.Case{{Do: "PATCH /admin/organizations/guild", As: "keeper",
			Send: `{"login": "club"}`}}, "club", true, 200},
		"the organization is deleted": {[]apitest.Case{{Do: "DELETE /orgs/guild", As: "alice"}}, "guild",
			false, 404},
		"the inviter is removed": {[]apitest.Case{{Do: "DELETE /orgs/guild/members/gail", As: "alice"}},
			"guild",
			false, 404},
		"the inviter becomes a member": {[]apitest.Case{{Do: "PUT /orgs/guild/memberships/gail", As: "alice",
			Send: `{"role": "member"}`}}, "guild", false, 404},
		"the inviter is suspended": {[]apitest.Case{{Do: "PUT /users/gail/suspended", As: "keeper"}},
			"guild", false, 404},
		"the inviter is deleted": {[]apitest.Case{{Do: "DELETE /admin/users/gail", As: "keeper"}},
			"guild", false, 404},
		"the invitee is renamed": {[]apitest.Case{{Do: "PATCH /admin/users/carol", As: "keeper",
			Send: `{"login": "cara"}`}}, "guild", true, 200},
		"added at once": {[]apitest.Case{{Do: "PUT /orgs/guild/members/carol", As: "alice"}}, "guild",
			false, 200},
		"another owner goes": {[]apitest.Case{{Do: "DELETE /orgs/guild/members/alice", As: "gail"}},
			"guild", true,
			200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				inviting(t, s)
				s.User(t, "gail")
				s.Ask(t, "alice", "PUT /orgs/guild/memberships/gail", `{"role": "admin"}`, 200)
				s.Ask(t, "gail", "POST /orgs/guild/invitations", `{"login": "carol"}`, 201)
				for _, change := range c.do {
					if a := s.Do(t, change); a.Status >= 300 {
						t.Fatalf("%s: %d %s", change.Do, a.Status, a.Body)
					}
				}
				if open := pending(t, s, "carol"); open != c.open {
					t.Errorf("the invitation is open: %v", open)
				}
				s.Ask(t, "carol", "PATCH /user/memberships/orgs/"+c.org, `{"state": "active"}`, c.status)
			})
		})
	}
}

// Of two requests that answer at the same time one counts; an expired invitation is a failed one.
func TestAnswersToOrganizations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		inviting(t, s)
		for range 5 {
			s.Ask(t, "alice", "POST /orgs/guild/invitations", `{"login": "carol"}`, 201)
			statuses := s.Together(t, apitest.Case{Do: "DELETE /orgs/guild/memberships/carol", As: "carol"},
				apitest.Case{Do: "DELETE /orgs/guild/memberships/carol", As: "alice"})
			if slices.Sort(statuses); !slices.Equal(statuses, []int{204, 404}) {
				t.Errorf("the answers are %v", statuses)
			}
		}
		s.Ask(t, "alice", "POST /orgs/guild/invitations", `{"login": "dora"}`, 201)
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`UPDATE invitations SET created_at = created_at - $1`,
				(invitation.Lifetime + time.Minute).Microseconds())
		}))
		s.Run(t, []apitest.Case{
			{Do: "GET /orgs/guild/invitations", As: "alice", Status: 200, Body: "[]"},
			{Do: "GET /orgs/guild/failed_invitations", As: "alice", Status: 200,
				Want: `[{"login": "dora",
				"failed_reason": "Invitation expired. User did not accept this invitation for 7 days."}]`},
			{Do: "GET /orgs/guild/failed_invitations", As: "bob", Status: 403},
			{Do: "PATCH /user/memberships/orgs/guild", As: "dora", Send: `{"state": "active"}`, Status: 404},
			{Do: "POST /orgs/guild/invitations", As: "alice", Send: `{"login": "dora"}`, Status: 201},
			{Do: "GET /orgs/guild/failed_invitations", As: "alice", Status: 200, Body: "[]"},
		})
	})
}

// The pages of an owner and of an invitee, and what webhooks are told.
func TestInvitationPagesOfOrganizations(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		inviting(t, s)
		r := receive(t, nil)
		hookOn(t, s, "/orgs/guild", "alice", r, `["organization"]`)
		const people, own = "/orgs/guild/people", "/orgs/guild/invitation"
		s.Visit(t, "alice", "POST "+people, "action", "invite", "login", "carol", "role", "admin").Leads(t,
			people)
		told := r.expect(t, "organization.member_invited")
		apitest.HasParts(t, string(told[0].Body), `"invitation":{`, `"login":"carol"`, `"role":"admin"`,
			`"user":{`)
		s.Visit(t, "alice", "GET "+people).Shows(t, 200, "Open invitations", "carol Owner invited by alice")
		s.Visit(t, "bob", "GET "+people).Shows(t, 200, "!Open invitations")
		s.Visit(t, "alice", "POST "+people, "action", "cancel", "login", "carol", "id", "1").Leads(t, people)
		s.Visit(t, "carol", "GET "+own).Shows(t, 404)
		s.Visit(t, "alice", "POST "+people, "action", "invite", "login", "carol").Leads(t, people)
		r.expect(t, "organization.member_invited")
		s.Visit(t, "carol", "GET /dashboard/notifications").Shows(t, 200, "alice invites you to guild")
		s.Visit(t, "carol", "GET "+own).Shows(t, 200, "alice invites you to the organization guild", "Accept")
		s.Visit(t, "dora", "GET "+own).Shows(t, 404)
		s.Visit(t, "carol", "POST "+own, "answer", "perhaps").Shows(t, 422)
		s.Visit(t, "carol", "POST "+own, "answer", "accept").Leads(t, "/guild")
		told = r.expect(t, "organization.member_added")
		apitest.HasParts(t, string(told[0].Body), `"sender":{"login":"carol"`, `"role":"member"`,
			`"state":"active"`)
		s.Visit(t, "alice", "POST "+people, "action", "invite", "login", "dora").Leads(t, people)
		r.expect(t, "organization.member_invited")
		s.Visit(t, "dora", "POST "+own, "answer", "decline").Leads(t, "/")
		s.Visit(t, "dora", "GET "+own).Shows(t, 404)

		s.Repo(t, "guild/garden", true)
		hookOn(t, s, "/repos/guild/garden", "alice", r, `["member"]`)
		_, err := s.Forge.Invitations.Invite(t.Context(), s.Access(t, "alice", "guild/garden"), "dora",
			account.Push)
		testkit.NoError(t, err)
		s.Visit(t, "dora", "POST /guild/garden/invitations", "answer", "accept").Leads(t, "/guild/garden")
		told = r.expect(t, "member.added")
		apitest.HasParts(t, string(told[0].Body), `"sender":{"login":"dora"`, `"member":{"login":"dora"`)
	})
}

// Who accepts an invitation to an organization joins the teams that it names.
func TestInvitationsToTeams(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol", "dora", "zoe")
		s.Org(t, "guild", "alice")
		s.Org(t, "other", "zoe")
		s.Repo(t, "guild/hall", true)
		s.Ask(t, "alice", "PATCH /orgs/guild", `{"default_repository_permission": "none"}`, 200)
		s.Ask(t, "alice", "PUT /orgs/guild/members/dora", "", 204)
		id := func(as, do, body string) int64 {
			var made struct{ ID int64 }
			s.Ask(t, as, do, body, 201).JSON(t, &made)
			return made.ID
		}
		core := id("alice", "POST /orgs/guild/teams",
			`{"name": "core", "privacy": "closed", "repo_names": ["guild/hall"]}`)
		gone := id("alice", "POST /orgs/guild/teams", `{"name": "gone"}`)
		far := id("zoe", "POST /orgs/other/teams", `{"name": "far", "privacy": "closed"}`)
		const at = "/orgs/guild/invitations"
		s.Run(t, []apitest.Case{
			{Name: "of another organization", Do: "POST " + at, As: "alice", Status: 422,
				Send: fmt.Sprintf(`{"login": "bob", "team_ids": [%d]}`, far)},
			{Name: "no ids", Do: "POST " + at, As: "alice", Send: `{"login": "bob", "team_ids": ["core"]}`,
				Status: 422},
			{Do: "POST " + at, As: "alice", Send: fmt.Sprintf(`{"login": "bob", "team_ids": [%d, %d, %[1]d]}`,
				core, gone),
				Status: 201, Want: `{"team_count": 2}`},
			{Name: "the role alone", Do: "POST " + at, As: "alice", Send: `{"login": "bob", "role": "admin"}`,
				Status: 201,
				Want:   `{"team_count": 2, "role": "admin"}`},
			{Do: "POST " + at, As: "alice", Send: `{"login": "bob"}`, Status: 201, Want: `{"role": "direct_member"}`},
		})
		ofBob := fmt.Sprintf("%s/%d", at, id("alice", "POST "+at, `{"login": "bob"}`))
		ofCarol := fmt.Sprintf("%s/%d", at, id("alice", "POST "+at,
			fmt.Sprintf(`{"login": "carol", "team_ids": [%d]}`, core)))
		s.Run(t, []apitest.Case{
			{Do: "GET " + at, As: "alice", Status: 200, Want: `[{"login": "bob", "team_count": 2}, {"team_count": 1}]`},
			{Do: "GET " + ofBob + "/teams", As: "alice", Status: 200, Want: `[{"slug": "core"}, {"slug": "gone"}]`},
			{Do: "GET " + ofBob + "/teams", As: "dora", Status: 403},
			{Do: "GET " + ofBob + "/teams", As: "bob", Status: 403},
			{Do: "GET " + at + "/99999/teams", As: "alice", Status: 404},
			{Do: "GET /orgs/guild/teams/core/invitations", As: "alice", Status: 200,
				Want: `[{"login": "bob"}, {"login": "carol"}]`},
			{Do: fmt.Sprintf("GET /teams/%d/invitations", core), As: "alice", Status: 200,
				Want: `[{"login": "bob"}, {"login": "carol"}]`},
			{Name: "not for members", Do: "GET /orgs/guild/teams/core/invitations", As: "dora", Status: 200,
				Body: `[]`},
			{Do: "GET /orgs/guild/teams/core/invitations", As: "bob", Status: 404},

			{Do: "DELETE " + ofCarol, As: "alice", Status: 204},
			{Do: "GET /orgs/guild/teams/core/invitations", As: "alice", Status: 200, Want: `[{"login": "bob"}]`},
			{Name: "a team goes", Do: "DELETE /orgs/guild/teams/gone", As: "alice", Status: 204},
			{Do: "GET /repos/guild/hall", As: "bob", Status: 404},
			{Do: "PATCH /user/memberships/orgs/guild", As: "bob", Send: `{"state": "active"}`, Status: 200},
			{Do: "GET /repos/guild/hall", As: "bob", Status: 200},
			{Do: "GET /orgs/guild/teams/core/memberships/bob", As: "alice", Status: 200,
				Want: `{"role": "member", "state": "active"}`},
			{Do: "GET /orgs/guild/teams/core/invitations", As: "alice", Status: 200, Body: `[]`},
		})
	})
}
