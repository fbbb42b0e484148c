package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/signup"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// Whoever is invited gets a mail, unless the invitation has ended when it is sent.
func TestInvitationsAreMailed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, mails := withMail(t, engine)
		s.Users(t, "alice", "bob", "carol")
		s.Email(t, "bob", "bob@example.org")
		s.Email(t, "carol", "carol@example.org")
		s.Org(t, "guild", "alice")
		s.Repo(t, "alice/garden", true)
		s.Ask(t, "alice", "POST /orgs/guild/invitations", `{"login": "bob"}`, 201)
		_, err := s.Forge.Invitations.Invite(t.Context(), s.Access(t, "alice", "alice/garden"), "bob", account.Push)
		testkit.NoError(t, err)
		bob := &visitor{t, s, s.PasswordSession(t, "bob")}
		m := mailAbout(t, mails, "bob@example.org", "alice invites you to join the organization guild", 1)
		bob.get(linkIn(t, m, "/orgs/guild/invitation")).Shows(t, 200, "Invitation to guild")
		m = mailAbout(t, mails, "bob@example.org", "alice invites you to collaborate on alice/garden with the role write", 1)
		bob.get(linkIn(t, m, "/alice/garden/invitations")).Shows(t, 200, "alice/garden")
		if strings.Contains(m.Text, "/join") {
			t.Errorf("a person with an account is asked for one: %s", m.Text)
		}

		// One that ended meanwhile is not sent.
		testkit.Eventually(t, func() bool { return waitingMails(t, s) == 0 }, "the queue is empty")
		before := len(mails.To("carol@example.org"))
		takesNone(mails)
		a := s.Ask(t, "alice", "POST /orgs/guild/invitations", `{"login": "carol"}`, 201)
		isPutOff(t, s)
		s.Ask(t, "alice", "DELETE /orgs/guild/invitations/"+idIn(t, a), "", 204)
		takesAll(t, s, mails)
		testkit.Eventually(t, func() bool { return waitingMails(t, s) == 0 }, "the queue is empty again")
		if n := len(mails.To("carol@example.org")); n != before {
			t.Errorf("%d mails to carol, %d before", n, before)
		}
	})
}

// idIn is the id of an answer.
func idIn(t *testing.T, a *apitest.Answer) string {
	t.Helper()
	var made struct {
		ID int64 `json:"id"`
	}
	a.JSON(t, &made)
	return fmt.Sprint(made.ID)
}

