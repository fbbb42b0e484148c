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

// addresses are all pages here.
var addresses = []string{"profile", "account", "emails", "keys", "password", "sessions", "tokens",
	"tokens/new", "tokens/new?kind=repositories", "organizations", "replies", "watching", "installations", "apps"}

// The settings require a session, and a token with all rights of its account: no page can extend a limited
// one.
func TestWhoOpensThem(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		b := as(t, s, "alice")
		limited := s.Scoped(t, "alice", "repo, user, admin:org, admin:public_key, notifications")
		lesserCookie, err := s.Forge.Sessions.SignInWithToken(t.Context(), limited, session.Origin{Agent: "x"})
		testkit.NoError(t, err)
		for _, a := range addresses {
			b.show("/settings/" + a)
			s.Check(t, apitest.Case{Do: "GET /settings/" + a,
				Headers: inBrowser, Status: 303,
				Has: map[string]string{"Location": "/login?return_to=" + url.QueryEscape("/settings/"+a)}})
			for _, header := range []map[string]string{
				{"Accept": "text/html", "Authorization": "Bearer " + limited},
				{"Accept": "text/html", "Cookie": session.Cookie + "=" + lesserCookie},
			} {
				s.Check(t, apitest.Case{Do: "GET /settings/" + a, Headers: header, Status: 403})
			}
		}
		lesser := &visitor{t, s, lesserCookie}
		for path, pairs := range map[string][]string{
			"/settings/tokens/new": {"kind", "scopes", "note", "more", "life", "never", "scopes",
				"delete_repo"},
			"/settings/password": {"new", "long enough", "again", "long enough"},
			"/settings/keys":     {"title", "x", "key", testkit.PublicKey(t)},
			"/settings/sessions": {"do", "others"},
			"/settings/emails":   {"email", "a@example.com"},
		} {
			lesser.post(path, pairs...).Shows(t, 403)
		}
		b.post("/settings/profile", "name", "A").Leads(t, "/settings/profile")
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
		b := as(t, s, "alice")
		b.post("/settings/profile", "name", apitest.Markup, "bio", apitest.Markup+"\r\nmore", "company", "C",
			"location", "L", "blog", "javascript:alert(1)").Leads(t, "/settings/profile")
		b.show("/settings/profile", "onerror=alert(1)&gt;",
			"more</textarea>", `value="C"`)
		b.post("/settings/profile", "name", strings.Repeat("x", 300), "company", "kept").Shows(t, 422,
			`value="kept"`, "xxx")
		b.show("/settings/account", "<bdi>alice</bdi>", "A site administrator can change it")

		b.post("/settings/emails", "do", "add", "email", "a@example.com").Leads(t, "/settings/emails")
		b.post("/settings/emails", "do", "add", "email", "no address").Shows(t, 422, `value="no address"`)
		b.post("/settings/emails", "do", "show", "email", "a@example.com").Leads(t, "/settings/emails")
		b.show("/settings/emails", "a@example.com", "Not verified", "In your profile")
		b.post("/settings/emails", "do", "hide").Leads(t, "/settings/emails")
		s.Check(t, apitest.Case{Do: "GET /users/alice", As: "alice", Status: 200, Want: `{"email": null}`})
		b.post("/settings/emails", "do", "remove", "email", "a@example.com").Leads(t, "/settings/emails")
		b.show("/settings/emails", "You have none.")

		b.post("/settings/keys", "do", "add", "title", apitest.Markup, "key", testkit.PublicKey(t)).Leads(t,
			"/settings/keys")
		body := b.show("/settings/keys", "SHA256:", "never used")
		b.post("/settings/keys", "do", "add", "title", "kept", "key", "none").Shows(t, 422, `value="kept"`,
			"none</textarea>")
		b.post("/settings/keys", "do", "remove", "id",
			regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(body)[1]).Leads(t,
			"/settings/keys")
		b.show("/settings/keys", "You have none.")

		s.User(t, "bob")
		s.Repo(t, "bob/garden", false)
		s.Check(t, apitest.Case{Do: "PUT /repos/bob/garden/subscription", As: "alice",
			Send: `{"subscribed": true}`, Status: 200})
		b.show("/settings/watching", "bob/garden")
		b.post("/settings/watching", "repo", "bob/garden").Leads(t, "/settings/watching")
		b.show("/settings/watching", "You are not watching any repositories.")
	})
}

var settingsValue = regexp.MustCompile(`id="once" value="(arb_\w+)"`)

