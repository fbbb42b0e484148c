package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// A policy is an organization, acme of alice, with an OAuth App of dave and its tokens.
type policy struct {
	*testing.T
	s      *apitest.Server
	c      client
	tokens map[string]map[string]string
	alice  *visitor
}

const (
	policyPage  = "/organizations/acme/settings/oauth_application_policy"
	notApproved = `{"message": "The organization \"acme\" restricts OAuth Apps and has not approved this one. ` +
		`Ask its owners to approve it at Settings > Authorized OAuth Apps."}`
)

func newPolicy(t *testing.T, s *apitest.Server) *policy {
	s.Users(t, "alice", "bob", "carol", "dave", "eve")
	s.Org(t, "acme", "alice")
	s.Repo(t, "acme/plot", false)
	s.Repo(t, "acme/vault", true)
	s.Ask(t, "alice", "PUT /orgs/acme/members/bob", "", 204)
	s.Ask(t, "alice", "PATCH /orgs/acme", `{"members_can_fork_private_repositories":true,
		"default_repository_permission":"write"}`, 200)
	s.Ask(t, "alice", "POST /orgs/acme/teams", `{"name":"diggers"}`, 201)
	s.Ask(t, "alice", "PUT /orgs/acme/teams/diggers/memberships/bob", `{"role":"member"}`, 200)
	p := &policy{T: t, s: s, c: newClient(t, s, "dave", "https://weeder.example/cb"), tokens: map[string]map[string]string{},
		alice: &visitor{t, s, s.PasswordSession(t, "alice")}}
	for _, login := range []string{"alice", "bob"} {
		code := p.c.allow(t, s, s.PasswordSession(t, login), "scope", "repo admin:org notifications user")
		p.tokens[login] = apitest.Bearer(p.c.redeem(t, s, code)["access_token"].(string))
	}
	return p
}

// is holds that the organization is open to the App, or closed.
func (p *policy) is(when string, open bool) {
	p.Helper()
	name := func(text string) string { return when + ": " + text }
	bob, alice := p.tokens["bob"], p.tokens["alice"]
	if !open {
		p.s.Run(p.T, []apitest.Case{
			{Name: name("a private repository"), Do: "GET /repos/acme/vault", Headers: bob, Status: 404},
			{Name: name("by git"), Do: "GET /acme/vault.git/info/refs?service=git-upload-pack", Headers: bob, Status: 404},
			{Name: name("a push"), Do: "GET /acme/plot.git/info/refs?service=git-receive-pack", Headers: alice, Status: 403},
			{Name: name("a public one"), Do: "GET /repos/acme/plot", Headers: alice, Status: 200,
				Want: `{"permissions": {"admin": false, "push": false, "pull": true}}`},
			{Name: name("an issue"), Do: "POST /repos/acme/plot/issues", Send: `{"title":"x"}`, Headers: bob, Status: 403,
				Want: notApproved},
			{Name: name("what administrators read"), Do: "GET /repos/acme/plot/hooks", Headers: alice, Status: 403,
				Want: notApproved},
			{Name: name("a star"), Do: "PUT /user/starred/acme/plot", Headers: bob, Status: 403},
			{Name: name("a fork"), Do: "POST /repos/acme/plot/forks", Headers: bob, Status: 403},
			{Name: name("a new repository"), Do: "POST /orgs/acme/repos", Send: `{"name":"new"}`, Headers: alice, Status: 403,
				Want: notApproved},
			{Name: name("the organization"), Do: "PATCH /orgs/acme", Send: `{"name":"x"}`, Headers: alice, Status: 403,
				Want: notApproved},
			{Name: name("leaving"), Do: "DELETE /orgs/acme/members/bob", Headers: bob, Status: 403, Want: notApproved},
			{Name: name("showing oneself"), Do: "PUT /orgs/acme/public_members/bob", Headers: bob, Status: 403,
				Want: notApproved},
			{Name: name("members"), Do: "GET /orgs/acme/members", Headers: alice, Status: 200, Want: `[]`},
			{Name: name("the own membership"), Do: "GET /user/memberships/orgs/acme", Headers: bob, Status: 404},
			{Name: name("memberships"), Do: "GET /user/memberships/orgs", Headers: bob, Status: 200, Want: `[]`},
			{Name: name("organizations"), Do: "GET /user/orgs", Headers: bob, Status: 200, Want: `[]`},
			{Name: name("teams"), Do: "GET /user/teams", Headers: bob, Status: 200, Want: `[]`},
			{Name: name("GraphQL"), Do: "POST /graphql", Headers: bob, Status: 200, Send: `{"query": "{repository(owner: \"acme\", ` +
				`name: \"vault\") {name} viewer {organizations(first: 5) {totalCount}} ` +
				`organization(login: \"acme\") {viewerIsAMember}}"}`,
				Want: `{"data": {"repository": null, "viewer": {"organizations": {"totalCount": 0}},
					"organization": {"viewerIsAMember": false}}}`},
		})
	} else {
		p.s.Run(p.T, []apitest.Case{
			{Name: name("a private repository"), Do: "GET /repos/acme/vault", Headers: bob, Status: 200},
			{Name: name("by git"), Do: "GET /acme/vault.git/info/refs?service=git-upload-pack", Headers: bob, Status: 200},
			{Name: name("a public one"), Do: "GET /repos/acme/plot", Headers: alice, Status: 200,
				Want: `{"permissions": {"admin": true}}`},
			{Name: name("an issue"), Do: "POST /repos/acme/plot/issues", Send: `{"title":"x"}`, Headers: bob, Status: 201},
			{Name: name("the organization"), Do: "PATCH /orgs/acme", Send: `{"name":"x"}`, Headers: alice, Status: 200},
			{Name: name("memberships"), Do: "GET /user/memberships/orgs", Headers: bob, Status: 200,
				Want: `[{"organization": {"login": "acme"}}]`},
			{Name: name("organizations"), Do: "GET /user/orgs", Headers: bob, Status: 200, Want: `[{"login": "acme"}]`},
			{Name: name("teams"), Do: "GET /user/teams", Headers: bob, Status: 200, Want: `[{"slug": "diggers"}]`},
		})
	}
	for _, list := range []string{"/user/repos", "/search/repositories?q=vault", "/users/bob/events", "/orgs/acme/repos"} {
		a := p.s.Do(p.T, apitest.Case{Do: "GET " + list, Headers: bob})
		if a.Status != 200 || !open && strings.Contains(string(a.Body), "acme/vault") ||
			open && list != "/users/bob/events" && !strings.Contains(string(a.Body), "acme/vault") {
			p.Errorf("%s: GET %s, open %t: %d %.200s", when, list, open, a.Status, a.Body)
		}
	}
	p.s.Run(p.T, []apitest.Case{
		{Name: name("people"), Do: "GET /repos/acme/vault", As: "bob", Status: 200},
		{Name: name("other organizations"), Do: "GET /user/repos?visibility=private&affiliation=owner", Headers: bob,
			Status: 200},
	})
}

