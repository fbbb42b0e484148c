package pages_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// secretOf is the key of an authenticator app that a page shows.
func secretOf(t *testing.T, body string) string {
	t.Helper()
	found := regexp.MustCompile(`name="secret" value="([A-Z2-7]{32})"`).FindStringSubmatch(body)
	if found == nil {
		t.Fatalf("no key in %.3000s", body)
	}
	return found[1]
}

// codeAt is the code that an app shows after some time.
func codeAt(t *testing.T, secret string, after time.Duration) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, time.Now().Add(after))
	testkit.NoError(t, err)
	return code
}

// pendingOf is the sign-in that waits for a second factor.
func pendingOf(t *testing.T, body []byte) string {
	t.Helper()
	found := regexp.MustCompile(`name="pending" value="([^"]+)"`).FindSubmatch(body)
	if found == nil {
		t.Fatalf("no second step: %.2000s", body)
	}
	return html.UnescapeString(string(found[1]))
}

var recoveryCode = regexp.MustCompile(`[A-Z2-7]{4}(-[A-Z2-7]{4}){3}`)

// Who has an authenticator app signs in with password and code, each code once; recovery codes stand in for it, each
// once; and sessions say how they were made.
func TestSecondFactor(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		b := &visitor{t, s, s.PasswordSession(t, "alice")}
		other := &visitor{t, s, s.PasswordSession(t, "alice")}
		b.show("/settings/security", "Not set up")
		secret := secretOf(t, string(b.post("/settings/security", "do", "app").Shows(t, 200,
			"data:image/png;base64,").Body))
		b.post("/settings/security", "do", "add-app", "secret", secret, "code", "000000").Shows(t, 422,
			secret, "code is wrong")
		b.post("/settings/security", "do", "add-app", "secret", "x", "code", "000000").Shows(t, 422, "Start over")
		used := codeAt(t, secret, 0)
		added := b.post("/settings/security", "do", "add-app", "secret", secret, "code", used).Shows(t, 200,
			"recovery codes")
		codes := recoveryCode.FindAllString(string(added.Body), 10)
		if len(codes) != 10 || codes[0] == codes[1] {
			t.Fatalf("recovery codes %q", codes)
		}
		s.Check(t, apitest.Case{Name: "another session ends", Do: "GET /settings/security",
			Headers: other.headers(), Status: 303})
		body := b.show("/settings/security", "Set up", "10 left")
		if strings.Contains(body, codes[0]) || strings.Contains(body, secret) {
			t.Error("secrets are shown again")
		}

		const form = "login=alice&password=a+long+secret&return_to=%2Falice"
		step := visit(t, s, "POST /login", "", form)
		want(t, step, 200, "Second factor", "alice")
		if frontCookieOf(step) != "" {
			t.Fatal("a password alone begins a session")
		}
		pending := pendingOf(t, step.Body)
		second := func(code string) *apitest.Answer {
			return visit(t, s, "POST /login", "", "return_to=%2Falice&pending="+pending+"&code="+code)
		}
		want(t, second(used), 422, "wrong, or was used before")
		want(t, second("123"), 422, "wrong")
		want(t, second(codeAt(t, secret, 5*time.Minute)), 422, "wrong")
		next := codeAt(t, secret, 30*time.Second)
		a := second(next)
		want(t, a, 303)
		if frontCookieOf(a) == "" || a.Header.Get("Location") != "/alice" {
			t.Errorf("the second step leads to %q", a.Header.Get("Location"))
		}
		want(t, second(next), 422, "was used before")
		recovered := second(strings.ToLower(strings.ReplaceAll(codes[3], "-", " ")))
		want(t, recovered, 303)
		want(t, second(codes[3]), 422, "was used before")
		b.show("/settings/sessions", "Password and authenticator app", "Password and recovery code", "confirmed")
		b.show("/settings/security", "9 left")

		fresh := recoveryCode.FindString(string(b.post("/settings/security", "do", "codes").Shows(t, 200).Body))
		want(t, second(codes[4]), 422, "was used before")
		testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), "alice", "another long secret", nil))
		want(t, second(fresh), 422, "Start over with your password") // of before the password
		_, err := s.Forge.Sessions.RemoveFactors(t.Context(), "alice")
		testkit.NoError(t, err)
		if frontCookieOf(visit(t, s, "POST /login", "", "login=alice&password=another+long+secret")) == "" {
			t.Error("without factors, a password is not enough")
		}
		s.Admin(t, "chief")
		events := s.Ask(t, "chief", "GET /admin/audit-log?per_page=100", "", 200).Body
		for _, action := range []string{"add_factor", "recovery_codes_regenerated", "disabled", "password+totp"} {
			if !strings.Contains(string(events), action) {
				t.Errorf("the audit log has no %s", action)
			}
		}
	})
}

