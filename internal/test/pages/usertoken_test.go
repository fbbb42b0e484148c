package pages_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/oauth"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// appClient is a GitHub App with a client secret.
type appClient struct {
	client
	*apitest.App
}

// newAppClient creates a GitHub App of bob's with permissions, which signs users in.
func newAppClient(t *testing.T, s *apitest.Server, permissions string, about oauth.About, hook string) appClient {
	t.Helper()
	about.Callbacks = []string{"https://weeder.example/cb"}
	a := s.NewApp(t, "bob", app.Manifest{Name: "Weeder", Public: true, SignIn: about,
		Permissions: apitest.Permissions(permissions), Hook: app.Hook{URL: hook, Active: hook != "", Site: s.URL}})
	secret, err := s.Forge.Apps.ClientSecret(t.Context(), a.Slug)
	testkit.NoError(t, err)
	return appClient{client{&oauth.App{ClientID: a.ClientID}, secret}, a}
}

// refresh asks for the next pair of tokens.
func (c client) refresh(t *testing.T, s *apitest.Server, token any) map[string]any {
	t.Helper()
	text, _ := token.(string)
	return c.redeem(t, s, "", "grant_type", "refresh_token", "refresh_token", text)
}

// bearing is a request with a token.
func bearing(token any, do string, status int, send ...string) apitest.Case {
	c := apitest.Case{Do: do, Headers: apitest.Bearer(fmt.Sprint(token)), Status: status}
	if len(send) > 0 {
		c.Send = send[0]
	}
	return c
}

// A GitHub App acts for a user where it is installed: with its permissions there, and never more than the user may.
func TestUserTokens(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Org(t, "guild", "bob")
		s.Repo(t, "alice/garden", true)
		s.Repo(t, "alice/shed", true)
		s.Repo(t, "alice/field", false)
		plan := s.Repo(t, "guild/plan", true)
		c := newAppClient(t, s, "contents=write,issues=read,email_addresses=read", oauth.About{}, "")
		session := s.PasswordSession(t, "alice")
		want(t, visit(t, s, "GET /login/oauth/authorize?"+c.asks(), session, ""), 200, "Weeder", "issues: read")
		got := c.redeem(t, s, c.allow(t, s, session))
		text, _ := got["access_token"].(string)
		if next, _ := got["refresh_token"].(string); !strings.HasPrefix(text, "ghu_") || !strings.HasPrefix(next, "ghr_") ||
			got["expires_in"] != 28800.0 || got["refresh_token_expires_in"] != 15897600.0 || got["scope"] != "" {
			t.Errorf("the App gets %v", got)
		}
		ledTo(t, visit(t, s, "GET /login/oauth/authorize?"+c.asks(), session, "")) // nobody is asked again

		// Installed nowhere, it reads what is public.
		issue := `{"title": "weeds"}`
		file := func(path string) (string, string) {
			return "PUT /repos/" + path + "/contents/" + fmt.Sprint(time.Now().UnixNano()),
				`{"message": "m", "content": "eA=="}`
		}
		put := func(path string, status int) apitest.Case {
			do, send := file(path)
			return bearing(text, do, status, send)
		}
		s.Run(t, []apitest.Case{bearing(text, "GET /user", 200), bearing(text, "GET /repos/alice/garden", 404),
			bearing(text, "GET /repos/alice/field/issues", 200), put("alice/field", 403),
			bearing(text, "POST /repos/alice/field/issues", 403, issue), bearing(text, "GET /user/emails", 200),
			bearing(text, "GET /user/keys", 403), bearing(text, "GET /notifications", 403),
			bearing(text, "POST /user/repos", 403, `{"name":"x"}`)})
		if n := installations(t, s, text); n != 0 {
			t.Errorf("installed nowhere, it lists %d installations", n)
		}
		on := c.Install(t, "alice", "garden")
		c.Install(t, "guild")
		works(t, s, text, true)
		s.Run(t, []apitest.Case{bearing(text, "GET /repos/alice/garden", 200), bearing(text, "GET /repos/alice/shed", 404),
			bearing(text, "GET /repos/alice/garden/issues", 200), bearing(text, "POST /repos/alice/garden/issues", 403, issue),
			bearing(text, "GET /repos/alice/garden/hooks", 403), bearing(text, "DELETE /repos/alice/garden", 403),
			put("alice/garden", 201), put("alice/field", 403), put("alice/shed", 404),
			bearing(text, "GET /repos/guild/plan", 404),
			bearing(text, "GET /orgs/guild/members", 200), bearing(text, "GET /orgs/guild/installations", 403)})
		if n := installations(t, s, text); n != 1 {
			t.Errorf("it lists %d installations", n)
		}
		var list []struct{ Name string }
		s.Check(t, bearing(text, "GET /user/repos", 200)).JSON(t, &list)
		if len(list) != 2 {
			t.Errorf("it lists %v", list)
		}
		graphQLForApp(t, s, text)
		basic := base64.StdEncoding.EncodeToString([]byte("x:" + text))
		for path, status := range map[string]int{"garden": 200, "shed": 404, "field": 200} {
			s.Check(t, apitest.Case{Do: "GET /alice/" + path + ".git/info/refs?service=git-upload-pack", Status: status,
				Headers: map[string]string{"Authorization": "Basic " + basic}})
		}
		s.Check(t, apitest.Case{Do: "GET /alice/field.git/info/refs?service=git-receive-pack", Status: 403,
			Headers: map[string]string{"Authorization": "Basic " + basic}})

		// A role that alice has elsewhere counts while she has it, and bounds what the App does.
		s.Grant(t, plan, "alice", account.Pull)
		if n := installations(t, s, text); n != 2 {
			t.Errorf("with a role in the organization's repository, it lists %d installations", n)
		}
		s.Run(t, []apitest.Case{bearing(text, "GET /repos/guild/plan", 200), put("guild/plan", 403)})
		s.Grant(t, plan, "alice", account.Push)
		s.Check(t, put("guild/plan", 201))
		s.Check(t, apitest.Case{Do: "DELETE /repos/guild/plan/collaborators/alice", As: "bob", Status: 204})
		s.Check(t, bearing(text, "GET /repos/guild/plan", 404))

		userTokenTransitions(t, s, c, on, text, put)
	})
}