func (p *policy) post(pairs ...string) {
	p.Helper()
	p.alice.post(policyPage, pairs...).Shows(p.T, 303)
}

// An organization that restricts OAuth Apps is closed to the tokens of those that it has not approved: the table of
// account/oauthapp.go, row by row.
func TestOrganizationApprovesOAuthApps(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := newPolicy(t, s)
		bob := &visitor{t, s, s.PasswordSession(t, "bob")}
		dave := &visitor{t, s, s.PasswordSession(t, "dave")}
		connection := "/settings/connections/applications/" + p.c.ClientID
		p.is("at first", true)
		bob.show(connection, "None of your organizations")
		bob.post(connection, "org", "acme").Shows(t, 404)
		p.post("do", "restrict")
		p.is("restricted", false)

		bob.show("/login/oauth/authorize?"+p.c.asks("prompt", "consent"), "have not approved this one", "acme")
		bob.show(connection, "Not approved", "Request approval")
		bob.post(connection, "org", "acme").Shows(t, 303)
		bob.post(connection, "org", "acme").Shows(t, 303)
		bob.show(connection, "The owners were asked")
		dave.post(connection, "org", "acme").Shows(t, 404)
		dave.post(connection, "org", "dave").Shows(t, 404)
		bob.post(policyPage, "do", "approve", "client_id", p.c.ClientID).Shows(t, 403)
		if a := visit(t, s, "GET "+policyPage, bob.session, ""); a.Status != 403 {
			t.Errorf("a member sees the policy: %d", a.Status)
		}
		p.alice.show(policyPage, "Waiting", "Weeder", "requested by", p.c.ClientID)
		p.is("asked", false)
		p.post("do", "approve", "client_id", p.c.ClientID)
		p.is("approved", true)
		p.alice.show(policyPage, "Approved")

		p.post("do", "deny", "client_id", p.c.ClientID)
		p.is("denied", false)
		bob.post(connection, "org", "acme").Shows(t, 422, "The owners of acme denied Weeder")
		bob.show(connection, "Denied by the owners")
		p.post("do", "open")
		p.is("open", true)
		p.post("do", "restrict")
		p.is("restricted again, and still denied", false)
		p.post("do", "approve", "client_id", p.c.ClientID)

		testkit.NoError(t, s.Forge.OAuth.Transfer(t.Context(), nil, p.c.ClientID, "eve"))
		p.is("the App was transferred", false)
		p.alice.show(policyPage, "Waiting")
		testkit.NoError(t, s.Forge.OAuth.Transfer(t.Context(), nil, p.c.ClientID, "acme"))
		p.is("it is the organization's", true)
		p.alice.post(policyPage, "do", "deny", "client_id", p.c.ClientID).Shows(t, 422, "needs no approval")
		testkit.NoError(t, s.Forge.OAuth.Transfer(t.Context(), nil, p.c.ClientID, "dave"))
		p.is("it is that no more", false)

		p.alice.post(policyPage, "do", "approve", "client_id", "Ov23none").Shows(t, 404)
		p.alice.post(policyPage, "do", "x").Shows(t, 422)
		for _, action := range []string{"enable_oauth_app_restrictions", "disable_oauth_app_restrictions",
			"oauth_app_access_requested", "oauth_app_access_approved", "oauth_app_access_denied"} {
			want(t, s.Do(t, apitest.Case{Do: "GET /orgs/acme/audit-log?phrase=action:org." + action, As: "alice"}), 200,
				`"action":"org.`+action)
		}
		s.Ask(t, "alice", "DELETE /orgs/acme/members/bob", "", 204)
		bob.show(connection, "None of your organizations")
		testkit.NoError(t, s.Forge.OAuth.Remove(t.Context(), nil, p.c.ClientID))
		s.Check(t, apitest.Case{Do: "GET /user", Headers: p.tokens["bob"], Status: 401})
		p.alice.show(policyPage, "No App was requested")
	})
}

