package repos_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/invitation"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

func mustInvite(o *server.Options) { o.MustInvite = true }

// invited invites somebody to a repository of the server, by the page's operation, and returns the id.
func invited(t *testing.T, s *apitest.Server, by, to, login string, role account.Role) int64 {
	t.Helper()
	i, err := s.Forge.Invitations.Invite(t.Context(), s.Access(t, by, to), login, role)
	testkit.NoError(t, err)
	return int64(i.ID)
}

// ownInvitations lists the repositories to which somebody is invited.
func ownInvitations(t *testing.T, s *apitest.Server, login string) (names []string) {
	t.Helper()
	var list []struct {
		Repository struct {
			Name string `json:"full_name"`
		}
	}
	a := s.Check(t, apitest.Case{Do: "GET /user/repository_invitations", As: login, Status: 200})
	testkit.NoError(t, json.Unmarshal(a.Body, &list))
	for _, i := range list {
		names = append(names, i.Repository.Name)
	}
	return names
}

// Where invitations are required nobody is made a collaborator against their will; a site administrator still adds
// people at once, and members of the organization are known already.
func TestRequiredInvitations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Users(t, "ivy", "zoe")
		s.Admin(t, "keeper")
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`INSERT INTO members (org_id, user_id, owner, created_at)
				SELECT o.id, u.id, FALSE, 1 FROM accounts o, accounts u
				WHERE o.login = 'garden' AND u.login = 'sam'`)
		}))
		const at = "/repos/garden/shed"
		var made struct{ ID int64 }
		s.Run(t, []apitest.Case{
			{Do: "PUT " + at + "/collaborators/ivy", As: "alice", Send: `{"permission": "admin"}`,
				Status: 201,
				Want: `{"repository": {"full_name": "garden/shed", "private": true},
					"invitee": {"login": "ivy"},
					"inviter": {"login": "alice"}, "permissions": "admin", "expired": false,
					"html_url": "{base}/garden/shed/invitations"}`,
				Keep: func(a *apitest.Answer) { a.JSON(t, &made) }},
			{Name: "again, with another role", Do: "PUT " + at + "/collaborators/ivy", As: "alice",
				Send: `{"permission": "push"}`, Status: 201, Want: `{"permissions": "write"}`},
			{Name: "a member", Do: "PUT " + at + "/collaborators/sam", As: "alice", Status: 204},
			{Name: "a collaborator", Do: "PUT " + at + "/collaborators/rae", As: "alice",
				Send: `{"permission": "push"}`, Status: 204},
			{Name: "a site administrator", Do: "PUT " + at + "/collaborators/zoe", As: "keeper", Status: 204},
			{Do: "GET " + at + "/collaborators/ivy", As: "alice", Status: 404},
			{Do: "GET " + at, As: "ivy", Status: 404},
			{Do: "GET " + at + "/invitations", As: "alice", Status: 200, Want: `[{"permissions": "write"}]`},
			{Do: "GET " + at + "/invitations", As: "will", Status: 403},
			{Do: "GET " + at + "/invitations", As: "ivy", Status: 404},
		})
		own := fmt.Sprint("/user/repository_invitations/", made.ID)
		s.Run(t, []apitest.Case{
			{Do: "PATCH " + own, As: "rae", Status: 404},
			{Do: "PATCH " + own, As: "ivy", Status: 204},
			{Do: "PATCH " + own, As: "ivy", Status: 404},
			{Do: "DELETE " + own, As: "ivy", Status: 404},
			{Do: "GET " + at + "/collaborators/ivy/permission", As: "alice", Status: 200,
				Want: `{"permission": "write"}`},
			{Do: "GET " + at + "/invitations", As: "alice", Status: 200, Body: "[]"},
			{Do: "GET /admin/audit-log?phrase=action:repo.add_member+actor:ivy", As: "keeper", Status: 200,
				Want: `[{"user": "ivy", "right": "self", "repo": "garden/shed"}]`},
		})
	}, mustInvite)
}

