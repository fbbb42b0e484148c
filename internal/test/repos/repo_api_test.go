package repos_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A team makes, reads, edits and removes repositories as GitHub's clients do.
func TestRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Org(t, "guild", "alice")
		created := `{"id": "$any", "node_id": "$any", "name": "Garden", "full_name": "alice/Garden", "private": false, "visibility": "public",
			"owner": {"login": "alice", "type": "User"}, "description": "green", "homepage": null, "fork": false, "default_branch": "main",
			"has_issues": true, "archived": false, "url": "{base}/repos/alice/Garden", "html_url": "{base}/alice/Garden",
			"clone_url": "{base}/alice/Garden.git", "trees_url": "{base}/repos/alice/Garden/git/trees{/sha}", "size": 0, "topics": [],
			"permissions": {"admin": true, "push": true, "pull": true}, "organization": "$absent"}`
		s.Run(t, []apitest.Case{
			{Name: "create", Do: "POST /user/repos", As: "alice",
				Send: `{"name": "Garden", "description": "green"}`, Status: 201, Want: created,
				Has: map[string]string{"Location": "{base}/repos/alice/Garden"}},
			{Name: "read it back", Do: "GET /repos/alice/Garden", As: "alice", Status: 200, Want: created},
			{Name: "anonymous sees no permissions", Do: "GET /repos/alice/garden", Status: 200,
				Want: `{"permissions": "$absent"}`},
			{Name: "a stranger may pull", Do: "GET /repos/alice/garden", As: "bob", Status: 200,
				Want: `{"permissions": {"admin": false, "push": false, "pull": true}}`},
			{Name: "the name is taken, in any case", Do: "POST /user/repos", As: "alice",
				Send: `{"name": "gARDEN"}`, Status: 422,
				Want: `{"errors": [{"resource": "Repository", "field": "name", "code": "custom", "message": "name already exists on this account"}]}`},
			{Name: "private by visibility", Do: "POST /user/repos", As: "alice",
				Send: `{"name": "diary", "visibility": "private", "has_issues": false}`, Status: 201,
				Want: `{"private": true, "visibility": "private", "has_issues": false}`},
			{Name: "owner of the organization", Do: "POST /orgs/guild/repos", As: "alice",
				Send: `{"name": "hall", "private": true}`, Status: 201,
				Want: `{"full_name": "guild/hall", "organization": {"login": "guild", "type": "Organization"}}`},
			{Name: "no member", Do: "POST /orgs/guild/repos", As: "bob", Send: `{"name": "shed"}`,
				Status: 403},
			{Name: "no organization", Do: "POST /orgs/alice/repos", As: "alice", Send: `{"name": "shed"}`,
				Status: 404},
			{Name: "none at all", Do: "POST /orgs/nobody/repos", As: "alice", Send: `{"name": "shed"}`,
				Status: 404},
			{Name: "counted", Do: "GET /user", As: "alice", Status: 200,
				Want: `{"public_repos": 1, "owned_private_repos": 1}`},
			{Name: "edit", Do: "PATCH /repos/alice/garden", As: "alice",
				Send: `{"description": null, "homepage": "https://example.org", "has_issues": false, "private": true}`, Status: 200,
				Want: `{"description": null, "homepage": "https://example.org", "has_issues": false, "private": true}`},
			{Name: "now hidden", Do: "GET /repos/alice/garden", As: "bob", Status: 404},
			{Name: "counters follow", Do: "GET /users/alice", Status: 200, Want: `{"public_repos": 0}`},
			{Name: "a branch that is not there", Do: "PATCH /repos/alice/garden", As: "alice",
				Send: `{"default_branch": "dev"}`, Status: 422,
				Want: `{"errors": [{"field": "default_branch", "code": "invalid", "value": "dev"}]}`},
			{Name: "delete", Do: "DELETE /repos/alice/diary", As: "alice", Status: 204, Body: "-"},
			{Name: "gone", Do: "GET /repos/alice/diary", As: "alice", Status: 404},
			{Name: "the name is free again", Do: "POST /user/repos", As: "alice", Send: `{"name": "diary"}`,
				Status: 201},
		})
	})
}

