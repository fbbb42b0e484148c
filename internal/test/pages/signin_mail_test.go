package pages_test

import (
	"html"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/mailtest"
	"arbor/internal/test/testkit"
)

// mailSite is the address of links in the mails of these tests.
const mailSite = "https://code.example.org"

// withMail starts a server that sends mail to the mail server of a test.
func withMail(t *testing.T, engine db.Engine, options ...apitest.Option) (*apitest.Server, *mailtest.Server) {
	t.Helper()
	server := mailtest.Start(t)
	s := apitest.Start(t, engine, append(options, sendsMail(t, server))...)
	testkit.Eventually(t, func() bool {
		var on bool
		testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM mail_sites)`).Scan(&on)
		}))
		return on
	}, "the server sends mail")
	return s, server
}

func sendsMail(t *testing.T, to *mailtest.Server) apitest.Option {
	return func(o *server.Options) { o.Mail = to.Config(t, mailSite) }
}

// brought is what a link brings.
func brought(link string) string { return link[strings.Index(link, "=")+1:] }

var links = regexp.MustCompile(regexp.QuoteMeta(mailSite) + `(/\S+)`)

// linkIn is the path of the only link of a mail that begins with a text, which both forms of it have.
func linkIn(t *testing.T, m *mailtest.Mail, begins string) string {
	t.Helper()
	for _, found := range links.FindAllStringSubmatch(m.Text, -1) {
		if strings.HasPrefix(found[1], begins) {
			if !strings.Contains(m.HTML, `href="`+found[0]) {
				t.Errorf("the link %s is not in %s", found[0], m.HTML)
			}
			return found[1]
		}
	}
	t.Fatalf("no link to %s in %s", begins, m.Text)
	return ""
}

func signsIn(t *testing.T, s *apitest.Server, login, password string) bool {
	t.Helper()
	_, _, err := s.Forge.Sessions.SignIn(t.Context(), login, password, session.Origin{Agent: "test"})
	return err == nil
}

// Whoever forgot a password sets another one by a link in a mail, once; strangers learn nothing.
func TestResetPassword(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, mails := withMail(t, engine)
		s.Users(t, "alice", "bob", "gone")
		s.Email(t, "alice", "alice@example.org")
		s.Email(t, "gone", "gone@example.org")
		testkit.NoError(t, s.Accounts.AddEmail(t.Context(), "bob", "bob@example.org")) // not verified
		_, err := s.Accounts.Suspend(t.Context(), keeper(t, s), "gone")
		testkit.NoError(t, err)
		testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), "alice", "the old secret", nil))
		nobody := as(t, s, "")
		nobody.get("/login").Shows(t, 200, "Forgot your password?")
		nobody.get("/password_reset").Shows(t, 200, "Send link")

		// All get the same answer.
		answers := map[string]bool{}
		for _, who := range []string{"alice@example.org", "bob@example.org", "gone@example.org", "nobody@example.org",
			"alice", "bob", "nobody", "1+alice@users.noreply.arbor"} {
			a := nobody.post("/password_reset", "who", who).Shows(t, 200, "a mail with a link is on its way")
			answers[strings.ReplaceAll(html.UnescapeString(string(a.Body)), who, "")] = true
		}
		if len(answers) != 1 {
			t.Errorf("there are %d different answers", len(answers))
		}
		nobody.post("/password_reset", "who", "not\x01a login").Shows(t, 422, "neither an e-mail address nor a login")
		resets := func() (list []*mailtest.Mail) {
			for _, m := range mails.All() {
				if m.Subject() == "Set a new password" {
					list = append(list, m)
				}
			}
			return list
		}
		testkit.Eventually(t, func() bool { return len(resets()) == 2 && waitingMails(t, s) == 0 },
			"two mails, by the address and by the login")
		first, second := resets()[0], resets()[1]
		if first.To != "alice@example.org" || second.To != "alice@example.org" {
			t.Errorf("the links went to %s and %s", first.To, second.To)
		}
		link, other := linkIn(t, first, "/password_reset?link="), linkIn(t, second, "/password_reset?link=")

		// Looking changes nothing, and one link ends all.
		nobody.get(link).Shows(t, 200, "For the account alice")
		nobody.get(link+"x").Shows(t, 404, "expired or was used")
		nobody.post("/password_reset", "link", brought(link), "new", "a new secret", "again", "another").Shows(t, 422, "not the same")
		nobody.post("/password_reset", "link", brought(link), "new", "short", "again", "short").Shows(t, 422, "at least 8")
		before, _, err := s.Forge.Sessions.SignIn(t.Context(), "alice", "the old secret", session.Origin{Agent: "test"})
		testkit.NoError(t, err)
		nobody.post("/password_reset", "link", brought(link), "new", "a new secret", "again", "a new secret").Leads(t, "/login")
		if signsIn(t, s, "alice", "the old secret") || !signsIn(t, s, "alice", "a new secret") {
			t.Error("the password is not the new one")
		}
		(&visitor{t, s, before}).get("/settings/profile").Leads(t, "/login?return_to=%2Fsettings%2Fprofile")
		nobody.post("/password_reset", "link", brought(link), "new", "a third secret", "again", "a third secret").Shows(t, 404)
		nobody.get(other).Shows(t, 404)
		told := mails.Wait(t, "alice@example.org", 4) // two links, the operator's password, and this one
		if told.Subject() != "Your password was changed" {
			t.Errorf("the last mail is about %q", told.Subject())
		}
	})
}

