//go:build long

package pages_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/signinfile"
	"arbor/internal/test/apitest"
	"arbor/internal/test/npm"
	"arbor/internal/test/testkit"
)

// startProvider starts the provider of testdata/provider, for one site.
func startProvider(t *testing.T, port int, site string) {
	t.Helper()
	dir := t.TempDir()
	here := filepath.Join("testdata", "provider")
	testkit.NoError(t, os.CopyFS(dir, os.DirFS(here)))
	testkit.NoError(t, os.Symlink(filepath.Join(npm.Install(t, here), "node_modules"), filepath.Join(dir, "node_modules")))
	input, err := json.Marshal(map[string]any{"port": port, "redirect": site + "/login/oidc/company/callback", "secret": "hidden"})
	testkit.NoError(t, err)
	node := exec.CommandContext(t.Context(), "node", "provider.mjs")
	node.Dir, node.Stdin = dir, bytes.NewReader(input)
	var told bytes.Buffer
	node.Stderr = &told
	out, err := node.StdoutPipe()
	testkit.NoError(t, err)
	testkit.NoError(t, node.Start())
	t.Cleanup(func() { node.Wait() }) // the context ends it
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the provider does not start: %v\n%s", err, told.String())
		}
		if strings.Contains(line, "listening") {
			break
		}
	}
	go io.Copy(io.Discard, lines)
}

var action = regexp.MustCompile(`<form[^>]*action="([^"]+)"`)

// through signs in at the provider as a browser does: its form, its question, and back. It returns where that ends.
func through(t *testing.T, c *http.Client, start, login string) (status int, address, body string) {
	t.Helper()
	answer, err := c.Get(start)
	for range 5 {
		testkit.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		testkit.NoError(t, err)
		answer.Body.Close()
		form := action.FindSubmatch(text)
		if back := answer.Header.Get("Location"); back != "" { // the client follows no further
			return answer.StatusCode, back, ""
		}
		if answer.Request.URL.Hostname() != "localhost" || form == nil {
			return answer.StatusCode, answer.Request.URL.String(), string(text)
		}
		fields := url.Values{}
		for _, f := range regexp.MustCompile(`name="(\w+)"(?: value="(\w+)")?`).FindAllSubmatch(text, -1) {
			fields.Set(string(f[1]), string(f[2]))
		}
		if fields.Has("login") {
			fields.Set("login", login)
			fields.Set("password", "any")
		}
		to, err := answer.Request.URL.Parse(html.UnescapeString(string(form[1])))
		testkit.NoError(t, err)
		answer, err = c.PostForm(to.String(), fields)
		testkit.NoError(t, err)
	}
	t.Fatal("the provider asks without end")
	return 0, "", ""
}

// signOutThere signs out at the provider as a browser does.
func signOutThere(t *testing.T, c *http.Client, issuer string) {
	t.Helper()
	answer, err := c.Get(issuer + "/session/end")
	testkit.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	testkit.NoError(t, err)
	secret := regexp.MustCompile(`name="xsrf" value="(\w+)"`).FindSubmatch(text)
	if secret == nil {
		t.Fatalf("no form to sign out: %.2000s", text)
	}
	answer, err = c.PostForm(issuer+"/session/end/confirm", url.Values{"xsrf": {string(secret[1])}, "logout": {"yes"}})
	testkit.NoError(t, err)
	answer.Body.Close()
}

// People sign in with a certified provider: the account is made, groups come by UserInfo, signing out there ends the
// sessions here, and a wrong secret is told.
func TestSignInWithACertifiedProvider(t *testing.T) {
	t.Parallel()
	port := testkit.FreePort(t)
	folder := t.TempDir()
	testkit.NoError(t, os.WriteFile(filepath.Join(folder, "secret"), []byte("hidden\n"), 0o600))
	file := filepath.Join(folder, "sign-in.yaml")
	testkit.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
providers:
  - name: company
    issuer: http://localhost:%d
    client_id: arbor
    client_secret_file: secret
    scopes: [profile, email, groups]
    accounts: create
    groups: {dev: [{organization: acme}]}
`, port), 0o600))
	config, err := signinfile.ReadFile(file)
	testkit.NoError(t, err)
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.SignIn = config })
	startProvider(t, port, s.URL)
	testkit.NoError(t, config.Providers[0].Check(t.Context()))
	s.User(t, "alice")
	s.Org(t, "acme", "alice")
	for range 2 { // the account is made, then known
		jar, err := cookiejar.New(nil)
		testkit.NoError(t, err)
		status, at, body := through(t, &http.Client{Jar: jar}, s.URL+"/login/oidc/company?return_to=%2Fsettings%2Femails", "ann+dev")
		if status != http.StatusOK || at != s.URL+"/settings/emails" || !strings.Contains(body, "ann@example.org") {
			t.Fatalf("the way ends at %s with %d: %.2000s", at, status, body)
		}
		signOutThere(t, &http.Client{Jar: jar}, config.Providers[0].Issuer)
		testkit.Eventually(t, func() bool { // it tells beside its answer
			answer, err := (&http.Client{Jar: jar}).Get(s.URL + "/settings/emails")
			testkit.NoError(t, err)
			answer.Body.Close()
			return answer.StatusCode == http.StatusUnauthorized
		}, "the session ends with that at the provider")
	}
	s.Check(t, apitest.Case{Do: "GET /orgs/acme/memberships/ann", As: "alice", Status: 200, Want: `{"role": "member"}`})

	// A server with a wrong secret. It has the address of the first, which the provider knows.
	testkit.NoError(t, os.WriteFile(filepath.Join(folder, "secret"), []byte("wrong"), 0o600))
	wrong, err := signinfile.ReadFile(file)
	testkit.NoError(t, err)
	other := apitest.Start(t, db.SQLite, func(o *server.Options) { o.SignIn, o.BaseURL = wrong, s.URL })
	jar, err := cookiejar.New(nil)
	testkit.NoError(t, err)
	lead := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := lead.Get(other.URL + "/login/oidc/company")
	testkit.NoError(t, err)
	answer.Body.Close()
	stop := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), s.URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	_, back, _ := through(t, stop, answer.Header.Get("Location"), "ann+dev")
	to, err := url.Parse(back)
	testkit.NoError(t, err)
	answer, err = lead.Get(other.URL + to.RequestURI())
	testkit.NoError(t, err)
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode != 422 || !strings.Contains(string(text), "did not take the code") {
		t.Errorf("with a wrong secret: %d %.2000s", answer.StatusCode, text)
	}
}
