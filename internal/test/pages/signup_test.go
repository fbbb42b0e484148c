package pages_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/signup"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/mailtest"
	"arbor/internal/test/testkit"
)

// begins sets how accounts begin.
func begins(t *testing.T, s *apitest.Server, mode signup.Mode, domains ...string) {
	t.Helper()
	testkit.NoError(t, s.Forge.Signup.Change(t.Context(), nil, signup.Settings{Mode: mode, Domains: domains}))
}

// person is what the form of an account has for a login; more fields replace these.
func person(login string, more ...string) []string {
	return append([]string{"login", login, "password", "mossy lantern 42", "again", "mossy lantern 42"}, more...)
}

// join sends the form of an account, and returns the browser of who was signed in.
func (v *visitor) join(login string, more ...string) *visitor {
	v.t.Helper()
	a := v.post("/join", person(login, more...)...)
	a.Leads(v.t, "/")
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if c.Name == session.Cookie {
			return &visitor{v.t, v.s, c.Value}
		}
	}
	v.t.Fatalf("nobody was signed in: %v", a.Header)
	return nil
}

// mailAbout waits for a mail to an address with a subject, the n-th from 1.
func mailAbout(t *testing.T, mails *mailtest.Server, to, subject string, n int) *mailtest.Mail {
	t.Helper()
	var found []*mailtest.Mail
	testkit.Eventually(t, func() bool {
		found = nil
		for _, m := range mails.To(to) {
			if m.Subject() == subject {
				found = append(found, m)
			}
		}
		return len(found) >= n
	}, fmt.Sprintf("mail %d to %s: %s", n, to, subject))
	return found[n-1]
}

// takesNone lets a mail server take no mails, also by a connection that is open.
func takesNone(mails *mailtest.Server) {
	mails.On(func(command string) string {
		switch verb, _, _ := strings.Cut(command, " "); verb {
		case "EHLO":
			return "421 later"
		case "MAIL":
			return "drop"
		}
		return ""
	})
}

// isPutOff waits until the server has tried to send the mails that wait.
func isPutOff(t *testing.T, s *apitest.Server) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		return dbtest.Number(t, s.DB, `SELECT count(*) FROM mails WHERE tries = 0 OR due_at >= `+
			s.DB.Engine().Clock()+` + 60000000`) == 0 // a lease is longer
	}, "the mails are put off")
}

// takesAll ends that, and has what waits sent at once.
func takesAll(t *testing.T, s *apitest.Server, mails *mailtest.Server) {
	t.Helper()
	mails.On(nil)
	testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error { return tx.Run(`UPDATE mails SET due_at = 0`) }))
}

func verified(t *testing.T, s *apitest.Server, login, address string) bool {
	t.Helper()
	list, err := s.Accounts.Emails(t.Context(), login)
	testkit.NoError(t, err)
	for _, e := range list {
		if e.Address == address {
			return e.Verified
		}
	}
	return false
}

// While accounts are closed there is no page where they begin, whatever links there are.
func TestClosedSite(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Admin(t, "chief")
	nobody := as(t, s, "")
	secret := func() string {
		begins(t, s, signup.Invitation)
		secret, err := s.Forge.Signup.Invite(t.Context(), nil, signup.Invite{Days: 1})
		testkit.NoError(t, err)
		begins(t, s, signup.Closed)
		return secret
	}()
	nobody.get("/login").Shows(t, 200, "Ask the administrator", "!Create an account")
	nobody.get("/join").Shows(t, 404)
	nobody.get("/join?link="+secret).Shows(t, 404)
	nobody.post("/join", person("ann")...).Shows(t, 404)
	nobody.post("/join", person("ann", "link", secret)...).Shows(t, 404)
	nobody.post("/join", "address", "ann@example.org").Shows(t, 404)
	_, err := s.Forge.Signup.Invite(t.Context(), nil, signup.Invite{Days: 1})
	if !errs.Is(err, errs.Invalid) {
		t.Errorf("inviting to a closed site: %v", err)
	}
	begins(t, s, signup.Invitation)
	nobody.get("/login").Shows(t, 200, "Ask the administrator")
	nobody.get("/join").Shows(t, 404)
	nobody.join("ann", "link", secret)
}