// Who knows a password guesses few codes.
func TestGuessedCodes(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	b := &visitor{t, s, s.PasswordSession(t, "alice")}
	secret := secretOf(t, string(b.post("/settings/security", "do", "app").Body))
	b.post("/settings/security", "do", "add-app", "secret", secret, "code", codeAt(t, secret, 0)).Shows(t, 200)
	pending := pendingOf(t, visit(t, s, "POST /login", "", "login=alice&password=a+long+secret").Body)
	for n := range 12 {
		a := visit(t, s, "POST /login", "", "pending="+pending+"&code=00000"+string(rune('0'+n%10)))
		if wanted := 422; n >= 10 && a.Status != 429 || n < 10 && a.Status != wanted {
			t.Errorf("guess %d: %d", n+1, a.Status)
		}
	}
	b.show("/settings/security", "Set up") // who is signed in is not slowed down
}

// What is dangerous is asked again two hours after the last confirmation, and the form is not lost.
func TestConfirmAccess(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		b := &visitor{t, s, s.PasswordSession(t, "alice")}
		age := func(hours int64) {
			t.Helper()
			testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error {
				if err := tx.Run(`UPDATE tokens SET confirmed_at = $1 WHERE agent IS NOT NULL`,
					tx.Now-db.Time(hours*3600*1e6)); err != nil {
					return err
				}
				return tx.Bump("accounts")
			}))
		}
		form := []string{"kind", "scopes", "note", `robot "<x>`, "life", "7d", "scopes", "repo"}
		age(1)
		b.post("/settings/tokens/new", form...).Shows(t, 200, "Your new token")
		age(3)
		asked := b.post("/settings/tokens/new", form...).Shows(t, 403, "Confirm access",
			`name="note" value="robot &#34;&lt;x&gt;"`)
		if strings.Contains(string(asked.Body), "Your new token") {
			t.Error("it was done without a confirmation")
		}
		b.post("/settings/tokens/new", append(form, "sudo_password", "wrong")...).Shows(t, 422,
			"That is not your password.")
		b.post("/settings/tokens/new", append(form, "sudo_code", "000000")...).Shows(t, 422, "wrong")
		b.post("/settings/tokens/new", append(form, "sudo_password", "a long secret")...).Shows(t, 200,
			"Your new token", "robot")
		b.post("/settings/emails", "email", "a@example.com").Leads(t, "/settings/emails") // it counts for a while
		age(3)
		b.post("/settings/emails", "email", "b@example.com").Shows(t, 403, "Confirm access", "b@example.com")
		b.post("/settings/keys", "title", "x", "key", "y").Shows(t, 403, "Confirm access")
		b.post("/settings/security", "do", "app").Shows(t, 403, "Confirm access")
		b.post("/settings/profile", "name", "A").Leads(t, "/settings/profile") // harmless
		s.Ask(t, "alice", "POST /user/repos", `{"name": "garden"}`, 201)
		b.post("/alice/garden/settings/delete", "confirm", "alice/garden").Shows(t, 403, "Confirm access")
		s.Ask(t, "alice", "GET /repos/alice/garden", "", 200)
	})
}

// withApp gives a user an authenticator app, and returns its key and the session that added it.
func withApp(t *testing.T, s *apitest.Server, login string) (string, *visitor) {
	t.Helper()
	b := &visitor{t, s, s.PasswordSession(t, login)}
	secret := secretOf(t, string(b.post("/settings/security", "do", "app").Body))
	b.post("/settings/security", "do", "add-app", "secret", secret, "code", codeAt(t, secret, 0)).Shows(t,
		200, "recovery codes")
	return secret, b
}

