package pages_test

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/scope"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

const twoProviders = `
providers:
  - {name: company, label: Company & Co, issuer: %q, client_id: arbor, accounts: create}
  - {name: other, issuer: %q, client_id: arbor, accounts: create}
`

// Somebody without an account signs in, gets one with the verified address, and the same one ever after.
func TestSignInWithAnIdentity(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		i, j := newIssuer(t), newIssuer(t)
		s := apitest.Start(t, engine, signInFile(t, twoProviders, i.URL, j.URL))
		s.Users(t, "bob")
		s.Admin(t, "keeper")
		s.Email(t, "bob", "bob@example.org")
		want(t, visit(t, s, "GET /login?return_to=%2Fx", "", ""), 200, "Company &amp; Co",
			`href="/login/oidc/company?return_to=%2fx"`)

		i.says("ann", map[string]any{"name": "Ann Ash", "email": "ann@example.org", "email_verified": true,
			"preferred_username": "Ann.Ash@corp.example"})
		ann := i.signsIn(t, s, "company")
		ann.show("/settings/sessions", "Identity of company")
		ann.show("/settings/profile", "Ann Ash")
		ann.show("/settings/emails", "ann@example.org")
		if i.asked.Get("redirect_uri") != s.URL+"/login/oidc/company/callback" {
			t.Errorf("the address is %q", i.asked.Get("redirect_uri"))
		}

		// A session of some age sets no password for an account that has none, and nor does one that a token began.
		testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error {
			if err := tx.Run(`UPDATE tokens SET confirmed_at = 1, created_at = 1 WHERE agent IS NOT NULL`); err != nil {
				return err
			}
			return tx.Bump("accounts")
		}))
		password := []string{"new", "a long secret", "again", "a long secret"}
		ann.post("/settings/password", password...).Shows(t, 403, "Confirm access")
		value, _, err := s.Forge.Tokens.CreateToken(t.Context(), token.NewToken{Login: "Ann-Ash", Scopes: scope.All})
		testkit.NoError(t, err)
		s.SetToken("Ann-Ash", value)
		byToken := &visitor{t, s, s.Session(t, "Ann-Ash")}
		byToken.post("/settings/password", password...).Shows(t, 403, "Sign in with your account of the other server")
		i.says("ann", map[string]any{"preferred_username": "somebody-else"})
		i.signsIn(t, s, "company").show("/", "Ann-Ash")

		// Neither a login nor an address links anything; nor does another issuer's subject of the same name.
		i.says("2", map[string]any{"preferred_username": "bob"})
		want(t, i.lead(t, s, "company", "/").back(t, "company"), 422, "is taken by a user", "Linked identities")
		i.says("3", map[string]any{"preferred_username": "bobby", "email": "bob@example.org", "email_verified": true})
		body := i.signsIn(t, s, "company").show("/settings/emails")
		if strings.Contains(body, "bob@example.org") {
			t.Error("an address that another account verified went to a new one")
		}
		j.says("ann", map[string]any{"preferred_username": "ann2", "email": "unverified@example.org"})
		body = j.signsIn(t, s, "other").show("/settings/emails")
		if strings.Contains(body, "unverified@example.org") {
			t.Error("an address that the provider did not verify was added")
		}
		for _, login := range []string{"", "---", "müller", strings.Repeat("a", 60), "admin"} {
			i.says("x"+login, map[string]any{"preferred_username": login})
			want(t, i.lead(t, s, "company", "/").back(t, "company"), 422, "cannot be a login here")
		}
		i.says("9", map[string]any{"preferred_username": nil})
		i.info = map[string]any{"sub": "9", "preferred_username": "late"}
		i.signsIn(t, s, "company").show("/", "late")

		s.Check(t, apitest.Case{Do: "PUT /users/ann-ash/suspended", As: "keeper", Status: 204})
		i.says("ann", nil)
		want(t, i.lead(t, s, "company", "/").back(t, "company"), 403, "suspended")
		log := s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=actor:Ann-Ash", As: "keeper", Status: 200})
		want(t, log, 200, "external_identity.provision", "user.create", "user.login")
	})
}

