package pages_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/oauth"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// verifier is one of PKCE, and challenge its challenge.
const verifier = "a-verifier-of-at-least-forty-three-characters-0"

var challenge = func() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}()

// client is an OAuth App with a secret.
type client struct {
	*oauth.App
	secret string
}

func newClient(t *testing.T, s *apitest.Server, owner string, callbacks ...string) client {
	t.Helper()
	a, err := s.Forge.OAuth.Create(t.Context(), nil, owner, oauth.About{Name: "Weeder",
		Homepage:  "https://weeder.example",
		Callbacks: callbacks})
	testkit.NoError(t, err)
	secret, err := s.Forge.OAuth.NewSecret(t.Context(), nil, a.ClientID)
	testkit.NoError(t, err)
	return client{a, secret}
}

// asks is the query of a request of the App, with pairs that change it.
func (c client) asks(pairs ...string) string {
	v := url.Values{"client_id": {c.ClientID}, "scope": {"repo read:org"}, "state": {"s&t"}}
	for n := 0; n < len(pairs); n += 2 {
		v.Set(pairs[n], pairs[n+1])
	}
	return v.Encode()
}

// ledTo is where an answer leads the browser.
func ledTo(t *testing.T, a *apitest.Answer) (to string, q url.Values) {
	t.Helper()
	want(t, a, 303)
	to, query, _ := strings.Cut(a.Header.Get("Location"), "?")
	q, err := url.ParseQuery(query)
	testkit.NoError(t, err)
	return to, q
}

// seenOn is what the form of a page repeats of a GitHub App's permissions; empty: nothing.
func seenOn(page *apitest.Answer) string {
	return between(string(page.Body), `name="seen" value="`, `"`)
}

// allow lets a person allow the request on its page, and returns the code.
func (c client) allow(t *testing.T, s *apitest.Server, session string, pairs ...string) string {
	t.Helper()
	page := visit(t, s, "GET /login/oauth/authorize?"+c.asks(append(pairs, "prompt", "consent")...), session, "")
	_, q := ledTo(t, visit(t, s, "POST /login/oauth/authorize", session, c.asks(pairs...)+"&answer=allow&seen="+
		url.QueryEscape(seenOn(page))))
	if q.Get("code") == "" || q.Get("state") != "s&t" {
		t.Fatalf("the App gets %v", q)
	}
	return q.Get("code")
}

// redeem redeems a code, with pairs that change the request, and returns the members of the answer.
func (c client) redeem(t *testing.T, s *apitest.Server, code string, pairs ...string) map[string]any {
	t.Helper()
	v := url.Values{"client_id": {c.ClientID}, "client_secret": {c.secret}, "code": {code}}
	for n := 0; n < len(pairs); n += 2 {
		v.Set(pairs[n], pairs[n+1])
	}
	a := s.Do(t, apitest.Case{Do: "POST /login/oauth/access_token", Send: v.Encode(), Headers: map[string]string{
		"Accept": "application/json", "Content-Type": apitest.FormType}})
	var out map[string]any
	if err := json.Unmarshal(a.Body, &out); err != nil || a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return out
}

// works holds whether a token opens what needs one.
func works(t *testing.T, s *apitest.Server, token any, yes bool) {
	t.Helper()
	status := http.StatusUnauthorized
	if yes {
		status = http.StatusOK
	}
	text, _ := token.(string)
	s.Check(t, apitest.Case{Do: "GET /user", Headers: map[string]string{"Authorization": "Bearer " + text},
		Status: status})
}

