package pages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/signinfile"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

const weederBack = "https://weeder.example/cb"

// openid asks by OpenID Connect, with pairs that change the request.
func (c client) openid(pairs ...string) string {
	return c.asks(append([]string{"scope", "openid profile email groups", "response_type", "code", "nonce", "n&n"},
		pairs...)...)
}

// signsIn lets a person allow the request, and returns the answer of the token address.
func (c client) signsIn(t *testing.T, s *apitest.Server, session string, pairs ...string) map[string]any {
	t.Helper()
	_, q := ledTo(t, visit(t, s, "POST /login/oauth/authorize", session, c.openid(pairs...)+"&answer=allow"))
	status, got := c.send(t, s, "/login/oauth/token", "grant_type", "authorization_code", "code", q.Get("code"))
	if status != 200 || got["id_token"] == nil {
		t.Fatalf("the App gets %d %v after %v", status, got, q)
	}
	return got
}

// send sends a form as the App, and returns the answer's status and members.
func (c client) send(t *testing.T, s *apitest.Server, path string, pairs ...string) (int, map[string]any) {
	t.Helper()
	v := url.Values{"client_id": {c.ClientID}, "client_secret": {c.secret}}
	for n := 0; n < len(pairs); n += 2 {
		v.Set(pairs[n], pairs[n+1])
	}
	a := s.Do(t, apitest.Case{Do: "POST " + path, Send: v.Encode(),
		Headers: map[string]string{"Content-Type": apitest.FormType}})
	var out map[string]any
	if len(a.Body) > 0 {
		if err := json.Unmarshal(a.Body, &out); err != nil {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	if a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s may be cached", path)
	}
	return a.Status, out
}

// userInfo is what the token lets its App learn of the user, if it has the status.
func userInfo(t *testing.T, s *apitest.Server, token any, status int) map[string]any {
	t.Helper()
	var out map[string]any
	s.Check(t, bearing(token, "GET /login/oauth/userinfo", status)).JSON(t, &out)
	return out
}

// claimsOf verifies an ID token as a strict client does, and returns its claims.
func claimsOf(t *testing.T, s *apitest.Server, c client, text any) (claims map[string]any, err error) {
	t.Helper()
	provider, err := oidc.NewProvider(t.Context(), s.URL)
	testkit.NoError(t, err)
	token, err := provider.Verifier(&oidc.Config{ClientID: c.ClientID}).Verify(t.Context(), fmt.Sprint(text))
	if err != nil {
		return nil, err
	}
	return claims, token.Claims(&claims)
}

// A strict client finds the provider, signs somebody in, and verifies what it gets.
func TestOpenID(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		alice := s.User(t, "ann")
		s.Email(t, "ann", "ann@example.org")
		s.Check(t, apitest.Case{Do: "PUT /orgs/garden/memberships/ann", As: "alice", Send: `{"role": "admin"}`, Status: 200})
		s.Check(t, apitest.Case{Do: "POST /orgs/garden/teams", As: "ann", Send: `{"name": "Tall Growers", "privacy": "secret"}`,
			Status: 201})
		c := newClient(t, s, "sam", weederBack)
		session := s.PasswordSession(t, "ann")
		ctx := t.Context()
		provider, err := oidc.NewProvider(ctx, s.URL)
		testkit.NoError(t, err)
		config := oauth2.Config{ClientID: c.ClientID, ClientSecret: c.secret, Endpoint: provider.Endpoint(),
			RedirectURL: weederBack, Scopes: []string{"openid", "profile", "email", "groups", "offline_access"}}
		verifier := oauth2.GenerateVerifier()
		ask := strings.TrimPrefix(config.AuthCodeURL("s&t", oauth2.S256ChallengeOption(verifier), oidc.Nonce("n&n")), s.URL)
		want(t, visit(t, s, "GET "+ask, session, ""), 200, "your login, your name and your picture",
			"your verified e-mail address", "the organizations and teams", "It will be able to read public data.")
		_, query, _ := strings.Cut(ask, "?")
		to, q := ledTo(t, visit(t, s, "POST /login/oauth/authorize", session, query+"&answer=allow"))
		if to != weederBack || q.Get("state") != "s&t" || q.Get("iss") != s.URL {
			t.Errorf("the browser is led to %s %v", to, q)
		}
		tokens, err := config.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(verifier))
		testkit.NoError(t, err)
		text, _ := tokens.Extra("id_token").(string)
		id, err := provider.Verifier(&oidc.Config{ClientID: c.ClientID}).Verify(ctx, text)
		testkit.NoError(t, err)
		testkit.NoError(t, id.VerifyAccessToken(tokens.AccessToken))
		var got struct {
			Nonce, Name, Email, Picture, ACR string
			AuthTime                         int64    `json:"auth_time"`
			Verified                         bool     `json:"email_verified"`
			Login                            string   `json:"preferred_username"`
			Groups, AMR                      []string `json:",omitempty"`
		}
		testkit.NoError(t, id.Claims(&got))
		if id.Subject != alice.ID.String() || got.Nonce != "n&n" || got.Name != "ann" || got.Login != "ann" ||
			got.Email != "ann@example.org" || !got.Verified || got.Picture != s.URL+"/avatars/"+id.Subject || got.ACR != "1" ||
			!reflect.DeepEqual(got.AMR, []string{"pwd"}) ||
			!reflect.DeepEqual(got.Groups, []string{"garden", "garden/tall-growers"}) ||
			time.Since(time.Unix(got.AuthTime, 0)) > time.Hour || id.Expiry.Sub(id.IssuedAt) != time.Hour {
			t.Errorf("the ID token of %s says %+v", id.Subject, got)
		}
		info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
		testkit.NoError(t, err)
		if info.Subject != id.Subject || info.Email != "ann@example.org" || !info.EmailVerified {
			t.Errorf("UserInfo says %+v", info)
		}
		// The token is one of an OAuth App: it reads what is public.
		s.Check(t, bearing(tokens.AccessToken, "GET /user", 200))
		s.Check(t, bearing(tokens.AccessToken, "GET /user/emails", 403))

		// Whoever owns another organization pushes no group out.
		s.Org(t, "crowd", "sam")
		s.Check(t, apitest.Case{Do: "PUT /orgs/crowd/memberships/ann", As: "sam", Send: `{"role": "member"}`, Status: 200})
		testkit.NoError(t, s.DB.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
			for n := range 205 {
				err := tx.Run(`INSERT INTO teams (org_id, name, slug, secret, created_at, updated_at)
					SELECT id, CAST($1 AS TEXT), $1, TRUE, CAST($2 AS BIGINT), $2 FROM accounts WHERE login = 'crowd'`, fmt.Sprint("t", n), tx.Now)
				if err != nil {
					return err
				}
			}
			return tx.Run(`INSERT INTO team_members (team_id, user_id, role, created_at) SELECT t.id, CAST($1 AS BIGINT),
				2, CAST($2 AS BIGINT) FROM teams t JOIN accounts o ON o.id = t.org_id WHERE o.login = 'crowd'`, alice.ID, tx.Now)
		}))
		crowded, _ := userInfo(t, s, tokens.AccessToken, 200)["groups"].([]any)
		if last := len(crowded) - 2; len(crowded) != 200 || crowded[0] != "crowd" ||
			!reflect.DeepEqual(crowded[last:], []any{"garden", "garden/tall-growers"}) {
			t.Errorf("the groups are %v", crowded)
		}

		// Less is told where less is asked for, and GitHub's address gives an ID token as well.
		_, q = ledTo(t, visit(t, s, "GET /login/oauth/authorize?"+c.openid("scope", "openid"), session, ""))
		less := c.redeem(t, s, q.Get("code"))
		if claims, err := claimsOf(t, s, c, less["id_token"]); err != nil || claims["email"] != nil || claims["name"] != nil ||
			claims["groups"] != nil || claims["preferred_username"] != nil || less["scope"] != "openid" {
			t.Errorf("with the scope openid alone: %v %v %v", claims, err, less)
		}
		if got := userInfo(t, s, less["access_token"], 200); len(got) != 1 || got["sub"] != id.Subject {
			t.Errorf("with the scope openid alone UserInfo says %v", got)
		}
		// Without openid nothing changes.
		for _, scopes := range []string{"profile", "email", "repo groups"} {
			if _, q := ledTo(t, visit(t, s, "GET /login/oauth/authorize?"+c.asks("scope", scopes), session, "")); q.Get("error") !=
				"invalid_scope" || q.Has("iss") {
				t.Errorf("the scopes %s: %v", scopes, q)
			}
		}
		if got := c.redeem(t, s, c.allow(t, s, session)); got["id_token"] != nil {
			t.Errorf("without openid there is an ID token: %v", got)
		}
	})
}