// A token is shown once, does what was chosen and no more, and ends when it is revoked. Somebody else's is
// out of reach.
func TestTokens(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Admin(t, "keeper")
		r := s.Repo(t, "alice/diary", true)
		s.Repo(t, "alice/cellar", true)
		hidden := s.Repo(t, "bob/secret", true)
		b := &visitor{t, s, s.PasswordSession(t, "alice")}
		b.post("/settings/tokens/new", "kind", "scopes", "note", "", "life", "7d", "scopes", "repo").Shows(t,
			422, "Say what the token is for", `value="repo" checked`)
		b.post("/settings/tokens/new", "kind", "scopes", "note", apitest.Markup, "life", "soon").Shows(t, 422,
			"invalid expiry", "onerror=alert(1)&gt;")
		b.post("/settings/tokens/new", "kind", "scopes", "note", "x", "life", "7d", "scopes", "all").Shows(t,
			422, "there is no scope")
		made := b.post("/settings/tokens/new", "kind", "scopes", "note", apitest.Markup, "life", "7d", "scopes",
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

		fine := b.post("/settings/tokens/new", "kind", "repositories", "note", "diary", "life", "never",
			"repos", account.ID(r.ID).String())
		chosen := settingsValue.FindStringSubmatch(string(fine.Body))[1]
		s.Check(t, apitest.Case{Do: "GET /repos/alice/diary", Headers: apitest.Bearer(chosen), Status: 200})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/cellar", Headers: apitest.Bearer(chosen), Status: 404})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/diary/issues", Headers: apitest.Bearer(chosen),
			Send: `{"title": "x"}`, Status: 403})
		b.post("/settings/tokens/new", "kind", "repositories", "note", "n", "life", "7d").Shows(t, 422,
			"Choose the repositories")
		b.post("/settings/tokens/new", "kind", "repositories", "note", "n", "life", "7d", "others",
			"bob/secret").Shows(t, 422, "not found", `value="bob/secret"`)
		b.post("/settings/tokens/new", "kind", "repositories", "note", "n", "life", "7d", "repos",
			account.ID(hidden.ID).String()).Shows(t, 422, "you do not see it")
		took2 := b.post("/settings/tokens/new", "kind", "repositories", "note", "both", "life", "90d",
			"others", "alice/cellar, alice/diary", "changes", "1")
		if both := settingsValue.FindStringSubmatch(string(took2.Body)); both == nil {
			t.Fatalf("%d %s", took2.Status, took2.Body)
		}
		body := b.show("/settings/tokens", "alice/cellar", "public_repo", "expires", "does not expire",
			"onerror=alert(1)&gt;", "Changes these repositories")
		if strings.Contains(body, token) || strings.Contains(body, "agent") {
			t.Error("the list shows a token")
		}
		// Each has a row in the audit log with its actor.
		log := s.Check(t, apitest.Case{
			Do: "GET /admin/audit-log?phrase=action:personal_access_token.create+actor:alice", As: "keeper",
			Status: 200})
		apitest.HasParts(t, string(log.Body), `"scopes":"public_repo"`, `"write":true`, `"right":"self"`)

		// A name that the caller sees no more is not shown.
		s.Check(t, apitest.Case{Do: "PUT /repos/bob/secret/collaborators/alice", As: "bob", Status: 204})
		took3 := b.post("/settings/tokens/new", "kind", "repositories", "note", "bobs", "life", "90d",
			"others", "bob/secret")
		if took3.Status != 200 {
			t.Fatalf("%d", took3.Status)
		}
		b.show("/settings/tokens", "bob/secret")
		s.Check(t, apitest.Case{Do: "DELETE /repos/bob/secret/collaborators/alice", As: "bob", Status: 204})
		if body := b.show("/settings/tokens",
			"1 that you cannot see now"); strings.Contains(body, "secret") {
			t.Error("it shows a name of what is hidden")
		}

		other := as(t, s, "bob")
		ids := regexp.MustCompile(`name="id" value="(\d+)"`).FindAllStringSubmatch(b.show("/settings/tokens"),
			-1)
		for _, id := range ids {
			other.post("/settings/tokens", "id", id[1]).Leads(t, "/settings/tokens")
		}
		s.Check(t, apitest.Case{Do: "GET /user", Headers: apitest.Bearer(token), Status: 200})
		first := ids[len(ids)-2][1] // after the token of the test itself
		b.post("/settings/tokens", "id", first).Leads(t, "/settings/tokens")
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
		made.Shows(t, 403, "a token makes no other")
		as(t, s, "alice").post("/settings/tokens/new", "kind", "scopes", "note", "x", "life", "never").Shows(t,
			403, "a token makes no other")
	})
}