// Before they accept, invitees see of a private repository its name and who invites them, and nothing else of it.
func TestInviteesSeeTheNameOnly(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Ask(t, "alice", "PATCH /repos/garden/shed",
			`{"description": "nightshade", "homepage": "https://nightshade.example"}`, 200)
		s.Ask(t, "alice", "PUT /repos/garden/shed/topics", `{"names": ["nightshade"]}`, 200)
		id := invited(t, s, "alice", "garden/shed", "sam", account.Pull)
		list := s.Check(t, apitest.Case{Do: "GET /user/repository_invitations", As: "sam", Status: 200,
			Want: `[{"repository": {"full_name": "garden/shed", "description": null, "created_at": null,
				"topics": []},
				"inviter": {"login": "alice"}, "permissions": "read"}]`})
		page := s.Visit(t, "sam", "GET /garden/shed/invitations")
		page.Shows(t, 200, "garden/shed", "alice", "read", "Accept", "Decline")
		for _, a := range []*apitest.Answer{list, page} {
			if strings.Contains(string(a.Body), "nightshade") {
				t.Errorf("the invitee reads of a private repository: %s", a.Body)
			}
		}
		for _, do := range []string{"GET /garden/shed", "GET /repos/garden/shed",
			"GET /repos/garden/shed/readme",
			"GET /garden/shed/settings/access"} {
			s.Ask(t, "sam", do, "", 404)
		}
		s.Visit(t, "sam", "GET /dashboard/notifications").Shows(t, 200, "alice invites you to garden/shed")
		for _, other := range []string{"rae", "will"} {
			s.Visit(t, other, "GET /garden/shed/invitations").Shows(t, 404)
			s.Visit(t, other, "GET /garden/nothing/invitations").Shows(t, 404)
		}
		s.Visit(t, "sam", "POST /garden/shed/invitations", "answer", "accept").Leads(t, "/garden/shed")
		s.Visit(t, "sam", "POST /garden/shed/invitations", "answer", "accept").Shows(t, 404)
		s.Visit(t, "sam", "GET /garden/shed").Shows(t, 200)
		s.Ask(t, "sam", fmt.Sprint("PATCH /user/repository_invitations/", id), "", 404)
	})
}

// Who cannot be invited, by whom, and with which tokens.
func TestWhoIsInvited(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Users(t, "ivy", "gone")
		s.Admin(t, "keeper")
		s.Ask(t, "keeper", "PUT /users/gone/suspended", "", 204)
		shed := s.Access(t, "alice", "garden/shed")
		for login, status := range map[string]string{"alice": "is your own account",
			"will": "is a collaborator already",
			"gone": "is suspended", "garden": "organization", "nobody": "Not Found"} {
			_, err := s.Forge.Invitations.Invite(t.Context(), shed, login, account.Pull)
			var e *errs.Error
			if !errors.As(err, &e) || !strings.Contains(fmt.Sprint(e.Message, e.Fields), status) {
				t.Errorf("%s is invited: %v", login, err)
			}
		}
		if _, err := s.Forge.Invitations.Invite(t.Context(), s.Access(t, "will", "garden/shed"), "ivy",
			account.Pull); err == nil {
			t.Error("a collaborator without the right invites")
		}
		id := invited(t, s, "alice", "garden/shed", "ivy", account.Push)
		own, of := fmt.Sprint("/user/repository_invitations/",
			id), fmt.Sprint("/repos/garden/shed/invitations/", id)
		for name, scopes := range map[string]string{"invite": "repo:invite", "public": "public_repo",
			"user": "user"} {
			s.SetToken(name, s.Scoped(t, "ivy", scopes))
		}
		s.SetToken("fine", s.Fine(t, "ivy", true, int64(s.Access(t, "alice", "garden/plot").ID)))
		s.Run(t, []apitest.Case{
			{Do: "GET /user/repository_invitations", Status: 401},
			{Do: "GET /user/repository_invitations", As: "invite", Status: 200,
				Want: `[{"permissions": "write"}]`},
			{Do: "GET /user/repository_invitations", As: "public", Status: 403},
			{Do: "PATCH " + own, As: "user", Status: 403},
			{Do: "PATCH " + own, As: "fine", Status: 403},
			{Do: "PATCH " + of, As: "will", Send: `{"permissions": "admin"}`, Status: 403},
			{Do: "PATCH " + of, As: "ivy", Send: `{"permissions": "admin"}`, Status: 404},
			{Do: "PATCH " + of, As: "alice", Send: `{"permissions": "king"}`, Status: 422},
			{Do: "PATCH " + of, As: "alice", Send: `{}`, Status: 422},
			{Do: "PATCH " + of, As: "alice", Send: `{"permissions": "read"}`, Status: 200,
				Want: `{"permissions": "read", "repository": {"full_name": "garden/shed"}}`},
			{Name: "of another repository", Do: fmt.Sprint("DELETE /repos/garden/plot/invitations/", id),
				As:     "alice",
				Status: 404},
			{Do: "DELETE " + own, As: "invite", Status: 204},
			{Do: "DELETE " + of, As: "alice", Status: 404},
		})
		id = invited(t, s, "alice", "garden/shed", "ivy", account.Push)
		s.Run(t, []apitest.Case{
			{Do: fmt.Sprint("DELETE /repos/garden/shed/invitations/", id), As: "will", Status: 403},
			{Do: fmt.Sprint("DELETE /repos/garden/shed/invitations/", id), As: "alice", Status: 204},
			{Do: fmt.Sprint("PATCH /user/repository_invitations/", id), As: "ivy", Status: 404},
			{Do: "GET /orgs/garden/audit-log?phrase=action:repository_invitation", As: "alice", Status: 200,
				Want: `[{"action": "repository_invitation.cancel"},
					{"action": "repository_invitation.create"},
					{"action": "repository_invitation.reject", "right": "self"},
					{"action": "repository_invitation.update"}, {"action": "repository_invitation.create"}]`},
		})
	})
}

