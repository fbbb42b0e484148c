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
		s.Users(t, "alice", "olive")
		s.Org(t, "guild", "olive")
		b := as(t, s, "alice")
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
			apitest.HasParts(t, string(a.Body), "data-go", `name="again"`, "Weeder")
			if strings.Contains(string(a.Body), "Create GitHub App") ||
				strings.Contains(string(a.Body), "<b>\"") {
				t.Errorf("it asks somebody who is not known\n%s", a.Body)
			}
		}
		// From here it knows the caller, and its form may lead to the program.
		a := b.post("/settings/apps/new?state=s1", "manifest", wanted, "again", "1")
		apitest.HasParts(t, string(a.Body), "Create GitHub App", "which will belong to <bdi>alice</bdi>",
			"issues: write",
			"https://weeder.example/hook", `value="s1"`)
		if !strings.Contains(a.Header.Get("Content-Security-Policy"),
			"form-action 'self' https://weeder.example;") {
			t.Error(a.Header.Get("Content-Security-Policy"))
		}
		// A user who has signed out in the meantime is asked to sign in, and loses nothing.
		stranger := &visitor{t, s, "x"}
		apitest.HasParts(t, string(stranger.post("/settings/apps/new?state=s1", "manifest", wanted, "again",
			"1").Body),
			"not signed in", `state=s1`)
		if n := b.show("/settings/apps"); strings.Contains(n, "Weeder") {
			t.Error("it was made before anybody confirmed it")
		}
		// The confirmation itself must come from here.
		h := b.headers()
		h["Content-Type"], h["Origin"], h["Sec-Fetch-Site"] = "application/x-www-form-urlencoded",
			"https://weeder.example", "cross-site"
		s.Check(t, apitest.Case{Do: "POST /settings/apps", Headers: h,
			Send: url.Values{"manifest": {wanted}, "name": {"Weeder"}}.Encode(), Status: 403})
		b.post("/settings/apps", "manifest", wanted, "name", "Weeder", "owner", "guild").Shows(t, 403,
			"Apps are made for the own account", "Weeder")
		b.post("/settings/apps", "manifest", wanted, "name", "", "owner", "alice").Shows(t, 422,
			"Create GitHub App")
		b.post("/settings/apps/new", "manifest", "{").Shows(t, 400, "invalid manifest")
		b.post("/settings/apps/new", "manifest",
			strings.Replace(wanted, "https://weeder.example/made?x=1", "javascript:alert(1)", 1)).Shows(t, 422,
			"redirect_url must be")
		b.post("/settings/apps/new", "manifest",
			strings.Replace(wanted, "https://weeder.example/made", "https://x;script-src.example/", 1)).Shows(t,
			422, "redirect_url must be")

		a = b.post("/settings/apps", "manifest", wanted, "name", "Garden weeder", "owner", "alice",
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
		olive := as(t, s, "olive")
		apitest.HasParts(t, string(olive.post("/organizations/guild/settings/apps/new", "manifest",
			wanted).Body),
			"belong to <bdi>guild</bdi>")
		olive.post("/settings/apps", "manifest", wanted, "name", "Weeder", "owner", "guild").Shows(t, 303)
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
		s.Users(t, "alice", "bob")
		alice, bob := as(t, s, "alice"), as(t, s, "bob")
		alice.show("/settings/apps/new", "Create GitHub App", "pull_requests")
		form := []string{"owner", "alice", "name", "Robot", "url", "https://robots.example",
			"permission-issues", "write", "events", "issues", "hook_url", "https://robots.example/hook",
			"hook_active", "1"}
		with := func(pairs ...string) []string { return append(pairs, form...) } // the first of a name counts
		alice.post("/settings/apps", with("hook_url", "http://10.0.0.1/x")...).Shows(t, 422, "inner network",
			`value="Robot"`)
		alice.post("/settings/apps", with("permission-moon", "write")...).Shows(t, 422,
			"there is no permission")
		alice.post("/settings/apps", with("name", "new")...).Shows(t, 422, "cannot have that name")
		alice.post("/settings/apps", with("owner", "bob")...).Shows(t, 403, "Apps are made for the own account")
		a := alice.post("/settings/apps", form...)
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
		alice.show("/settings/apps", "Robot")
		alice.show(at, "robot[bot]", `value="https://robots.example/hook"`)
		for _, do := range []string{"save", "key", "delete"} {
			bob.post(at, "do", do, "confirm", "robot").Shows(t, 404)
		}
		a = alice.post(at, "do", "key")
		second := keyShown.FindString(html.UnescapeString(string(a.Body)))
		signed(first, 401)
		signed(second, 200)
		alice.post(at, with("do", "save", "events", "push")...).Shows(t, 422, "not supported by permissions")
		alice.post(at, "do", "save", "name", "Machine", "url", "https://robots.example", "public",
			"1", "permission-contents", "read", "events", "push", "hook_url",
			"https://robots.example/other").Leads(t, at)
		s.Check(t, apitest.Case{Do: "GET /apps/robot", Status: 200,
			Want: `{"name":"Machine","permissions":{"contents":"read"},"events":["push"]}`})
		alice.show(at, `value="https://robots.example/other"`)
		alice.post(at, "do", "delete", "confirm", "robots").Shows(t, 422, "type robot to confirm")
		alice.post(at, "do", "delete", "confirm", "robot").Leads(t, "/settings/apps")
		s.Check(t, apitest.Case{Do: "GET /apps/robot", As: "alice", Status: 404})
	})
}
