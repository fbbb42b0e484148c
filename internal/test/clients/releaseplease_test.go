//go:build long

package clients

import (
	"os/exec"
	"path/filepath"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/npm"
)

// release-please proposes the next release as a pull request, made of the messages of the commits since the
// last one; once that is merged it makes the tag and the release. Histories with their pull requests it asks
// for by GraphQL.
func TestReleasePlease(t *testing.T) {
	t.Parallel()
	need(t, "release-please", "nodejs npm", "node", "npm")
	packages := npm.Install(t, filepath.Join("testdata", "release-please"))
	program := filepath.Join(packages, "node_modules", "release-please", "build", "src", "bin",
		"release-please.js")
	s := apitest.Start(t, db.SQLite)
	againstGitHubs(t, s)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	do := func(do, send string, status int) {
		t.Helper()
		s.Check(t, apitest.Case{Do: do, As: "alice", Send: send, Status: status})
	}
	run := func(command string) {
		t.Helper()
		node := exec.CommandContext(t.Context(), "node", program, command, "--token="+s.Token(t, "alice"),
			"--repo-url=alice/garden", "--api-url="+s.URL+"/api/v3", "--graphql-url="+s.URL+"/api",
			"--release-type=simple", "--target-branch=main")
		node.Dir = t.TempDir()
		node.Env = environment("HOME=" + node.Dir)
		if out, err := node.CombinedOutput(); err != nil {
			t.Fatalf("release-please %s: %v\n%s", command, err, out)
		}
	}
	do("PUT /repos/alice/garden/contents/version.txt", contents(t, "0.0.0\n"), 201)
	do("PUT /repos/alice/garden/contents/peas", `{"message": "feat: peas climb", "content": "YQ=="}`, 201)
	run("release-pr")
	run("release-pr") // which leaves it as it is
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/pulls", As: "alice", Status: 200,
		Want: `[{"number": 1, "title": "chore(main): release 1.0.0", "labels": [{"name": "autorelease: pending"}]}]`})
	do("PUT /repos/alice/garden/pulls/1/merge", `{"merge_method": "squash"}`, 200)
	run("github-release")
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/releases", As: "alice", Status: 200,
		Want: `[{"tag_name": "v1.0.0", "draft": false}]`})

	// Commits of a pull request are listed with its number.
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues/1", As: "alice", Status: 200,
		Want: `{"labels": [{"name": "autorelease: tagged"}]}`})
	do("PUT /repos/alice/garden/contents/slugs",
		`{"message": "fix: slugs are kept out", "content": "YQ=="}`, 201)
	run("release-pr")
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/pulls", As: "alice", Status: 200,
		Want: `[{"number": 2, "title": "chore(main): release 1.0.1"}]`})
}