// transitions are what happens to an invitation to garden/shed that gail, an administrator, sent to ivy; and what
// accepting it answers then.
var transitions = []struct {
	name   string
	do     []apitest.Case
	listed string // the repository's name in ivy's list; "": it is not there
	status int
	role   string // of ivy afterwards; "": not a collaborator
}{
	{"nothing", nil, "garden/shed", 204, "write"},
	{"made public", []apitest.Case{{Do: "PATCH /repos/garden/shed", As: "alice", Send: `{"private": false}`}},
		"garden/shed", 204, "write"},
	{"renamed", []apitest.Case{{Do: "PATCH /repos/garden/shed", As: "alice", Send: `{"name": "hut"}`}},
		"garden/hut", 204, "write"},
	{"the owner is renamed", []apitest.Case{{Do: "PATCH /admin/organizations/garden", As: "keeper",
		Send: `{"login": "park"}`}}, "park/shed", 204, "write"},
	{"archived", []apitest.Case{{Do: "PATCH /repos/garden/shed", As: "alice", Send: `{"archived": true}`}},
		"garden/shed", 403, ""},
	{"transferred", []apitest.Case{{Do: "POST /repos/garden/shed/transfer", As: "keeper",
		Send: `{"new_owner": "alice"}`}}, "", 404, ""},
	{"deleted", []apitest.Case{{Do: "DELETE /repos/garden/shed", As: "alice"}}, "", 404, ""},
	{"the inviter is removed", []apitest.Case{{Do: "DELETE /repos/garden/shed/collaborators/gail",
		As: "alice"}},
		"", 404, ""},
	{"the inviter leaves", []apitest.Case{{Do: "DELETE /repos/garden/shed/collaborators/gail", As: "gail"}},
		"", 404, ""},
	{"the inviter gets less", []apitest.Case{{Do: "PUT /repos/garden/shed/collaborators/gail", As: "alice",
		Send: `{"permission": "push"}`}}, "", 404, ""},
	{"the inviter is suspended", []apitest.Case{{Do: "PUT /users/gail/suspended", As: "keeper"}}, "", 404,
		""},
	{"the inviter's suspension ends", []apitest.Case{{Do: "PUT /users/gail/suspended", As: "keeper"},
		{Do: "DELETE /users/gail/suspended", As: "keeper"}}, "garden/shed", 204, "write"},
	{"the inviter is deleted", []apitest.Case{{Do: "DELETE /admin/users/gail", As: "keeper"}}, "", 404, ""},
	{"the inviter is renamed", []apitest.Case{{Do: "PATCH /admin/users/gail", As: "keeper",
		Send: `{"login": "gale"}`}}, "garden/shed", 204, "write"},
	{"the invitee is renamed", []apitest.Case{{Do: "PATCH /admin/users/ivy", As: "keeper",
		Send: `{"login": "iris"}`}}, "garden/shed", 204, "write"},
	{"the invitee was suspended", []apitest.Case{{Do: "PUT /users/ivy/suspended", As: "keeper"},
		{Do: "DELETE /users/ivy/suspended", As: "keeper"}}, "garden/shed", 204, "write"},
	{"added at once", []apitest.Case{{Do: "PUT /repos/garden/shed/collaborators/ivy", As: "alice",
		Send: `{"permission": "admin"}`}}, "", 404, "admin"},
	{"removed", []apitest.Case{{Do: "DELETE /repos/garden/shed/collaborators/ivy", As: "alice"}}, "", 404,
		""},
	{"the role changes", []apitest.Case{{Do: "PATCH /repos/garden/shed/invitations/{id}", As: "alice",
		Send: `{"permissions": "read"}`}}, "garden/shed", 204, "read"},
}