// An invitation makes one account, which joins the organization and the team that the administrator named.
func TestJoinByInvitation(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "chief")
		s.Users(t, "alice")
		s.Org(t, "acme", "alice")
		s.Check(t, apitest.Case{Do: "POST /orgs/acme/teams", As: "alice", Send: `{"name": "web"}`, Status: 201})
		chief := &visitor{t, s, s.PasswordSession(t, "chief")}
		chief.post("/site/sign-up", "do", "mode", "mode", "invitation").Leads(t, "/site/sign-up")
		visit(t, s, "POST /site/sign-up", s.PasswordSession(t, "alice"), "do=mode&mode=open").Shows(t, 404)
		invite := func(fields ...string) string {
			t.Helper()
			a := chief.post("/site/sign-up", append([]string{"do", "invite", "days", "7"}, fields...)...).Shows(t, 200,
				"will not be shown again")
			return regexp.MustCompile(`/join\?link=(\w+)`).FindStringSubmatch(html.UnescapeString(string(a.Body)))[1]
		}
		chief.post("/site/sign-up", "do", "invite", "days", "0").Shows(t, 422, "between 1 and 30 days")
		chief.post("/site/sign-up", "do", "invite", "days", "7", "org", "nowhere").Shows(t, 422, "No organization")
		chief.post("/site/sign-up", "do", "invite", "days", "7", "org", "acme", "team", "x").Shows(t, 422, "no team")
		chief.post("/site/sign-up", "do", "invite", "days", "7", "address", "x@example.org").Shows(t, 422, "sends no mail")
		link, other := invite("org", "acme", "team", "web"), invite()

		nobody := as(t, s, "")
		nobody.get("/join?link="+link).Shows(t, 200, "You were invited to join acme")
		for name, wrong := range map[string][]string{
			"taken by alice": person("Alice", "link", link), "taken by an organization": person("acme", "link", link),
			"is reserved": person("admin", "link", link), "may hold only": person("a b", "link", link),
			"at least 8":   person("ann", "link", link, "password", "short", "again", "short"),
			"not the same": person("ann", "link", link, "again", "another one"),
		} {
			form := map[string]string{}
			var fields []string
			for n := 0; n < len(wrong); n += 2 {
				form[wrong[n]] = wrong[n+1]
			}
			for k, v := range form {
				fields = append(fields, k, v)
			}
			if strings.HasPrefix(name, "taken") {
				name = "This login is taken"
			}
			nobody.post("/join", fields...).Shows(t, 422, name)
		}
		ann := nobody.join("ann", "link", link, "name", "Ann Ash")
		ann.show("/settings/profile", "Ann Ash")
		if !signsIn(t, s, "ann", "mossy lantern 42") {
			t.Error("ann cannot sign in")
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /orgs/acme/memberships/ann", As: "alice", Status: 200, Want: `{"state": "active", "role": "member"}`},
			{Do: "GET /orgs/acme/teams/web/memberships/ann", As: "alice", Status: 200, Want: `{"state": "active"}`},
		})
		nobody.get("/join?link="+link).Shows(t, 404, "was used")
		nobody.post("/join", person("bob", "link", link)...).Shows(t, 404)
		chief.show("/site/audit", "business.invite_member", "business.update_signup", "user.create")

		// Revoked; expired; of who administrates the site no more.
		id := regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(chief.show("/site/sign-up", "A link"))[1]
		chief.post("/site/sign-up", "do", "revoke", "id", id).Leads(t, "/site/sign-up")
		chief.post("/site/sign-up", "do", "revoke", "id", id).Shows(t, 404)
		nobody.post("/join", person("bob", "link", other)...).Shows(t, 404)
		third := invite()
		s.Admin(t, "second")
		_, err := s.Accounts.Demote(t.Context(), nil, "chief")
		testkit.NoError(t, err)
		nobody.post("/join", person("bob", "link", third)...).Shows(t, 404)
		_, err = s.Accounts.Promote(t.Context(), nil, "chief")
		testkit.NoError(t, err)
		nobody.get("/join?link="+third).Shows(t, 200)
		_, err = s.Accounts.Suspend(t.Context(), nil, "chief")
		testkit.NoError(t, err)
		nobody.get("/join?link="+third).Shows(t, 404)
		_, err = s.Accounts.Unsuspend(t.Context(), nil, "chief")
		testkit.NoError(t, err)
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`UPDATE signup_links SET expires_at = 1`)
		}))
		nobody.get("/join?link="+third).Shows(t, 404)
		fourth, err := s.Forge.Signup.Invite(t.Context(), nil, signup.Invite{Org: "acme", Days: 30})
		testkit.NoError(t, err)
		testkit.NoError(t, s.Accounts.Delete(t.Context(), nil, account.Organization, "acme"))
		nobody.get("/join?link="+fourth).Shows(t, 404)
	})
}

