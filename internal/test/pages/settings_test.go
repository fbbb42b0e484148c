package pages_test

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/app"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// The short names of what the tests of this room do and expect all the time.
const settingsEvil = apitest.Markup

var (
	settingsTook  = apitest.Taken
	settingsAgain = apitest.FormAgain
	settingsHas   = apitest.HasParts
)

// person is a user signed in with a browser.
type person struct {
	s      *apitest.Server
	cookie string
	agent  string
}

func signIn(t *testing.T, s *apitest.Server, login string) *person {
	return &person{s: s, cookie: s.Session(t, login)}
}

func (b *person) headers() map[string]string {
	h := map[string]string{"Accept": "text/html", "Cookie": session.Cookie + "=" + b.cookie}
	if b.agent != "" {
		h["User-Agent"] = b.agent
	}
	return h
}

// send sends a form of names and values in turn.
func (b *person) send(t *testing.T, path string, pairs ...string) *apitest.Answer {
	t.Helper()
	h := b.headers()
	h["Content-Type"] = apitest.FormType
	return b.s.Do(t, apitest.Case{Do: "POST " + path, Send: apitest.Form(pairs...), Headers: h})
}

func (b *person) show(t *testing.T, path string, parts ...string) string {
	t.Helper()
	a := b.s.Check(t, apitest.Case{Do: "GET " + path, Headers: b.headers(), Status: 200})
	settingsHas(t, string(a.Body), parts...)
	return string(a.Body)
}

// addresses are all pages here.
var addresses = []string{"profile", "account", "emails", "keys", "password", "sessions", "tokens",
	"tokens/new", "tokens/new?kind=repositories", "watching", "installations", "apps"}

// The settings require a session, and a token with all rights of its account: no page can extend a limited
// one.
func TestWhoOpensThem(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		b := signIn(t, s, "alice")
		limited := s.Scoped(t, "alice", "repo, user, admin:org, admin:public_key, notifications")
		lesserCookie, err := s.Forge.Sessions.SignInWithToken(t.Context(), limited, session.Origin{Agent: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range addresses {
			b.show(t, "/settings/"+a)
			s.Check(t, apitest.Case{Do: "GET /settings/" + a,
				Headers: map[string]string{"Accept": "text/html"}, Status: 303,
				Has: map[string]string{"Location": "/login?return_to=" + url.QueryEscape("/settings/"+a)}})
			for _, header := range []map[string]string{
				{"Accept": "text/html", "Authorization": "Bearer " + limited},
				{"Accept": "text/html", "Cookie": session.Cookie + "=" + lesserCookie},
			} {
				s.Check(t, apitest.Case{Do: "GET /settings/" + a, Headers: header, Status: 403})
			}
		}
		lesser := &person{s: s, cookie: lesserCookie}
		for path, pairs := range map[string][]string{
			"/settings/tokens/new": {"kind", "scopes", "note", "more", "life", "never", "scopes",
				"delete_repo"},
			"/settings/password": {"new", "long enough", "again", "long enough"},
			"/settings/keys":     {"title", "x", "key", testkit.PublicKey(t)},
			"/settings/sessions": {"do", "others"},
			"/settings/emails":   {"email", "a@example.com"},
		} {
			if a := lesser.send(t, path, pairs...); a.Status != 403 {
				t.Errorf("POST %s with less: %d", path, a.Status)
			}
		}
		settingsTook(t, b.send(t, "/settings/profile", "name", "A"), "/settings/profile")
		from := b.headers()
		from["Content-Type"], from["Origin"], from["Sec-Fetch-Site"] = "application/x-www-form-urlencoded",
			"https://evil.example", "cross-site"
		s.Check(t, apitest.Case{Do: "POST /settings/profile", Headers: from, Send: "name=evil", Status: 403})
		s.Check(t, apitest.Case{Do: "GET /users/alice", Status: 200, Want: `{"name": "A"}`})
	})
}

