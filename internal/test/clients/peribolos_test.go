//go:build long

package clients

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// peribolos makes an organization what a file says: profile, members, nested teams and repositories. Once more
// it finds nothing to do, and when the file has changed, only that.
func TestPeribolos(t *testing.T) {
	t.Parallel()
	p := program{name: "peribolos", module: "sigs.k8s.io/prow@v0.0.0-20240619181241-cfb8754e0459",
		dir: "./cmd/peribolos"}.build(t)
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "bob", "carol", "dave", "erin")
	s.Org(t, "garden", "alice")
	for _, login := range []string{"bob", "erin"} {
		s.Ask(t, "alice", "PUT /orgs/garden/memberships/"+login, `{"role": "admin"}`, http.StatusOK)
	}
	s.Ask(t, "alice", "POST /orgs/garden/repos", `{"name": "old-shed", "private": true}`, http.StatusCreated)
	s.Ask(t, "alice", "POST /orgs/garden/teams", `{"name": "Left"}`, http.StatusCreated)

	writes := func(name string) []string {
		t.Helper()
		before := len(s.Log.Requests())
		runPeribolos(t, s, p, filepath.Join("testdata", "peribolos", name))
		s.Ask(t, "alice", "GET /user", "", http.StatusOK) // logged after all that peribolos asked
		var all []string
		for _, q := range s.Log.Requests()[before:] {
			if q.Method != http.MethodGet {
				all = append(all, q.Method+" "+q.Route)
			}
		}
		return all
	}
	if len(writes("garden.yaml")) == 0 {
		t.Error("nothing was written at first")
	}
	s.Run(t, []apitest.Case{
		{Do: "GET /orgs/garden", As: "alice", Status: 200, Want: `{"name": "The Garden", "description": "Of plants",
			"email": "hello@example.org", "location": "Earth", "default_repository_permission": "none",
			"members_can_create_repositories": true, "billing_email": "bills@example.org"}`},
		{Do: "GET /orgs/garden/members?role=admin", As: "alice", Status: 200,
			Want: `[{"login": "alice"}, {"login": "bob"}]`},
		{Do: "GET /orgs/garden/members?role=member", As: "alice", Status: 200,
			Want: `[{"login": "carol"}, {"login": "dave"}]`},
		{Do: "GET /orgs/garden/teams", As: "alice", Status: 200, Want: `[
			{"name": "Growers", "privacy": "closed", "description": "All that grows"},
			{"name": "Keepers", "privacy": "secret"}, {"name": "Sowers", "parent": {"slug": "growers"}}]`},
		{Do: "GET /orgs/garden/teams/sowers/members?role=maintainer", As: "alice", Status: 200,
			Want: `[{"login": "bob"}]`},
		{Do: "GET /orgs/garden/teams/sowers/members?role=member", As: "alice", Status: 200,
			Want: `[{"login": "dave"}]`},
		{Do: "GET /orgs/garden/teams/sowers/repos", As: "alice", Status: 200,
			Want: `[{"name": "plot", "role_name": "maintain"}]`},
		{Do: "GET /repos/garden/shed", As: "alice", Status: 200,
			Want: `{"private": true, "allow_merge_commit": false}`},
	})
	if again := writes("garden.yaml"); again != nil {
		t.Errorf("the same file once more wrote %q", again)
	}
	want := []string{"DELETE /orgs/{org}/teams/{team_slug}/memberships/{username}",
		"PATCH /orgs/{org}", "PATCH /orgs/{org}/teams/{team_slug}", "PUT /orgs/{org}/memberships/{username}"}
	changed := writes("changed.yaml")
	slices.Sort(changed)
	if !slices.Equal(changed, want) {
		t.Errorf("the changed file wrote %q, want %q", changed, want)
	}
	if again := writes("changed.yaml"); again != nil {
		t.Errorf("the changed file once more wrote %q", again)
	}
}

func runPeribolos(t *testing.T, s *apitest.Server, program, file string) {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	testkit.NoError(t, os.WriteFile(token, []byte(s.Token(t, "alice")), 0o600))
	cmd := exec.CommandContext(t.Context(), program, "--confirm", "--config-path="+file,
		"--github-endpoint="+s.URL+"/api/v3", "--github-graphql-endpoint="+s.URL+"/api/graphql",
		"--github-token-path="+token, "--min-admins=2", "--fix-org", "--fix-org-members", "--fix-teams",
		"--fix-team-members",
		"--fix-team-repos", "--fix-repos", "--maximum-removal-delta=1", "--github-hourly-tokens=0",
		"--github-allowed-burst=0", "--github-client.max-404-retries=0", "--github-client.max-retries=0")
	cmd.Env = environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("peribolos: %v\n%s", err, out)
	}
}