// What the App may ask for of the user's presence, and what it is told where it may not have it.
func TestOpenIDPrompts(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		c := newClient(t, s, "bob", weederBack)
		session := s.PasswordSession(t, "alice")
		answer := func(who, want string, pairs ...string) {
			t.Helper()
			to, q := ledTo(t, visit(t, s, "GET /login/oauth/authorize?"+c.openid(pairs...), who, ""))
			if to != weederBack || q.Get("error") != want || q.Get("state") != "s&t" || q.Get("iss") != s.URL || q.Has("code") {
				t.Errorf("%v leads to %s %v, want %s", pairs, to, q, want)
			}
		}
		answer("", "login_required", "prompt", "none")
		answer("", "login_required", "prompt", "none", "login", "bob")
		answer(session, "consent_required", "prompt", "none")
		answer(session, "invalid_request", "prompt", "none login")
		answer(session, "invalid_request", "prompt", "create")
		answer(session, "invalid_request", "max_age", "-1")
		answer(session, "invalid_request", "max_age", "1e3")
		answer(session, "invalid_request", "response_type", "")
		answer(session, "invalid_request", "response_mode", "fragment")
		answer(session, "unsupported_response_type", "response_type", "id_token")
		answer(session, "invalid_request", "nonce", strings.Repeat("n", 1001))
		answer(session, "request_not_supported", "request", "e30.e30.")
		answer(session, "request_uri_not_supported", "request_uri", "https://evil.example/r")
		want(t, visit(t, s, "GET /login/oauth/authorize?"+c.openid()+"&nonce=x", session, ""), 422, "more than once")
		want(t, visit(t, s, "GET /login/oauth/authorize?"+c.openid("prompt", "none", "redirect_uri", weederBack+"x"), "", ""), 422)

		c.signsIn(t, s, session)
		if _, q := ledTo(t, visit(t, s, "GET /login/oauth/authorize?"+c.openid("prompt", "none"), session, "")); !q.Has("code") {
			t.Errorf("whoever allowed it and is signed in is led back with %v", q)
		}
		answer(session, "login_required", "prompt", "none", "login", "bob")
		limited := s.Session(t, "alice")
		answer(limited, "interaction_required", "prompt", "none")
		want(t, visit(t, s, "GET /login/oauth/authorize?"+c.openid("prompt", "consent"), session, ""), 200, "Authorize")

		age := func() { // of sessions: two hours
			testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error {
				if err := tx.Run(`UPDATE tokens SET confirmed_at = $1 WHERE agent IS NOT NULL`,
					tx.Now-db.Time(2*time.Hour.Microseconds())); err != nil {
					return err
				}
				return tx.Bump("accounts")
			}))
		}
		age()
		answer(session, "login_required", "prompt", "none", "max_age", "3600")
		if _, q := ledTo(t, visit(t, s, "GET /login/oauth/authorize?"+c.openid("max_age", "10000"), session, "")); !q.Has("code") {
			t.Errorf("a session that is young enough is led back with %v", q)
		}
		for _, pair := range [][]string{{"prompt", "login"}, {"max_age", "0"}, {"max_age", "3600"}} {
			age()
			form := c.openid(pair...) + "&answer=allow"
			want(t, visit(t, s, "GET /login/oauth/authorize?"+c.openid(pair...), session, ""), 200, "Authorize")
			a := visit(t, s, "POST /login/oauth/authorize", session, form)
			want(t, a, 403, "Confirm access", `name="nonce" value="n&amp;n"`)
			if p := a.Header.Get("Content-Security-Policy"); !strings.Contains(p, "form-action 'self' https://weeder.example;") {
				t.Errorf("the policy of the confirmation is %s", p)
			}
			want(t, visit(t, s, "POST /login/oauth/authorize", session, form+"&sudo_password=wrong"), 422)
			_, q := ledTo(t, visit(t, s, "POST /login/oauth/authorize", session, form+"&sudo_password=a+long+secret"))
			_, got := c.send(t, s, "/login/oauth/token", "code", q.Get("code"), "grant_type", "authorization_code")
			claims, err := claimsOf(t, s, c, got["id_token"])
			if at, _ := claims["auth_time"].(float64); err != nil || time.Since(time.Unix(int64(at), 0)) > time.Hour {
				t.Errorf("%v: after the confirmation the ID token says %v, %v", pair, claims, err)
			}
		}

		// Signing in counts as showing who it is, once.
		a := visit(t, s, "GET /login/oauth/authorize?"+c.openid("prompt", "login"), "", "")
		to, q := ledTo(t, a)
		if to != "/login" || !strings.Contains(q.Get("return_to"), "asked_at=") {
			t.Errorf("who is not signed in is led to %s %v", to, q)
		}
		a = visit(t, s, "GET "+a.Header.Get("Location"), "", "")
		if p := a.Header.Get("Content-Security-Policy"); !strings.Contains(p, "form-action 'self' https://weeder.example;") {
			t.Errorf("the policy of the page to sign in is %s", p)
		}
		_, code := ledTo(t, visit(t, s, "GET "+q.Get("return_to"), s.PasswordSession(t, "alice"), ""))
		if !code.Has("code") {
			t.Errorf("signed in, the browser is led back with %v", code)
		}
		age()
		old := strings.Replace(q.Get("return_to"), "asked_at=", "asked_at=9", 1) // of the future
		want(t, visit(t, s, "GET "+old, session, ""), 200, "Authorize")
		for _, pair := range [][]string{{"prompt", "login"}, {"max_age", "0"}} {
			link := c.openid(append(pair, "asked_at", "1")...)
			want(t, visit(t, s, "GET /login/oauth/authorize?"+link, session, ""), 200, "Authorize")
			want(t, visit(t, s, "POST /login/oauth/authorize", session, link+"&answer=allow"), 403, "Confirm access")
		}
	})
}