// A program signs people in: they are asked once, the code is good once, and the token is limited to what was allowed.
func TestOAuthFlow(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Admin(t, "keeper")
		c := newClient(t, s, "bob", "https://weeder.example/cb?x=1", "http://127.0.0.1/cb")
		session := s.PasswordSession(t, "alice")
		ask := "GET /login/oauth/authorize?" + c.asks("login", "alice")

		a := visit(t, s, ask, "", "")
		if to, q := ledTo(t, a); to != "/login" || !strings.Contains(q.Get("return_to"), "client_id="+c.ClientID) {
			t.Errorf("who is not signed in is led to %s %v", to, q)
		} else {
			want(t, visit(t, s, "GET /login?"+q.Encode(), "", ""), 200, `name="login" value="alice"`)
		}
		a = visit(t, s, ask, session, "")
		want(t, a, 200, "Weeder", "<b>alice</b>", "<code>repo</code>", "<code>read:org</code>",
			"https://weeder.example/cb?x=1")
		if p := a.Header.Get("Content-Security-Policy"); !strings.Contains(p, "frame-ancestors 'none'") ||
			!strings.Contains(p, "form-action 'self' https://weeder.example;") {
			t.Errorf("the page's policy is %s", p)
		}
		want(t, s.Do(t, apitest.Case{Do: "POST /login/oauth/authorize", Send: c.asks() + "&answer=allow",
			Headers: map[string]string{
				"Accept": apitest.Browser, "Content-Type": apitest.FormType, "Cookie": "arbor_session=" + session,
				"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}}), 403)

		to, q := ledTo(t, visit(t, s, "POST /login/oauth/authorize", session, c.asks()+"&answer=deny"))
		if to != "https://weeder.example/cb" || q.Get("error") != "access_denied" ||
			q.Get("state") != "s&t" || q.Get("x") != "1" {
			t.Errorf("who denies is led to %s %v", to, q)
		}
		code := c.allow(t, s, session)
		got := c.redeem(t, s, code)
		if got["scope"] != "repo,read:org" || got["token_type"] != "bearer" {
			t.Errorf("the App gets %v", got)
		}
		token := got["access_token"]
		s.Check(t, apitest.Case{Do: "GET /user", Headers: map[string]string{"Authorization": "token " + token.(string)},
			Status: 200, Want: `{"login": "alice"}`})
		s.Check(t, apitest.Case{Do: "DELETE /user/keys/1",
			Headers: map[string]string{"Authorization": "token " + token.(string)}, Status: 403})

		// Nobody is asked twice; more scopes, another user or prompt=consent ask again.
		if _, q := ledTo(t, visit(t, s, "GET /login/oauth/authorize?"+c.asks("scope", ""), session,
			"")); q.Get("code") == "" {
			t.Errorf("who allowed it before is led back with %v", q)
		} else if got := c.redeem(t, s, q.Get("code")); got["scope"] != "repo,read:org" {
			t.Errorf("without scopes the App gets %v", got)
		}
		for _, more := range []string{c.asks("scope", "user"), c.asks("prompt", "consent"), c.asks("prompt",
			"select_account"),
			c.asks("login", "bob")} {
			want(t, visit(t, s, "GET /login/oauth/authorize?"+more, session, ""), 200, "Use another account")
		}
		limited, err := s.Forge.Sessions.SignInWithToken(t.Context(), s.Token(t, "alice"), from())
		testkit.NoError(t, err)
		want(t, visit(t, s, "POST /login/oauth/authorize", limited, c.asks()+"&answer=allow"), 403,
			"Sign in with your password")

		// The user sees it and revokes it.
		a = visit(t, s, "GET /settings/applications", session, "")
		want(t, a, 200, "Weeder", "2 tokens", "<code>repo, read:org</code>")
		_, id, _ := strings.Cut(string(a.Body), `name="id" value="`)
		id, _, _ = strings.Cut(id, `"`)
		pending := c.allow(t, s, session)
		want(t, visit(t, s, "POST /settings/applications", s.PasswordSession(t, "bob"), "id="+id), 303)
		works(t, s, token, true) // bob ends nothing of alice's
		want(t, visit(t, s, "POST /settings/applications", session, "id="+id), 303)
		works(t, s, token, false)
		if got := c.redeem(t, s, pending); got["error"] != "bad_verification_code" {
			t.Errorf("after the grant was revoked a code gives %v", got)
		}
		log := s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=actor:alice", As: "keeper", Status: 200})
		for _, action := range []string{"oauth_authorization.create", "oauth_authorization.destroy",
			"oauth_access.create"} {
			if !strings.Contains(string(log.Body), action) {
				t.Errorf("the audit log has no %s", action)
			}
		}
	})
}

// What people and programs send who are not the App, or not the browser that began.
func TestOAuthFlowRefuses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		const cb, local = "https://weeder.example/cb", "http://127.0.0.1/cb"
		c := newClient(t, s, "bob", cb, local)
		other := newClient(t, s, "bob", "https://mower.example/cb")
		session := s.PasswordSession(t, "alice")

		// Nobody is led to an address that is not the App's.
		for _, to := range []string{cb + "/", cb + "/more", cb + "?x=1", cb + "#x", "https://weeder.example/CB",
			"https://weeder.example:443/cb", "http://weeder.example/cb", "https://WEEDER.example/cb",
			"https://weeder.example",
			"https://weeder.example/cb/../cb", "https://weeder.example/%63b", "https://weeder.example.evil.example/cb",
			"https://weeder.example@evil.example/cb", "https://evil.example/cb", "//weeder.example/cb", "/cb",
			"javascript:alert(1)",
			"http://127.0.0.1.evil.example/cb", "http://127.0.0.1:80@evil.example/cb", "http://127.0.0.1:/cb",
			"http://127.0.0.1:123456/cb", "http://127.0.0.1:80/cb2", "http://localhost/cb", "https://127.0.0.1/cb",
			"https://mower.example/cb", cb + "\r\nX: y", " " + cb} {
			a := visit(t, s, "GET /login/oauth/authorize?"+c.asks("redirect_uri", to), session, "")
			want(t, a, 422, "redirect_uri")
			want(t, visit(t, s, "POST /login/oauth/authorize", session, c.asks("redirect_uri",
				to)+"&answer=allow"), 422)
			if a.Header.Get("Location") != "" {
				t.Errorf("%q leads to %s", to, a.Header.Get("Location"))
			}
		}
		want(t, visit(t, s, "GET /login/oauth/authorize?"+c.asks("client_id", "Ov23none"), session, ""), 404)
		want(t, visit(t, s, "GET /login/oauth/authorize?"+c.asks("client_id", "\x00'"), session, ""), 404)
		want(t, visit(t, s, "GET /login/oauth/authorize?"+c.asks()+"&redirect_uri="+cb+"&redirect_uri="+local,
			session, ""), 422)

		// Other mistakes are told to the App.
		for _, x := range []struct{ name, value, code string }{
			{"scope", "everything", "invalid_scope"}, {"response_type", "token", "unsupported_response_type"},
			{"code_challenge", challenge, "invalid_request"}, {"code_challenge_method", "S256", "invalid_request"},
			{"prompt", "none", "invalid_request"}, {"state", strings.Repeat("s", 5000), "invalid_request"},
		} {
			if to, q := ledTo(t, visit(t, s, "GET /login/oauth/authorize?"+c.asks(x.name, x.value), session,
				"")); to != cb ||
				q.Get("error") != x.code {
				t.Errorf("%s=%.20s leads to %s %v", x.name, x.value, to, q)
			}
		}
		for _, method := range []string{"plain", "s256"} {
			_, q := ledTo(t, visit(t, s, "GET /login/oauth/authorize?"+c.asks("code_challenge", challenge,
				"code_challenge_method", method), session, ""))
			if q.Get("error") != "invalid_request" {
				t.Errorf("%s gives %v", method, q)
			}
		}

		pkce := []string{"code_challenge", challenge, "code_challenge_method", "S256"}
		refused := func(what, want string, got map[string]any) {
			t.Helper()
			if got["error"] != want || got["access_token"] != nil {
				t.Errorf("%s: %v, want %s", what, got, want)
			}
		}
		code := c.allow(t, s, session, pkce...)
		refused("a wrong secret", "incorrect_client_credentials", c.redeem(t, s, code, "client_secret", other.secret))
		refused("no secret", "incorrect_client_credentials", c.redeem(t, s, code, "client_secret", ""))
		refused("another client", "bad_verification_code", other.redeem(t, s, code, "code_verifier", verifier))
		refused("mixed-up clients", "incorrect_client_credentials", c.redeem(t, s, code, "client_id", other.ClientID))
		refused("another address", "redirect_uri_mismatch", c.redeem(t, s, code, "redirect_uri", local,
			"code_verifier", verifier))
		refused("no verifier", "bad_verification_code", c.redeem(t, s, code))
		refused("a wrong verifier", "bad_verification_code", c.redeem(t, s, code, "code_verifier", verifier+"1"))
		refused("the challenge", "bad_verification_code", c.redeem(t, s, code, "code_verifier", challenge))
		refused("no code", "bad_verification_code", c.redeem(t, s, ""))
		refused("another grant", "unsupported_grant_type", c.redeem(t, s, code, "grant_type", "password"))
		first := c.redeem(t, s, code, "code_verifier", verifier, "redirect_uri", cb)["access_token"]
		works(t, s, first, true)
		refused("another client, late", "bad_verification_code", other.redeem(t, s, code, "code_verifier", verifier))
		works(t, s, first, true) // others end nothing
		refused("a code twice", "bad_verification_code", c.redeem(t, s, code, "code_verifier", verifier))
		works(t, s, first, false)

		refused("a verifier without a challenge", "bad_verification_code",
			c.redeem(t, s, c.allow(t, s, session), "code_verifier", verifier))
		old := c.allow(t, s, session)
		for range 10 {
			code = c.allow(t, s, session, "redirect_uri", "http://127.0.0.1:49152/cb")
		}
		refused("the oldest of too many", "bad_verification_code", c.redeem(t, s, old))
		works(t, s, c.redeem(t, s, code, "redirect_uri", "http://127.0.0.1:49152/cb")["access_token"], true)
	})
}

