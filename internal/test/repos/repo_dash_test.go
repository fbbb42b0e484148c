package repos_test

import (
	"os/exec"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// A ref whose name begins like an option is a trap for every script that checks
// it out. No route, push or import makes one. Those from before can be read and deleted.
func TestRefsThatLookLikeOptions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		r := s.Repo(t, "alice/plot", false)
		s.Repo(t, "alice/empty", false)
		dir := gittest.Bare(t)
		gittest.Import(t, dir, strings.NewReader(
			gittest.CommitLine("main", 0, "x")+gittest.FileLines("f", "x")+"done\n"))
		sha := gittest.Run(t, dir, "rev-parse", "main")
		gittest.Run(t, dir, "update-ref", "refs/heads/-source", sha)
		gittest.Run(t, dir, "update-ref", "refs/tags/-source", sha)
		s.Import(t, r, dir)
		const at = "/repos/alice/plot"
		s.Check(t, apitest.Case{Name: "an import leaves them out", Do: "GET " + at + "/git/refs", Status: 200,
			Want: `[{"ref": "refs/heads/main"}]`})
		for _, name := range []string{
			"refs/heads/-x", "refs/heads/a/-x", "refs/tags/-x", "refs/heads/--upload-pack=x",
		} {
			s.Check(t, apitest.Case{Do: "POST " + at + "/git/refs", As: "alice",
				Send: `{"ref": "` + name + `", "sha": "` + sha + `"}`, Status: 422})
			push := exec.Command("git", "-C", dir, "push", s.Remote(t, "alice", "alice/plot"), "main:"+name)
			out, err := push.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "begins with a dash") {
				t.Errorf("a push to %s: %v %s", name, err, out)
			}
		}
		s.Run(t, []apitest.Case{
			{Do: "PUT /repos/alice/empty/contents/f", As: "alice",
				Send: `{"message": "m", "content": "eA==", "branch": "-x"}`, Status: 422},
			{Do: "POST " + at + "/git/tags", As: "alice", Status: 422,
				Send: `{"tag": "-x", "message": "m", "object": "` + sha + `", "type": "commit"}`},
		})
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO refs (repo_id, name, sha)
				VALUES ($1, 'refs/heads/-old', $2), ($1, 'refs/heads/-older', $2)`, r.ID, sha)
			if err == nil {
				_, err = tx.Exec(`UPDATE repos SET refs_generation = refs_generation + 1 WHERE id = $1`, r.ID)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + at + "/git/ref/heads/-old", Status: 200},
			{Do: "GET " + at + "/branches/-old", Status: 200, Want: `{"commit": {"sha": "` + sha + `"}}`},
			{Do: "GET " + at + "/commits/-old", Status: 200},
			{Do: "GET " + at + "/contents/f?ref=-old", Status: 200},
			{Do: "PATCH " + at, As: "alice", Send: `{"default_branch": "-old"}`, Status: 422},
			{Do: "DELETE " + at + "/git/refs/heads/-older", As: "alice", Status: 204},
		})
		gittest.Run(t, dir, "fetch", "-q", s.Remote(t, "", "alice/plot"), "refs/heads/-old")
		gittest.Run(t, dir, "push", "-q", s.Remote(t, "alice", "alice/plot"), ":refs/heads/-old")
		s.Check(t, apitest.Case{Do: "GET " + at + "/git/refs", Status: 200,
			Want: `[{"ref": "refs/heads/main"}]`})
	})
}
