//go:build long

package clients

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/oauth"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

var oauth2Proxy = program{name: "oauth2-proxy", module: "github.com/oauth2-proxy/oauth2-proxy/v7@v7.15.6", dir: "."}

// member matches an input of a form that a browser sends.
var member = regexp.MustCompile(`<(?:input|button)[^>]*name="([^"]+)"(?:[^>]*value="([^"]*)")?`)

// person asks for pages, as a browser does.
type person struct{}

// RoundTrip implements http.RoundTripper.
func (person) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", apitest.Browser)
	return http.DefaultTransport.RoundTrip(r)
}

// visitor is a browser that has no cookies yet.
func visitor(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	testkit.NoError(t, err)
	return &http.Client{Jar: jar, Transport: person{}}
}

// browse opens an address as a person with a browser does, who signs in and allows what is asked for, and
// returns the page at which that ends.
func browse(t *testing.T, s *apitest.Server, c *http.Client, address, login string) (status int, body string) {
	t.Helper()
	answer, err := c.Get(address)
	for range 4 {
		testkit.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		testkit.NoError(t, err)
		answer.Body.Close()
		at := answer.Request.URL
		if !strings.HasPrefix(at.String(), s.URL) || answer.StatusCode != http.StatusOK {
			return answer.StatusCode, string(text)
		}
		_, form, found := strings.Cut(string(text), `action="`+at.Path+`"`)
		if !found {
			t.Fatalf("%s has no form: %.2000s", at, text)
		}
		form, _, _ = strings.Cut(form, "</form>")
		v := url.Values{}
		for _, m := range member.FindAllStringSubmatch(form, -1) {
			if !v.Has(m[1]) { // of two buttons the first
				v.Set(m[1], html.UnescapeString(m[2]))
			}
		}
		if at.Path == "/login" {
			v.Set("login", login)
			v.Set("password", "a long secret")
		}
		answer, err = c.PostForm(s.URL+at.Path, v)
		testkit.NoError(t, err)
	}
	t.Fatal("the person is asked without end")
	return 0, ""
}

// proxy starts oauth2-proxy in front of a page that shows who it says is there, and returns its address.
func proxy(t *testing.T, s *apitest.Server, flags ...string) (address string, tells func() string) {
	t.Helper()
	program := oauth2Proxy.build(t)
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "user=%s login=%s email=%s groups=%s", r.Header.Get("X-Forwarded-User"),
			r.Header.Get("X-Forwarded-Preferred-Username"), r.Header.Get("X-Forwarded-Email"), r.Header.Get("X-Forwarded-Groups"))
	}))
	t.Cleanup(behind.Close)
	at := testkit.FreeAddress(t)
	address = "http://" + at
	app, err := s.Forge.OAuth.Create(t.Context(), nil, "keeper", oauth.About{Name: "Proxy", Homepage: address,
		Callbacks: []string{address + "/oauth2/callback"}})
	testkit.NoError(t, err)
	secret, err := s.Forge.OAuth.NewSecret(t.Context(), nil, app.ClientID)
	testkit.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, append([]string{"--http-address=" + at, "--upstream=" + behind.URL,
		"--client-id=" + app.ClientID, "--client-secret=" + secret, "--redirect-url=" + address + "/oauth2/callback",
		"--cookie-secret=0123456789abcdef0123456789abcdef", "--cookie-secure=false", "--email-domain=*",
		"--skip-provider-button=true"}, flags...)...)
	cmd.Env = environment()
	var told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &told, &told
	testkit.NoError(t, cmd.Start())
	ended := make(chan struct{})
	t.Cleanup(func() { <-ended }) // the context ends it
	go func() { cmd.Wait(); close(ended) }()
	testkit.Eventually(t, func() bool {
		answer, err := http.Get(address + "/ping")
		if err == nil {
			answer.Body.Close()
		}
		return err == nil && answer.StatusCode == http.StatusOK
	}, "oauth2-proxy listens")
	return address, told.String
}

// oauth2-proxy guards a site with accounts of Arbor: with its GitHub provider at other addresses, and by
// OpenID Connect. Whoever is in the organization gets through, and nobody else.
func TestOAuth2Proxy(t *testing.T) {
	t.Parallel()
	oauth2Proxy.build(t)
	s := apitest.StartOn(t, db.SQLite, "127.0.0.1:0")
	s.User(t, "keeper")
	people := map[string]account.ID{}
	for _, login := range []string{"ann", "bob"} {
		people[login] = s.User(t, login).ID
		s.Email(t, login, login+"@example.org")
		s.Check(t, apitest.Case{Do: "PATCH /user", As: login, Send: `{"email": "` + login + `@example.org"}`, Status: 200})
		testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), login, "a long secret", nil))
	}
	s.Org(t, "garden", "ann")
	for name, x := range map[string]struct {
		flags []string
		shows string
	}{
		"github": {[]string{"--provider=github", "--login-url=" + s.URL + "/login/oauth/authorize",
			"--redeem-url=" + s.URL + "/login/oauth/access_token", "--validate-url=" + s.URL + "/api/v3",
			"--github-org=garden"}, "user=ann login= email=ann@example.org"},
		"oidc": {[]string{"--provider=oidc", "--oidc-issuer-url=" + s.URL, "--scope=openid profile email groups",
			"--code-challenge-method=S256", "--oidc-groups-claim=groups", "--allowed-group=garden"},
			"user=" + people["ann"].String() + " login=ann email=ann@example.org groups=garden"},
	} {
		t.Run(name, func(t *testing.T) {
			address, tells := proxy(t, s, x.flags...)
			if status, body := browse(t, s, visitor(t), address+"/", "ann"); status != http.StatusOK || !strings.HasPrefix(body, x.shows) {
				t.Errorf("a member sees %d %.500s, want %s\n%s", status, body, x.shows, tells())
			}
			if status, body := browse(t, s, visitor(t), address+"/", "bob"); status < 400 { // its GitHub provider answers 500
				t.Errorf("somebody else sees %d %.500s\n%s", status, body, tells())
			}
		})
	}
}
