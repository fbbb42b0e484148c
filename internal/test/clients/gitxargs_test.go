//go:build long

package clients

import (
	"os/exec"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// git-xargs changes all repositories of an organization by a command: it clones each, pushes a branch, opens a pull
// request and requests a review. Archived repositories, and those that the command leaves as they were, have none.
func TestGitXargs(t *testing.T) {
	t.Parallel()
	program := program{name: "git-xargs", module: "github.com/gruntwork-io/git-xargs@v0.1.16", dir: "."}.build(t)
	s := apitest.StartOn(t, db.SQLite, "127.0.0.1:0")
	s.Users(t, "alice", "bob")
	s.Org(t, "garden", "alice")
	for _, name := range []string{"plot", "shed", "old", "tidy"} {
		at := "/repos/garden/" + name
		s.Grant(t, s.Repo(t, "garden/"+name, true), "bob", account.Push)
		s.Ask(t, "alice", "PUT "+at+"/contents/README.md", `{"message": "Begin", "content": "YQ=="}`, 201)
	}
	s.Ask(t, "alice", "PUT /repos/garden/tidy/contents/note", `{"message": "Note", "content": "eWVzCg=="}`, 201)
	s.Ask(t, "alice", "PATCH /repos/garden/old", `{"archived": true}`, 200)

	cmd := exec.CommandContext(t.Context(), program, "--github-org", "garden", "--branch-name", "notes",
		"--commit-message", "Add a note", "--pull-request-title", "Notes", "--pull-request-description", "For all.",
		"--reviewers", "bob", "--skip-archived-repos", "--no-skip-ci", "--seconds-between-prs", "1", "sh", "-c", "echo yes > note")
	cmd.Dir = t.TempDir()
	cmd.Env = environment(append(behindTLS(t, s), "GITHUB_OAUTH_TOKEN="+s.Token(t, "alice"),
		"GITHUB_HOSTNAME=hub.example.org", "TMPDIR="+cmd.Dir)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git-xargs: %v\n%s", err, out)
	}
	for name, want := range map[string]string{"old": `[]`, "tidy": `[]`, "plot": `[{"title": "Notes", "body": "For all.",
		"head": {"ref": "notes"}, "base": {"ref": "main"}, "requested_reviewers": [{"login": "bob"}]}]`,
		"shed": `[{"title": "Notes", "user": {"login": "alice"}}]`} {
		s.Check(t, apitest.Case{Do: "GET /repos/garden/" + name + "/pulls", As: "alice", Status: 200, Want: want})
	}
	s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/contents/note?ref=notes", As: "alice", Status: 200,
		Want: `{"content": "eWVzCg==\n"}`})
}