// What a client sends that is not the App, or not the one that asked, and tokens that are for something else.
func TestOpenIDRefuses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		c, other := newClient(t, s, "bob", weederBack), newClient(t, s, "bob", "https://mower.example/cb")
		session := s.PasswordSession(t, "alice")
		code := func(pairs ...string) string {
			_, q := ledTo(t, visit(t, s, "POST /login/oauth/authorize", session, c.openid(pairs...)+"&answer=allow"))
			return q.Get("code")
		}
		const token = "/login/oauth/token"
		for _, x := range []struct {
			name   string
			status int
			code   string
			by     client
			pairs  []string
		}{
			{"a code of nobody", 400, "invalid_grant", c, []string{"code", "x"}},
			{"another client's code", 400, "invalid_grant", other, []string{"code", code()}},
			{"a wrong secret", 401, "invalid_client", c, []string{"code", code(), "client_secret", "x"}},
			{"no secret", 401, "invalid_client", c, []string{"code", code(), "client_secret", ""}},
			{"an address that is nearly right", 400, "invalid_grant", c, []string{"code", code(), "redirect_uri", weederBack + "/"}},
			{"no verifier", 400, "invalid_grant", c,
				[]string{"code", code("code_challenge", challenge, "code_challenge_method", "S256")}},
			{"a verifier too much", 400, "invalid_grant", c, []string{"code", code(), "code_verifier", verifier}},
			{"another grant", 400, "unsupported_grant_type", c, []string{"grant_type", "password"}},
		} {
			if status, got := x.by.send(t, s, token, x.pairs...); status != x.status || got["error"] != x.code ||
				got["id_token"] != nil || got["access_token"] != nil {
				t.Errorf("%s: %d %v, want %d %s", x.name, status, got, x.status, x.code)
			}
		}
		twice := code()
		_, first := c.send(t, s, token, "code", twice)
		userInfo(t, s, first["access_token"], 200)
		if status, got := c.send(t, s, token, "code", twice); status != 400 || got["error"] != "invalid_grant" {
			t.Errorf("a code twice: %d %v", status, got)
		}
		userInfo(t, s, first["access_token"], 401)

		got := c.signsIn(t, s, session)
		access := got["access_token"]
		if _, err := claimsOf(t, s, other, got["id_token"]); err == nil {
			t.Error("another client takes the ID token")
		}
		for name, token := range map[string]any{"a personal token": s.Token(t, "alice"), "a token without openid": c.redeem(t, s,
			c.allow(t, s, session))["access_token"]} {
			if got := userInfo(t, s, token, 403); got["error"] != "insufficient_scope" {
				t.Errorf("%s: %v", name, got)
			}
		}
		for name, token := range map[string]any{"an ID token": got["id_token"], "a session": session, "nothing": ""} {
			if got := userInfo(t, s, token, 401); got["sub"] != nil {
				t.Errorf("%s: %v", name, got)
			}
		}
		a := visit(t, s, "GET /login/oauth/userinfo", session, "") // by a cookie
		if want(t, a, 401); !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("UserInfo asks for %q", a.Header.Get("WWW-Authenticate"))
		}

		// Introspection and revocation are for the token's own client.
		active := func(by client, yes bool, pairs ...string) {
			t.Helper()
			status, got := by.send(t, s, "/login/oauth/introspect", append([]string{"token", fmt.Sprint(access)}, pairs...)...)
			if status != 200 || got["active"] != yes || !yes && len(got) != 1 || yes && (got["sub"] == nil ||
				got["scope"] != "openid profile email groups" || got["client_id"] != c.ClientID || got["username"] != "alice") {
				t.Errorf("introspection: %d %v", status, got)
			}
		}
		active(c, true)
		active(other, false)
		active(c, false, "token", s.Token(t, "alice"))
		active(c, false, "token", "x")
		for _, path := range []string{"/login/oauth/introspect", "/login/oauth/revoke"} {
			if status, got := c.send(t, s, path, "token", fmt.Sprint(access), "client_secret", other.secret); status != 401 ||
				got["error"] != "invalid_client" {
				t.Errorf("%s with a wrong secret: %d %v", path, status, got)
			}
			if status, got := c.send(t, s, path); status != 400 || got["error"] != "invalid_request" {
				t.Errorf("%s without a token: %d %v", path, status, got)
			}
		}
		if status, _ := other.send(t, s, "/login/oauth/revoke", "token", fmt.Sprint(access)); status != 200 {
			t.Errorf("another client's revocation: %d", status)
		}
		active(c, true)
		if status, _ := c.send(t, s, "/login/oauth/revoke", "token", fmt.Sprint(access)); status != 200 {
			t.Errorf("revocation: %d", status)
		}
		active(c, false)
		userInfo(t, s, access, 401)
	})
}