// Three encodings, and the client's credentials in Basic.
func TestOAuthEncodings(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		c := newClient(t, s, "bob", "https://weeder.example/cb")
		session := s.PasswordSession(t, "alice")
		basic := func(id, secret string) string {
			return "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret)))
		}
		for _, x := range []struct{ accept, kind, authorization, body, answer string }{
			{"*/*", apitest.FormType, basic(c.ClientID, c.secret), "code=CODE", "access_token=gho_"},
			{"application/xml", apitest.FormType, basic(c.ClientID, c.secret), "code=CODE",
				"<OAuth><access_token>gho_"},
			{"application/json", "application/json", "", `{"client_id":"` + c.ClientID +
				`","client_secret":"` + c.secret +
				`","code":"CODE"}`, `"access_token":"gho_`},
			{"application/json", apitest.FormType, basic(c.ClientID, "wrong"), "code=CODE",
				"incorrect_client_credentials"},
			{"application/json", apitest.FormType, basic(c.ClientID, c.secret), "client_id=other&code=CODE",
				"incorrect_client_credentials"},
			{"application/xml", apitest.FormType, "Bearer " + s.Token(t, "alice"), "code=CODE",
				"<error>incorrect_client_credentials</error>"},
		} {
			headers := map[string]string{"Accept": x.accept, "Content-Type": x.kind}
			if x.authorization != "" {
				headers["Authorization"] = x.authorization
			}
			a := s.Do(t, apitest.Case{Do: "POST /login/oauth/access_token", Headers: headers,
				Send: strings.ReplaceAll(x.body, "CODE", c.allow(t, s, session))})
			if want(t, a, 200, x.answer); a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s may be cached", a.Body)
			}
		}
		a := s.Do(t, apitest.Case{Do: "POST /login/oauth/access_token", Send: "client_id=a&client_id=b",
			Headers: map[string]string{"Content-Type": apitest.FormType}})
		want(t, a, 400, "more than once")
	})
}

