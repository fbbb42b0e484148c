//go:build long

package pages_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// A browser goes the whole way between a program and Arbor: forms lead out of the site to the program alone, also
// where the page that asks is not shown again.
func TestOpenIDInABrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "bob")
	s.PasswordSession(t, "alice") // sets the password
	weeder := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		fmt.Fprintf(w, "<p>%s: code %t, error %q, issuer %s", r.URL.Path, q.Has("code"), q.Get("error"), q.Get("iss"))
	}))
	weeder.Listener.Close()
	var err error
	// To 127.0.0.1 nobody is led without being asked.
	weeder.Listener, err = net.Listen("tcp", "127.0.0.2:0")
	testkit.NoError(t, err)
	weeder.Start()
	t.Cleanup(weeder.Close)
	back := weeder.URL + "/cb"
	c := newClient(t, s, "bob", back)
	b := browser.Open(t, s.URL, browser.Look{})
	ask := func(pairs ...string) {
		b.Go("/login/oauth/authorize?" + c.openid(append([]string{"redirect_uri", back}, pairs...)...))
	}
	arrives := func() {
		t.Helper()
		b.See("p", "/cb: code true, error \"\", issuer "+s.URL)
	}
	signIn := func() {
		b.Fill(`input[name=login]`, "alice")
		b.Fill(`input[name=password]`, "a long secret")
		b.Submit()
	}
	ask()
	signIn()
	b.Follow(`button[value=allow]`)
	arrives()
	ask()
	arrives()
	ask("prompt", "none")
	arrives()
	ask("prompt", "login")
	b.Follow(`button[value=allow]`)
	b.Fill(`#sudo_password`, "a long secret")
	b.Submit()
	arrives()
	b.Go("/login/oauth/logout?" + url.Values{"client_id": {c.ClientID}, "post_logout_redirect_uri": {back}}.Encode())
	b.Follow(`button[value=leave]`)
	b.See("p", "/cb: code false")
	ask("prompt", "none")
	b.See("p", `/cb: code false, error "login_required"`)
	ask()
	signIn() // the page that asks is not shown
	arrives()
}
