package server_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// hole is a placeholder of a pattern.
var hole = regexp.MustCompile(`\{[^}]*\}`)

// addressesNotImplemented are the addresses of GitHub's API that the table of routes does not have.
func addressesNotImplemented(t *testing.T, s *apitest.Server) (list []string) {
	t.Helper()
	text, err := os.ReadFile("github.txt")
	testkit.NoError(t, err)
	known := map[string]bool{}
	for _, r := range s.Server.Routes() {
		known[hole.ReplaceAllString(r.Pattern, "{}")] = true
	}
	for _, address := range strings.Fields(string(text)) {
		first, _, _ := strings.Cut(address[1:], "/")
		if !known[hole.ReplaceAllString(address, "{}")] && account.CheckLogin(first) != nil &&
			!strings.Contains(address, "...") {
			list = append(list, address)
		}
	}
	if len(list) < 100 {
		t.Fatalf("only %d addresses are not implemented: the list was not read", len(list))
	}
	return list
}

// A bot that requests something unimplemented gets a message that says so for any method, and cannot learn
// which repositories exist (decisions 13, 65).
func TestAddressesNotImplemented(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		guild(t, s)
		for _, address := range addressesNotImplemented(t, s) {
			for _, method := range []string{"GET", "PUT"} {
				fill := func(repo string) string {
					path := strings.NewReplacer("{owner}", "guild", "{repo}", repo).Replace(address)
					return method + " " + hole.ReplaceAllString(path, "x")
				}
				want := "Not Found: this server does not have " + method + " " + address + " of GitHub's API"
				named := s.Do(t, apitest.Case{Do: fill("hall"), As: "stranger"})
				if named.Status != 404 || !strings.Contains(hole.ReplaceAllString(string(named.Body[1:]),
					"{}"), hole.ReplaceAllString(want, "{}")) {
					t.Errorf("%s: %d %s", fill("hall"), named.Status, named.Body)
				}
				if method != "GET" {
					if a := s.Do(t, apitest.Case{Do: fill("hall")}); a.Status != 401 {
						t.Errorf("%s: %d for nobody, want 401", fill("hall"), a.Status)
					}
				}
				if !strings.HasPrefix(address, "/repos/{owner}/{repo}/") {
					continue
				}
				hidden, absent := s.Do(t, apitest.Case{Do: fill("vault"), As: "stranger"}),
					s.Do(t, apitest.Case{Do: fill("nowhere"), As: "stranger"})
				if hidden.Status != 404 || !bytes.Equal(hidden.Body, absent.Body) ||
					bytes.Contains(hidden.Body, []byte("does not have")) {
					t.Errorf("%s: %d %s\nof an absent one: %s", fill("vault"), hidden.Status,
						hidden.Body, absent.Body)
				}
			}
		}
	})
}

// What ends as an address of GitHub's is that; a branch of such a name is asked for with its slash
// escaped, as clients do. Everything else behind a wildcard stays a name.
func TestNotImplementedBelowNames(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		var sha string
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/a", As: "alice",
			Send: `{"message": "m", "content": "eA=="}`, Status: 201,
			Keep: func(a *apitest.Answer) {
				sha = regexp.MustCompile(`"commit":\{"sha":"([0-9a-f]{40})"`).FindStringSubmatch(
					string(a.Body))[1]
			}})
		for _, branch := range []string{"x/protection", "check-runs", "deep/in/it/check-suites",
			"z/protection/y"} {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/refs", As: "alice", Status: 201,
				Send: `{"ref": "refs/heads/` + branch + `", "sha": "` + sha + `"}`})
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/garden/branches/a/b/protection/restrictions/users", As: "alice", Status: 404,
				Want: `{"message": "Branch not found"}`},
			{Do: "GET /repos/alice/garden/branches/x/protection", As: "alice", Status: 404,
				Want: `{"message": "Branch not found"}`},
			{Do: "GET /repos/alice/garden/branches/x%2Fprotection/protection", As: "alice", Status: 404,
				Want: `{"message": "Branch not protected"}`},
			{Do: "GET /repos/alice/garden/branches/x%2Fprotection", Status: 200,
				Want: `{"name": "x/protection",
				"_links": {"self": "{base}/repos/alice/garden/branches/x%2Fprotection"}}`},
			{Do: "GET /repos/alice/garden/branches/z/protection/y", Status: 200,
				Want: `{"name": "z/protection/y"}`},
			{Do: "GET /repos/alice/garden/branches/check-runs", Status: 200},
			{Do: "GET /repos/alice/garden/commits/check-runs", Status: 200},
			{Do: "GET /repos/alice/garden/commits/deep%2Fin%2Fit%2Fcheck-suites", Status: 200},
			{Do: "GET /repos/alice/garden/commits/x%2Fprotection/status", Status: 200},
			{Do: "OPTIONS /repos/alice/garden/branches/main/protection", Status: 204,
				Has: map[string]string{"Allow": "DELETE, GET, HEAD, OPTIONS, PUT"}},
			{Do: "GET /repos/alice/nothing/commits/main/check-runs", Status: 404,
				Want: `{"message": "Not Found"}`},
			{Name: "ids for clients of GitHub", Do: "GET /users/alice", Status: 200,
				Keep: func(a *apitest.Answer) {
					if id := a.Header.Get("X-GitHub-Request-Id"); id == "" ||
						id != a.Header.Get("X-Request-Id") {
						t.Errorf("the ids are %q and %q", id, a.Header.Get("X-Request-Id"))
					}
				}},
			{Do: "GET /gists/public", Status: 404,
				Want: `{"message": "Not Found: this server does not have GET /gists/public of GitHub's API"}`},
		})
	})
}