// Of two people who use one link at the same time one gets an account.
func TestLinkWorksOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		begins(t, s, signup.Invitation)
		secret, err := s.Forge.Signup.Invite(t.Context(), nil, signup.Invite{Days: 1})
		testkit.NoError(t, err)
		const people = 4
		results := make(chan error, people)
		for n := range people {
			go func() {
				_, err := s.Forge.Signup.Join(t.Context(), signup.Person{Secret: secret, Login: fmt.Sprint("ann", n),
					Password: "mossy lantern 42"}, session.Origin{Agent: "test"})
				results <- err
			}()
		}
		joined := 0
		for range people {
			switch err := <-results; {
			case err == nil:
				joined++
			case !errs.Is(err, errs.NotFound):
				t.Error(err)
			}
		}
		if joined != 1 {
			t.Errorf("%d accounts began with one link", joined)
		}
	})
}

// Invitations by mail verify the address, and are sent to nobody who has an account with it.
func TestInviteByMail(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, mails := withMail(t, engine)
		s.Admin(t, "chief")
		s.Users(t, "alice")
		s.Email(t, "alice", "alice@example.org")
		begins(t, s, signup.Invitation)
		chief := &visitor{t, s, s.PasswordSession(t, "chief")}
		chief.post("/site/sign-up", "do", "invite", "days", "3", "address", "Alice@example.org").Shows(t, 422,
			"The account alice has this address already")
		chief.post("/site/sign-up", "do", "invite", "days", "3", "address", "nonsense").Shows(t, 422, "not an e-mail address")
		chief.post("/site/sign-up", "do", "invite", "days", "3", "address", "1+x@users.noreply.arbor").Shows(t, 422)
		chief.post("/site/sign-up", "do", "invite", "days", "3", "address", "Ann@Example.org").Leads(t, "/site/sign-up")
		m := mailAbout(t, mails, "ann@example.org", "You are invited to code.example.org", 1)
		if !strings.Contains(m.Text, "chief invites you") {
			t.Error(m.Text)
		}
		link := linkIn(t, m, "/join?link=")
		chief.get("/site/sign-up").Shows(t, 200, "ann@example.org", "!the mail waits")
		as(t, s, "").get(link).Shows(t, 200, "For ann@example.org")
		as(t, s, "").join("ann", "link", brought(link), "address", "other@example.org")
		if !verified(t, s, "ann", "ann@example.org") || verified(t, s, "ann", "other@example.org") {
			t.Error("the verified address is not that of the mail")
		}
		testkit.Eventually(t, func() bool { return waitingMails(t, s) == 0 }, "the queue is empty")
		// One that is revoked before it is sent is not sent.
		takesNone(mails)
		_, err := s.Forge.Signup.Invite(t.Context(), nil, signup.Invite{Days: 1, Address: "bob@example.org"})
		testkit.NoError(t, err)
		isPutOff(t, s)
		list, err := s.Forge.Signup.Invitations(t.Context())
		testkit.NoError(t, err)
		testkit.NoError(t, s.Forge.Signup.Revoke(t.Context(), nil, list[0].ID))
		takesAll(t, s, mails)
		testkit.Eventually(t, func() bool { return waitingMails(t, s) == 0 }, "the queue is empty again")
		if n := len(mails.To("bob@example.org")); n != 0 {
			t.Errorf("%d mails to bob", n)
		}
	})
}

