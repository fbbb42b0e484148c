package pages_test

import (
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// endedEvent is the events of a logout token.
var endedEvent = map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}

// ends is a logout token of the issuer.
func (i *issuer) ends(more map[string]any) string {
	now := time.Now().Unix()
	claims := map[string]any{"iss": i.URL, "aud": "arbor", "iat": now, "exp": now + 60, "jti": "1", "events": endedEvent}
	maps.Copy(claims, more)
	return i.honest(claims)
}

// endBy sends a logout token.
func endBy(t *testing.T, s *apitest.Server, provider, token string, status int) {
	t.Helper()
	a := s.Do(t, apitest.Case{Do: "POST /login/oidc/" + provider + "/back-channel-logout",
		Send: apitest.Form("logout_token", token), Headers: map[string]string{"Content-Type": apitest.FormType}})
	if a.Status != status || status == 400 && !strings.Contains(string(a.Body), `"invalid_request"`) ||
		a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a logout token: %d, want %d: %.300s", a.Status, status, a.Body)
	}
}

// A provider ends a session, or all of a user, and no session of anybody else.
func TestProvidersEndSessions(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		i, j := newIssuer(t), newIssuer(t)
		s := apitest.Start(t, engine, signInFile(t, twoProviders, i.URL, j.URL))
		s.Admin(t, "keeper")
		open := func(at *issuer, provider, subject, sid string) *visitor {
			at.says(subject, map[string]any{"sid": sid})
			return at.signsIn(t, s, provider)
		}
		lives := func(v *visitor, want bool, what string) {
			t.Helper()
			status := v.get("/settings/profile").Status
			if (status == 200) != want {
				t.Errorf("%s: %d", what, status)
			}
		}
		first, second := open(i, "company", "ann", "s1"), open(i, "company", "ann", "s2")
		untold, bob := open(i, "company", "cal", ""), open(i, "company", "bob", "s1")
		elsewhere := open(j, "other", "dora", "s1")

		endBy(t, s, "company", i.ends(map[string]any{"sub": "ann", "sid": "s1"}), 200)
		lives(first, false, "a session that ended")
		lives(second, true, "another session of the user")
		lives(bob, true, "another user's session of that name")
		endBy(t, s, "company", i.ends(map[string]any{"sid": "s1"}), 200)
		lives(bob, false, "a session that ended, by its name alone")
		lives(elsewhere, true, "a session of another provider")
		endBy(t, s, "company", i.ends(map[string]any{"sub": "cal", "sid": "s9"}), 200)
		lives(untold, false, "a session of which the provider told no name")
		endBy(t, s, "company", i.ends(map[string]any{"sub": "ann"}), 200)
		lives(second, false, "all of a user")
		endBy(t, s, "company", i.ends(map[string]any{"sub": "nobody"}), 200)
		lives(elsewhere, true, "a session of another provider")

		front := func(query string, status int) {
			t.Helper()
			a := s.Do(t, apitest.Case{Do: "GET /login/oidc/other/front-channel-logout" + query})
			if a.Status != status || status == 200 && strings.Contains(a.Header.Get("Content-Security-Policy"), "frame") {
				t.Errorf("front channel %s: %d %v", query, a.Status, a.Header)
			}
		}
		front("?iss="+url.QueryEscape(i.URL)+"&sid=s1", 422)
		front("?iss="+url.QueryEscape(j.URL), 422)
		lives(elsewhere, true, "a session after requests that name none")
		front("?iss="+url.QueryEscape(j.URL)+"&sid=s1", 200)
		lives(elsewhere, false, "a session that ended in a frame")

		want(t, s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=action:user.logout", As: "keeper", Status: 200}),
			200, `"by":"oidc:company"`, `"by":"oidc:other"`)
	})
}

