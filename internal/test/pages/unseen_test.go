package pages_test

import (
	"net/url"
	"strings"
	"testing"

	"arbor/internal/app"
	"arbor/internal/oauth"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// A GitHub App gets no permissions that its page did not list, whenever its owner changes what it asks for.
func TestPermissionsThatNobodySaw(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", true)
		u := unseen{t, s, newAppClient(t, s, "contents=read", oauth.About{Keeps: true, DeviceFlow: true}, ""),
			s.PasswordSession(t, "alice")}
		u.byDevice()
		u.byWeb()
		u.byInstalling()
	})
}

// unseen is an App that asks alice for something else than the page in her browser shows.
type unseen struct {
	t       *testing.T
	s       *apitest.Server
	c       appClient
	session string
}

// ask has the App ask for other permissions; onInstall: whoever installs it authorizes it, too.
func (u unseen) ask(permissions string, onInstall bool) {
	u.t.Helper()
	bob, err := u.s.Forge.Tokens.CallerNamed(u.t.Context(), "bob")
	testkit.NoError(u.t, err)
	testkit.NoError(u.t, u.s.Forge.Apps.EditBy(u.t.Context(), bob, u.c.Slug, app.Manifest{Name: "Weeder",
		URL: "https://robots.example", Public: true, Permissions: apitest.Permissions(permissions),
		SignIn: oauth.About{Callbacks: []string{"https://weeder.example/cb"}, Keeps: true, DeviceFlow: true,
			OnInstall: onInstall}}))
}

// nothing is a page that repeats nothing.
var nothing = &apitest.Answer{}

// send sends a form as alice's browser does, with what a page repeats.
func (u unseen) send(path string, page *apitest.Answer, pairs ...string) *apitest.Answer {
	u.t.Helper()
	v, err := url.ParseQuery(u.c.asks(pairs...))
	testkit.NoError(u.t, err)
	v.Set("seen", seenOn(page))
	return visit(u.t, u.s, "POST "+path, u.session, v.Encode())
}

// opens holds what a token of the App opens of alice's account.
func (u unseen) opens(got map[string]any, keys, emails int) {
	u.t.Helper()
	u.s.Run(u.t, []apitest.Case{bearing(got["access_token"], "GET /user/keys", keys),
		bearing(got["access_token"], "GET /user/emails", emails)})
}

func (u unseen) byDevice() {
	u.t.Helper()
	const path, more = "/login/device", "contents=read,git_ssh_keys=write,email_addresses=write"
	get := func(ask func(code string)) map[string]any {
		codes := formOf(u.t, u.s.Do(u.t, apitest.Case{Do: "POST /login/device/code", Send: "client_id=" + u.c.ClientID,
			Headers: map[string]string{"Content-Type": apitest.FormType}}))
		ask(codes.Get("user_code"))
		public := u.c.client
		public.secret = ""
		return public.redeem(u.t, u.s, "", "grant_type", "urn:ietf:params:oauth:grant-type:device_code",
			"device_code", codes.Get("device_code"))
	}
	// It asks for more after the page was shown, and again after that was allowed.
	got := get(func(code string) {
		page := u.send(path, nothing, "user_code", code)
		want(u.t, page, 200, "contents: read")
		u.ask(more, false)
		again := u.send(path, page, "user_code", code, "answer", "allow")
		want(u.t, again, 409, "so nothing was allowed", "git_ssh_keys: write", `value="allow"`)
		want(u.t, u.send(path, nothing, "user_code", code, "answer", "allow"), 409)
		u.ask("contents=read", false)
		want(u.t, u.send(path, again, "user_code", code, "answer", "allow"), 409)
		want(u.t, u.send(path, page, "user_code", code, "answer", "allow"), 200, "can now act as you")
		u.ask(more, false)
	})
	u.opens(got, 403, 403)
	u.ask("contents=read,git_ssh_keys=read", false)
	got = get(func(code string) {
		page := u.send(path, nothing, "user_code", code)
		want(u.t, page, 200, "git_ssh_keys: read")
		want(u.t, u.send(path, page, "user_code", code, "answer", "allow"), 200)
		u.ask(more, false)
	})
	u.opens(got, 200, 403)
	u.s.Check(u.t, bearing(got["access_token"], "POST /user/keys", 403, `{"key":"ssh-ed25519 x"}`))
	u.ask("contents=read", false)
	u.opens(got, 403, 403)
}

func (u unseen) byWeb() {
	u.t.Helper()
	const path = "/login/oauth/authorize"
	page := visit(u.t, u.s, "GET "+path+"?"+u.c.asks("prompt", "consent"), u.session, "")
	want(u.t, page, 200, "contents: read")
	u.ask("contents=read,email_addresses=read", false)
	again := u.send(path, page, "answer", "allow")
	want(u.t, again, 409, "so nothing was allowed", "email_addresses: read", `value="allow"`, `value="`+u.c.ClientID+`"`)
	want(u.t, u.send(path, nothing, "answer", "allow"), 409)
	_, q := ledTo(u.t, u.send(path, again, "answer", "allow"))
	got := u.c.redeem(u.t, u.s, q.Get("code"))
	u.opens(got, 403, 200)
	u.ask("contents=read,email_addresses=read,git_ssh_keys=write", false)
	u.opens(got, 403, 200)
	want(u.t, visit(u.t, u.s, "GET "+path+"?"+u.c.asks(), u.session, ""), 200, "git_ssh_keys: write")
}

func (u unseen) byInstalling() {
	u.t.Helper()
	const path, leads = "/github-apps/weeder/installations/new", "https://weeder.example"
	installed := func(n int) {
		u.t.Helper()
		var list struct {
			N int `json:"total_count"`
		}
		if u.s.Check(u.t, apitest.Case{Do: "GET /user/installations", As: "alice", Status: 200}).JSON(u.t, &list); list.N != n {
			u.t.Errorf("%d installations, want %d", list.N, n)
		}
	}
	u.ask("contents=read", false)
	page := visit(u.t, u.s, "GET "+path, u.session, "")
	want(u.t, page, 200, "contents: read")
	u.ask("contents=read", true) // it would be authorized, too
	want(u.t, u.send(path, page, "on", "alice"), 409, "so nothing was installed", "also act as you", leads)
	u.ask("administration=write,gpg_keys=write", true)
	want(u.t, u.send(path, page, "on", "alice", "leads", leads), 409, "so nothing was granted", "administration: write",
		"gpg_keys: write")
	want(u.t, u.send(path, nothing, "on", "alice", "leads", leads), 409)
	installed(0)
	u.ask("contents=read", true)
	page = visit(u.t, u.s, "GET "+path, u.session, "")
	to, q := ledTo(u.t, u.send(path, page, "on", "alice", "leads", leads))
	if !strings.HasPrefix(to, leads) || q.Get("code") == "" {
		u.t.Fatalf("led to %s %v", to, q)
	}
	installed(1)
	u.ask("contents=read,git_ssh_keys=write", true)
	u.opens(u.c.redeem(u.t, u.s, q.Get("code")), 403, 403)
	// To install it again grants what it asks for, if the page showed that.
	want(u.t, u.send(path, page, "on", "alice", "leads", leads), 409)
	page = visit(u.t, u.s, "GET "+path, u.session, "")
	_, q = ledTo(u.t, u.send(path, page, "on", "alice", "leads", leads))
	u.opens(u.c.redeem(u.t, u.s, q.Get("code")), 200, 403)
}