// A callback is bound to a browser, a provider and a time, and its ID token must be signed by the issuer for Arbor.
func TestAnswersOfProvidersAreChecked(t *testing.T) {
	t.Parallel()
	i, j := newIssuer(t), newIssuer(t)
	s := apitest.Start(t, db.SQLite, signInFile(t, twoProviders, i.URL, j.URL))
	now := time.Now().Unix()
	const off = 150 // seconds, more than clocks may differ
	for _, bad := range []struct {
		name   string
		claims map[string]any
		sign   func(*issuer, map[string]any) string
		says   string
	}{
		{"alg none", nil, (*issuer).withNone, "does not count"},
		{"HS256 with the public key", nil, (*issuer).withPublicKey, "does not count"},
		{"another key", nil, (*issuer).withOtherKey, "does not count"},
		{"another audience", map[string]any{"aud": "grafana"}, nil, "does not count"},
		{"several audiences", map[string]any{"aud": []string{"arbor", "grafana"}, "azp": "grafana"}, nil, "another program"},
		{"another party", map[string]any{"azp": "grafana"}, nil, "another program"},
		{"another issuer", map[string]any{"iss": j.URL}, nil, "does not count"},
		{"another nonce", map[string]any{"nonce": "x"}, nil, "another sign-in"},
		{"no nonce", map[string]any{"nonce": ""}, nil, "another sign-in"},
		{"expired", map[string]any{"exp": now - off}, nil, "clocks"},
		{"of the future", map[string]any{"iat": now + off, "exp": now + 2*off}, nil, "clocks"},
		{"no subject", map[string]any{"sub": ""}, nil, "subject"},
		{"a long subject", map[string]any{"sub": strings.Repeat("s", 256)}, nil, "subject"},
	} {
		t.Run(bad.name, func(t *testing.T) {
			i.says("ann", bad.claims)
			i.sign = bad.sign
			a := i.lead(t, s, "company", "/").back(t, "company")
			want(t, a, 422, bad.says)
			if frontCookieOf(a) != "" {
				t.Error("it began a session")
			}
		})
	}
	// A minute and a half is nothing.
	i.says("ann", map[string]any{"iat": now + 90, "exp": now + 190})
	i.signsIn(t, s, "company")
	i.says("ann", map[string]any{"iat": now - 190, "exp": now - 90})
	i.signsIn(t, s, "company")

	i.says("ann", nil)
	j.says("ann", nil)
	elsewhere := i.lead(t, s, "company", "/")
	elsewhere.cookies = i.lead(t, s, "company", "/").cookies
	want(t, elsewhere.back(t, "company"), 422, "another browser")
	without := i.lead(t, s, "company", "/")
	without.cookies = nil
	want(t, without.back(t, "company"), 422, "another browser")
	mixed := i.lead(t, s, "company", "/")
	want(t, mixed.back(t, "other"), 422, "another browser")
	wrong := i.lead(t, s, "company", "/")
	want(t, wrong.back(t, "company", "iss", j.URL), 422, "is not who answered")
	want(t, i.lead(t, s, "company", "/").back(t, "company", "iss", i.URL), 303)
	want(t, i.lead(t, s, "company", "/").back(t, "company", "code", "guessed"), 422, "did not take the code")
	want(t, i.lead(t, s, "company", "/").back(t, "company", "code", ""), 422, "could not sign you in")
	want(t, i.lead(t, s, "company", "/").back(t, "company", "error", "access_denied"), 422, "You did not sign in")
	want(t, i.lead(t, s, "company", "/").back(t, "company", "error", "<b>"), 422, "could not sign you in")
	twice := i.lead(t, s, "company", "https://evil.example/")
	a := twice.back(t, "company")
	if want(t, a, 303); a.Header.Get("Location") != "/" {
		t.Errorf("the browser is led to %q", a.Header.Get("Location"))
	}
	want(t, twice.back(t, "company"), 422) // the code is used up
	i.info = map[string]any{"sub": "somebody else", "groups": []string{}}
	i.claims["groups"] = nil
	want(t, i.lead(t, s, "company", "/").back(t, "company"), 422, "two things")
	want(t, visit(t, s, "GET /login/oidc/nobody", "", ""), 404)

	i.Close()
	want(t, j.lead(t, s, "other", "/").back(t, "other"), 422, "taken") // the login is ann's of the first provider
	gone := newIssuer(t)
	gone.Close()
	down := apitest.Start(t, db.SQLite, signInFile(t, twoProviders, gone.URL, j.URL))
	down.Log.AllowErrors()
	want(t, visit(t, down, "GET /login/oidc/company", "", ""), 503, "cannot be reached")
}

// Users link identities themselves, after a confirmation and in their own browser, and unlink them.
func TestLinkedIdentities(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		i := newIssuer(t)
		s := apitest.Start(t, engine, signInFile(t, `
providers: [{name: company, issuer: %q, client_id: arbor}]
passwords: [Alice]
`, i.URL))
		s.Users(t, "alice", "bob")
		alice := &visitor{t, s, s.PasswordSession(t, "alice")}
		testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), "bob", "a long secret", nil))
		want(t, visit(t, s, "POST /login", "", "login=bob&password=a+long+secret"), 422, "Most people here sign in another way")
		want(t, visit(t, s, "GET /login", "", ""), 200, "For accounts that the operator named")

		i.says("7", nil)
		want(t, i.lead(t, s, "company", "/").back(t, "company"), 403, "No account here is linked")
		link := func(v *visitor) *trip {
			t.Helper()
			a := v.post("/settings/identities", "do", "link", "provider", "company").Shows(t, 200, "Continue to")
			to := regexp.MustCompile(`class="button main" href="([^"]+)"`).FindSubmatch(a.Body)
			b := &trip{s: s, cookies: []string{"arbor_session=" + v.session}}
			b.take(a)
			i.agree(t, b, html.UnescapeString(string(to[1])))
			return b
		}
		stolen := link(alice)
		stolen.cookies[0] = "arbor_session=" + (&visitor{t, s, sessionOfToken(t, s, "bob")}).session
		want(t, stolen.back(t, "company"), 422, "another browser")
		want(t, link(alice).back(t, "company"), 303)
		alice.show("/settings/identities", "company", "never used")
		in := i.signsIn(t, s, "company")
		in.show("/settings/identities", "last used")
		bob := &visitor{t, s, sessionOfToken(t, s, "bob")}
		bob.post("/settings/identities", "do", "link", "provider", "nobody").Shows(t, 404)
		want(t, link(bob).back(t, "company"), 403, "without a token")

		id := regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(alice.show("/settings/identities"))[1]
		bob.post("/settings/identities", "do", "unlink", "id", id).Shows(t, 403)
		alice.post("/settings/identities", "do", "unlink", "id", id).Shows(t, 303)
		if a := visit(t, s, "GET /settings/identities", in.session, ""); a.Status != 303 {
			t.Errorf("another session goes on: %d", a.Status)
		}
		want(t, i.lead(t, s, "company", "/").back(t, "company"), 403, "No account here is linked")
	})
}

