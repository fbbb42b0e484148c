package repos_test

import (
	"os/exec"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// A branch or tag named HEAD would make HEAD stand for two things: git itself makes none. No route, push or
// import does either. Those from before can be read and deleted.
func TestRefsNamedHEAD(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		r := s.Repo(t, "alice/plot", false)
		s.Repo(t, "alice/empty", false)
		dir := gittest.Bare(t)
		gittest.Import(t, dir, strings.NewReader(
			gittest.CommitLine("main", 0, "x")+gittest.FileLines("f", "x")+"done\n"))
		sha := gittest.Run(t, dir, "rev-parse", "main")
		gittest.Run(t, dir, "update-ref", "refs/heads/HEAD", sha)
		s.Import(t, r, dir)
		const at = "/repos/alice/plot"
		s.Check(t, apitest.Case{Name: "an import leaves it out", Do: "GET " + at + "/git/refs", Status: 200,
			Want: `[{"ref": "refs/heads/main"}]`})
		for _, name := range []string{"refs/heads/HEAD", "refs/tags/HEAD"} {
			s.Check(t, apitest.Case{Do: "POST " + at + "/git/refs", As: "alice",
				Send: `{"ref": "` + name + `", "sha": "` + sha + `"}`, Status: 422})
			push := exec.Command("git", "-C", dir, "push", s.Remote(t, "alice", "alice/plot"), "main:"+name)
			out, err := push.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "named HEAD") {
				t.Errorf("a push to %s: %v %s", name, err, out)
			}
		}
		s.Run(t, []apitest.Case{
			{Do: "PUT /repos/alice/empty/contents/f", As: "alice",
				Send: `{"message": "m", "content": "eA==", "branch": "HEAD"}`, Status: 422},
			{Do: "POST " + at + "/git/tags", As: "alice", Status: 422,
				Send: `{"tag": "HEAD", "message": "m", "object": "` + sha + `", "type": "commit"}`},
			{Do: "POST " + at + "/releases", As: "alice", Send: `{"tag_name": "HEAD"}`, Status: 422},
			{Name: "a part is no whole name", Do: "POST " + at + "/git/refs", As: "alice", Status: 201,
				Send: `{"ref": "refs/heads/a/HEAD", "sha": "` + sha + `"}`},
			{Do: "DELETE " + at + "/git/refs/heads/a/HEAD", As: "alice", Status: 204},
		})
		s.Visit(t, "alice", "POST /alice/plot/branches", "name", "HEAD", "from", "main").
			Shows(t, 422, "named HEAD")
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO refs (repo_id, name, sha)
				VALUES ($1, 'refs/heads/HEAD', $2), ($1, 'refs/tags/HEAD', $2)`, r.ID, sha)
			if err == nil {
				_, err = tx.Exec(`UPDATE repos SET refs_generation = refs_generation + 1 WHERE id = $1`, r.ID)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + at + "/git/ref/heads/HEAD", Status: 200},
			{Do: "PATCH " + at, As: "alice", Send: `{"default_branch": "HEAD"}`, Status: 422},
			{Do: "DELETE " + at + "/git/refs/tags/HEAD", As: "alice", Status: 204},
		})
		gittest.Run(t, dir, "push", "-q", s.Remote(t, "alice", "alice/plot"), ":refs/heads/HEAD")
		s.Check(t, apitest.Case{Do: "GET " + at + "/git/refs", Status: 200,
			Want: `[{"ref": "refs/heads/main"}]`})
	})
}