// What people say of themselves is changed, and shown harmlessly.
func TestProfileAndAddresses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		b := signIn(t, s, "alice")
		settingsTook(t, b.send(t, "/settings/profile", "name", settingsEvil, "bio", settingsEvil+"\r\nmore", "company", "C",
			"location", "L", "blog", "javascript:alert(1)"), "/settings/profile")
		b.show(t, "/settings/profile", "onerror=alert(1)&gt;",
			"more</textarea>", `value="C"`)
		settingsAgain(t, b.send(t, "/settings/profile", "name", strings.Repeat("x", 300), "company", "kept"), 422,
			`value="kept"`, "xxx")
		b.show(t, "/settings/account", "<bdi>alice</bdi>", "A site administrator can change it")

		settingsTook(t, b.send(t, "/settings/emails", "do", "add", "email", "a@example.com"),
			"/settings/emails")
		settingsAgain(t, b.send(t, "/settings/emails", "do", "add", "email", "no address"), 422, `value="no address"`)
		settingsTook(t, b.send(t, "/settings/emails", "do", "show", "email", "a@example.com"),
			"/settings/emails")
		b.show(t, "/settings/emails", "a@example.com", "Not verified", "In your profile")
		settingsTook(t, b.send(t, "/settings/emails", "do", "hide"), "/settings/emails")
		s.Check(t, apitest.Case{Do: "GET /users/alice", As: "alice", Status: 200, Want: `{"email": null}`})
		settingsTook(t, b.send(t, "/settings/emails", "do", "remove", "email", "a@example.com"),
			"/settings/emails")
		b.show(t, "/settings/emails", "You have none.")

		settingsTook(t, b.send(t, "/settings/keys", "do", "add", "title", settingsEvil, "key", testkit.PublicKey(t)),
			"/settings/keys")
		body := b.show(t, "/settings/keys", "SHA256:", "never used")
		settingsAgain(t, b.send(t, "/settings/keys", "do", "add", "title", "kept", "key", "none"), 422,
			`value="kept"`, "none</textarea>")
		settingsTook(t, b.send(t, "/settings/keys", "do", "remove", "id",
			regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(body)[1]),
			"/settings/keys")
		b.show(t, "/settings/keys", "You have none.")

		s.User(t, "bob")
		s.Repo(t, "bob/garden", false)
		s.Check(t, apitest.Case{Do: "PUT /repos/bob/garden/subscription", As: "alice",
			Send: `{"subscribed": true}`, Status: 200})
		b.show(t, "/settings/watching", "bob/garden")
		settingsTook(t, b.send(t, "/settings/watching", "repo", "bob/garden"), "/settings/watching")
		b.show(t, "/settings/watching", "You are not watching any repositories.")
	})
}

var settingsValue = regexp.MustCompile(`id="once" value="(arb_\w+)"`)