// What package factor says becomes of factors and sessions.
func TestFactorTransitions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Admin(t, "chief")
		secret, b := withApp(t, s, "alice")
		signIn := func(login, code string) *apitest.Answer {
			t.Helper()
			step := visit(t, s, "POST /login", "", "login="+login+"&password=a+long+secret")
			if step.Status != 200 {
				return step
			}
			return visit(t, s, "POST /login", "", "pending="+pendingOf(t, step.Body)+"&code="+code)
		}
		second := signIn("alice", codeAt(t, secret, 30*time.Second))
		want(t, second, 303)
		other := &visitor{t, s, frontCookieOf(second)}
		s.Ask(t, "alice", "GET /user", "", 200) // tokens need no factor

		// another factor ends nothing; one that is removed ends the other sessions, and the codes go with the last
		again := secretOf(t, string(b.post("/settings/security", "do", "app").Body))
		b.post("/settings/security", "do", "add-app", "secret", again, "code", codeAt(t, again, 0)).Leads(t,
			"/settings/security")
		other.show("/settings/security", "Set up", "10 left")
		want(t, signIn("alice", codeAt(t, secret, 30*time.Second)), 422, "wrong")

		s.Ask(t, "chief", "PUT /users/alice/suspended", "", 204)
		want(t, signIn("alice", codeAt(t, again, 30*time.Second)), 403, "suspended")
		s.Ask(t, "chief", "DELETE /users/alice/suspended", "", 204)
		_, err := s.Forge.Accounts.Rename(t.Context(), nil, account.User, "alice", "alicia")
		testkit.NoError(t, err)
		want(t, signIn("alicia", codeAt(t, again, 30*time.Second)), 303)

		b.post("/settings/security", "do", "remove-app").Leads(t, "/settings/security")
		s.Check(t, apitest.Case{Do: "GET /settings/security", Headers: other.headers(), Status: 303})
		b.show("/settings/security", "Not set up")
		b.post("/settings/security", "do", "codes").Shows(t, 422, "add one")
		want(t, signIn("alicia", ""), 303)
		limited := &visitor{t, s, s.Session(t, "alice")}
		limited.post("/settings/security", "do", "app").Shows(t, 200)
		limited.post("/settings/security", "do", "codes").Shows(t, 403, "a token cannot")

		// the factors of an account that is deleted go
		s.User(t, "bob")
		withApp(t, s, "bob")
		testkit.NoError(t, s.Forge.Accounts.Delete(t.Context(), nil, account.User, "bob"))
		var left int
		testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT (SELECT COUNT(*) FROM totps) + (SELECT COUNT(*) FROM recovery_codes)`).Scan(&left)
		}))
		if left != 0 {
			t.Errorf("%d rows are left", left)
		}
	})
}

// The API says who has a second factor, to whom it concerns; a password that changes keeps the factors.
func TestWhoHasASecondFactor(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, login := range []string{"owner", "plain", "safe", "out"} {
			s.User(t, login)
		}
		s.Org(t, "guild", "owner")
		s.Ask(t, "owner", "POST /orgs/guild/repos", `{"name": "hall"}`, 201)
		for _, login := range []string{"plain", "safe"} {
			s.Ask(t, "owner", "PUT /orgs/guild/members/"+login, "", 204)
		}
		s.Ask(t, "owner", "PUT /repos/guild/hall/collaborators/out", "", 204)
		s.Run(t, []apitest.Case{
			{Do: "GET /user", As: "safe", Status: 200, Want: `{"two_factor_authentication": false}`},
			{Do: "GET /orgs/guild/members?filter=2fa_disabled", As: "owner", Status: 200,
				Want: `[{"login": "owner"}, {"login": "plain"}, {"login": "safe"}]`},
		})
		_, b := withApp(t, s, "safe")
		withApp(t, s, "out")
		s.Run(t, []apitest.Case{
			{Do: "GET /user", As: "safe", Status: 200, Want: `{"two_factor_authentication": true}`},
			{Do: "PATCH /user", As: "safe", Send: `{"bio": "x"}`, Status: 200,
				Want: `{"two_factor_authentication": true}`},
			{Do: "GET /orgs/guild/members?filter=2fa_disabled", As: "owner", Status: 200,
				Want: `[{"login": "owner"}, {"login": "plain"}]`},
			{Do: "GET /orgs/guild/members?filter=2fa_disabled&role=member", As: "owner", Status: 200,
				Want: `[{"login": "plain"}]`},
			{Do: "GET /orgs/guild/members?filter=2fa_disabled", As: "plain", Status: 422},
			{Do: "GET /orgs/guild/members?filter=x", As: "owner", Status: 422},
			{Do: "GET /orgs/guild/outside_collaborators?filter=2fa_disabled", As: "owner", Status: 200, Body: "[]"},
		})
		changed := b.post("/settings/password", "now", "a long secret", "new", "another secret", "again",
			"another secret")
		changed.Leads(t, "/settings/password")
		after := &visitor{t, s, frontCookieOf(changed)}
		after.show("/settings/sessions", "Password")
		visit(t, s, "POST /login", "", "login=safe&password=another+secret").Shows(t, 200, "Second factor")
	})
}
