//go:build long

package pages_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// A browser without scripts carries somebody from the program to the sign-in page, to the question, and back, as the
// page's policy allows.
func TestOAuthInABrowser(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "bob")
	testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), "alice", "a long secret", nil))
	codes := make(chan string, 1)
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if code := r.URL.Query().Get("code"); code != "" {
			codes <- code
			w.Header().Set("Content-Type", "text/html")
			w.Write([]byte("<p class=note>Welcome</p>"))
		}
	}))
	t.Cleanup(program.Close)
	c := newClient(t, s, "bob", "http://127.0.0.1/cb")
	b := browser.Open(t, s.URL, browser.Look{NoScript: true})
	b.Go("/login/oauth/authorize?" + c.asks("login", "alice", "redirect_uri", program.URL+"/cb"))
	b.Fill("#password", "a long secret")
	b.Press("\r")
	b.See("form.box", "asks to act as")
	b.Click("button.main[value=allow]")
	b.See("p.note", "Welcome")
	works(t, s, c.redeem(t, s, <-codes)["access_token"], true)
}