// Owners of an organization invite an address that no account has: who holds the link in the mail may accept, and who
// verifies the address.
func TestInviteAnAddress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, mails := withMail(t, engine)
		s.Users(t, "alice", "bob", "carol", "dora", "eve")
		s.Org(t, "guild", "alice")
		team := idIn(t, s.Ask(t, "alice", "POST /orgs/guild/teams", `{"name": "web"}`, 201))
		const at, subject = "/orgs/guild/invitations", "alice invites you to join the organization guild"
		s.Run(t, []apitest.Case{
			{Do: "POST " + at, As: "bob", Send: `{"email": "new@example.org"}`, Status: 403},
			{Do: "POST " + at, As: "alice", Send: `{"email": "no address"}`, Status: 422},
			{Do: "POST " + at, As: "alice", Send: `{"email": "1+x@users.noreply.arbor"}`, Status: 422},
			{Do: "POST " + at, As: "alice", Send: `{"email": "New@example.org", "team_ids": [` + team + `]}`, Status: 201,
				Want: `{"login": null, "email": "new@example.org", "role": "direct_member", "team_count": 1}`},
			{Do: "GET " + at, As: "alice", Status: 200, Want: `[{"login": null, "email": "new@example.org"}]`},
			{Do: "GET /orgs/guild/teams/web/invitations", As: "alice", Status: 200, Want: `[{"email": "new@example.org"}]`},
		})
		m := mailAbout(t, mails, "new@example.org", subject, 1)
		link := linkIn(t, m, "/orgs/guild/invitation?link=")
		if strings.Contains(m.Text, "/join") {
			t.Errorf("a closed site offers an account: %s", m.Text)
		}
		carol := &visitor{t, s, s.PasswordSession(t, "carol")}
		alice := &visitor{t, s, s.PasswordSession(t, "alice")}
		as(t, s, "").get(link).Leads(t, "/login?return_to=%2Forgs%2Fguild%2Finvitation%3Flink%3D"+brought(link))
		carol.get("/orgs/guild/invitation").Shows(t, 404)
		carol.get(link+"x").Shows(t, 404)
		carol.get(link).Shows(t, 200, "alice invites you")
		alice.get("/orgs/guild/people").Shows(t, 200, "new@example.org")
		alice.post(link, "answer", "accept").Shows(t, 422, "is a member already")
		carol.post(link, "answer", "accept").Leads(t, "/guild")
		s.Run(t, []apitest.Case{
			{Do: "GET /orgs/guild/teams/web/memberships/carol", As: "alice", Status: 200, Want: `{"state": "active"}`},
			{Do: "GET " + at, As: "alice", Status: 200, Want: `[]`},
		})
		(&visitor{t, s, s.PasswordSession(t, "bob")}).get(link).Shows(t, 404)

		// Who verifies the address is invited without the link; another role is of the same invitation.
		first := idIn(t, s.Ask(t, "alice", "POST "+at, `{"email": "dora@example.org"}`, 201))
		if again := idIn(t, s.Ask(t, "alice", "POST "+at, `{"email": "dora@example.org", "role": "admin"}`, 201)); again != first {
			t.Errorf("invitation %s, then %s", first, again)
		}
		testkit.NoError(t, s.Accounts.AddEmail(t.Context(), "dora", "dora@example.org"))
		const own, pending = "GET /user/memberships/orgs/guild", "GET /user/memberships/orgs?state=pending"
		s.Check(t, apitest.Case{Name: "not verified", Do: own, As: "dora", Status: 404})
		testkit.NoError(t, s.Accounts.VerifyEmail(t.Context(), "dora", "dora@example.org"))
		s.Run(t, []apitest.Case{
			{Do: own, As: "dora", Status: 200, Want: `{"state": "pending", "role": "admin", "user": {"login": "dora"}}`},
			{Do: pending, As: "dora", Status: 200, Want: `[{"user": {"login": "dora"}}]`},
			{Do: "PATCH /user/memberships/orgs/guild", As: "dora", Send: `{"state": "active"}`, Status: 200,
				Want: `{"state": "active", "role": "admin"}`},
			{Do: "GET " + at, As: "alice", Status: 200, Want: `[]`},
		})

		// Cancelled; of who owns the organization no more; declined.
		invite := func(as, address string) (id, link string) {
			t.Helper()
			id = idIn(t, s.Ask(t, as, "POST "+at, `{"email": "`+address+`"}`, 201))
			return id, linkIn(t, mailAbout(t, mails, address, as+" invites you to join the organization guild", 1),
				"/orgs/guild/invitation?link=")
		}
		eve := &visitor{t, s, s.PasswordSession(t, "eve")}
		id, link := invite("alice", "a@example.org")
		eve.get(link).Shows(t, 200)
		s.Ask(t, "alice", "DELETE "+at+"/"+id, "", 204)
		eve.get(link).Shows(t, 404)
		_, link = invite("dora", "b@example.org")
		eve.get(link).Shows(t, 200)
		s.Ask(t, "alice", "PUT /orgs/guild/memberships/dora", `{"role": "member"}`, 200)
		eve.get(link).Shows(t, 404)
		_, link = invite("alice", "c@example.org")
		eve.post(link, "answer", "decline").Leads(t, "/")
		eve.get(link).Shows(t, 404)

		// Where accounts begin so, the mail offers one, which is invited then.
		begins(t, s, signup.Open)
		invite("alice", "ann@example.org")
		m = mailAbout(t, mails, "ann@example.org", subject, 1)
		ann := as(t, s, "").join("ann", "link", brought(linkIn(t, m, "/join?link=")))
		ann.get("/dashboard/notifications").Shows(t, 200, "guild")
		ann.post("/orgs/guild/invitation", "answer", "accept").Leads(t, "/guild")
		testkit.NoError(t, s.Accounts.Delete(t.Context(), nil, account.Organization, "guild"))
	})
}

// An address gets five invitations within a day, whoever sends them.
func TestInvitationsToAnAddressAreBounded(t *testing.T) {
	t.Parallel()
	s, _ := withMail(t, db.SQLite)
	s.Users(t, "alice")
	for n := range 6 {
		org := fmt.Sprint("guild", n)
		s.Org(t, org, "alice")
		status := 201
		if n == 5 {
			status = 429
		}
		s.Ask(t, "alice", "POST /orgs/"+org+"/invitations", `{"email": "new@example.org"}`, status)
	}
}
