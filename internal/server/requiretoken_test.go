package server_test

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// With --require-token callers without a token see nothing, not even public repositories,
// and pages of other sites cannot read answers.
func TestRequireToken(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "keeper")
		s.Repo(t, "keeper/plot", false)
		s.Check(t, apitest.Case{Do: "PUT /repos/keeper/plot/contents/f", As: "keeper",
			Send: `{"message": "m", "content": "eA=="}`, Status: 201})
		fills := strings.NewReplacer("{owner}", "keeper", "{repo}", "plot", "{org}", "keeper", "{username}",
			"keeper", "{sha...}", "main", "{ref...}", "main",
			"{path...}", "f", "{branch...}", "main", "{number}", "1", "{id}", "1")
		addresses := []string{"GET /no/such/address/at/all", "GET /nowhere", "PATCH /", "PUT /docs",
			"GET /keeper/%ff", "GET /api/v3/users", "GET /api/v3/nothing"}
		for _, r := range fixture.Walked(s.Server.Routes()) {
			addresses = append(addresses, r.Method+" "+fills.Replace(r.Pattern))
		}
		for _, do := range addresses {
			method, path, _ := strings.Cut(do, " ")
			want := http.StatusUnauthorized
			switch path {
			case "/healthz", "/readyz":
				want = http.StatusOK
			case "/login", "/setup", "/assets/{asset}", "/login/device/code", "/login/oauth/access_token",
				"/.well-known/openid-configuration", "/login/oauth/keys", "/login/oauth/userinfo", "/login/oauth/authorize",
				"/login/oauth/token", "/login/oauth/revoke", "/login/oauth/introspect", "/login/oauth/logout",
				"/app-manifests/{code}/conversions", "/repos/keeper/plot/mirror-hook", "/applications/{client_id}/token", "/applications/{client_id}/grant",
				"/password_reset", "/join", "/notifications/unsubscribe", "/login/oidc/{provider}", "/login/oidc/{provider}/callback",
				"/login/oidc/{provider}/back-channel-logout", "/login/oidc/{provider}/front-channel-logout",
				"/settings/apps/new", "/organizations/keeper/settings/apps/new":
				continue // where people sign in, and programs ask for a token
			}
			for _, how := range []string{method, "OPTIONS", "HEAD"} {
				if how == "OPTIONS" && want == http.StatusOK {
					continue
				}
				c := apitest.Case{Do: how + " " + path,
					Headers: map[string]string{"Origin": "http://elsewhere.example",
						"Access-Control-Request-Method": method}}
				a := s.Do(t, c)
				if a.Status != want {
					t.Errorf("%s without a token: %d, want %d: %.200s", c.Do, a.Status, want, a.Body)
				}
				for _, wrong := range []string{"", "Bearer arb_wrong"} {
					c.Headers["Authorization"] = wrong
					if a := s.Do(t, c); a.Status != http.StatusUnauthorized && want != http.StatusOK {
						t.Errorf("%s with the token %q: %d: %.200s", c.Do, wrong, a.Status, a.Body)
					}
				}
				delete(c.Headers, "Authorization")
				if want == http.StatusUnauthorized && a.Header.Get("WWW-Authenticate") == "" {
					t.Errorf("%s without a token does not ask for one", c.Do)
				}
				for _, login := range []string{"", "keeper"} {
					c.As = login
					if how != "OPTIONS" && login != "" && method != http.MethodGet {
						continue
					}
					for name := range s.Do(t, c).Header {
						if strings.HasPrefix(name, "Access-Control-") {
							t.Errorf("%s as %q has %s", c.Do, login, name)
						}
					}
				}
			}
		}
		s.Run(t, []apitest.Case{
			{Name: "a wrong token", Do: "GET /repos/keeper/plot",
				Headers: map[string]string{"Authorization": "Bearer arb_wrong"}, Status: 401},
			{Do: "GET /repos/keeper/plot", As: "keeper", Status: 200},
			{Do: "GET /keeper/plot", As: "keeper", Status: 200},
			{Do: "GET /docs", As: "keeper", Status: 200},
		})
		for login, want := range map[string]bool{"": false, "keeper": true} {
			clone := exec.Command("git", "-c", "credential.helper=", "ls-remote",
				s.Remote(t, login, "keeper/plot"))
			clone.Env = append(clone.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=/bin/false")
			if out, err := clone.CombinedOutput(); (err == nil) != want {
				t.Errorf("git as %q: %v %s", login, err, out)
			}
		}
	}, func(o *server.Options) { o.RequireToken = true })
}