// A token is shown once, does what was chosen and no more, and ends when it is revoked. Somebody else's is
// out of reach.
func TestTokens(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.User(t, "bob")
		s.Admin(t, "keeper")
		r := s.Repo(t, "alice/diary", true)
		s.Repo(t, "alice/cellar", true)
		hidden := s.Repo(t, "bob/secret", true)
		b := &person{s: s, cookie: s.PasswordSession(t, "alice")}
		settingsAgain(t, b.send(t, "/settings/tokens/new", "kind", "scopes", "note", "", "life", "7d", "scopes",
			"repo"), 422, "Say what the token is for", `value="repo" checked`)
		settingsAgain(t, b.send(t, "/settings/tokens/new", "kind", "scopes", "note", settingsEvil, "life", "soon"), 422,
			"invalid expiry", "onerror=alert(1)&gt;")
		settingsAgain(t, b.send(t, "/settings/tokens/new", "kind", "scopes", "note", "x", "life", "7d", "scopes",
			"all"), 422, "there is no scope")
		made := b.send(t, "/settings/tokens/new", "kind", "scopes", "note", settingsEvil, "life", "7d", "scopes",
			"public_repo")
		if made.Status != 200 || made.Header.Get("Cache-Control") != "no-store" ||
			made.Header.Get("ETag") != "" {
			t.Fatalf("%d %v", made.Status, made.Header)
		}
		token := settingsValue.FindStringSubmatch(string(made.Body))[1]
		s.Check(t, apitest.Case{Do: "GET /user", Headers: apitest.Bearer(token), Status: 200,
			Want: `{"login": "alice"}`, Has: map[string]string{"X-OAuth-Scopes": "public_repo"}})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/diary", Headers: apitest.Bearer(token), Status: 404})
		if a := s.Check(t, apitest.Case{Do: "GET /settings/tokens/new", Headers: b.headers(),
			Status: 200}); strings.Contains(string(a.Body), token) {
			t.Error("the token is shown again")
		}

		fine := b.send(t, "/settings/tokens/new", "kind", "repositories", "note", "diary", "life", "never",
			"repos", account.ID(r.ID).String())
		chosen := settingsValue.FindStringSubmatch(string(fine.Body))[1]
		s.Check(t, apitest.Case{Do: "GET /repos/alice/diary", Headers: apitest.Bearer(chosen), Status: 200})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/cellar", Headers: apitest.Bearer(chosen), Status: 404})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/diary/issues", Headers: apitest.Bearer(chosen),
			Send: `{"title": "x"}`, Status: 403})
		settingsAgain(t, b.send(t, "/settings/tokens/new", "kind", "repositories", "note", "n", "life", "7d"), 422,
			"Choose the repositories")
		settingsAgain(t, b.send(t, "/settings/tokens/new", "kind", "repositories", "note", "n", "life", "7d",
			"others", "bob/secret"), 422, "not found", `value="bob/secret"`)
		settingsAgain(t, b.send(t, "/settings/tokens/new", "kind", "repositories", "note", "n", "life", "7d", "repos",
			account.ID(hidden.ID).String()), 422, "you do not see it")
		took2 := b.send(t, "/settings/tokens/new", "kind", "repositories", "note", "both", "life", "90d",
			"others", "alice/cellar, alice/diary", "changes", "1")
		if both := settingsValue.FindStringSubmatch(string(took2.Body)); both == nil {
			t.Fatalf("%d %s", took2.Status, took2.Body)
		}
		body := b.show(t, "/settings/tokens", "alice/cellar", "public_repo", "expires", "does not expire",
			"onerror=alert(1)&gt;", "Changes these repositories")
		if strings.Contains(body, token) || strings.Contains(body, "agent") {
			t.Error("the list shows a token")
		}
		// Each has a row in the audit log with its actor.
		log := s.Check(t, apitest.Case{
			Do: "GET /admin/audit-log?phrase=action:personal_access_token.create+actor:alice", As: "keeper",
			Status: 200})
		settingsHas(t, string(log.Body), `"scopes":"public_repo"`, `"write":true`, `"right":"self"`)

		// A name that the caller sees no more is not shown.
		s.Check(t, apitest.Case{Do: "PUT /repos/bob/secret/collaborators/alice", As: "bob", Status: 204})
		took3 := b.send(t, "/settings/tokens/new", "kind", "repositories", "note", "bobs", "life", "90d",
			"others", "bob/secret")
		if took3.Status != 200 {
			t.Fatalf("%d", took3.Status)
		}
		b.show(t, "/settings/tokens", "bob/secret")
		s.Check(t, apitest.Case{Do: "DELETE /repos/bob/secret/collaborators/alice", As: "bob", Status: 204})
		if body := b.show(t, "/settings/tokens",
			"1 that you cannot see now"); strings.Contains(body, "secret") {
			t.Error("it shows a name of what is hidden")
		}

		other := signIn(t, s, "bob")
		ids := regexp.MustCompile(`name="id" value="(\d+)"`).FindAllStringSubmatch(b.show(t,
			"/settings/tokens"), -1)
		for _, id := range ids {
			settingsTook(t, other.send(t, "/settings/tokens", "id", id[1]), "/settings/tokens")
		}
		s.Check(t, apitest.Case{Do: "GET /user", Headers: apitest.Bearer(token), Status: 200})
		first := ids[len(ids)-2][1] // after the token of the test itself
		settingsTook(t, b.send(t, "/settings/tokens", "id", first), "/settings/tokens")
		s.Check(t, apitest.Case{Do: "GET /user", Headers: apitest.Bearer(token), Status: 401})
		log = s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=action:personal_access_token.destroy",
			As: "keeper", Status: 200})
		if n := strings.Count(string(log.Body), `"action":`); n != 1 ||
			!strings.Contains(string(log.Body), `"actor":"alice"`) {
			t.Errorf("%d rows: %s", n, log.Body)
		}
		// A token makes no token, nor does a session that was begun with one.
		made = s.Do(t, apitest.Case{Do: "POST /settings/tokens/new", As: "alice",
			Send: "kind=scopes&note=x&life=never",
			Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded",
				"Accept": "text/html"}})
		settingsAgain(t, made, 403, "a token makes no other")
		settingsAgain(t, signIn(t, s, "alice").send(t, "/settings/tokens/new", "kind", "scopes", "note", "x",
			"life", "never"),
			403, "a token makes no other")
	})
}