// Whoever gets mail at an address of a listed domain gets an account. The page does not tell who has one.
func TestJoinByDomain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, mails := withMail(t, engine)
		s.Admin(t, "chief")
		s.Users(t, "alice", "gone")
		s.Email(t, "alice", "alice@example.org")
		s.Email(t, "gone", "gone@example.org")
		_, err := s.Accounts.Suspend(t.Context(), nil, "gone")
		testkit.NoError(t, err)
		chief := &visitor{t, s, s.PasswordSession(t, "chief")}
		chief.post("/site/sign-up", "do", "mode", "mode", "domain").Shows(t, 422, "between 1 and 100 domains")
		chief.post("/site/sign-up", "do", "mode", "mode", "domain", "domains", "a@b@c").Shows(t, 422, "Invalid domain")
		chief.post("/site/sign-up", "do", "mode", "mode", "domain", "domains", "@Example.org\nexample.net").Leads(t, "/site/sign-up")
		nobody := as(t, s, "")
		nobody.get("/login").Shows(t, 200, "Create an account")
		nobody.get("/join").Shows(t, 200, "Accounts begin with addresses of", "example.net", "Send link", "!Password")
		nobody.post("/join", "address", "ann@sub.example.org").Shows(t, 422, "addresses of example.net, example.org")
		nobody.post("/join", "address", "ann@example.org@evil.example").Shows(t, 422, "not an e-mail address")
		nobody.post("/join", person("ann")...).Shows(t, 422) // without a link
		answers := map[string]bool{}
		for _, address := range []string{"alice@example.org", "gone@example.org", "ann@example.org"} {
			a := nobody.post("/join", "address", address).Shows(t, 200, "A mail with a link is on its way")
			answers[strings.ReplaceAll(html.UnescapeString(string(a.Body)), address, "")] = true
		}
		if len(answers) != 1 {
			t.Errorf("there are %d different answers", len(answers))
		}
		if m := mailAbout(t, mails, "alice@example.org", "You have an account already", 1); strings.Contains(m.Text, "/join") {
			t.Errorf("alice got a link: %s", m.Text)
		}
		link := linkIn(t, mailAbout(t, mails, "ann@example.org", "Create your account", 1), "/join?link=")
		testkit.Eventually(t, func() bool { return waitingMails(t, s) == 0 }, "the queue is empty")
		if n := len(mails.To("gone@example.org")); n != 0 {
			t.Errorf("%d mails to who is suspended", n)
		}

		// The setting of the moment counts.
		begins(t, s, signup.Domain, "example.net")
		nobody.get(link).Shows(t, 404)
		begins(t, s, signup.Invitation)
		nobody.get(link).Shows(t, 404)
		begins(t, s, signup.Domain, "example.org")
		nobody.get(link).Shows(t, 200, "For ann@example.org")
		ann := nobody.join("ann", "link", brought(link))
		ann.get("/settings/emails").Shows(t, 200, "ann@example.org", "!Not verified")
		nobody.get(link).Shows(t, 404)

		// Somebody else verified the address before: the account begins without it.
		nobody.post("/join", "address", "both@example.org").Shows(t, 200)
		link = linkIn(t, mailAbout(t, mails, "both@example.org", "Create your account", 1), "/join?link=")
		s.Email(t, "alice", "both@example.org")
		nobody.join("bob", "link", brought(link))
		if verified(t, s, "bob", "both@example.org") {
			t.Error("an address is verified twice")
		}
	})
}