// Names become parts of addresses and must be harmless there (decision 8).
func TestNames(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		for name, status := range map[string]int{
			"a": 201, "A.b_c-9": 201, ".dot": 201, strings.Repeat("n", 100): 201, "git": 201, "x.gitx": 201,
			strings.Repeat("m", 101): 422, ".": 422, "..": 422, "a.git": 422, "a.GIT": 422,
			"b.lock": 422, "": 422,
			"a/b": 422, "a b": 422, "ä": 422, "a\\n": 422, "a%2e": 422, "<x>": 422, "-": 201,
		} {
			s.Ask(t, "alice", "POST /user/repos", fmt.Sprintf(`{"name": %q}`, name), status)
		}
	})
}

// A list shows each caller what that caller may see, in the order asked for,
// each repository once over all pages (decisions 13, 23, 24).
func TestLists(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Admin(t, "chief")
		s.Org(t, "guild", "alice")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/members/bob", As: "alice", Status: 204})
		s.Repo(t, "alice/b", false)
		s.Repo(t, "alice/C", false)
		shared := s.Repo(t, "alice/a-private", true)
		s.Repo(t, "guild/hall", false)
		s.Repo(t, "guild/vault", true)
		s.Grant(t, shared, "carol", account.Push)
		names := func(list ...string) string {
			for i, n := range list {
				list[i] = fmt.Sprintf(`{"full_name": %q}`, n)
			}
			return "[" + strings.Join(list, ",") + "]"
		}
		s.Run(t, []apitest.Case{
			{Name: "public", Do: "GET /users/alice/repos", Status: 200, Want: names("alice/b", "alice/C"),
				Has: map[string]string{"Link": "-"}},
			{Name: "own", Do: "GET /users/alice/repos", As: "alice", Status: 200,
				Want: names("alice/a-private", "alice/b", "alice/C")},
			{Name: "collaborator", Do: "GET /users/alice/repos?direction=desc", As: "carol", Status: 200,
				Want: names("alice/C", "alice/b", "alice/a-private")},
			{Name: "site administrator", Do: "GET /users/alice/repos?sort=created&direction=asc", As: "chief",
				Status: 200, Want: names("alice/b", "alice/C", "alice/a-private")},
			{Name: "where a user collaborates, as strangers see it", Do: "GET /users/carol/repos?type=member",
				Status: 200, Want: `[]`},
			{Name: "where a user collaborates", Do: "GET /users/carol/repos?type=member", As: "alice",
				Status: 200, Want: names("alice/a-private")},
			{Name: "both", Do: "GET /users/carol/repos?type=all", As: "carol", Status: 200,
				Want: names("alice/a-private")},
			{Name: "nobody", Do: "GET /users/nobody/repos", Status: 404},
			{Name: "organization, public", Do: "GET /orgs/guild/repos", Status: 200,
				Want: names("guild/hall")},
			{Name: "organization, member", Do: "GET /orgs/guild/repos?sort=full_name", As: "bob", Status: 200,
				Want: names("guild/hall", "guild/vault")},
			{Name: "organization, private", Do: "GET /orgs/guild/repos?type=private", As: "bob", Status: 200,
				Want: names("guild/vault")},
			{Name: "organization, newest first", Do: "GET /orgs/guild/repos", As: "alice", Status: 200,
				Want: names("guild/vault", "guild/hall")},
			{Name: "no organization", Do: "GET /orgs/alice/repos", Status: 404},
			{Name: "mine", Do: "GET /user/repos", As: "alice", Status: 200,
				Want: names("alice/a-private", "alice/b", "alice/C", "guild/hall", "guild/vault")},
			{Name: "mine as member", Do: "GET /user/repos", As: "bob", Status: 200,
				Want: names("guild/hall", "guild/vault")},
			{Name: "mine as collaborator", Do: "GET /user/repos", As: "carol", Status: 200,
				Want: names("alice/a-private")},
			{Name: "mine, owned", Do: "GET /user/repos?affiliation=owner&visibility=public", As: "alice",
				Status: 200, Want: names("alice/b", "alice/C")},
			{Name: "mine, of this century",
				Do: "GET /user/repos?since=2001-01-01T00:00:00Z&before=2101-01-01T00:00:00Z", As: "bob",
				Status: 200, Want: names("guild/hall", "guild/vault")},
			{Name: "mine, of the next", Do: "GET /user/repos?since=2101-01-01T00:00:00Z", As: "bob",
				Status: 200, Want: `[]`},
			{Name: "mine, of the last", Do: "GET /user/repos?affiliation=owner&before=2001-01-01T00:00:00Z",
				As: "alice", Status: 200, Want: `[]`},
			{Name: "owned, of this", Do: "GET /user/repos?affiliation=owner&since=2001-01-01T00:00:00Z",
				As: "alice", Status: 200, Want: names("alice/a-private", "alice/b", "alice/C")},
			{Name: "before no time", Do: "GET /user/repos?before=noon", As: "bob", Status: 422},
			{Name: "affiliation", Do: "GET /user/repos?affiliation=stranger", As: "alice", Status: 422},
			{Name: "type beside affiliation", Do: "GET /user/repos?affiliation=owner&type=all", As: "alice",
				Status: 422},
			{Name: "first page", Do: "GET /user/repos?x=1&per_page=2", As: "alice", Status: 200,
				Want: names("alice/a-private", "alice/b"), Has: map[string]string{
					"Link": `<{base}/user/repos?x=1&per_page=2&page=2>; rel="next", <{base}/user/repos?x=1&per_page=2&page=3>; rel="last"`}},
			{Name: "second page", Do: "GET /user/repos?per_page=2&page=2", As: "alice", Status: 200,
				Want: names("alice/C", "guild/hall"), Has: map[string]string{
					"Link": `<{base}/user/repos?per_page=2&page=3>; rel="next", <{base}/user/repos?per_page=2&page=3>; rel="last", <{base}/user/repos?per_page=2&page=1>; rel="first", <{base}/user/repos?per_page=2&page=1>; rel="prev"`}},
			{Name: "last page", Do: "GET /user/repos?per_page=2&page=3", As: "alice", Status: 200,
				Want: names("guild/vault"), Has: map[string]string{
					"Link": `<{base}/user/repos?per_page=2&page=1>; rel="first", <{base}/user/repos?per_page=2&page=2>; rel="prev"`}},
			{Name: "past the end", Do: "GET /user/repos?per_page=2&page=9", As: "alice", Status: 200,
				Body: "[]", Has: map[string]string{
					"Link": `<{base}/user/repos?per_page=2&page=3>; rel="last", <{base}/user/repos?per_page=2&page=1>; rel="first", <{base}/user/repos?per_page=2&page=3>; rel="prev"`}},
			{Name: "nonsense counts as not sent", Do: "GET /user/repos?per_page=-1&page=x", As: "alice",
				Status: 200, Want: names("alice/a-private", "alice/b", "alice/C", "guild/hall",
					"guild/vault")},
			{Name: "a page beyond counting", Do: "GET /user/repos?page=99999999999999999999", As: "alice",
				Status: 200, Body: "[]"},
		})
	})
}