// keeper makes a site administrator.
func keeper(t *testing.T, s *apitest.Server) *account.Caller {
	t.Helper()
	a := s.Admin(t, "keeper")
	return &account.Caller{ID: a.ID, Login: a.Login, Session: true, SiteAdmin: true}
}

// waitingMails counts the queue.
func waitingMails(t *testing.T, s *apitest.Server) (n int) {
	t.Helper()
	testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT COUNT(*) FROM mails`).Scan(&n)
	}))
	return n
}

// A link ends with what it relies on: the password, the address, the account. A second factor is asked as ever.
func TestResetLinksEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, s *apitest.Server) error{
		"another password": func(t *testing.T, s *apitest.Server) error {
			return s.Forge.Sessions.SetPassword(t.Context(), "alice", "by the operator", nil)
		},
		"a suspension": func(t *testing.T, s *apitest.Server) error {
			_, err := s.Accounts.Suspend(t.Context(), keeper(t, s), "alice")
			return err
		},
		"no address": func(t *testing.T, s *apitest.Server) error {
			return s.Accounts.RemoveEmail(t.Context(), "alice", "alice@example.org")
		},
		"time": func(t *testing.T, s *apitest.Server) error {
			return s.DB.Write(t.Context(), func(tx *db.Tx) error { return tx.Run(`UPDATE mail_links SET expires_at = 0`) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, mails := withMail(t, db.SQLite)
			s.Users(t, "alice")
			s.Email(t, "alice", "alice@example.org")
			nobody := as(t, s, "")
			nobody.post("/password_reset", "who", "Alice").Shows(t, 200)
			var link string
			testkit.Eventually(t, func() bool {
				for _, m := range mails.To("alice@example.org") {
					if m.Subject() == "Set a new password" {
						link = linkIn(t, m, "/password_reset?link=")
					}
				}
				return link != ""
			}, "the link")
			nobody.get(link).Shows(t, 200)
			testkit.NoError(t, end(t, s))
			nobody.get(link).Shows(t, 404)
			nobody.post("/password_reset", "link", brought(link), "new", "a new secret", "again", "a new secret").Shows(t, 404)
		})
	}
}

// What strangers ask for is bounded, and costs the same whether an account exists or not.
func TestResetsAreBounded(t *testing.T) {
	t.Parallel()
	s, _ := withMail(t, db.SQLite)
	s.Users(t, "alice")
	s.Email(t, "alice", "alice@example.org")
	nobody := as(t, s, "")
	for range 5 {
		nobody.post("/password_reset", "who", "alice@example.org").Shows(t, 200)
	}
	nobody.post("/password_reset", "who", "ALICE@example.org").Shows(t, 429, "too often")
	for n := range 15 {
		nobody.post("/password_reset", "who", "nobody"+string(rune('a'+n))).Shows(t, 200)
	}
	nobody.post("/password_reset", "who", "somebody").Shows(t, 429, "too often")
}

// Without a mail server there are no such pages.
func TestNoMailNoReset(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	nobody := as(t, s, "")
	nobody.get("/password_reset").Shows(t, 404)
	nobody.post("/password_reset", "who", "alice").Shows(t, 404)
	nobody.get("/password_reset?link=x").Shows(t, 404)
	nobody.get("/login").Shows(t, 200, "!Forgot")
}

// An address is verified by who gets its mail, and for one account.
func TestVerifyAddress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, mails := withMail(t, engine)
		s.Users(t, "alice", "bob")
		alice, bob := &visitor{t, s, s.PasswordSession(t, "alice")}, &visitor{t, s, s.PasswordSession(t, "bob")}
		alice.post("/settings/emails", "do", "add", "email", "me@example.org").Leads(t, "/settings/emails")
		bob.post("/settings/emails", "do", "add", "email", "me@example.org").Leads(t, "/settings/emails")
		testkit.Eventually(t, func() bool { return len(mails.To("me@example.org")) == 2 }, "a mail for each")
		var ofAlice, ofBob string
		for _, m := range mails.To("me@example.org") {
			if link := linkIn(t, m, "/settings/emails?verify="); strings.Contains(m.Text, "Hello alice") {
				ofAlice = link
			} else {
				ofBob = link
			}
		}
		verify := func(v *visitor, link string) *apitest.Answer {
			return v.post("/settings/emails", "do", "verify", "link", brought(link))
		}
		bob.get(ofAlice).Shows(t, 404, "for another account")
		verify(bob, ofAlice).Shows(t, 404)
		as(t, s, "").get(ofAlice).Leads(t, "/login?return_to="+strings.ReplaceAll(strings.ReplaceAll(
			strings.ReplaceAll(ofAlice, "/", "%2F"), "?", "%3F"), "=", "%3D"))
		alice.get(ofAlice).Shows(t, 200, "Verify me@example.org as yours?", "Not verified")
		verify(alice, ofAlice).Leads(t, "/settings/emails")
		alice.get("/settings/emails").Shows(t, 200, "!Not verified")
		verify(alice, ofAlice).Shows(t, 404)
		verify(bob, ofBob).Shows(t, 422, "verified for another account", "!alice")

		// A new token, a key, a factor, a removed address and a sign-in from elsewhere: alice hears of them.
		s.Scoped(t, "alice", "repo")
		if m := mails.Wait(t, "me@example.org", 3); m.Subject() != "An access token was created for your account" {
			t.Errorf("the third mail is about %q", m.Subject())
		}
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`UPDATE accounts SET created_at = 0 WHERE login = 'alice'`)
		}))
		signIn := func(address string) {
			t.Helper()
			_, _, err := s.Forge.Sessions.SignIn(t.Context(), "alice", "a long secret",
				session.Origin{Agent: "test", Address: netip.MustParseAddr(address)})
			testkit.NoError(t, err)
		}
		signIn("198.51.100.7")
		m := mails.Wait(t, "me@example.org", 4)
		if !strings.HasPrefix(m.Subject(), "Your account was used from a new place") ||
			!strings.Contains(m.Text, "198.51.100.7") {
			t.Errorf("the fourth mail is about %q:\n%s", m.Subject(), m.Text)
		}
		signIn("198.51.100.8") // of the same network
		alice.post("/settings/emails", "do", "remove", "email", "me@example.org").Leads(t, "/settings/emails")
		m = mails.Wait(t, "me@example.org", 5)
		if m.Subject() != "This address was removed from your account" {
			t.Errorf("the fifth mail is about %q", m.Subject())
		}
		testkit.Eventually(t, func() bool { return waitingMails(t, s) == 0 }, "the queue is empty")
		if n := len(mails.To("me@example.org")); n != 5 {
			t.Errorf("%d mails", n)
		}
	})
}