// Another password takes the one that there is, ends all other sessions, and keeps this browser signed in.
func TestPassword(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Admin(t, "keeper")
		b, elsewhere := signIn(t, s, "alice"), signIn(t, s, "alice")
		b.show(t, "/settings/password", "You have no password yet")
		settingsAgain(t, b.send(t, "/settings/password", "new", "short", "again", "short"), 422, "at least 8")
		settingsAgain(t, b.send(t, "/settings/password", "new", "correct horse", "again", "correct house"), 422,
			"not the same")
		a := b.send(t, "/settings/password", "new", "correct horse", "again", "correct horse")
		settingsTook(t, a, "/settings/password")
		if body := string(a.Body) + a.Header.Get("Location"); strings.Contains(body, "horse") {
			t.Error("it repeats the password")
		}
		s.Check(t, apitest.Case{Do: "GET /settings/profile", Headers: elsewhere.headers(), Status: 303})
		m := regexp.MustCompile(session.Cookie + `=(arbs_\w+)`).FindStringSubmatch(
			a.Header.Get("Set-Cookie"))
		b.cookie = m[1]
		b.show(t, "/settings/password", "Current password")
		settingsAgain(t, b.send(t, "/settings/password", "now", "wrong horse", "new", "another horse", "again",
			"another horse"), 422, "That is not your password")
		settingsTook(t, b.send(t, "/settings/password", "now", "correct horse", "new", "another horse", "again",
			"another horse"), "/settings/password")
		s.Check(t, apitest.Case{Do: "GET /settings/profile", Headers: b.headers(), Status: 303})
		log := s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=action:user.change_password",
			As: "keeper", Status: 200})
		if strings.Count(string(log.Body), `"actor":"alice"`) != 2 {
			t.Errorf("the log has %s", log.Body)
		}
	})
}

// One sees where one is signed in, and ends it; a session that is revoked elsewhere opens nothing any more.
func TestSessions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.User(t, "bob")
		for _, agent := range []string{"Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", settingsEvil} {
			if _, err := s.Forge.Sessions.SignInWithToken(t.Context(), s.Token(t, "alice"),
				session.Origin{Agent: agent}); err != nil {
				t.Fatal(err)
			}
		}
		b := signIn(t, s, "alice")
		body := b.show(t, "/settings/sessions", "Firefox on Linux", "This browser", "onerror=alert(1)&gt;",
			"Sign out everywhere else")
		ids := regexp.MustCompile(`name="id" value="(\d+)"`).FindAllStringSubmatch(body, -1)
		if len(ids) != 3 {
			t.Fatalf("%d sessions", len(ids))
		}
		other := signIn(t, s, "bob")
		other.send(t, "/settings/sessions", "id", ids[1][1])
		settingsAgain(t, other.send(t, "/settings/sessions", "id", "x"), 404)
		if n := strings.Count(b.show(t, "/settings/sessions"), `name="id"`); n != 3 {
			t.Errorf("somebody else ended one: %d", n)
		}
		settingsTook(t, b.send(t, "/settings/sessions", "id", ids[2][1]), "/settings/sessions")
		second := signIn(t, s, "alice")
		settingsTook(t, b.send(t, "/settings/sessions", "do", "others"), "/settings/sessions")
		s.Check(t, apitest.Case{Do: "GET /settings/sessions", Headers: second.headers(), Status: 303})
		if n := strings.Count(b.show(t, "/settings/sessions"), `name="id"`); n != 1 {
			t.Errorf("%d are left", n)
		}
		settingsTook(t, b.send(t, "/settings/sessions", "id", ids[0][1]), "/")
		s.Check(t, apitest.Case{Do: "GET /settings/sessions", Headers: b.headers(), Status: 303,
			Has: map[string]string{"Set-Cookie": session.Cookie +
				"=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"}})
	})
}

