//go:build long

package pages_test

import (
	"net/url"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// Somebody writes an issue while the session is ended elsewhere. The next click leads to sign in, and what
// was written is sent then.
func TestSessionEndedWhileWriting(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), "alice", "a long secret", nil))
	for _, look := range []browser.Look{{}, {NoScript: true, Width: 390, Height: 800}} {
		b := browser.Open(t, s.URL, look)
		b.SignIn(s.Session(t, "alice"))
		b.Go("/alice/garden/issues/new")
		b.Fill("#title", "Slugs")
		b.Fill("textarea[name=body]",
			"They ate <b>everything</b>, & the beans: a long story of a short night.")
		as(t, s, "alice").post("/settings/sessions", "do", "others")
		b.Follow("main form button.main")
		b.See("h1", "You are signed out")
		b.SignIn(s.Session(t, "alice")) // in another tab
		b.Follow("main form button.main")
		b.See("main", "They ate everything, & the beans")
		b.See("main", "Slugs")
	}
	// Another site's form is kept for nobody, nor is one with a password.
	send := func(origin, path, form string) *apitest.Answer {
		h := map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html",
			"Origin": origin}
		return s.Do(t, apitest.Case{Do: "POST " + path, Headers: h, Send: form})
	}
	issue := url.Values{"title": {"Trap"}}.Encode()
	for _, c := range []struct {
		origin, path, form string
		status             int
	}{
		{s.URL, "/alice/garden/issues", issue, 401},
		{"https://evil.example", "/alice/garden/issues", issue, 303},
		{"null", "/alice/garden/issues", issue, 303},
		{s.URL, "/settings/password", "password=secret1&new_password=secret2", 303},
		{s.URL, "/alice/garden/issues", "title=" + strings.Repeat("x", 300<<10), 303},
	} {
		a := send(c.origin, c.path, c.form)
		if a.Status != c.status || strings.Contains(string(a.Body), "secret1") {
			t.Errorf("%s %s: %d %.500s", c.origin, c.path, a.Status, a.Body)
		}
	}
}
