package repos_test

import (
	"os/exec"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
)

// A ref whose name begins like an option is a trap for every script that checks it out, and a branch or tag
// named HEAD makes HEAD stand for two things. No route, push or import makes one. Those from before can be read
// and deleted.
func TestMisleadingRefNames(t *testing.T) {
	t.Parallel()
	const at = "/repos/alice/plot"
	for _, c := range []struct {
		name      string
		imported  []string // refs that an import leaves out
		refused   []string
		says      string
		short     string // of a branch or tag
		old, gone string // refs from before; gone is deleted through the API
		others    []apitest.Case
	}{
		{"like options", []string{"refs/heads/-source", "refs/tags/-source"},
			[]string{"refs/heads/-x", "refs/heads/a/-x", "refs/tags/-x", "refs/heads/--upload-pack=x"},
			"begins with a dash", "-x", "heads/-old", "heads/-older", nil},
		{"HEAD", []string{"refs/heads/HEAD"}, []string{"refs/heads/HEAD", "refs/tags/HEAD"}, "named HEAD",
			"HEAD", "heads/HEAD", "tags/HEAD", []apitest.Case{
				{Do: "POST " + at + "/releases", As: "alice", Send: `{"tag_name": "HEAD"}`, Status: 422},
				{Name: "a part is no whole name", Do: "POST " + at + "/git/refs", As: "alice", Status: 201,
					Send: `{"ref": "refs/heads/a/HEAD", "sha": "{sha}"}`},
				{Do: "DELETE " + at + "/git/refs/heads/a/HEAD", As: "alice", Status: 204},
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				s.User(t, "alice")
				r := s.Repo(t, "alice/plot", false)
				s.Repo(t, "alice/empty", false)
				dir := gittest.Bare(t)
				gittest.Import(t, dir, strings.NewReader(
					gittest.CommitLine("main", 0, "x")+gittest.FileLines("f", "x")+"done\n"))
				sha := gittest.Run(t, dir, "rev-parse", "main")
				for _, ref := range c.imported {
					gittest.Run(t, dir, "update-ref", ref, sha)
				}
				s.Import(t, r, dir)
				alone := apitest.Case{Do: "GET " + at + "/git/refs", Status: 200,
					Want: `[{"ref": "refs/heads/main"}]`}
				s.Check(t, alone)
				for _, name := range c.refused {
					s.Check(t, apitest.Case{Do: "POST " + at + "/git/refs", As: "alice",
						Send: `{"ref": "` + name + `", "sha": "` + sha + `"}`, Status: 422})
					push := exec.Command("git", "-C", dir, "push", s.Remote(t, "alice", "alice/plot"), "main:"+name)
					out, err := push.CombinedOutput()
					if err == nil || !strings.Contains(string(out), c.says) {
						t.Errorf("a push to %s: %v %s", name, err, out)
					}
				}
				for _, other := range c.others {
					other.Send = strings.ReplaceAll(other.Send, "{sha}", sha)
					s.Check(t, other)
				}
				s.Run(t, []apitest.Case{
					{Do: "PUT /repos/alice/empty/contents/f", As: "alice",
						Send: `{"message": "m", "content": "eA==", "branch": "` + c.short + `"}`, Status: 422},
					{Do: "POST " + at + "/git/tags", As: "alice", Status: 422, Send: `{"tag": "` + c.short +
						`", "message": "m", "object": "` + sha + `", "type": "commit"}`},
				})
				s.Visit(t, "alice", "POST /alice/plot/branches", "name", c.short, "from", "main").
					Shows(t, 422, c.says)
				dbtest.Exec(t, s.DB, `INSERT INTO refs (repo_id, name, sha) VALUES ($1, $2, $4), ($1, $3, $4)`,
					r.ID, "refs/"+c.old, "refs/"+c.gone, sha)
				dbtest.Exec(t, s.DB, `UPDATE repos SET refs_generation = refs_generation + 1 WHERE id = $1`, r.ID)
				branch := strings.TrimPrefix(c.old, "heads/")
				s.Run(t, []apitest.Case{
					{Do: "GET " + at + "/git/ref/" + c.old, Status: 200},
					{Do: "GET " + at + "/branches/" + branch, Status: 200, Want: `{"commit": {"sha": "` + sha + `"}}`},
					{Do: "GET " + at + "/commits/" + branch, Status: 200},
					{Do: "GET " + at + "/contents/f?ref=" + branch, Status: 200},
					{Do: "PATCH " + at, As: "alice", Send: `{"default_branch": "` + branch + `"}`, Status: 422},
					{Do: "DELETE " + at + "/git/refs/" + c.gone, As: "alice", Status: 204},
				})
				gittest.Run(t, dir, "fetch", "-q", s.Remote(t, "", "alice/plot"), "refs/"+c.old)
				gittest.Run(t, dir, "push", "-q", s.Remote(t, "alice", "alice/plot"), ":refs/"+c.old)
				s.Check(t, alone)
			})
		})
	}
}