// Apps that act on one's account are shown with what they may, and reach what one lets them reach.
func TestInstallations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.User(t, "bob")
		s.Repo(t, "alice/garden", false)
		s.Repo(t, "alice/diary", true)
		a := s.NewApp(t, "alice", app.Manifest{Name: "Gardener", URL: "https://example.org", Public: true,
			Permissions: apitest.Permissions("issues=write"), Events: []string{"issues"}})
		a.Install(t, "alice", "garden")
		b := signIn(t, s, "alice")
		body := b.show(t, "/settings/installations", "gardener")
		one := regexp.MustCompile(`/settings/installations/\d+`).FindString(body)
		b.show(t, one, "issues: write", "It receives issues")
		s.Check(t, apitest.Case{Do: "GET " + one, Headers: signIn(t, s, "bob").headers(), Status: 404})
		if body := b.show(t, one, "alice/garden"); strings.Contains(body, "diary") {
			t.Error("it reaches what was not chosen")
		}
		settingsAgain(t, b.send(t, one, "do", "add", "repo", settingsEvil), 422, "has no repository", "onerror=alert(1)&gt;")
		settingsTook(t, b.send(t, one, "do", "add", "repo", "alice/diary"), one)
		b.show(t, one, "alice/garden", "alice/diary")
		settingsTook(t, b.send(t, one, "do", "remove", "repo", "alice/garden"), one)
		settingsAgain(t, b.send(t, one, "do", "remove", "repo", "diary"), 422, "last repository of an installation")
	})
}

// suspendedByOthers shows that an owner cannot end what the App and the operator suspended, but can join
// them.
func suspendedByOthers(t *testing.T, s *apitest.Server, a *apitest.App, address string, owner *person) {
	t.Helper()
	api := "/app/installations" + address[strings.LastIndex(address, "/"):] + "/suspended"
	s.Check(t, apitest.Case{Do: "PUT " + api, Headers: a.Signed(t), Status: 204})
	if body := owner.show(t, address, "Suspended by the App itself"); strings.Contains(body, "Unsuspend") {
		t.Error("the owner is offered to end the App's own suspension")
	}
	settingsAgain(t, owner.send(t, address, "do", "unsuspend"), 403, "suspended by somebody else")
	settingsTook(t, owner.send(t, address, "do", "suspend"), address)
	owner.show(t, address, "Suspended by the App itself, the owner of the account", "Unsuspend")
	settingsTook(t, owner.send(t, address, "do", "unsuspend"), address)
	owner.show(t, address, "Suspended by the App itself. ")
	s.Check(t, apitest.Case{Do: "DELETE " + api, Headers: a.Signed(t), Status: 204})
}

