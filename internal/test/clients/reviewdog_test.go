//go:build long

package clients

import (
	"os/exec"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// reviewdog, which turns what linters find into checks and reviews, does its whole job with the token of an
// App.
func TestGHReviewdog(t *testing.T) {
	t.Parallel()
	dog := program{name: "reviewdog", module: "github.com/reviewdog/reviewdog@v0.20.1", dir: "./cmd/reviewdog"}.build(t)
	s := apitest.StartOn(t, db.SQLite, "127.0.0.1:0")
	s.User(t, "alice")
	r := s.Repo(t, "alice/garden", false)
	s.Import(t, r, gittest.Repository(t, 3, 2))
	s.Bot(t, "dog", "alice", "checks=write,contents=write,pull_requests=write")
	const garden = "/repos/alice/garden"
	var main struct{ Object struct{ SHA string } }
	s.Check(t, apitest.Case{Do: "GET " + garden + "/git/ref/heads/main", Status: 200}).JSON(t, &main)
	s.Check(t, apitest.Case{Do: "POST " + garden + "/git/refs", As: "alice",
		Send: `{"ref": "refs/heads/fence", "sha": "` + main.Object.SHA + `"}`, Status: 201})
	var made struct{ Commit struct{ SHA string } }
	s.Check(t, apitest.Case{Do: "PUT " + garden + "/contents/wood", As: "alice", Status: 201,
		Send: `{"message": "Wood", "content": "b25lCnR3bwo=", "branch": "fence"}`}).JSON(t, &made)
	s.Check(t, apitest.Case{Do: "POST " + garden + "/pulls", As: "alice",
		Send: `{"title": "Fence", "head": "fence", "base": "main"}`, Status: 201})
	dir := t.TempDir()
	gittest.Run(t, dir, "clone", "-q", "-b", "fence", s.URL+"/alice/garden.git", ".")
	for _, reporter := range []string{"github-check", "github-pr-check", "github-pr-review"} {
		cmd := exec.CommandContext(t.Context(), dog, "-efm=%f:%l: %m", "-name="+reporter,
			"-reporter="+reporter, "-filter-mode=nofilter")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader("wood:2: not two\n")
		cmd.Env = environment("REVIEWDOG_GITHUB_API_TOKEN="+s.Token(t, "dog[bot]"),
			"GITHUB_API="+s.URL+"/api/v3/", "CI_PULL_REQUEST=1", "CI_REPO_OWNER=alice", "CI_REPO_NAME=garden",
			"CI_COMMIT="+made.Commit.SHA, "CI_BRANCH=fence", "REVIEWDOG_SKIP_DOGHOUSE=true")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", reporter, err, out)
		}
	}
	s.Run(t, []apitest.Case{
		{Do: "GET " + garden + "/commits/fence/check-runs", Status: 200,
			Want: `{"total_count": 2, "check_runs": [
			{"name": "github-pr-check", "status": "completed", "app": {"slug": "dog"}, "output": {"annotations_count": 1}},
			{"name": "github-check", "status": "completed", "output": {"annotations_count": 1}}]}`},
		{Do: "GET " + garden + "/check-runs/1/annotations", Status: 200,
			Want: `[{"path": "wood", "start_line": 2, "message": "not two"}]`},
		{Do: "GET " + garden + "/pulls/1/comments", Status: 200,
			Want: `[{"path": "wood", "user": {"login": "dog[bot]"}}]`},
	})
}