// What happens to tokens and codes when something else does.
func TestOAuthTransitions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "bob", "carl")
		admin := s.Admin(t, "keeper")
		_ = admin
		ctx := t.Context()
		for _, x := range []struct {
			name        string
			do          func(c client, who string) error
			token, code bool // still work
		}{
			{"a secret is removed", func(c client, who string) error {
				a, err := s.Forge.OAuth.Get(ctx, nil, c.ClientID)
				testkit.NoError(t, err)
				return s.Forge.OAuth.DropSecret(ctx, nil, c.ClientID, a.Secrets[0].ID)
			}, true, false},
			{"the App is deleted", func(c client, who string) error {
				return s.Forge.OAuth.Remove(ctx, nil,
					c.ClientID)
			}, false, false},
			{"all its tokens are revoked", func(c client, who string) error {
				return s.Forge.OAuth.EndAll(ctx, nil, c.ClientID)
			}, false, false},
			{"the App is transferred", func(c client, who string) error {
				return s.Forge.OAuth.Transfer(ctx, nil, c.ClientID, "carl")
			}, true, true},
			{"its address is gone", func(c client, who string) error {
				about := c.About
				about.Callbacks = []string{"https://weeder.example/other"}
				return s.Forge.OAuth.Edit(ctx, nil, c.ClientID, about)
			}, true, false},
			{"the user's password changes", func(c client, who string) error {
				return s.Forge.Sessions.SetPassword(ctx, who, "another long secret", nil)
			}, true, false},
			{"the user is suspended", func(c client, who string) error {
				s.Check(t, apitest.Case{Do: "PUT /users/" + who + "/suspended", As: "keeper", Status: 204})
				return nil
			}, false, false},
			{"the user is renamed", func(c client, who string) error {
				s.Check(t, apitest.Case{Do: "PATCH /admin/users/" + who, As: "keeper", Send: `{"login":"` +
					who + `x"}`, Status: 202})
				return nil
			}, true, true},
		} {
			who := "user" + strings.ReplaceAll(strings.ToLower(x.name), " ", "")[:12]
			who = strings.ReplaceAll(who, "'", "")
			s.User(t, who)
			c := newClient(t, s, "bob", "https://weeder.example/cb")
			session := s.PasswordSession(t, who)
			token := c.redeem(t, s, c.allow(t, s, session))["access_token"]
			code := c.allow(t, s, session)
			testkit.NoError(t, x.do(c, who))
			status := s.Do(t, apitest.Case{Do: "GET /user",
				Headers: map[string]string{"Authorization": "Bearer " + token.(string)}}).Status
			if (status == 200) != x.token {
				t.Errorf("%s: the token gives %d", x.name, status)
			}
			if got := c.redeem(t, s, code); (got["access_token"] != nil) != x.code {
				t.Errorf("%s: the code gives %v", x.name, got)
			}
		}
	})
}