// What a token of an App reaches follows a repository: to a closed organization, out of it, and to private forks of
// what is there.
func TestClosedOrganizationAndRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := newPolicy(t, s)
		s.Repo(t, "alice/own", true)
		for _, name := range []string{"vault", "plot"} {
			s.Ask(t, "alice", "PUT /repos/acme/"+name+"/contents/x", `{"message":"x","content":"eA=="}`, 201)
			s.Ask(t, "bob", "POST /repos/acme/"+name+"/forks", "", 202)
		}
		alice, bob := p.tokens["alice"], p.tokens["bob"]
		see := func(when string, status int, headers map[string]string, names ...string) {
			t.Helper()
			for _, name := range names {
				s.Check(t, apitest.Case{Name: when, Do: "GET /repos/" + name, Headers: headers, Status: status})
			}
		}
		see("open", 200, bob, "bob/vault", "bob/plot", "acme/vault")
		p.post("do", "restrict")
		see("a private fork", 404, bob, "bob/vault", "acme/vault")
		see("a public fork", 200, bob, "bob/plot")
		s.Check(t, apitest.Case{Do: "POST /repos/bob/plot/labels", Send: `{"name":"x","color":"ff0000"}`, Headers: bob,
			Status: 201})
		for _, list := range []string{"GET /user/repos", "GET /users/bob/repos"} {
			if a := s.Do(t, apitest.Case{Do: list, Headers: bob}); strings.Contains(string(a.Body), "/vault") {
				t.Errorf("%s tells of the private fork: %.300s", list, a.Body)
			}
		}
		s.Run(t, []apitest.Case{
			{Name: "into it", Do: "POST /repos/alice/own/transfer", Send: `{"new_owner":"acme"}`, Headers: alice, Status: 403,
				Want: notApproved},
			{Name: "a fork into it", Do: "POST /repos/bob/plot/forks", Send: `{"organization":"acme","name":"other"}`,
				Headers: alice, Status: 403, Want: notApproved},
			{Name: "out of it", Do: "POST /repos/acme/plot/transfer", Send: `{"new_owner":"alice"}`, Headers: alice,
				Status: 403},
			{Do: "POST /repos/alice/own/transfer", Send: `{"new_owner":"acme"}`, As: "alice", Status: 202},
		})
		see("it came", 404, alice, "acme/own", "alice/own")
		s.Ask(t, "alice", "POST /repos/acme/own/transfer", `{"new_owner":"alice"}`, 202)
		see("it went", 200, alice, "alice/own")
		p.post("do", "open")
		see("open again", 200, bob, "bob/vault", "acme/vault")
	})
}

// An organization's owners get one mail about each request, unless it was decided when the mail is sent.
func TestOwnersAreMailedAboutOAuthApps(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, mails := withMail(t, engine)
		p := newPolicy(t, s)
		s.Email(t, "alice", "alice@example.org")
		p.post("do", "restrict")
		bob := &visitor{t, s, s.PasswordSession(t, "bob")}
		connection := "/settings/connections/applications/" + p.c.ClientID
		bob.post(connection, "org", "acme").Shows(t, 303)
		bob.post(connection, "org", "acme").Shows(t, 303)
		m := mailAbout(t, mails, "alice@example.org", "bob asks to let Weeder into acme", 1)
		p.alice.get(linkIn(t, m, policyPage)).Shows(t, 200, "Waiting", "Weeder")
	})
}
