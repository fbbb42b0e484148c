//go:build long

package clients

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/npm"
	"arbor/internal/test/testkit"
)

// renovate looks for newer versions in the tags of a repository, and opens a pull request for one; run once
// more it leaves that as it is. It asks by GraphQL for the repository, for its issues and for tags. The branch is
// protected, so it has the server merge the pull request, which happens once the check has succeeded.
func TestRenovate(t *testing.T) {
	t.Parallel()
	need(t, "renovate", "nodejs npm git", "node", "npm", "git")
	packages := npm.Install(t, filepath.Join("testdata", "renovate"))
	s := apitest.Start(t, db.SQLite)
	againstGitHubs(t, s)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	s.Repo(t, "alice/seeds", false)
	settings, err := json.Marshal(map[string]any{"automerge": true, "platformAutomerge": true,
		"customManagers": []any{map[string]any{
			"customType": "regex", "fileMatch": []string{"^seeds\\.txt$"},
			"matchStrings":       []string{"(?<depName>\\S+) (?<currentValue>\\S+)"},
			"datasourceTemplate": "github-tags", "registryUrlTemplate": s.URL,
		}}})
	testkit.NoError(t, err)
	sha := func(answer *apitest.Answer) string {
		var made struct {
			SHA    string
			Commit struct{ SHA string }
		}
		testkit.NoError(t, json.Unmarshal(answer.Body, &made))
		return made.SHA + made.Commit.SHA
	}
	do := func(do, send string, status int) *apitest.Answer {
		t.Helper()
		return s.Check(t, apitest.Case{Do: do, As: "alice", Send: send, Status: status})
	}
	do("PATCH /user", `{"name": "Alice", "email": "alice@example.org"}`, 200)
	do("PUT /repos/alice/garden/contents/renovate.json", contents(t, string(settings)), 201)
	do("PUT /repos/alice/garden/contents/seeds.txt", contents(t, "alice/seeds v1.0.0\n"), 201)
	do("PATCH /repos/alice/garden", `{"allow_auto_merge": true}`, 200)
	do("PUT /repos/alice/garden/branches/main/protection", `{"required_status_checks": {"strict": true,
		"contexts": ["build"]}, "enforce_admins": true, "required_pull_request_reviews": null, "restrictions": null}`, 200)
	first := sha(do("PUT /repos/alice/seeds/contents/peas", contents(t, "1\n"), 201))
	second := sha(do("PUT /repos/alice/seeds/contents/beans", contents(t, "2\n"), 201))
	annotated := sha(do("POST /repos/alice/seeds/git/tags",
		`{"tag": "v1.1.0", "message": "Beans", "object": "`+second+`", "type": "commit"}`, 201))
	for tag, of := range map[string]string{"v1.0.0": first, "v1.1.0": annotated} {
		do("POST /repos/alice/seeds/git/refs", `{"ref": "refs/tags/`+tag+`", "sha": "`+of+`"}`, 201)
	}
	for range 2 {
		node := exec.CommandContext(t.Context(), "node",
			filepath.Join(packages, "node_modules", "renovate", "dist", "renovate.js"), "alice/garden")
		node.Dir = t.TempDir()
		node.Env = environment("LOG_LEVEL=debug", "LOG_FORMAT=json", "RENOVATE_BASE_DIR="+node.Dir,
			"RENOVATE_PLATFORM=github", "RENOVATE_ENDPOINT="+s.URL+"/api/v3/",
			"RENOVATE_TOKEN="+s.Token(t, "alice"), "HOME="+node.Dir,
			"RENOVATE_GITHUB_COM_TOKEN=unused") // without one it looks for no tags, wherever they are
		out, err := node.Output()
		if err != nil || strings.Contains(string(out), "GraphQL Error") {
			t.Fatalf("renovate: %v\n%s", err, out)
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/pulls", As: "alice", Status: 200,
			Want: `[{"number": 1, "title": "Update dependency alice/seeds to v1.1.0", "user": {"login": "alice"}}]`})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/pulls/1/files", As: "alice", Status: 200,
			Want: `[{"filename": "seeds.txt", "additions": 1, "deletions": 1}]`})
	}
	var pull struct{ Head struct{ SHA string } }
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/pulls/1", As: "alice", Status: 200,
		Want: `{"mergeable_state": "blocked", "auto_merge": {"enabled_by": {"login": "alice"}}}`}).JSON(t, &pull)
	do("POST /repos/alice/garden/statuses/"+pull.Head.SHA, `{"state": "success", "context": "build"}`, 201)
	testkit.Eventually(t, func() bool {
		return s.Do(t, apitest.Case{Do: "GET /repos/alice/garden/pulls/1/merge", As: "alice"}).Status == 204
	}, "the pull request is merged")
}

// contents is what PUT /repos/{owner}/{repo}/contents/{path} takes for a file.
func contents(t *testing.T, text string) string {
	t.Helper()
	send, err := json.Marshal(map[string]any{"message": "Plant", "content": []byte(text)})
	testkit.NoError(t, err)
	return string(send)
}