// Another password takes the one that there is, ends all other sessions, and keeps this browser signed in.
func TestPassword(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Admin(t, "keeper")
		b, elsewhere := as(t, s, "alice"), as(t, s, "alice")
		b.show("/settings/password", "You have no password yet")
		b.post("/settings/password", "new", "short", "again", "short").Shows(t, 422, "at least 8")
		b.post("/settings/password", "new", "correct horse", "again", "correct house").Shows(t, 422,
			"not the same")
		a := b.post("/settings/password", "new", "correct horse", "again", "correct horse")
		a.Leads(t, "/settings/password")
		if body := string(a.Body) + a.Header.Get("Location"); strings.Contains(body, "horse") {
			t.Error("it repeats the password")
		}
		s.Check(t, apitest.Case{Do: "GET /settings/profile", Headers: elsewhere.headers(), Status: 303})
		m := regexp.MustCompile(session.Cookie + `=(arbs_\w+)`).FindStringSubmatch(
			a.Header.Get("Set-Cookie"))
		b.session = m[1]
		b.show("/settings/password", "Current password")
		b.post("/settings/password", "now", "wrong horse", "new", "another horse", "again",
			"another horse").Shows(t, 422, "That is not your password")
		b.post("/settings/password", "now", "correct horse", "new", "another horse", "again",
			"another horse").Leads(t, "/settings/password")
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
		s.Users(t, "alice", "bob")
		for _, agent := range []string{"Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", apitest.Markup} {
			if _, err := s.Forge.Sessions.SignInWithToken(t.Context(), s.Token(t, "alice"),
				session.Origin{Agent: agent}); err != nil {
				t.Fatal(err)
			}
		}
		b := as(t, s, "alice")
		body := b.show("/settings/sessions", "Firefox on Linux", "This browser", "onerror=alert(1)&gt;",
			"Sign out everywhere else")
		ids := regexp.MustCompile(`name="id" value="(\d+)"`).FindAllStringSubmatch(body, -1)
		if len(ids) != 3 {
			t.Fatalf("%d sessions", len(ids))
		}
		other := as(t, s, "bob")
		other.post("/settings/sessions", "id", ids[1][1])
		other.post("/settings/sessions", "id", "x").Shows(t, 404)
		if n := strings.Count(b.show("/settings/sessions"), `name="id"`); n != 3 {
			t.Errorf("somebody else ended one: %d", n)
		}
		b.post("/settings/sessions", "id", ids[2][1]).Leads(t, "/settings/sessions")
		second := as(t, s, "alice")
		b.post("/settings/sessions", "do", "others").Leads(t, "/settings/sessions")
		s.Check(t, apitest.Case{Do: "GET /settings/sessions", Headers: second.headers(), Status: 303})
		if n := strings.Count(b.show("/settings/sessions"), `name="id"`); n != 1 {
			t.Errorf("%d are left", n)
		}
		b.post("/settings/sessions", "id", ids[0][1]).Leads(t, "/")
		s.Check(t, apitest.Case{Do: "GET /settings/sessions", Headers: b.headers(), Status: 303,
			Has: map[string]string{"Set-Cookie": session.Cookie +
				"=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"}})
	})
}

// Apps that act on one's account are shown with what they may, and reach what one lets them reach.
func TestInstallations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", false)
		s.Repo(t, "alice/diary", true)
		a := s.NewApp(t, "alice", app.Manifest{Name: "Gardener", URL: "https://example.org", Public: true,
			Permissions: apitest.Permissions("issues=write"), Events: []string{"issues"}})
		a.Install(t, "alice", "garden")
		b := as(t, s, "alice")
		body := b.show("/settings/installations", "gardener")
		one := regexp.MustCompile(`/settings/installations/\d+`).FindString(body)
		b.show(one, "issues: write", "It receives issues")
		s.Check(t, apitest.Case{Do: "GET " + one, Headers: as(t, s, "bob").headers(), Status: 404})
		if body := b.show(one, "alice/garden"); strings.Contains(body, "diary") {
			t.Error("it reaches what was not chosen")
		}
		b.post(one, "do", "add", "repo", apitest.Markup).Shows(t, 422, "has no repository",
			"onerror=alert(1)&gt;")
		b.post(one, "do", "add", "repo", "alice/diary").Leads(t, one)
		b.show(one, "alice/garden", "alice/diary")
		b.post(one, "do", "remove", "repo", "alice/garden").Leads(t, one)
		b.post(one, "do", "remove", "repo", "diary").Shows(t, 422, "last repository of an installation")
	})
}

// suspendedByOthers shows that an owner cannot end what the App and the operator suspended, but can join
// them.
func suspendedByOthers(t *testing.T, s *apitest.Server, a *apitest.App, address string, owner *visitor) {
	t.Helper()
	api := "/app/installations" + address[strings.LastIndex(address, "/"):] + "/suspended"
	s.Check(t, apitest.Case{Do: "PUT " + api, Headers: a.Signed(t), Status: 204})
	if body := owner.show(address, "Suspended by the App itself"); strings.Contains(body, "Unsuspend") {
		t.Error("the owner is offered to end the App's own suspension")
	}
	owner.post(address, "do", "unsuspend").Shows(t, 403, "suspended by somebody else")
	owner.post(address, "do", "suspend").Leads(t, address)
	owner.show(address, "Suspended by the App itself, the owner of the account", "Unsuspend")
	owner.post(address, "do", "unsuspend").Leads(t, address)
	owner.show(address, "Suspended by the App itself. ")
	s.Check(t, apitest.Case{Do: "DELETE " + api, Headers: a.Signed(t), Status: 204})
}