func installations(t *testing.T, s *apitest.Server, token string) int {
	t.Helper()
	var list struct {
		N int `json:"total_count"`
	}
	s.Check(t, bearing(token, "GET /user/installations", 200)).JSON(t, &list)
	return list.N
}

// graphQLForApp holds that GraphQL opens what REST does.
func graphQLForApp(t *testing.T, s *apitest.Server, token string) {
	t.Helper()
	ask := func(query string) string {
		body, err := json.Marshal(map[string]string{"query": query})
		testkit.NoError(t, err)
		return string(s.Check(t, bearing(token, "POST /graphql", 200, string(body))).Body)
	}
	if got := ask(`{repository(owner: "alice", name: "garden") {id issues {totalCount}}}`); !strings.Contains(got,
		`"totalCount":0`) {
		t.Errorf("the garden's issues: %s", got)
	}
	if got := ask(`{repository(owner: "alice", name: "shed") {id}}`); !strings.Contains(got, "NOT_FOUND") {
		t.Errorf("a repository that the App does not reach: %s", got)
	}
	var garden struct {
		Data struct{ Repository struct{ ID string } }
	}
	testkit.NoError(t, json.Unmarshal([]byte(ask(`{repository(owner: "alice", name: "garden") {id}}`)), &garden))
	if got := ask(`mutation {createIssue(input: {repositoryId: "` + garden.Data.Repository.ID +
		`", title: "x"}) {issue {id}}}`); !strings.Contains(got, "FORBIDDEN") {
		t.Errorf("an issue is created without the permission: %s", got)
	}
}

