//go:build long

package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/npm"
	"arbor/internal/test/testkit"
)

// A pipeline releases with semantic-release: from the messages of commits it makes the next
// version, pushes its tag, and publishes a release with notes and a file. It comments on the pull request
// that the release has, and on the issue that it closes: it finds both by GraphQL.
func TestSemanticRelease(t *testing.T) {
	t.Parallel()
	need(t, "semantic-release", "nodejs npm git", "node", "npm", "git")
	packages := npm.Install(t, filepath.Join("testdata", "semantic-release"))
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	work := t.TempDir()
	write(t, filepath.Join(work, "seeds.txt"), "peas\n")
	write(t, filepath.Join(work, "package.json"), releaseSettings(t, s.URL+"/alice/garden.git"))
	gittest.Run(t, work, "init", "-q", "-b", "main")
	gittest.Run(t, work, "remote", "add", "origin", s.URL+"/alice/garden.git")
	push := "http://x:" + s.Token(t, "alice") + "@" + strings.TrimPrefix(s.URL,
		"http://") + "/alice/garden.git"
	commit := func(message string) {
		gittest.Run(t, work, "add", ".")
		gittest.Run(t, work, "commit", "-q", "--allow-empty", "-m", message)
		gittest.Run(t, work, "push", "-q", push, "main")
		semanticRelease(t, s, work, packages)
	}
	commit("feat: peas climb")
	commit("fix: slugs are kept out")
	commit("docs: nothing that anybody would install")
	for _, c := range []apitest.Case{
		{Do: "POST /repos/alice/garden/issues", Send: `{"title": "Beans"}`, Status: 201},
		{Do: "POST /repos/alice/garden/git/refs",
			Send:   `{"ref": "refs/heads/beans", "sha": "` + gittest.Run(t, work, "rev-parse", "HEAD") + `"}`,
			Status: 201},
		{Do: "PUT /repos/alice/garden/contents/beans",
			Send:   `{"message": "fix: beans climb, too\n\nFixes #1", "content": "YQ==", "branch": "beans"}`,
			Status: 201},
		{Do: "POST /repos/alice/garden/pulls",
			Send: `{"title": "Beans", "head": "beans", "base": "main", "body": "Fixes #1"}`, Status: 201},
		{Do: "PUT /repos/alice/garden/pulls/2/merge", Send: `{"merge_method": "rebase"}`, Status: 200},
	} {
		c.As = "alice"
		s.Check(t, c)
	}
	gittest.Run(t, work, "pull", "-q", "--rebase", push, "main")
	semanticRelease(t, s, work, packages)
	for _, number := range []string{"1", "2"} {
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues/" + number + "/comments",
			As: "alice", Status: 200,
			Want: `[{"user": {"login": "alice"}}]`})
	}

	var list []struct {
		Tag    string `json:"tag_name"`
		Draft  bool
		Body   string
		Assets []struct{ Name string }
	}
	answer := s.Do(t, apitest.Case{Do: "GET /repos/alice/garden/releases", As: "alice"})
	if err := json.Unmarshal(answer.Body, &list); err != nil || len(list) != 3 {
		t.Fatalf("releases: %v, %s", err, answer.Body)
	}
	for i, want := range []struct{ tag, note string }{{"v1.0.2", "beans climb"},
		{"v1.0.1", "slugs are kept out"}, {"v1.0.0", "peas climb"}} {
		r := list[i]
		if r.Tag != want.tag || r.Draft || !strings.Contains(r.Body, want.note) || len(r.Assets) != 1 ||
			r.Assets[0].Name != "seeds.txt" {
			t.Errorf("a release is %+v, not %+v with seeds.txt", r, want)
		}
	}
}

// releaseSettings is a package that semantic-release releases at the server alone.
func releaseSettings(t *testing.T, origin string) string {
	t.Helper()
	quiet := map[string]any{"assets": []string{"seeds.txt"}, "failCommentCondition": false}
	settings, err := json.Marshal(map[string]any{
		"name": "garden", "version": "0.0.0-development", "private": true,
		"repository": map[string]any{"type": "git", "url": origin},
		"release": map[string]any{"branches": []string{"main"}, "plugins": []any{
			"@semantic-release/commit-analyzer", "@semantic-release/release-notes-generator",
			[]any{"@semantic-release/github", quiet},
		}},
	})
	testkit.NoError(t, err)
	return string(settings)
}

func semanticRelease(t *testing.T, s *apitest.Server, work, packages string) {
	t.Helper()
	program := filepath.Join(packages, "node_modules", "semantic-release", "bin", "semantic-release.js")
	node := exec.CommandContext(t.Context(), "node", program, "--no-ci")
	node.Dir = work
	node.Env = environment("GITHUB_URL="+s.URL, "GITHUB_API_URL="+s.URL+"/api/v3",
		"GITHUB_TOKEN="+s.Token(t, "alice"))
	if out, err := node.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	testkit.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}