// What is no logout token of the provider, for Arbor and of now, ends nothing.
func TestLogoutTokensAreChecked(t *testing.T) {
	t.Parallel()
	i, j := newIssuer(t), newIssuer(t)
	s := apitest.Start(t, db.SQLite, signInFile(t, twoProviders, i.URL, j.URL))
	i.says("ann", map[string]any{"sid": "s1"})
	ann := i.signsIn(t, s, "company")
	now := time.Now().Unix()
	claims := map[string]any{"iss": i.URL, "aud": "arbor", "iat": now, "exp": now + 60, "sub": "ann", "events": endedEvent}
	for name, token := range map[string]string{
		"nothing":             "",
		"no token":            "a.b.c",
		"a very long one":     strings.Repeat("a", 20<<10),
		"alg none":            i.withNone(claims),
		"HS256":               i.withPublicKey(claims),
		"another key":         i.withOtherKey(claims),
		"another issuer":      j.honest(claims),
		"another audience":    i.ends(map[string]any{"sub": "ann", "aud": "grafana"}),
		"no event":            i.ends(map[string]any{"sub": "ann", "events": map[string]any{}}),
		"events of a list":    i.ends(map[string]any{"sub": "ann", "events": []string{}}),
		"an ID token":         i.ends(map[string]any{"sub": "ann", "nonce": "x"}),
		"of yesterday":        i.ends(map[string]any{"sub": "ann", "iat": now - 86400}),
		"of tomorrow":         i.ends(map[string]any{"sub": "ann", "iat": now + 86400}),
		"expired":             i.ends(map[string]any{"sub": "ann", "iat": now - 100, "exp": now - 200}),
		"without a time":      i.ends(map[string]any{"sub": "ann", "iat": nil}),
		"nobody's":            i.ends(nil),
		"a session of a list": i.ends(map[string]any{"sid": []string{"s1"}}),
	} {
		endBy(t, s, "company", token, 400)
		if ann.get("/settings/profile").Status != 200 {
			t.Fatalf("%s ends a session", name)
		}
	}
	endBy(t, s, "company", i.ends(map[string]any{"sub": "ann"}), 200)

	// Sent again, the token ends no session that began after it.
	old := i.ends(map[string]any{"sub": "ann", "iat": now - 100, "exp": now + 60})
	again := i.signsIn(t, s, "company")
	testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error {
		return tx.Run(`UPDATE tokens SET created_at = created_at + 60000000 WHERE agent IS NOT NULL AND revoked_at IS NULL`)
	}))
	endBy(t, s, "company", old, 200)
	again.show("/settings/profile")
}

// A provider's session of some age confirms nothing: its user signs in there again.
func TestOldSessionsOfProvidersConfirmNothing(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := apitest.Start(t, db.SQLite, signInFile(t, "providers: [{name: company, issuer: %q, client_id: arbor, accounts: create}]", i.URL))
	add := []string{"do", "add", "title", "laptop", "key", testkit.PublicKey(t)}
	i.says("ann", map[string]any{"auth_time": time.Now().Add(-3 * time.Hour).Unix()})
	ann := i.signsIn(t, s, "company")
	ann.post("/settings/keys", add...).Shows(t, 403, "Confirm access", `href="/login/oidc/company?again=1&amp;return_to=%2F"`)

	a := s.Do(t, apitest.Case{Do: "GET /login/oidc/company?again=1", Headers: map[string]string{"Accept": apitest.Browser}})
	to, err := url.Parse(a.Header.Get("Location"))
	testkit.NoError(t, err)
	if q := to.Query(); q.Get("prompt") != "login" || q.Get("max_age") != "0" {
		t.Errorf("to sign in again: %s", to)
	}
	i.says("ann", map[string]any{"auth_time": time.Now().Unix()})
	want(t, i.signsIn(t, s, "company").post("/settings/keys", add...), 303)

	// A time that cannot be counts as not told.
	i.says("bob", map[string]any{"auth_time": -5})
	want(t, i.signsIn(t, s, "company").post("/settings/keys", "do", "add", "title", "x", "key", testkit.PublicKey(t)), 303)
}

// Logout tokens that somebody made up do not have the keys of the provider read again and again, and keep nobody from
// signing in.
func TestMadeUpLogoutTokens(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := apitest.Start(t, db.SQLite, signInFile(t, twoProviders, i.URL, "https://other.example"))
	for range 20 {
		endBy(t, s, "company", i.withOtherKey(map[string]any{"iss": i.URL, "aud": "arbor", "sub": "ann"}), 400)
	}
	if n := i.read.Load(); n > 1 {
		t.Errorf("the keys were read %d times", n)
	}
	i.says("ann", nil)
	i.signsIn(t, s, "company")
	endBy(t, s, "company", i.ends(map[string]any{"sub": "ann"}), 200)
	if n := i.read.Load(); n > 2 {
		t.Errorf("the keys were read %d times", n)
	}
}