// userTokenTransitions takes away, one after another, what a user token needs.
func userTokenTransitions(
	t *testing.T, s *apitest.Server, c appClient, on *app.Installation, text string, put func(string, int) apitest.Case,
) {
	t.Helper()
	apps, ctx := s.Forge.Apps, t.Context()
	bob, err := s.Forge.Tokens.CallerNamed(ctx, "bob")
	testkit.NoError(t, err)
	garden := func(status int) { t.Helper(); s.Check(t, bearing(text, "GET /repos/alice/garden", status)) }

	// The App asks for less, and alice grants that.
	less := app.Manifest{Name: "Weeder", URL: "https://robots.example", Public: true,
		Permissions: apitest.Permissions("contents=read,email_addresses=read"),
		SignIn:      oauth.About{Callbacks: []string{"https://weeder.example/cb"}}}
	testkit.NoError(t, apps.EditBy(ctx, bob, c.Slug, less))
	s.Check(t, put("alice/garden", 201)) // what was granted stays until then
	c.Install(t, "alice")
	s.Run(t, []apitest.Case{put("alice/garden", 403), bearing(text, "GET /repos/alice/garden/issues", 403),
		bearing(text, "GET /repos/alice/garden/contents", 200)})

	testkit.NoError(t, apps.Suspend(ctx, 0, on.ID, nil))
	garden(404)
	works(t, s, text, true)
	testkit.NoError(t, apps.Unsuspend(ctx, 0, on.ID, nil))
	garden(200)
	s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"name": "orchard"}`, Status: 200})
	s.Check(t, bearing(text, "GET /repos/alice/orchard", 200))
	testkit.NoError(t, apps.Uninstall(ctx, 0, on.ID, nil))
	s.Check(t, bearing(text, "GET /repos/alice/orchard", 404))
	c.Install(t, "alice")
	s.Check(t, bearing(text, "GET /repos/alice/shed", 200)) // it is for all now

	s.Admin(t, "keeper")
	for _, who := range []struct {
		login  string
		status int
	}{{"alice", 403}, {"bob", 404}} { // the user; the owner of the App
		s.Check(t, apitest.Case{Do: "PUT /users/" + who.login + "/suspended", As: "keeper", Status: 204})
		s.Run(t, []apitest.Case{bearing(text, "GET /repos/alice/shed", who.status), bearing(text, "GET /user/emails", 403)})
		s.Check(t, apitest.Case{Do: "DELETE /users/" + who.login + "/suspended", As: "keeper", Status: 204})
		s.Check(t, bearing(text, "GET /user/emails", 200))
	}
	s.Check(t, apitest.Case{Do: "PATCH /admin/users/alice", As: "keeper", Send: `{"login": "alba"}`, Status: 202})
	s.Check(t, bearing(text, "GET /repos/alba/shed", 200))

	s.Check(t, c.tokenCase("POST /applications/"+c.ClientID+"/token", text, 200))
	testkit.NoError(t, apps.RemoveBy(ctx, bob, c.Slug))
	works(t, s, text, false)
}

// Each refresh token is good once. If it comes again somebody stole it, and all ends.
func TestRefreshTokens(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		hook, told := receiver(t)
		c := newAppClient(t, s, "contents=read", oauth.About{}, hook)
		other := newClient(t, s, "carol", "https://weeder.example/cb")
		session := s.PasswordSession(t, "alice")
		first := c.redeem(t, s, c.allow(t, s, session))
		wrong := c.client
		wrong.secret = strings.Repeat("0", 40)
		for what, got := range map[string]map[string]any{
			"incorrect_client_credentials": wrong.refresh(t, s, first["refresh_token"]),
			"bad_refresh_token":            other.refresh(t, s, first["refresh_token"]),
		} {
			if got["error"] != what {
				t.Errorf("want %s: %v", what, got)
			}
		}
		if got := c.refresh(t, s, first["access_token"]); got["error"] != "bad_refresh_token" {
			t.Errorf("an access token refreshes: %v", got)
		}
		second := c.refresh(t, s, first["refresh_token"])
		works(t, s, first["access_token"], false)
		works(t, s, second["access_token"], true)
		works(t, s, second["refresh_token"], false)
		third := c.refresh(t, s, second["refresh_token"])
		works(t, s, third["access_token"], true)
		if got := c.refresh(t, s, first["refresh_token"]); got["error"] != "bad_refresh_token" {
			t.Errorf("a used one: %v", got)
		}
		works(t, s, third["access_token"], false)
		hears(t, told, "github_app_authorization.revoked")
		if got := c.refresh(t, s, third["refresh_token"]); got["error"] != "bad_refresh_token" {
			t.Errorf("one of an ended grant: %v", got)
		}

		// Go's own client refreshes what has expired.
		config := &oauth2.Config{ClientID: c.ClientID, ClientSecret: c.secret,
			Endpoint: oauth2.Endpoint{TokenURL: s.URL + "/login/oauth/access_token"}}
		pair := c.redeem(t, s, c.allow(t, s, session))
		next, _ := pair["refresh_token"].(string)
		fresh, err := config.TokenSource(t.Context(), &oauth2.Token{RefreshToken: next, Expiry: time.Unix(1, 0)}).Token()
		testkit.NoError(t, err)
		works(t, s, fresh.AccessToken, true)
		if left := time.Until(fresh.Expiry); left < 7*time.Hour || fresh.RefreshToken == next {
			t.Errorf("it is refreshed for %v", left)
		}

		// The page lists it and revokes it, and the App is told.
		last := c.redeem(t, s, c.allow(t, s, session))
		page := visit(t, s, "GET /settings/applications", session, "")
		want(t, page, 200, "Authorized GitHub Apps", "Weeder", "contents: read")
		id := between(string(page.Body), `name="id" value="`, `"`)
		want(t, visit(t, s, "POST /settings/applications", session, url.Values{"id": {id}}.Encode()), 303)
		works(t, s, last["access_token"], false)
		hears(t, told, "github_app_authorization.revoked")

		// Reset and end by the App itself.
		given := c.redeem(t, s, c.allow(t, s, session))
		address := "/applications/" + c.ClientID
		var reset struct {
			Token   string
			Expires string `json:"expires_at"`
		}
		s.Check(t, c.tokenCase("PATCH "+address+"/token", given["access_token"], 200)).JSON(t, &reset)
		if !strings.HasPrefix(reset.Token, "ghu_") || reset.Expires == "" {
			t.Errorf("reset: %+v", reset)
		}
		works(t, s, given["access_token"], false)
		s.Check(t, c.tokenCase("DELETE "+address+"/grant", reset.Token, 204))
		works(t, s, reset.Token, false)
		hears(t, told, "github_app_authorization.revoked")
	})
}

// between is the text between two others.
func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// An App may keep its tokens, have itself authorized when it is installed, and use the device flow without a secret.
func TestHowGitHubAppsSignIn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", true)
		c := newAppClient(t, s, "email_addresses=read", oauth.About{Keeps: true, OnInstall: true, DeviceFlow: true}, "")
		session := s.PasswordSession(t, "alice")
		form := visit(t, s, "GET /github-apps/weeder/installations/new", session, "")
		want(t, form, 200, "Install and authorize")
		if p := form.Header.Get("Content-Security-Policy"); !strings.Contains(p,
			"form-action 'self' https://weeder.example;") {
			t.Errorf("the page's policy is %s", p)
		}
		to, q := ledTo(t, visit(t, s, "POST /github-apps/weeder/installations/new", session,
			url.Values{"on": {"alice"}, "some": {"0"}, "seen": {seenOn(form)}, "leads": {"https://weeder.example"}}.Encode()))
		if to != "https://weeder.example/cb" || q.Get("installation_id") == "" || q.Get("setup_action") != "install" {
			t.Fatalf("led to %s %v", to, q)
		}
		got := c.redeem(t, s, q.Get("code"))
		if got["expires_in"] != nil || got["refresh_token"] != nil {
			t.Errorf("the App gets %v", got)
		}
		s.Run(t, []apitest.Case{bearing(got["access_token"], "GET /repos/alice/garden", 200),
			bearing(got["access_token"], "GET /user/emails", 200),
			bearing(got["access_token"], "POST /user/emails", 403, `["a@b.example"]`)})

		// It asks for more of alice's account: she is asked, and until then nothing changes.
		bob, err := s.Forge.Tokens.CallerNamed(t.Context(), "bob")
		testkit.NoError(t, err)
		more := app.Manifest{Name: "Weeder", URL: "https://robots.example", Public: true,
			Permissions: apitest.Permissions("email_addresses=read,git_ssh_keys=read"), SignIn: oauth.About{
				Callbacks: []string{"https://weeder.example/cb"}, DeviceFlow: true}}
		testkit.NoError(t, s.Forge.Apps.EditBy(t.Context(), bob, c.Slug, more))
		s.Check(t, bearing(got["access_token"], "GET /user/keys", 403))
		want(t, visit(t, s, "GET /login/oauth/authorize?"+c.asks(), session, ""), 200, "git_ssh_keys: read")
		c.allow(t, s, session)
		s.Check(t, bearing(got["access_token"], "GET /user/keys", 200))

		// By the device flow the client has no secret, nor does it need one to refresh.
		public := c.client
		public.secret = ""
		codes := formOf(t, s.Do(t, apitest.Case{Do: "POST /login/device/code", Send: "client_id=" + c.ClientID + "&scope=repo",
			Headers: map[string]string{"Content-Type": apitest.FormType}}))
		asks := visit(t, s, "POST /login/device", session, "user_code="+codes.Get("user_code"))
		want(t, asks, 200, "git_ssh_keys: read")
		want(t, visit(t, s, "POST /login/device", session, url.Values{"user_code": {codes.Get("user_code")},
			"answer": {"allow"}, "seen": {seenOn(asks)}}.Encode()), 200, "can now act as you")
		device := public.redeem(t, s, "", "grant_type", "urn:ietf:params:oauth:grant-type:device_code",
			"device_code", codes.Get("device_code"))
		if text, _ := device["access_token"].(string); !strings.HasPrefix(text, "ghu_") {
			t.Fatalf("the device gets %v", device)
		}
		if next := public.refresh(t, s, device["refresh_token"]); next["access_token"] == nil {
			t.Errorf("the device refreshes: %v", next)
		}
		web := c.redeem(t, s, c.allow(t, s, session))
		if next := public.refresh(t, s, web["refresh_token"]); next["error"] != "incorrect_client_credentials" {
			t.Errorf("without a secret: %v", next)
		}

		// The owner's page makes secrets and ends all.
		owner := s.PasswordSession(t, "bob")
		want(t, visit(t, s, "POST /settings/apps/weeder", owner, "do=secret"), 200, "Client secret")
		want(t, visit(t, s, "POST /settings/apps/weeder", owner, "do=revoke"), 303)
		works(t, s, web["access_token"], false)
	})
}

// formOf reads an answer that is a form.
func formOf(t *testing.T, a *apitest.Answer) url.Values {
	t.Helper()
	v, err := url.ParseQuery(string(a.Body))
	testkit.NoError(t, err)
	return v
}