// Who was given a role has it at once, and loses it at once (decision 12).
func TestCollaborators(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Org(t, "guild", "carol")
		s.Repo(t, "alice/diary", true)
		const bob = "/repos/alice/diary/collaborators/bob"
		s.Run(t, []apitest.Case{
			{Name: "not yet", Do: "GET /repos/alice/diary", As: "bob", Status: 404},
			{Name: "no collaborator", Do: "GET " + bob, As: "alice", Status: 404,
				Want: `{"message": "Not Found"}`},
			{Name: "no permission", Do: "GET " + bob + "/permission", As: "alice", Status: 200,
				Want: `{"permission": "none", "user": {"login": "bob"}}`},
			{Name: "add to pull", Do: "PUT " + bob, As: "alice", Send: `{"permission": "pull"}`,
				Status: 204, Body: "-"},
			{Name: "reads", Do: "GET /repos/alice/diary", As: "bob", Status: 200,
				Want: `{"permissions": {"pull": true, "push": false}}`},
			{Name: "but may not see the others", Do: "GET /repos/alice/diary/collaborators", As: "bob",
				Status: 403, Want: `{"message": "Must have push access to Repository."}`},
			{Name: "push is the default", Do: "PUT " + bob, As: "alice", Status: 204},
			{Name: "pushes", Do: "GET " + bob + "/permission", As: "bob", Status: 200,
				Want: `{"permission": "write", "role_name": "write"}`},
			{Name: "list", Do: "GET /repos/alice/diary/collaborators", As: "bob", Status: 200,
				Want: `[{"login": "alice", "role_name": "admin"}, {"login": "bob", "role_name": "write", "permissions": {"push": true, "admin": false}}]`},
			{Name: "list by pages", Do: "GET /repos/alice/diary/collaborators?per_page=1&page=2", As: "bob",
				Status: 200, Want: `[{"login": "bob"}]`,
				Has: map[string]string{
					"Link": `<{base}/repos/alice/diary/collaborators?per_page=1&page=1>; rel="first", <{base}/repos/alice/diary/collaborators?per_page=1&page=1>; rel="prev"`}},
			{Name: "may not add", Do: "PUT /repos/alice/diary/collaborators/carol", As: "bob", Status: 403},
			{Name: "nor remove others", Do: "DELETE /repos/alice/diary/collaborators/alice", As: "bob",
				Status: 403},
			{Name: "unknown permission", Do: "PUT " + bob, As: "alice", Send: `{"permission": "fly"}`,
				Status: 422, Want: `{"errors": [{"field": "permission", "code": "invalid"}]}`},
			{Name: "unknown user", Do: "PUT /repos/alice/diary/collaborators/nobody", As: "alice",
				Status: 404},
			{Name: "an organization", Do: "PUT /repos/alice/diary/collaborators/guild", As: "alice",
				Status: 422},
			{Name: "the owner", Do: "PUT /repos/alice/diary/collaborators/alice", As: "alice", Status: 422},
			{Name: "the owner is one", Do: "GET /repos/alice/diary/collaborators/alice", As: "alice",
				Status: 204},
			{Name: "bob is one", Do: "GET " + bob, As: "alice", Status: 204, Body: "-"},
			{Name: "bob leaves", Do: "DELETE " + bob, As: "bob", Status: 204},
			{Name: "and sees nothing", Do: "GET /repos/alice/diary", As: "bob", Status: 404},
			{Name: "twice is fine", Do: "DELETE " + bob, As: "alice", Status: 204},
		})
	})
}

// The files of a deleted repository are removed from the disk, and a concurrent push gets a clear error.
func TestDeleteRemovesTheObjects(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		r := s.Repo(t, "alice/garden", false)
		s.Import(t, r, gittest.Repository(t, 2, 2))
		dir := s.Objects(t, r.ID).Dir()
		if _, err := os.Stat(dir); err != nil {
			t.Fatal(err)
		}
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden", As: "alice", Status: 204})
		testkit.Eventually(t, func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) },
			"the directory is removed")
		_, stderr, err := gittest.Try(t, t.TempDir(), nil, "clone", s.Remote(t, "alice", "alice/garden"), "x")
		if err == nil || !strings.Contains(string(stderr), "Repository not found") &&
			!strings.Contains(string(stderr), "not found") {
			t.Errorf("clone of a deleted repository: %v\n%s", err, stderr)
		}
	})
}