// People register OAuth Apps, for themselves and for organizations that they own; nobody else sees them.
func TestOAuthAppPages(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		alice, sam := s.PasswordSession(t, "alice"), s.PasswordSession(t, "sam")
		want(t, visit(t, s, "GET /settings/oauth-apps/new", alice, ""), 200, "It will belong to <bdi>alice")
		want(t, visit(t, s, "GET /organizations/garden/settings/oauth-apps/new", alice, ""), 200, "<bdi>garden")
		form := url.Values{"owner": {"garden"}, "name": {"<b>Mower"}, "homepage": {"https://mower.example"},
			"callbacks": {"https://mower.example/cb\r\nhttp://localhost/cb"}}
		want(t, visit(t, s, "POST /settings/oauth-apps", sam, form.Encode()), 403, "by its owners")
		for _, wrong := range []string{"", "mower.example/cb", "javascript:alert(1)", "https://mower.example/cb#x",
			"https://a@mower.example/cb", "ftp://mower.example/cb", "https:///cb",
			"https://mower.example;x/cb", "https://*/cb"} {
			v := url.Values{"owner": {"alice"}, "name": {"x"}, "homepage": {"https://mower.example"},
				"callbacks": {wrong}}
			want(t, visit(t, s, "POST /settings/oauth-apps", alice, v.Encode()), 422, "callback address")
		}
		to, _ := ledTo(t, visit(t, s, "POST /settings/oauth-apps", alice, form.Encode()))
		want(t, visit(t, s, "GET "+to, alice, ""), 200, "&lt;b&gt;Mower", "It has none")
		want(t, visit(t, s, "GET "+to, sam, ""), 404)
		want(t, visit(t, s, "POST "+to, sam, "do=secret"), 404)
		a := visit(t, s, "POST "+to, alice, "do=secret")
		want(t, a, 200, "Client secret", "Copy it now")
		_, secret, _ := strings.Cut(string(a.Body), `id="once" value="`)
		secret, _, _ = strings.Cut(secret, `"`)
		a = visit(t, s, "GET "+to, alice, "")
		if want(t, a, 200, secret[len(secret)-8:]); len(secret) != 40 || strings.Contains(string(a.Body), secret) {
			t.Errorf("the secret %q is shown twice, or is none", secret)
		}
		want(t, visit(t, s, "POST "+to, alice, "do=delete&confirm=x"), 422, "Nothing was done")
		want(t, visit(t, s, "POST "+to, alice, "do=transfer&owner=sam"), 403)
		want(t, visit(t, s, "POST "+to, alice, "do=transfer&owner=alice"), 303)
		want(t, visit(t, s, "GET /settings/oauth-apps", alice, ""), 200, "&lt;b&gt;Mower", ">alice<")
		want(t, visit(t, s, "POST "+to, alice, "do=delete&confirm="+url.QueryEscape("<b>Mower")), 303)
		want(t, visit(t, s, "GET "+to, alice, ""), 404)
	})
}
