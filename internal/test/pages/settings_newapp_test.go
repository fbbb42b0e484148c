package pages_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

const wanted = `{"name":"Weeder","url":"https://weeder.example","redirect_url":"https://weeder.example/made?x=1","public":true,
	"hook_attributes":{"url":"https://weeder.example/hook"},"default_permissions":{"issues":"write"},"default_events":["issues"]}`

// A program's page sends a manifest from another site: nothing is made before the person confirms it here,
// and the program gets the keys once for the code with which the browser comes back.
func TestManifest(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.User(t, "olive")
		s.Org(t, "guild", "olive")
		b := signIn(t, s, "alice")
		elsewhere := func(headers map[string]string) *apitest.Answer {
			headers["Content-Type"], headers["Accept"] = "application/x-www-form-urlencoded", "text/html"
			headers["Origin"], headers["Sec-Fetch-Site"] = "https://weeder.example", "cross-site"
			return s.Do(t, apitest.Case{Do: "POST /settings/apps/new?state=" + url.QueryEscape(`"><b>`),
				Headers: headers,
				Send:    url.Values{"manifest": {wanted}}.Encode()})
		}
		// a browser that sends the cookie all the same changes nothing
		for _, h := range []map[string]string{{}, b.headers()} {
			a := elsewhere(h)
			if a.Status != 200 || a.Header.Get("X-Frame-Options") == "" &&
				!strings.Contains(a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			settingsHas(t, string(a.Body), "data-go", `name="again"`, "Weeder")
			if strings.Contains(string(a.Body), "Create GitHub App") ||
				strings.Contains(string(a.Body), "<b>\"") {
				t.Errorf("it asks somebody who is not known\n%s", a.Body)
			}
		}
		// From here it knows the caller, and its form may lead to the program.
		a := b.send(t, "/settings/apps/new?state=s1", "manifest", wanted, "again", "1")
		settingsHas(t, string(a.Body), "Create GitHub App", "which will belong to <bdi>alice</bdi>", "issues: write",
			"https://weeder.example/hook", `value="s1"`)
		if !strings.Contains(a.Header.Get("Content-Security-Policy"),
			"form-action 'self' https://weeder.example;") {
			t.Error(a.Header.Get("Content-Security-Policy"))
		}
		// A user who has signed out in the meantime is asked to sign in, and loses nothing.
		stranger := &person{s: s, cookie: "x"}
		settingsHas(t, string(stranger.send(t, "/settings/apps/new?state=s1", "manifest", wanted, "again", "1").Body),
			"not signed in", `state=s1`)
		if n := b.show(t, "/settings/apps"); strings.Contains(n, "Weeder") {
			t.Error("it was made before anybody confirmed it")
		}
		// The confirmation itself must come from here.
		h := b.headers()
		h["Content-Type"], h["Origin"], h["Sec-Fetch-Site"] = "application/x-www-form-urlencoded",
			"https://weeder.example", "cross-site"
		s.Check(t, apitest.Case{Do: "POST /settings/apps", Headers: h,
			Send: url.Values{"manifest": {wanted}, "name": {"Weeder"}}.Encode(), Status: 403})
		settingsAgain(t, b.send(t, "/settings/apps", "manifest", wanted, "name", "Weeder", "owner", "guild"), 403,
			"Apps are made for the own account", "Weeder")
		settingsAgain(t, b.send(t, "/settings/apps", "manifest", wanted, "name", "", "owner", "alice"), 422,
			"Create GitHub App")
		settingsAgain(t, b.send(t, "/settings/apps/new", "manifest", "{"), 400, "invalid manifest")
		settingsAgain(t, b.send(t, "/settings/apps/new", "manifest",
			strings.Replace(wanted, "https://weeder.example/made?x=1", "javascript:alert(1)", 1)), 422,
			"redirect_url must be")
		settingsAgain(t, b.send(t, "/settings/apps/new", "manifest",
			strings.Replace(wanted, "https://weeder.example/made", "https://x;script-src.example/", 1)), 422,
			"redirect_url must be")

		a = b.send(t, "/settings/apps", "manifest", wanted, "name", "Garden weeder", "owner", "alice",
			"state", "s1")
		to, err := url.Parse(a.Header.Get("Location"))
		if err != nil || a.Status != 303 || to.Host != "weeder.example" || to.Query().Get("state") != "s1" ||
			to.Query().Get("x") != "1" {
			t.Fatalf("%d %s", a.Status, a.Header.Get("Location"))
		}
		convert := "POST /api/v3/app-manifests/" + to.Query().Get("code") + "/conversions"
		s.Admin(t, "chief")
		s.Check(t, apitest.Case{Do: "PUT /users/alice/suspended", As: "chief", Status: 204})
		s.Check(t, apitest.Case{Do: convert, Status: 404})
		s.Check(t, apitest.Case{Do: "DELETE /users/alice/suspended", As: "chief", Status: 204})
		var made struct {
			PEM           string
			WebhookSecret string `json:"webhook_secret"`
			ClientSecret  string `json:"client_secret"`
		}
		s.Check(t, apitest.Case{Do: "POST /app-manifests/none/conversions", Status: 404})
		s.Check(t, apitest.Case{Do: convert, Status: 201,
			Want: `{"slug":"garden-weeder","name":"Garden weeder","owner":{"login":"alice"},
			"permissions":{"issues":"write"},"events":["issues"]}`}).JSON(t, &made)
		if !strings.HasPrefix(made.PEM, "-----BEGIN RSA PRIVATE KEY") || made.WebhookSecret == "" ||
			made.ClientSecret == "" {
			t.Errorf("%+v", made)
		}
		jwt := apitest.Bearer(apitest.JWTOf(t, made.PEM, "garden-weeder", s))
		s.Check(t, apitest.Case{Do: "GET /app", Headers: jwt, Status: 200, Want: `{"slug":"garden-weeder"}`})
		s.Check(t, apitest.Case{Do: "GET /app/hook/config", Headers: jwt, Status: 200,
			Want: `{"url":"https://weeder.example/hook","secret":"********"}`})
		s.Check(t, apitest.Case{Do: convert, Status: 404}) // once

		// An organization's is made by its owners.
		olive := signIn(t, s, "olive")
		settingsHas(t, string(olive.send(t, "/organizations/guild/settings/apps/new", "manifest", wanted).Body),
			"belong to <bdi>guild</bdi>")
		if a := olive.send(t, "/settings/apps", "manifest", wanted, "name", "Weeder", "owner",
			"guild"); a.Status != 303 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		s.Check(t, apitest.Case{Do: "GET /apps/weeder", Status: 200, Want: `{"owner":{"login":"guild"}}`})
		// No signature is valid yet, because the App has no key.
		s.Check(t, apitest.Case{Do: "GET /app",
			Headers: apitest.Bearer(apitest.JWTOf(t, made.PEM, "weeder", s)), Status: 401})
	})
}