// What an App learns after something else happened: by UserInfo, and by a code that it redeems then.
func TestOpenIDTransitions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "bob", "carl", "owner")
		s.Admin(t, "keeper")
		ctx := t.Context()
		act := func(as, do, send string, status int) error {
			s.Check(t, apitest.Case{Do: do, As: as, Send: send, Status: status})
			return nil
		}
		for n, x := range []struct {
			name       string
			do         func(c client, who, org string) error
			info, code bool // still answered
			changes    string
		}{
			{"nothing", func(client, string, string) error { return nil }, true, true, ""},
			{"the user is renamed", func(_ client, who, _ string) error {
				return act("keeper", "PATCH /admin/users/"+who, `{"login":"`+who+`x"}`, 202)
			}, true, true, "preferred_username"},
			{"the user is suspended", func(_ client, who, _ string) error {
				return act("keeper", "PUT /users/"+who+"/suspended", "", 204)
			}, false, false, ""},
			{"the user is deleted", func(_ client, who, _ string) error {
				return act("keeper", "DELETE /admin/users/"+who, "", 204)
			}, false, false, ""},
			{"the address is gone", func(_ client, who, _ string) error {
				return s.Accounts.RemoveEmail(ctx, who, who+"@example.org")
			}, true, true, "email"},
			{"the organization is left", func(_ client, who, org string) error {
				return act(who, "DELETE /orgs/"+org+"/memberships/"+who, "", 204)
			}, true, true, "groups"},
			{"the membership becomes private", func(_ client, who, org string) error {
				return act(who, "DELETE /orgs/"+org+"/public_members/"+who, "", 204)
			}, true, true, ""},
			{"the organization restricts OAuth Apps", func(_ client, who, org string) error {
				_ = act(who, "DELETE /orgs/"+org+"/public_members/"+who, "", 204)
				return s.Forge.OAuth.Restrict(ctx, nil, org, true)
			}, true, true, "groups"},
			{"the grant is revoked", func(c client, who, _ string) error { return s.Forge.OAuth.EndAll(ctx, nil, c.ClientID) },
				false, false, ""},
			{"the App is deleted", func(c client, who, _ string) error { return s.Forge.OAuth.Remove(ctx, nil, c.ClientID) },
				false, false, ""},
			{"the App is transferred", func(c client, who, _ string) error {
				return s.Forge.OAuth.Transfer(ctx, nil, c.ClientID, "carl")
			}, true, true, ""},
			{"the keys are rotated", func(client, string, string) error {
				_, err := s.Forge.OpenID.Rotate(ctx, false)
				return err
			}, true, true, ""},
			{"the owner is suspended", func(client, string, string) error { // the last: all Apps are bob's
				return act("keeper", "PUT /users/bob/suspended", "", 204)
			}, true, false, ""},
		} {
			who, org := fmt.Sprint("user", n), fmt.Sprint("org", n)
			s.User(t, who)
			s.Email(t, who, who+"@example.org")
			s.Org(t, org, "owner")
			testkit.NoError(t, act("owner", "PUT /orgs/"+org+"/memberships/"+who, `{"role": "member"}`, 200))
			testkit.NoError(t, act(who, "PUT /orgs/"+org+"/public_members/"+who, "", 204))
			c := newClient(t, s, "bob", weederBack)
			session := s.PasswordSession(t, who)
			got := c.signsIn(t, s, session)
			before := userInfo(t, s, got["access_token"], 200)
			_, q := ledTo(t, visit(t, s, "GET /login/oauth/authorize?"+c.openid(), session, ""))
			testkit.NoError(t, x.do(c, who, org))

			status := 401
			if x.info {
				status = 200
			}
			after := userInfo(t, s, got["access_token"], status)
			same := func(what string, claims map[string]any) {
				for _, name := range []string{"sub", "preferred_username", "email", "email_verified", "groups"} {
					is := reflect.DeepEqual(before[name], claims[name])
					if is == strings.HasPrefix(name, x.changes) && x.changes != "" || !is && x.changes == "" {
						t.Errorf("%s: of %s %s says %v, before %v", x.name, name, what, claims[name], before[name])
					}
				}
			}
			if x.info {
				same("UserInfo", after)
			}
			status, got = c.send(t, s, "/login/oauth/token", "code", q.Get("code"))
			if (status == 200) != x.code {
				t.Errorf("%s: the code gives %d %v", x.name, status, got)
			}
			if x.code {
				claims, err := claimsOf(t, s, c, got["id_token"])
				testkit.NoError(t, err)
				same("the ID token", claims)
			}
		}
	})
}

