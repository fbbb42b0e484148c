//go:build long

package clients

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

var (
	tofu = program{name: "tofu", module: "github.com/opentofu/opentofu@v1.10.6", dir: "./cmd/tofu"}
	// githubProvider is of this version since the Go module proxy has no other.
	githubProvider = program{name: "terraform-provider-github",
		module: "github.com/integrations/terraform-provider-github/v6@v6.6.0", dir: ".",
		sums: `github.com/integrations/terraform-provider-github/v6 v6.6.0 h1:nUCD7TVtF65VlA5BjYSZYYrX6QsY+dYU00s5Da2Mck0=
github.com/integrations/terraform-provider-github/v6 v6.6.0/go.mod h1:nrzqmLxqXepsy9PnXgKpHW7UNXOVEOr0WyCvUbs8FZE=
`}
)

// OpenTofu with GitHub's provider makes an organization what testdata/tofu says, changes it, and destroys all
// of it. After each step its plan is empty: the server answers with what was written.
func TestOpenTofu(t *testing.T) {
	t.Parallel()
	program, provider := tofu.build(t), githubProvider.build(t)
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "bob", "carol", "dave", "erin")
	s.Org(t, "garden", "alice")
	robot := s.Bot(t, "robot", "garden", "checks=write,contents=write,statuses=write")
	dir := t.TempDir()
	testkit.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "tofu"))))
	config := filepath.Join(dir, "tofurc")
	linked := filepath.Join(dir, "provider", "terraform-provider-github")
	testkit.NoError(t, os.Mkdir(filepath.Dir(linked), 0o755))
	testkit.NoError(t, os.Symlink(provider, linked))
	testkit.NoError(t, os.WriteFile(config, fmt.Appendf(nil,
		"provider_installation {\n  dev_overrides {\n    \"integrations/github\" = %q\n  }\n}\n",
		filepath.Dir(linked)), 0o600))
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, append(args, "-no-color", "-input=false")...)
		cmd.Dir = dir
		cmd.Env = environment("TF_CLI_CONFIG_FILE="+config, "GITHUB_TOKEN="+s.Token(t, "alice"),
			"TF_VAR_url="+s.URL+"/", fmt.Sprintf("TF_VAR_robot=%d", robot.ID), "CHECKPOINT_DISABLE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("tofu %q: %v\n%s", args, err, out)
		}
	}
	for _, changed := range []string{"-var=changed=false", "-var=changed=true"} {
		run("apply", "-auto-approve", changed)
		run("plan", "-detailed-exitcode", changed) // 2 if there is something left to do
	}
	s.Run(t, []apitest.Case{
		{Do: "GET /orgs/garden", As: "alice", Status: 200,
			Want: `{"name": "The Large Garden", "default_repository_permission": "read"}`},
		{Do: "GET /orgs/garden/teams", As: "alice", Status: 200, Want: `[{"name": "Growers"},
			{"name": "Sowers", "parent": {"name": "Growers"}}, {"name": "Wardens", "privacy": "secret"}]`},
		{Do: "GET /repos/garden/plot/branches/main/protection", As: "alice", Status: 200,
			Want: `{"required_signatures": {"enabled": true}, "required_status_checks": {"contexts": ["lint", "build"]},
				"restrictions": {"teams": [{"slug": "growers"}]}}`},
		{Do: "GET /repos/garden/shed/branches/trunk/protection", As: "alice", Status: 200,
			Want: `{"restrictions": {"apps": [{"slug": "robot"}]}}`},
		{Do: "GET /orgs/garden/rulesets", As: "alice", Status: 200, Want: `[{"name": "all"}]`},
	})
	run("destroy", "-auto-approve", "-var=changed=true")
	for _, list := range []string{"repos", "teams", "rulesets", "hooks", "invitations", "outside_collaborators"} {
		s.Check(t, apitest.Case{Do: "GET /orgs/garden/" + list, As: "alice", Status: http.StatusOK, Want: `[]`})
	}
	s.Check(t, apitest.Case{Do: "GET /orgs/garden/members", As: "alice", Status: 200, Want: `[{"login": "alice"}]`})
	s.Check(t, apitest.Case{Do: "GET /orgs/garden", As: "alice", Status: 200,
		Want: `{"name": null, "description": null, "default_repository_permission": "read"}`})
}