// sessionOfToken is a session that a token began.
func sessionOfToken(t *testing.T, s *apitest.Server, login string) string {
	t.Helper()
	a := visit(t, s, "POST /login", "", "token="+url.QueryEscape(s.Token(t, login)))
	want(t, a, 303)
	return frontCookieOf(a)
}

// Who has neither a password that counts nor a passkey keeps the last identity.
func TestLastIdentityStays(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := apitest.Start(t, db.SQLite, signInFile(t, twoProviders, i.URL, newIssuer(t).URL))
	i.says("ann", nil)
	ann := i.signsIn(t, s, "company")
	id := regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(ann.show("/settings/identities"))[1]
	ann.post("/settings/identities", "do", "unlink", "id", id).Shows(t, 422, "set a password or add a passkey")
	testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), "ann", "a long secret", nil))
	ann = i.signsIn(t, s, "company")
	ann.post("/settings/identities", "do", "unlink", "id", id).Shows(t, 303)
}

// Groups of a provider become memberships, teams and administrators at each sign-in, and end with them.
func TestGroupsAreFollowed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		i := newIssuer(t)
		s := apitest.Start(t, engine, signInFile(t, `
providers:
  - name: company
    issuer: %q
    client_id: arbor
    accounts: create
    groups:
      dev: [{organization: Acme, teams: [web, gone]}]
      prod: [{organization: acme, teams: [prod]}]
      lead: [{organization: acme, role: owner}, {organization: nowhere}]
    administrators: [ops]
`, i.URL))
		s.Users(t, "alice")
		s.Admin(t, "keeper")
		s.Org(t, "acme", "alice")
		s.Org(t, "free", "alice")
		s.Ask(t, "alice", "POST /orgs/acme/teams", `{"name": "web"}`, 201)
		s.Ask(t, "alice", "POST /orgs/acme/teams", `{"name": "prod"}`, 201)
		s.Repo(t, "acme/secret", true)
		role := func(want string) {
			t.Helper()
			a := s.Do(t, apitest.Case{Do: "GET /orgs/acme/memberships/ann", As: "alice"})
			var m struct{ Role string }
			json.Unmarshal(a.Body, &m)
			if m.Role != want {
				t.Errorf("the role in the organization is %q, want %q", m.Role, want)
			}
		}
		in := func(groups ...string) *visitor {
			t.Helper()
			i.says("ann", map[string]any{"groups": groups})
			return i.signsIn(t, s, "company")
		}
		v := in()
		role("")
		want(t, visit(t, s, "GET /acme/secret", v.session, ""), 404)
		in("dev", "unknown").show("/acme/secret", "secret")
		role("member")
		s.Check(t, apitest.Case{Do: "GET /orgs/acme/teams/web/memberships/ann", As: "alice", Status: 200})
		// A team that is not there keeps nobody in another one.
		in("dev", "prod")
		s.Check(t, apitest.Case{Do: "GET /orgs/acme/teams/prod/memberships/ann", As: "alice", Status: 200})
		in("dev")
		s.Check(t, apitest.Case{Do: "GET /orgs/acme/teams/prod/memberships/ann", As: "alice", Status: 404})
		in("dev", "lead")
		role("admin")
		in("lead")
		role("admin")
		in("dev", "ops").show("/site/people", "keeper")
		role("member")
		s.Check(t, apitest.Case{Do: "PUT /orgs/free/members/ann", As: "alice", Status: 204})
		v = in()
		role("")
		want(t, visit(t, s, "GET /site/people", v.session, ""), 404)
		s.Check(t, apitest.Case{Name: "what the file does not name stays", Do: "GET /orgs/free/members/ann", As: "alice",
			Status: 204})

		// The last owner and the last administrator stay, and sign in.
		in("lead", "ops")
		s.Check(t, apitest.Case{Do: "DELETE /orgs/acme/members/alice", As: "alice", Status: 204})
		_, err := s.Forge.Accounts.Demote(t.Context(), nil, "keeper")
		testkit.NoError(t, err)
		in().show("/site/people", "keeper")
	})
}