var keyShown = regexp.MustCompile(`(?s)-----BEGIN RSA PRIVATE KEY-----.*-----END RSA PRIVATE KEY-----`)

// A person makes an App of the own account, changes it, gives it another key, and deletes it. Others see none
// of it.
func TestOwnApp(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.User(t, "bob")
		alice, bob := signIn(t, s, "alice"), signIn(t, s, "bob")
		alice.show(t, "/settings/apps/new", "Create GitHub App", "pull_requests")
		form := []string{"owner", "alice", "name", "Robot", "url", "https://robots.example",
			"permission-issues", "write", "events", "issues", "hook_url", "https://robots.example/hook",
			"hook_active", "1"}
		with := func(pairs ...string) []string { return append(pairs, form...) } // the first of a name counts
		settingsAgain(t, alice.send(t, "/settings/apps", with("hook_url", "http://10.0.0.1/x")...), 422,
			"inner network", `value="Robot"`)
		settingsAgain(t, alice.send(t, "/settings/apps", with("permission-moon", "write")...), 422,
			"there is no permission")
		settingsAgain(t, alice.send(t, "/settings/apps", with("name", "new")...), 422, "cannot have that name")
		settingsAgain(t, alice.send(t, "/settings/apps", with("owner", "bob")...), 403,
			"Apps are made for the own account")
		a := alice.send(t, "/settings/apps", form...)
		first := keyShown.FindString(html.UnescapeString(string(a.Body)))
		if a.Status != 200 || first == "" || a.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		signed := func(key string, status int) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "GET /app",
				Headers: apitest.Bearer(apitest.JWTOf(t, key, "robot", s)), Status: status})
		}
		signed(first, 200)
		const at = "/settings/apps/robot"
		alice.show(t, "/settings/apps", "Robot")
		alice.show(t, at, "robot[bot]", `value="https://robots.example/hook"`)
		for _, do := range []string{"save", "key", "delete"} {
			if a := bob.send(t, at, "do", do, "confirm", "robot"); a.Status != 404 {
				t.Errorf("bob does %s: %d", do, a.Status)
			}
		}
		a = alice.send(t, at, "do", "key")
		second := keyShown.FindString(html.UnescapeString(string(a.Body)))
		signed(first, 401)
		signed(second, 200)
		settingsAgain(t, alice.send(t, at, with("do", "save", "events", "push")...), 422,
			"not supported by permissions")
		settingsTook(t, alice.send(t, at, "do", "save", "name", "Machine", "url", "https://robots.example", "public",
			"1", "permission-contents", "read", "events", "push", "hook_url", "https://robots.example/other"),
			at)
		s.Check(t, apitest.Case{Do: "GET /apps/robot", Status: 200,
			Want: `{"name":"Machine","permissions":{"contents":"read"},"events":["push"]}`})
		alice.show(t, at, `value="https://robots.example/other"`)
		settingsAgain(t, alice.send(t, at, "do", "delete", "confirm", "robots"), 422, "type robot to confirm")
		settingsTook(t, alice.send(t, at, "do", "delete", "confirm", "robot"), "/settings/apps")
		s.Check(t, apitest.Case{Do: "GET /apps/robot", As: "alice", Status: 404})
	})
}