// An App is installed by who it acts for, and by nobody else; suspended, it can do nothing; uninstalled, it
// is gone.
func TestApps(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "keeper")
		s.Users(t, "alice", "bob", "carol")
		s.Org(t, "guild", "bob")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/memberships/carol", As: "bob",
			Send: `{"role": "member"}`, Status: 200})
		s.Repo(t, "guild/park", true)
		s.Repo(t, "guild/pond", true)
		public := s.NewApp(t, "alice", app.Manifest{Name: "Gardener", URL: "https://example.org",
			Public: true, Description: apitest.Markup,
			Permissions: apitest.Permissions("issues=write"), Events: []string{"issues"}})
		s.NewApp(t, "alice", app.Manifest{Name: "Hidden", URL: "https://example.org",
			Permissions: apitest.Permissions("issues=write")})
		alice, bob, carol := as(t, s, "alice"), as(t, s, "bob"), as(t, s, "carol")
		alice.show("/settings/apps", "Gardener", "Hidden", "onerror=alert(1)&gt;")
		bob.show("/settings/apps", "You have none.")
		alice.show("/github-apps/hidden/installations/new", "issues: write")
		s.Check(t, apitest.Case{Do: "GET /github-apps/hidden/installations/new", Headers: bob.headers(),
			Status: 404})
		bob.post("/github-apps/hidden/installations/new", "on", "bob").Shows(t, 404)

		alice.show("/github-apps/hidden", "issues: write", `href="/settings/apps/hidden"`)
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
		if body := carol.show(install, "<option selected>carol</option>"); strings.Contains(body,
			"guild") {
			t.Error("a member may install Apps")
		}
		seen := between(bob.show(install, "<option>guild</option>"), `name="seen" value="`, `"`)
		carol.post(install, "on", "guild").Shows(t, 403, "by its owners")
		carol.post(install, "on", "bob").Shows(t, 403, "by its owners")
		carol.post(install, "on", "nobody").Shows(t, 403, "by its owners")
		bob.post(install, "on", "guild", "some", "1", "repos", " ").Shows(t, 422, "Name the repositories")
		bob.post(install, "on", "guild", "some", "1", "repos", "park lake", "seen", seen).Shows(t, 422, `value="park lake"`,
			"is not there")
		made := bob.post(install, "on", "guild", "some", "1", "repos", "guild/park", "seen", seen)
		one, _, _ := strings.Cut(made.Header.Get("Location"), "?")
		made.Leads(t, one)
		if body := bob.show(one, "guild/park", "Danger zone"); strings.Contains(body, "guild/pond") {
			t.Error("it reaches what was not chosen")
		}
		if body := carol.show(one); strings.Contains(body, "Danger zone") {
			t.Error("a member may remove it")
		}
		for _, do := range []string{"suspend", "unsuspend", "uninstall"} {
			carol.post(one, "do", do).Shows(t, 403, "by its owners")
			alice.post(one, "do", do).Shows(t, 404)
		}
		id, _ := strconv.ParseInt(one[strings.LastIndex(one, "/")+1:], 10, 64)
		token := public.Token(t, account.InstallationID(id), "")
		reads := apitest.Case{Do: "GET /repos/guild/park", Headers: apitest.Bearer(token), Status: 200}
		s.Check(t, reads)
		bob.post(one, "do", "suspend").Leads(t, one)
		bob.show(one, "Suspended by the owner of the account")
		if a := s.Do(t, reads); a.Status == 200 {
			t.Error("a suspended App reads on")
		}
		bob.post(one, "do", "unsuspend").Leads(t, one)
		reads.Headers = apitest.Bearer(public.Token(t, account.InstallationID(id), "")) // the old one has ended
		s.Check(t, reads)
		suspendedByOthers(t, s, public, one, bob)
		bob.post(one, "do", "uninstall").Leads(t, "/settings/installations")
		s.Do(t, reads).Shows(t, 401)
		log := s.Check(t, apitest.Case{
			Do: "GET /admin/audit-log?phrase=actor:bob+action:integration_installation", As: "keeper",
			Status: 200})
		apitest.HasParts(t, string(log.Body), "integration_installation.create",
			"integration_installation.suspend",
			"integration_installation.unsuspend", "integration_installation.destroy")
	})
}