// Another key takes the place of the one that signs: what the former signed verifies until it is removed.
func TestOpenIDKeys(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		keys := func() (ids []string) {
			a := s.Check(t, apitest.Case{Do: "GET /login/oauth/keys", Status: 200})
			var set struct{ Keys []map[string]string }
			a.JSON(t, &set)
			for _, k := range set.Keys {
				if ids = append(ids, k["kid"]); len(k) != 6 || k["kty"] != "RSA" || k["use"] != "sig" || k["alg"] != "RS256" {
					t.Errorf("a key is published as %v", k) // without the private part
				}
			}
			return ids
		}
		if first := keys(); len(first) != 1 || !reflect.DeepEqual(first, keys()) {
			t.Errorf("the keys are %v", first)
		}
		c := newClient(t, s, "bob", weederBack)
		session := s.PasswordSession(t, "alice")
		before := c.signsIn(t, s, session)["id_token"]
		id, err := s.Forge.OpenID.Rotate(t.Context(), false)
		testkit.NoError(t, err)
		if now := keys(); len(now) != 2 || now[0] != id {
			t.Errorf("after a rotation the keys are %v", now)
		}
		for _, text := range []any{before, c.signsIn(t, s, session)["id_token"]} {
			if _, err := claimsOf(t, s, c, text); err != nil {
				t.Errorf("after a rotation: %v", err)
			}
		}
		// The key becomes old, so the next token is signed by another, and the first key is published no
		// more.
		age := func(column string, by time.Duration) {
			testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error {
				return tx.Run(`UPDATE openid_keys SET `+column+` = `+column+` - $1`, by.Microseconds())
			}))
		}
		age("retired_at", 71*time.Minute)
		age("created_at", 91*24*time.Hour)
		if now := keys(); len(now) != 2 || now[1] != id {
			t.Errorf("after 91 days the keys are %v", now)
		}
		if _, err := claimsOf(t, s, c, before); err == nil {
			t.Error("a key is published for ever")
		}
		last := c.signsIn(t, s, session)["id_token"]
		_, err = s.Forge.OpenID.Rotate(t.Context(), true)
		testkit.NoError(t, err)
		if _, err := claimsOf(t, s, c, last); err == nil || len(keys()) != 1 {
			t.Errorf("a key that was removed is still published: %v", keys())
		}
	})
}