// An App is installed by who it acts for, and by nobody else; suspended, it can do nothing; uninstalled, it
// is gone.
func TestApps(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "keeper")
		for _, login := range []string{"alice", "bob", "carol"} {
			s.User(t, login)
		}
		s.Org(t, "guild", "bob")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/memberships/carol", As: "bob",
			Send: `{"role": "member"}`, Status: 200})
		s.Repo(t, "guild/park", true)
		s.Repo(t, "guild/pond", true)
		public := s.NewApp(t, "alice", app.Manifest{Name: "Gardener", URL: "https://example.org",
			Public: true, Description: settingsEvil,
			Permissions: apitest.Permissions("issues=write"), Events: []string{"issues"}})
		s.NewApp(t, "alice", app.Manifest{Name: "Hidden", URL: "https://example.org",
			Permissions: apitest.Permissions("issues=write")})
		alice, bob, carol := signIn(t, s, "alice"), signIn(t, s, "bob"), signIn(t, s, "carol")
		alice.show(t, "/settings/apps", "Gardener", "Hidden", "onerror=alert(1)&gt;")
		bob.show(t, "/settings/apps", "You have none.")
		alice.show(t, "/github-apps/hidden/installations/new", "issues: write")
		s.Check(t, apitest.Case{Do: "GET /github-apps/hidden/installations/new", Headers: bob.headers(),
			Status: 404})
		settingsAgain(t, bob.send(t, "/github-apps/hidden/installations/new", "on", "bob"), 404)

		alice.show(t, "/github-apps/hidden", "issues: write", `href="/settings/apps/hidden"`)
		for _, who := range []map[string]string{bob.headers(), {"Accept": apitest.Browser}} {
			s.Check(t, apitest.Case{Do: "GET /github-apps/hidden", Headers: who, Status: 404})
			a := s.Check(t, apitest.Case{Do: "GET /github-apps/gardener", Headers: who, Status: 200})
			if body := string(a.Body); !strings.Contains(body, "onerror=alert(1)&gt;") ||
				strings.Contains(body, "/settings/apps") {
				t.Errorf("strangers see of an App: %s", body)
			}
		}
		s.Check(t, apitest.Case{Do: "GET /apps/gardener", Status: 200,
			Want: `{"html_url": "` + s.URL + `/github-apps/gardener"}`})

		const install = "/github-apps/gardener/installations/new"
		if body := carol.show(t, install, "<option selected>carol</option>"); strings.Contains(body,
			"guild") {
			t.Error("a member may install Apps")
		}
		bob.show(t, install, "<option>guild</option>")
		settingsAgain(t, carol.send(t, install, "on", "guild"), 403, "by its owners")
		settingsAgain(t, carol.send(t, install, "on", "bob"), 403, "by its owners")
		settingsAgain(t, carol.send(t, install, "on", "nobody"), 403, "by its owners")
		settingsAgain(t, bob.send(t, install, "on", "guild", "some", "1", "repos", " "), 422, "Name the repositories")
		settingsAgain(t, bob.send(t, install, "on", "guild", "some", "1", "repos", "park lake"), 422,
			`value="park lake"`, "is not there")
		made := bob.send(t, install, "on", "guild", "some", "1", "repos", "guild/park")
		one, _, _ := strings.Cut(made.Header.Get("Location"), "?")
		settingsTook(t, made, one)
		if body := bob.show(t, one, "guild/park", "Danger zone"); strings.Contains(body, "guild/pond") {
			t.Error("it reaches what was not chosen")
		}
		if body := carol.show(t, one); strings.Contains(body, "Danger zone") {
			t.Error("a member may remove it")
		}
		for _, do := range []string{"suspend", "unsuspend", "uninstall"} {
			settingsAgain(t, carol.send(t, one, "do", do), 403, "by its owners")
			settingsAgain(t, alice.send(t, one, "do", do), 404)
		}
		id, _ := strconv.ParseInt(one[strings.LastIndex(one, "/")+1:], 10, 64)
		token := public.Token(t, account.InstallationID(id), "")
		reads := apitest.Case{Do: "GET /repos/guild/park", Headers: apitest.Bearer(token), Status: 200}
		s.Check(t, reads)
		settingsTook(t, bob.send(t, one, "do", "suspend"), one)
		bob.show(t, one, "Suspended by the owner of the account")
		if a := s.Do(t, reads); a.Status == 200 {
			t.Error("a suspended App reads on")
		}
		settingsTook(t, bob.send(t, one, "do", "unsuspend"), one)
		reads.Headers = apitest.Bearer(public.Token(t, account.InstallationID(id), "")) // the old one has ended
		s.Check(t, reads)
		suspendedByOthers(t, s, public, one, bob)
		settingsTook(t, bob.send(t, one, "do", "uninstall"), "/settings/installations")
		if a := s.Do(t, reads); a.Status != 401 {
			t.Errorf("its token is %d", a.Status)
		}
		log := s.Check(t, apitest.Case{
			Do: "GET /admin/audit-log?phrase=actor:bob+action:integration_installation", As: "keeper",
			Status: 200})
		settingsHas(t, string(log.Body), "integration_installation.create", "integration_installation.suspend",
			"integration_installation.unsuspend", "integration_installation.destroy")
	})
}
