package repos_test

import (
	"path/filepath"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// A repository created from a template has its files without its history, and names the template to callers
// who can see it.
func TestTemplates(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Org(t, "guild", "bob")
		r := s.Repo(t, "alice/mold", false)
		s.Run(t, []apitest.Case{
			{Do: "PUT /repos/alice/mold/contents/beds/east", As: "alice",
				Send: `{"message": "Sow", "content": "cGVhcwo="}`, Status: 201},
			{Do: "PUT /repos/alice/mold/contents/README.md", As: "alice",
				Send: `{"message": "Tell", "content": "aGkK"}`, Status: 201},
			{Name: "no template yet", Do: "POST /repos/alice/mold/generate", As: "bob",
				Send: `{"name": "plot"}`, Status: 422},
			{Do: "PATCH /repos/alice/mold", As: "bob", Send: `{"is_template": true}`, Status: 403},
			{Do: "PATCH /repos/alice/mold", As: "alice", Send: `{"is_template": true}`, Status: 200,
				Want: `{"is_template": true, "template_repository": "$absent"}`},
			{Do: "POST /repos/alice/mold/generate", Send: `{"name": "plot"}`, Status: 401},
			{Name: "a fork is another thing", Do: "POST /repos/alice/mold/generate", As: "bob",
				Send: `{"name": "plot", "description": "Mine", "private": true}`, Status: 201,
				Want: `{"full_name": "bob/plot", "private": true, "fork": false, "is_template": false, "description": "Mine", "default_branch": "main",
				"template_repository": {"full_name": "alice/mold", "is_template": true}}`},
			{Do: "GET /repos/bob/plot/commits", As: "bob", Status: 200,
				Want: `[{"commit": {"message": "Initial commit"}, "author": {"login": "bob"}, "parents": []}]`},
			{Do: "GET /repos/bob/plot/contents/beds/east", As: "bob", Status: 200,
				Want: `{"content": "cGVhcwo=\n"}`},
			{Do: "GET /repos/bob/plot", As: "alice", Status: 404},
			{Do: "POST /repos/alice/mold/generate", As: "bob", Send: `{"name": "plot"}`, Status: 422,
				Want: `{"errors": [{"field": "name"}]}`},
			{Do: "POST /repos/alice/mold/generate", As: "bob", Send: `{"name": "a b"}`, Status: 422},
			{Do: "POST /repos/alice/mold/generate", As: "bob", Send: `{"name": "x", "owner": "alice"}`,
				Status: 403},
			{Do: "POST /repos/alice/mold/generate", As: "bob", Send: `{"name": "x", "owner": "nobody"}`,
				Status: 404},
			{Do: "POST /repos/alice/mold/generate", As: "alice", Send: `{"name": "x", "owner": "guild"}`,
				Status: 403},
			{Do: "POST /repos/alice/mold/generate", As: "bob", Send: `{"name": "x", "owner": "guild"}`,
				Status: 201, Want: `{"full_name": "guild/x"}`},
		})
		old := field(t, s, "/repos/alice/mold/commits/main", "sha")
		s.Run(t, []apitest.Case{
			{Name: "no history came along", Do: "GET /repos/bob/plot/git/commits/" + old, As: "bob",
				Status: 404},
			{Do: "POST /repos/alice/mold/git/refs", As: "alice",
				Send: `{"ref": "refs/heads/dev", "sha": "` + old + `"}`, Status: 201},
			{Do: "PUT /repos/alice/mold/contents/dev", As: "alice",
				Send: `{"message": "Try", "content": "aGkK", "branch": "dev"}`, Status: 201},
			{Do: "POST /repos/alice/mold/generate", As: "bob", Send: `{"name": "one"}`, Status: 201},
			{Do: "GET /repos/bob/one/branches", As: "bob", Status: 200, Want: `[{"name": "main"}]`},
			{Do: "POST /repos/alice/mold/generate", As: "bob",
				Send: `{"name": "all", "include_all_branches": true}`, Status: 201},
			{Do: "GET /repos/bob/all/branches", As: "bob", Status: 200,
				Want: `[{"name": "dev"}, {"name": "main"}]`},
			{Do: "GET /repos/bob/all/contents/dev?ref=dev", As: "bob", Status: 200},
			{Do: "GET /repos/bob/all/commits?sha=dev", As: "bob", Status: 200, Want: `[{"parents": []}]`},
			{Name: "hidden", Do: "PATCH /repos/alice/mold", As: "alice", Send: `{"private": true}`,
				Status: 200},
			{Do: "POST /repos/alice/mold/generate", As: "bob", Send: `{"name": "y"}`, Status: 404},
			{Do: "GET /repos/bob/plot", As: "bob", Status: 200, Want: `{"template_repository": "$absent"}`},
		})
		s.Grant(t, r, "bob", account.Pull)
		s.Run(t, []apitest.Case{
			{Name: "shown", Do: "GET /repos/bob/plot", As: "bob", Status: 200,
				Want: `{"template_repository": {"full_name": "alice/mold"}}`},
			{Do: "PATCH /repos/alice/mold", As: "alice", Send: `{"name": "form", "archived": true}`,
				Status: 200},
			{Name: "archived", Do: "POST /repos/alice/form/generate", As: "bob", Send: `{"name": "y"}`,
				Status: 201},
			{Name: "deleted", Do: "DELETE /repos/alice/form", As: "alice", Status: 204},
			{Do: "GET /repos/bob/plot", As: "bob", Status: 200, Want: `{"template_repository": "$absent"}`},
			{Do: "GET /repos/bob/plot/contents/README.md", As: "bob", Status: 200},
		})
		dir := filepath.Join(t.TempDir(), "plot")
		gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "bob", "bob/plot"), dir)
		gittest.Run(t, dir, "fsck", "--strict")
	})
}

// A template without a commit makes an empty repository.
func TestEmptyTemplate(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Run(t, []apitest.Case{
			{Do: "POST /user/repos", As: "alice", Send: `{"name": "mold", "is_template": true}`, Status: 201,
				Want: `{"is_template": true}`},
			{Do: "POST /repos/alice/mold/generate", As: "alice", Send: `{"name": "plot"}`, Status: 201,
				Want: `{"size": 0}`},
			{Do: "GET /repos/alice/plot/commits", As: "alice", Status: 409},
		})
	})
}

// field reads a member of what alice is answered.
func field(t *testing.T, s *apitest.Server, address, name string) string {
	t.Helper()
	var v map[string]any
	s.Check(t, apitest.Case{Do: "GET " + address, As: "alice", Status: 200}).JSON(t, &v)
	text, _ := v[name].(string)
	return text
}