// An invitation is never worth more than its inviter's right, and shows only what there is now.
func TestInvitationTransitions(t *testing.T) {
	t.Parallel()
	for _, c := range transitions {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				s.Team(t)
				s.Users(t, "ivy", "gail")
				s.Admin(t, "keeper")
				shed := s.Access(t, "alice", "garden/shed")
				s.Grant(t, shed.Repo, "gail", account.Admin)
				id := fmt.Sprint(invited(t, s, "gail", "garden/shed", "ivy", account.Push))
				for _, change := range c.do {
					change.Do = strings.ReplaceAll(change.Do, "{id}", id)
					if a := s.Do(t, change); a.Status >= 300 {
						t.Fatalf("%s: %d %s", change.Do, a.Status, a.Body)
					}
				}
				if want := strings.Fields(c.listed); !slices.Equal(ownInvitations(t, s, "ivy"), want) {
					t.Errorf("ivy is invited to %v, want %v", ownInvitations(t, s, "ivy"), want)
				}
				s.Ask(t, "ivy", "PATCH /user/repository_invitations/"+id, "", c.status)
				if c.status != 204 && c.status != 403 {
					s.Ask(t, "ivy", "DELETE /user/repository_invitations/"+id, "", c.status)
				}
				role := ""
				testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
					list, err := db.QueryList(tx, func(row db.Scanner) (r account.Role, err error) {
						var n int64
						err = row.Scan(&n)
						return account.Role(n), err
					}, `SELECT role FROM collaborators WHERE repo_id = $1 AND user_id IN
						(SELECT id FROM accounts WHERE login IN ('ivy', 'iris'))`, shed.ID)
					for _, r := range list {
						role = map[account.Role]string{account.Pull: "read", account.Push: "write",
							account.Admin: "admin"}[r]
					}
					return err
				}))
				if role != c.role {
					t.Errorf("ivy has the role %q, want %q", role, c.role)
				}
			})
		})
	}
}

// Owners of an organization and site administrators invite by these rights, which may end, too.
func TestInvitersOfOrganizations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Users(t, "ivy", "gail", "iris")
		s.Admin(t, "keeper")
		s.Admin(t, "chief")
		s.Ask(t, "alice", "PATCH /orgs/garden", `{"default_repository_permission": "admin"}`, 200)
		s.Ask(t, "alice", "PUT /orgs/garden/memberships/iris", `{"role": "member"}`, 200)
		s.Ask(t, "alice", "PUT /orgs/garden/memberships/gail", `{"role": "admin"}`, 200)
		for _, c := range []struct {
			name, by string
			apitest.Case
		}{
			{"members have a lower role", "iris", apitest.Case{Do: "PATCH /orgs/garden", As: "alice",
				Send: `{"default_repository_permission": "write"}`}},
			{"an owner becomes a member", "gail", apitest.Case{Do: "PUT /orgs/garden/memberships/gail",
				As:   "alice",
				Send: `{"role": "member"}`}},
			{"an owner leaves", "gail", apitest.Case{Do: "DELETE /orgs/garden/memberships/gail", As: "gail"}},
			{"a site administrator is demoted", "keeper", apitest.Case{Do: "DELETE /users/keeper/site_admin",
				As: "chief"}},
		} {
			if c.by == "gail" {
				s.Ask(t, "alice", "PUT /orgs/garden/memberships/gail", `{"role": "admin"}`, 200)
			}
			by, err := s.Accounts.Find(t.Context(), c.by)
			testkit.NoError(t, err)
			shed, err := s.Repos.Find(t.Context(), &account.Caller{ID: by.ID, Login: by.Login,
				SiteAdmin: by.SiteAdmin},
				"garden", "shed")
			testkit.NoError(t, err)
			_, err = s.Forge.Invitations.Invite(t.Context(), &shed.Access, "ivy", account.Pull)
			testkit.NoError(t, err)
			if list := ownInvitations(t, s, "ivy"); len(list) != 1 {
				t.Errorf("before %s ivy is invited to %v", c.name, list)
			}
			if a := s.Do(t, c.Case); a.Status >= 300 {
				t.Fatalf("%s: %d %s", c.Do, a.Status, a.Body)
			}
			if list := ownInvitations(t, s, "ivy"); list != nil {
				t.Errorf("after %s ivy is invited to %v", c.name, list)
			}
		}
	})
}