// Everybody asks for an account, and an administrator decides; people are told.
func TestJoinWithApproval(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, mails := withMail(t, engine)
		s.Admin(t, "chief")
		s.Email(t, "chief", "chief@example.org")
		s.Users(t, "alice")
		s.Email(t, "alice", "alice@example.org")
		begins(t, s, signup.Approval)
		nobody := as(t, s, "")
		ask := func(login string) {
			t.Helper()
			address := login + "@example.org"
			nobody.post("/join", "address", address).Shows(t, 200)
			link := linkIn(t, mailAbout(t, mails, address, "Create your account", 1), "/join?link=")
			nobody.get(link).Shows(t, 200, "Ask for the account", "why do you ask")
			nobody.post("/join", person(login, "link", brought(link), "reason", "I water <b>plants</b>")...).Shows(t, 200,
				"An administrator decides")
			nobody.get(link).Shows(t, 404)
		}
		ask("ann")
		ask("bob")
		ask("cid")
		for _, login := range []string{"ann", "ann@example.org"} {
			if signsIn(t, s, login, "mossy lantern 42") {
				t.Error("ann signed in before the approval")
			}
		}
		s.Check(t, apitest.Case{Do: "GET /users/ann", As: "alice", Status: 404})
		m := mailAbout(t, mails, "chief@example.org", "Somebody asks for the account ann", 1)
		if !strings.Contains(m.Text, "I water <b>plants</b>") || !strings.Contains(m.HTML, "I water &lt;b&gt;plants") {
			t.Errorf("%s\n%s", m.Text, m.HTML)
		}
		if len(mails.To("alice@example.org")) > 1 { // that the address was verified
			t.Error("alice was told")
		}
		chief := &visitor{t, s, s.PasswordSession(t, "chief")}
		page := chief.show("/site/sign-up", "ann@example.org", "I water")
		ids := regexp.MustCompile(`name="id" value="(\d+)"><label class="hide"`).FindAllStringSubmatch(page, -1)
		if len(ids) != 3 {
			t.Fatalf("%d people wait", len(ids))
		}
		decide := func(n int, do string, more ...string) *apitest.Answer {
			return chief.post("/site/sign-up", append([]string{"do", do, "id", ids[n][1]}, more...)...)
		}
		visit(t, s, "POST /site/sign-up", s.PasswordSession(t, "alice"), url.Values{"do": {"approve"},
			"id": {ids[0][1]}}.Encode()).Shows(t, 404)
		decide(0, "approve", "login", "alice").Shows(t, 422, "taken")
		decide(0, "approve", "login", "ann").Leads(t, "/site/sign-up")
		decide(0, "approve").Shows(t, 404)
		decide(1, "decline").Leads(t, "/site/sign-up")
		decide(1, "approve").Shows(t, 404)
		decide(2, "approve", "login", "cyd").Leads(t, "/site/sign-up")
		mailAbout(t, mails, "ann@example.org", "Your account was approved", 1)
		mailAbout(t, mails, "bob@example.org", "Your account was not approved", 1)
		mailAbout(t, mails, "cid@example.org", "Your account was approved", 1)
		if !signsIn(t, s, "ann", "mossy lantern 42") || signsIn(t, s, "bob", "mossy lantern 42") ||
			!signsIn(t, s, "cyd", "mossy lantern 42") || !verified(t, s, "ann", "ann@example.org") {
			t.Error("not those who were approved have an account")
		}
		chief.show("/site/audit", "business.decline_member")

		// Who waits too long does not wait any more, and an invited person waits for nobody.
		ask("dan")
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`UPDATE signup_requests SET created_at = $1`, tx.Now-db.Time(signup.RequestLasts.Microseconds()))
		}))
		chief.show("/site/sign-up", "Nobody.")
		secret, err := s.Forge.Signup.Invite(t.Context(), nil, signup.Invite{Days: 1})
		testkit.NoError(t, err)
		nobody.join("dan", "link", secret)
	})
}