// Whoever signs out of a program is asked whether to sign out here, and is led to no address that is not the
// program's.
func TestOpenIDSignOut(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		c := newClient(t, s, "bob", weederBack)
		session := s.PasswordSession(t, "alice")
		hint, _ := c.signsIn(t, s, session)["id_token"].(string)
		ask := func(pairs ...string) string {
			v := url.Values{"id_token_hint": {hint}, "post_logout_redirect_uri": {weederBack}, "state": {"s&t"}}
			for n := 0; n < len(pairs); n += 2 {
				v.Set(pairs[n], pairs[n+1])
			}
			return v.Encode()
		}
		for _, wrong := range []string{ask("post_logout_redirect_uri", weederBack+"/"), ask("id_token_hint", ""),
			ask("post_logout_redirect_uri", "https://evil.example"), ask("client_id", "Ov23other"), ask("id_token_hint", "e30.e30."),
			ask("post_logout_redirect_uri", "//weeder.example/cb"), ask() + "&state=x"} {
			for _, who := range []string{session, ""} {
				if a := visit(t, s, "GET /login/oauth/logout?"+wrong, who, ""); a.Status != 422 || a.Header.Get("Location") != "" {
					t.Errorf("%s: %d %s", wrong, a.Status, a.Header.Get("Location"))
				}
			}
			want(t, visit(t, s, "POST /login/oauth/logout", session, wrong+"&answer=leave"), 422)
		}
		want(t, visit(t, s, "GET /login/oauth/logout?client_id=Ov23none", session, ""), 404)
		a := visit(t, s, "GET /login/oauth/logout?"+ask(), session, "")
		want(t, a, 200, "You signed out of <b><bdi>Weeder", "Stay signed in")
		if p := a.Header.Get("Content-Security-Policy"); !strings.Contains(p, "form-action 'self' https://weeder.example;") {
			t.Errorf("the policy is %s", p)
		}
		back := func(a *apitest.Answer) {
			t.Helper()
			if to, q := ledTo(t, a); to != weederBack || q.Get("state") != "s&t" {
				t.Errorf("the browser is led to %s %v", to, q)
			}
		}
		back(visit(t, s, "POST /login/oauth/logout", session, ask()+"&answer=stay"))
		want(t, visit(t, s, "GET /settings/profile", session, ""), 200)
		want(t, s.Do(t, apitest.Case{Do: "POST /login/oauth/logout", Send: ask() + "&answer=leave", Headers: map[string]string{
			"Accept": apitest.Browser, "Content-Type": apitest.FormType, "Cookie": "arbor_session=" + session,
			"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}}), 403)
		back(visit(t, s, "POST /login/oauth/logout", session, ask("post_logout_redirect_uri", weederBack)+"&answer=leave"))
		want(t, visit(t, s, "GET /settings/profile", session, ""), 303)
		back(visit(t, s, "GET /login/oauth/logout?"+ask(), "", ""))
		to, _ := ledTo(t, visit(t, s, "GET /login/oauth/logout?"+url.Values{"post_logout_redirect_uri": {"https://weeder.example"},
			"client_id": {c.ClientID}}.Encode(), "", ""))
		if to != "https://weeder.example" {
			t.Errorf("the homepage is not led to, but %s", to)
		}
	})
}

// People sign in at one Arbor with their account of another.
func TestSignInWithAnotherArbor(t *testing.T) {
	t.Parallel()
	home := apitest.Start(t, db.SQLite)
	home.Users(t, "ann", "bob")
	home.Email(t, "ann", "ann@example.org")
	home.Org(t, "acme", "ann")
	c := newClient(t, home, "bob", "http://127.0.0.1/login/oidc/home/callback")
	folder := t.TempDir()
	testkit.NoError(t, os.WriteFile(filepath.Join(folder, "secret"), []byte(c.secret), 0o600))
	file := filepath.Join(folder, "sign-in.yaml")
	testkit.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
providers:
  - name: home
    issuer: %s
    client_id: %s
    client_secret_file: secret
    scopes: [profile, email, groups]
    accounts: create
    groups: {acme: [{organization: gardens}]}
`, home.URL, c.ClientID), 0o600))
	config, err := signinfile.ReadFile(file)
	testkit.NoError(t, err)
	testkit.NoError(t, config.Providers[0].Check(context.Background()))
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.SignIn = config })
	s.User(t, "keeper")
	s.Org(t, "gardens", "keeper")

	a := s.Do(t, apitest.Case{Do: "GET /login/oidc/home?return_to=%2Fsettings%2Femails",
		Headers: map[string]string{"Accept": apitest.Browser}})
	b := &trip{s: s}
	b.take(a)
	to, err := url.Parse(a.Header.Get("Location"))
	testkit.NoError(t, err)
	session := home.PasswordSession(t, "ann")
	want(t, visit(t, home, "GET "+to.RequestURI(), session, ""), 200, "Weeder")
	_, q := ledTo(t, visit(t, home, "POST /login/oauth/authorize", session, to.RawQuery+"&answer=allow"))
	b.state, b.code = q.Get("state"), q.Get("code")
	want(t, b.back(t, "home", "iss", "https://elsewhere.example"), 422, "is not who answered")

	a = s.Do(t, apitest.Case{Do: "GET /login/oidc/home?return_to=%2Fsettings%2Femails",
		Headers: map[string]string{"Accept": apitest.Browser}})
	b = &trip{s: s}
	b.take(a)
	to, err = url.Parse(a.Header.Get("Location"))
	testkit.NoError(t, err)
	_, q = ledTo(t, visit(t, home, "POST /login/oauth/authorize", session, to.RawQuery+"&answer=allow"))
	b.state, b.code = q.Get("state"), q.Get("code")
	a = b.back(t, "home", "iss", q.Get("iss"))
	want(t, a, http.StatusSeeOther)
	want(t, visit(t, s, "GET /settings/emails", frontCookieOf(a), ""), 200, "ann@example.org")
	s.Check(t, apitest.Case{Do: "GET /orgs/gardens/memberships/ann", As: "keeper", Status: 200, Want: `{"role": "member"}`})
}
