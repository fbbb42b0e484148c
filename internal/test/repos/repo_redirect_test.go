package repos_test

import (
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// Somebody who renamed a repository finds clones, links and scripts still working: an old address leads to the
// new one however it is spelt, and only there, until another repository takes the name (decision 54).
func TestRename(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Import(t, s.Repo(t, "alice/old-name", false), gittest.Repository(t, 2, 2))
		s.Repo(t, "alice/hidden", true)
		to := func(path string) map[string]string { return map[string]string{"Location": "{base}" + path} }
		s.Run(t, []apitest.Case{
			{Do: "PATCH /repos/alice/old-name", As: "alice", Send: `{"name": "new"}`, Status: 200,
				Want: `{"full_name": "alice/new"}`},
			{Do: "PATCH /repos/alice/hidden", As: "alice", Send: `{"name": "hidden2"}`, Status: 200},
			{Do: "GET /repos/alice/old-name", Status: 301, Has: to("/repos/alice/new")},
			{Do: "GET /repos/ALICE/Old-Name?x=%2F&y", Status: 301, Has: to("/repos/alice/new?x=%2F&y")},
			{Name: "escaped letters", Do: "GET /repos/%61lice/old%2Dname/git/trees/main?recursive=1",
				Status: 301, Has: to("/repos/alice/new/git/trees/main?recursive=1")},
			{Name: "prefix", Do: "GET /api/v3/repos/alice/old-name/collaborators", As: "alice", Status: 301,
				Has: to("/api/v3/repos/alice/new/collaborators")},
			{Name: "a name that comes again", Do: "GET /repos/alice/old-name/git/trees/alice/old-name",
				Status: 301, Has: to("/repos/alice/new/git/trees/alice/old-name")},
			{Name: "unsafe", Do: "DELETE /repos/alice/old-name/collaborators/bob", As: "alice", Status: 307,
				Has: to("/repos/alice/new/collaborators/bob")},
			{Name: "HEAD", Do: "HEAD /repos/alice/old-name", Status: 301, Has: to("/repos/alice/new")},
			{Name: "git", Do: "GET /alice/old-name.git/info/refs?service=git-upload-pack", Status: 301,
				Has: to("/alice/new.git/info/refs?service=git-upload-pack")},
			{Name: "page", Do: "GET /alice/old-name", Status: 301, Has: to("/alice/new")},
			{Name: "a query cannot break the header", Do: "GET /repos/alice/old-name?a=%0d%0aSet-Cookie:x",
				Status: 301, Has: map[string]string{"Set-Cookie": "-"}},
			{Name: "invisible", Do: "GET /repos/alice/hidden", As: "bob", Status: 404,
				Has: map[string]string{"Location": "-"}},
			{Name: "invisible to git", Do: "GET /alice/hidden/info/refs?service=git-upload-pack", Status: 401,
				Has: map[string]string{"Location": "-"}},
			{Name: "invisible, unsafe", Do: "PATCH /repos/alice/hidden", As: "bob", Send: "{}", Status: 404,
				Has: map[string]string{"Location": "-"}},
			{Name: "only case changes", Do: "PATCH /repos/alice/new", As: "alice", Send: `{"name": "NEW"}`,
				Status: 200, Want: `{"name": "NEW"}`},
			{Name: "a taken name", Do: "PATCH /repos/alice/new", As: "alice", Send: `{"name": "hidden2"}`,
				Status: 422},
			{Name: "another takes the old name", Do: "POST /user/repos", As: "alice",
				Send: `{"name": "old-name"}`, Status: 201},
			{Name: "which is its own now", Do: "GET /repos/alice/old-name", Status: 200,
				Want: `{"full_name": "alice/old-name"}`},
			{Do: "DELETE /repos/alice/old-name", As: "alice", Status: 204},
			{Name: "and nobody's afterwards", Do: "GET /repos/alice/old-name", Status: 404},
		})
		gittest.Run(t, t.TempDir(), "clone", "--quiet", s.Remote(t, "", "alice/new"), "copy")
	})
}