// Without mail an open site asks for no link, and neither does one with approval.
func TestJoinWithoutMail(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "chief")
		begins(t, s, signup.Open)
		nobody := as(t, s, "")
		nobody.get("/join").Shows(t, 200, "Password", "!reason")
		ann := nobody.join("ann", "address", "ann@example.org")
		ann.get("/join").Leads(t, "/")
		ann.show("/settings/emails", "ann@example.org", "Not verified")
		ann.show("/settings/sessions", "Sign-up")
		nobody.post("/join", person("Ann")...).Shows(t, 422, "taken")
		nobody.post("/join", person("bob", "address", "no address")...).Shows(t, 422, "not an e-mail address")
		begins(t, s, signup.Approval)
		nobody.post("/join", person("bob", "reason", strings.Repeat("x", 1001))...).Shows(t, 422, "too long")
		nobody.post("/join", person("bob", "reason", "please")...).Shows(t, 200, "An administrator decides", "sign in")
		nobody.post("/join", person("Bob")...).Shows(t, 422, "taken")
		list, err := s.Forge.Signup.Requests(t.Context())
		testkit.NoError(t, err)
		if len(list) != 1 || list[0].Network != "127.0.0.1" {
			t.Fatalf("%v", list)
		}
		_, err = s.Forge.Signup.Approve(t.Context(), nil, list[0].ID, "")
		testkit.NoError(t, err)
		if !signsIn(t, s, "bob", "mossy lantern 42") {
			t.Error("bob cannot sign in")
		}
	})
}

// What bots try is bounded, by network and by address.
func TestJoiningIsBounded(t *testing.T) {
	t.Parallel()
	s, _ := withMail(t, db.SQLite)
	begins(t, s, signup.Open)
	nobody := as(t, s, "")
	for range 5 {
		nobody.post("/join", "address", "ann@example.org").Shows(t, 200)
	}
	nobody.post("/join", "address", "ANN@example.org").Shows(t, 429, "too often")
	for n := range 15 {
		nobody.post("/join", "address", fmt.Sprintf("bot%d@example.org", n)).Shows(t, 200)
	}
	nobody.post("/join", "address", "another@example.org").Shows(t, 429, "too often")
	secret, err := s.Forge.Signup.Invite(t.Context(), nil, signup.Invite{Days: 1})
	testkit.NoError(t, err)
	for range 30 {
		nobody.post("/join", person("admin", "link", secret)...).Shows(t, 422, "reserved")
	}
	nobody.post("/join", person("ann", "link", secret)...).Shows(t, 429, "too often")
	testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error { return tx.Run(`UPDATE mail_counts SET ends_at = 0`) }))
	nobody.join("ann", "link", secret)

	// Of invitations 500 are open at one time, of requests 1,000 wait.
	testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
		later := tx.Now + db.Time(24*time.Hour.Microseconds())
		for range 500 {
			if err := tx.Run(`INSERT INTO signup_links (address, asked, created_at, expires_at) VALUES ('', FALSE, 1, $1)`,
				later); err != nil {
				return err
			}
		}
		for n := range 1000 {
			if err := tx.Run(`INSERT INTO signup_requests (login, login_folded, name, address, verified, reason, password,
				network, created_at) VALUES ($1, $1, '', '', FALSE, '', '$argon2id$', '', $2)`, fmt.Sprint("bot", n),
				tx.Now); err != nil {
				return err
			}
		}
		return nil
	}))
	if _, err := s.Forge.Signup.Invite(t.Context(), nil, signup.Invite{Days: 1}); !errs.Is(err, errs.Invalid) {
		t.Errorf("the 501st invitation: %v", err)
	}
}