// Of two requests that answer at the same time one counts.
func TestAcceptingTwice(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		for range 5 {
			own := fmt.Sprint("/user/repository_invitations/", invited(t, s, "alice", "garden/shed", "sam",
				account.Push))
			statuses := s.Together(t, apitest.Case{Do: "PATCH " + own, As: "sam"},
				apitest.Case{Do: "PATCH " + own, As: "sam"},
				apitest.Case{Do: "DELETE " + own, As: "sam"})
			if slices.Sort(statuses); !slices.Equal(statuses, []int{204, 404, 404}) {
				t.Errorf("the answers are %v", statuses)
			}
			s.Ask(t, "alice", "DELETE /repos/garden/shed/collaborators/sam", "", 204)
		}
	})
}

// After seven days an invitation is nothing any more, and somebody can be invited again. Limits count a day.
func TestInvitationsExpire(t *testing.T) {
	t.Parallel()
	eachTimed(t, func(t *testing.T, s *apitest.Server, c *clock) {
		s.Team(t)
		id := invited(t, s, "alice", "garden/shed", "sam", account.Push)
		c.forward(invitation.Lifetime - time.Minute)
		if list := ownInvitations(t, s, "sam"); len(list) != 1 {
			t.Errorf("a minute before the end sam is invited to %v", list)
		}
		c.forward(2 * time.Minute)
		own, of := fmt.Sprint("/user/repository_invitations/",
			id), fmt.Sprint("/repos/garden/shed/invitations/", id)
		s.Run(t, []apitest.Case{
			{Do: "GET /user/repository_invitations", As: "sam", Status: 200, Body: "[]"},
			{Do: "GET /repos/garden/shed/invitations", As: "alice", Status: 200, Body: "[]"},
			{Do: "PATCH " + own, As: "sam", Status: 404},
			{Do: "DELETE " + own, As: "sam", Status: 404},
			{Do: "PATCH " + of, As: "alice", Send: `{"permissions": "admin"}`, Status: 404},
			{Do: "DELETE " + of, As: "alice", Status: 404},
		})
		s.Visit(t, "sam", "GET /garden/shed/invitations").Shows(t, http.StatusNotFound)
		if again := invited(t, s, "alice", "garden/shed", "sam", account.Push); again == id {
			t.Error("the expired invitation counts again")
		}
		var err error
		for n := 0; err == nil && n < 60; n++ {
			login := fmt.Sprint("guest", n)
			s.User(t, login)
			_, err = s.Forge.Invitations.Invite(t.Context(), s.Access(t, "alice", "garden/shed"), login,
				account.Pull)
		}
		if err == nil || !strings.Contains(err.Error(), "At most 50 people") {
			t.Errorf("many invitations in a day: %v", err)
		}
		c.forward(25 * time.Hour)
		s.User(t, "late")
		invited(t, s, "alice", "garden/shed", "late", account.Pull)
		c.forward(60 * 24 * time.Hour)
		invited(t, s, "alice", "garden/shed", "late", account.Pull)
	})
}
