package repos_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// forkable fills a repository with two branches, a tag and what lies at the head
// of a pull request; it gives the tip of main.
func forkable(t testing.TB, s *apitest.Server, r *repo.Repo) string {
	t.Helper()
	dir := gittest.Repository(t, 3, 4)
	gittest.Run(t, dir, "branch", "topic", "main~1")
	gittest.Run(t, dir, "tag", "-a", "-m", "x", "v1", "main~2")
	s.Import(t, r, dir)
	return gittest.Run(t, dir, "rev-parse", "main")
}

// newBlob writes a blob that no ref leads to, and returns its address below the repository's.
func newBlob(t *testing.T, s *apitest.Server, name, as, text string) (address string) {
	t.Helper()
	var made struct{ SHA string }
	s.Check(t, apitest.Case{Do: "POST /repos/" + name + "/git/blobs", As: as,
		Send: fmt.Sprintf(`{"content": %q}`, text), Status: 201}).JSON(t, &made)
	return "/git/blobs/" + made.SHA
}

// Everyone may begin on what everyone may see, as GitHub's clients do it.
func TestFork(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Org(t, "guild", "alice")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/members/bob", As: "alice", Status: 204})
		tip := forkable(t, s, s.Repo(t, "alice/garden", false))
		s.Repo(t, "alice/empty", false)
		s.Repo(t, "carol/garden", false)
		const path = "POST /repos/alice/garden/forks"
		s.Run(t, []apitest.Case{
			{Name: "describe it", Do: "PATCH /repos/alice/garden", As: "alice",
				Send: `{"description": "green", "homepage": "https://example.org"}`, Status: 200},
			{Name: "nobody", Do: path, Status: 401},
			{Name: "bob's", Do: path, As: "bob", Status: 202,
				Want: `{"full_name": "bob/garden", "fork": true, "private": false, "description": "green",
				"homepage": "https://example.org", "default_branch": "main", "has_issues": false, "forks": 0, "forks_count": 0, "network_count": 1,
				"permissions": {"admin": true}, "parent": {"full_name": "alice/garden", "fork": false, "forks_count": 1, "parent": "$absent"},
				"source": {"full_name": "alice/garden", "url": "{base}/repos/alice/garden"}, "clone_url": "{base}/bob/garden.git"}`},
			{Name: "its branches", Do: "GET /repos/bob/garden/branches", Status: 200,
				Want: fmt.Sprintf(`[{"name": "main", "commit": {"sha": %q}}, {"name": "topic"}]`, tip)},
			{Name: "its tag", Do: "GET /repos/bob/garden/tags", Status: 200, Want: `[{"name": "v1"}]`},
			{Name: "its files", Do: "GET /repos/bob/garden/git/trees/topic?recursive=1", Status: 200,
				Want: `{"truncated": false}`},
			{Name: "again", Do: path, As: "bob", Send: `{"name": "other"}`, Status: 202,
				Want: `{"full_name": "bob/garden"}`},
			{Name: "one's own is the answer", Do: path, As: "alice", Status: 202,
				Want: `{"full_name": "alice/garden", "fork": false, "parent": "$absent", "network_count": 1}`},
			{Name: "also by way of another's fork", Do: "POST /repos/bob/garden/forks", As: "alice",
				Status: 202, Want: `{"full_name": "alice/garden"}`},
			{Name: "the name is in use", Do: "POST /repos/bob/garden/forks", As: "carol",
				Send: "null", Status: 202,
				Want: `{"full_name": "carol/garden-1", "parent": {"full_name": "bob/garden"}, "source": {"full_name": "alice/garden"}, "network_count": 2}`},
			{Name: "for an organization, by a member", Do: path, As: "bob",
				Send: `{"organization": "guild", "name": "Beds", "default_branch_only": true}`, Status: 202,
				Want: `{"full_name": "guild/Beds", "organization": {"login": "guild"}, "permissions": {"admin": true}}`},
			{Name: "only its default branch", Do: "GET /repos/guild/beds/git/matching-refs/", Status: 200,
				Want: `[{"ref": "refs/heads/main"}]`},
			{Name: "no member", Do: path, As: "carol", Send: `{"organization": "guild"}`, Status: 403},
			{Name: "no organization", Do: path, As: "carol", Send: `{"organization": "alice"}`, Status: 422,
				Want: `{"errors": [{"field": "organization", "code": "invalid"}]}`},
			{Name: "none at all", Do: path, As: "carol", Send: `{"organization": "nobody"}`, Status: 422},
			{Name: "no name", Do: path, As: "carol", Send: `{"name": "a/b"}`, Status: 422,
				Want: `{"errors": [{"field": "name"}]}`},
			{Name: "no object", Do: path, As: "carol", Send: `[]`, Status: 400},
			{Name: "of another type", Do: path, As: "carol", Send: `{"default_branch_only": "yes"}`,
				Status: 422},
			{Name: "empty", Do: "POST /repos/alice/empty/forks", As: "bob", Status: 403,
				Want: `{"message": "The repository exists, but it contains no Git content. Empty repositories cannot be forked."}`},
			{Name: "none of that name", Do: "GET /repos/bob/empty", Status: 404},
			{Name: "counted", Do: "GET /repos/alice/garden", Status: 200,
				Want: `{"forks": 2, "forks_count": 2, "network_count": 3, "fork": false}`},
			{Name: "also of the owner", Do: "GET /users/bob", Status: 200, Want: `{"public_repos": 1}`},
			{Name: "newest", Do: "GET /repos/alice/garden/forks", Status: 200,
				Want: `[{"full_name": "guild/Beds", "fork": true, "parent": "$absent"}, {"full_name": "bob/garden", "forks_count": 1}]`},
			{Name: "oldest", Do: "GET /repos/alice/garden/forks?sort=oldest&per_page=1", Status: 200,
				Want: `[{"full_name": "bob/garden"}]`, Has: map[string]string{
					"Link": `<{base}/repos/alice/garden/forks?sort=oldest&per_page=1&page=2>; rel="next", <{base}/repos/alice/garden/forks?sort=oldest&per_page=1&page=2>; rel="last"`}},
			{Name: "second page", Do: "GET /repos/alice/garden/forks?sort=oldest&per_page=1&page=2",
				Status: 200, Want: `[{"full_name": "guild/Beds"}]`},
			{Name: "past the end", Do: "GET /repos/alice/garden/forks?page=9", Status: 200, Body: "[]"},
			{Name: "by stars", Do: "GET /repos/alice/garden/forks?sort=stargazers", Status: 200,
				Want: `[{"full_name": "guild/Beds"}, {"full_name": "bob/garden"}]`},
			{Name: "by watchers", Do: "GET /repos/alice/garden/forks?sort=watchers", Status: 200,
				Want: `[{}, {}]`},
			{Name: "by nonsense", Do: "GET /repos/alice/garden/forks?sort=size", Status: 422,
				Want: `{"errors": [{"field": "sort", "code": "invalid"}]}`},
			{Name: "of a fork", Do: "GET /repos/bob/garden/forks", As: "bob", Status: 200,
				Want: `[{"full_name": "carol/garden-1", "permissions": {"admin": false}}]`},
			{Name: "the organization's own work", Do: "POST /orgs/guild/repos", As: "alice",
				Send: `{"name": "hall"}`, Status: 201},
			{Name: "a hidden one", Do: "POST /orgs/guild/repos", As: "alice",
				Send: `{"name": "vault", "private": true}`, Status: 201},
			{Name: "its forks", Do: "GET /orgs/guild/repos?type=forks", Status: 200,
				Want: `[{"full_name": "guild/Beds"}]`, Has: map[string]string{"Link": "-"}},
			{Name: "all else, as strangers see it", Do: "GET /orgs/guild/repos?type=sources&per_page=1",
				Status: 200, Want: `[{"full_name": "guild/hall"}]`, Has: map[string]string{"Link": "-"}},
			{Name: "all else", Do: "GET /orgs/guild/repos?type=sources", As: "bob", Status: 200,
				Want: `[{"full_name": "guild/vault"}, {"full_name": "guild/hall"}]`},
			{Name: "one's own work", Do: "GET /user/repos?type=owner", As: "bob", Status: 200,
				Want: `[{"full_name": "bob/garden", "fork": true}]`},
		})
		clone := filepath.Join(t.TempDir(), "clone")
		gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "", "carol/garden-1"), clone)
		gittest.Run(t, clone, "fsck", "--strict")
	})
}

// The refs of pull requests are those of one repository alone.
func TestForkLeavesPullRequestsBehind(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		r := s.Repo(t, "alice/garden", false)
		tip := forkable(t, s, r)
		moved, err := s.Repos.MoveRefs(t.Context(), repo.Push{RepoID: r.ID, Atomic: true,
			Updates: []repo.RefUpdate{{Name: "refs/pull/1/head",
				Old: "0000000000000000000000000000000000000000", New: sha(tip)}}})
		if err != nil || moved[0] != nil {
			t.Fatal(moved, err)
		}
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/garden/forks", As: "bob", Status: 202},
			{Do: "GET /repos/alice/garden/git/matching-refs/pull", Status: 200, Want: `[{}]`},
			{Do: "GET /repos/bob/garden/git/matching-refs/pull", Status: 200, Want: `[]`},
		})
	})
}

// Users with read access to a private repository can fork it. A fork is in no list, count or address of
// users who cannot see it, and does not show unreferenced or later objects of its parent (decision 13).
func TestPrivateForks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol", "dora", "eve")
		s.Admin(t, "chief")
		r := s.Repo(t, "alice/diary", true)
		tip := forkable(t, s, r)
		for _, login := range []string{"bob", "carol", "dora"} {
			s.Grant(t, r, login, account.Pull)
		}
		before := newBlob(t, s, "alice/diary", "alice", "in no branch")
		const forks = "/repos/alice/diary/forks"
		s.Run(t, []apitest.Case{
			{Name: "not to be seen, not to be forked", Do: "POST " + forks, As: "eve", Status: 404},
			{Name: "a reader forks", Do: "POST " + forks, As: "bob", Status: 202,
				Want: `{"full_name": "bob/diary", "private": true, "visibility": "private", "fork": true, "parent": {"full_name": "alice/diary"}, "network_count": 1}`},
			{Name: "another reader too", Do: "POST " + forks, As: "carol", Status: 202,
				Want: `{"full_name": "carol/diary", "parent": {"forks_count": 1}, "network_count": 1}`},
			{Name: "and lets one in", Do: "PUT /repos/carol/diary/collaborators/dora", As: "carol",
				Status: 204},
			{Name: "the commits are there", Do: "GET /repos/bob/diary/commits/" + tip, As: "bob",
				Status: 200},
			{Name: "nobody else sees it", Do: "GET /repos/bob/diary", As: "carol", Status: 404},
			{Name: "nor does the owner of the parent", Do: "GET /repos/bob/diary", As: "alice", Status: 404},
			{Name: "own fork in the list", Do: "GET " + forks, As: "bob", Status: 200,
				Want: `[{"full_name": "bob/diary"}]`, Has: map[string]string{"Link": "-"}},
			{Name: "own fork by pages", Do: "GET " + forks + "?per_page=1", As: "carol", Status: 200,
				Want: `[{"full_name": "carol/diary"}]`, Has: map[string]string{"Link": "-"}},
			{Name: "a collaborator's", Do: "GET " + forks, As: "dora", Status: 200,
				Want: `[{"full_name": "carol/diary"}]`},
			{Name: "the owner of the parent", Do: "GET " + forks, As: "alice", Status: 200, Body: `[]`},
			{Name: "the site's administrator", Do: "GET " + forks, As: "chief", Status: 200,
				Want: `[{"full_name": "carol/diary"}, {"full_name": "bob/diary"}]`},
			{Name: "counted for the owner", Do: "GET /repos/alice/diary", As: "alice", Status: 200,
				Want: `{"forks": 0, "forks_count": 0, "network_count": 0}`},
			{Name: "counted for a reader", Do: "GET /repos/alice/diary", As: "dora", Status: 200,
				Want: `{"forks_count": 1, "network_count": 1}`},
			{Name: "counted for the administrator", Do: "GET /repos/alice/diary", As: "chief", Status: 200,
				Want: `{"forks_count": 2, "network_count": 2}`},
			{Name: "counted in lists", Do: "GET /user/repos?affiliation=collaborator", As: "dora",
				Status: 200, Want: `[{"full_name": "alice/diary", "forks_count": 1}, {"full_name": "carol/diary"}]`},
			{Name: "not in public", Do: "GET /users/bob", Status: 200, Want: `{"public_repos": 0}`},
			{Name: "a fork stays as it is", Do: "PATCH /repos/bob/diary", As: "bob",
				Send: `{"private": false}`, Status: 422,
				Want: `{"errors": [{"field": "private", "message": "Private forks can't be made public. Please duplicate the repository."}]}`},
			{Name: "what no branch had", Do: "GET /repos/bob/diary" + before, As: "bob", Status: 404},
		})
		s.Run(t, []apitest.Case{
			{Name: "what came since", Do: "GET /repos/bob/diary" + newBlob(t, s, "alice/diary", "alice",
				"written since"), As: "bob", Status: 404},
			{Name: "what the fork got", Do: "GET /repos/alice/diary" + newBlob(t, s, "bob/diary", "bob", "bob's own"),
				As: "alice", Status: 404},
			{Name: "let in no more", Do: "DELETE /repos/alice/diary/collaborators/bob", As: "alice",
				Status: 204},
			{Name: "the fork is withdrawn", Do: "GET /repos/bob/diary", As: "bob", Status: 404},
			{Name: "but is still there", Do: "GET /repos/bob/diary", As: "chief", Status: 200,
				Want: `{"fork": true, "parent": {"full_name": "alice/diary"}}`},
			{Name: "shown to all", Do: "PATCH /repos/alice/diary", As: "alice", Send: `{"private": false}`,
				Status: 200, Want: `{"forks_count": 0, "network_count": 0}`},
			{Name: "its forks are not", Do: "GET /repos/bob/diary", As: "eve", Status: 404},
			{Name: "but stand alone", Do: "GET /repos/bob/diary", As: "bob", Status: 200,
				Want: `{"private": true, "fork": false, "parent": "$absent", "network_count": 0}`},
			{Name: "nor do they count", Do: "GET /repos/alice/diary", As: "chief", Status: 200,
				Want: `{"forks_count": 0}`},
		})
	})
}

// Forks that are made at the same time are one for each owner, and every one is
// counted once.
func TestForkRaces(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		forkable(t, s, s.Repo(t, "alice/garden", false))
		var cases []apitest.Case
		for i := range 6 {
			login := fmt.Sprintf("user%d", i)
			s.User(t, login)
			for range 3 {
				cases = append(cases, apitest.Case{Do: "POST /repos/alice/garden/forks", As: login})
			}
		}
		for i, status := range s.Together(t, cases...) {
			if status != http.StatusAccepted {
				t.Errorf("fork %d answered %d", i, status)
			}
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 200,
			Want: `{"forks_count": 6, "network_count": 6}`})
		for i := range 6 {
			s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /users/user%d/repos", i), Status: 200,
				Want: `[{"name": "garden"}]`})
		}
		if dirs, _ := filepath.Glob(filepath.Join(s.Dir, "repositories", "*", "[0-9]*")); len(dirs) != 7 {
			t.Errorf("directories %s", strings.Join(dirs, " "))
		}
		// Two networks with the same name, and a parent that is deleted in the meantime.
		forkable(t, s, s.Repo(t, "user0/pots", false))
		forkable(t, s, s.Repo(t, "user1/pots", false))
		for range 5 {
			for i, status := range s.Together(t,
				apitest.Case{Do: "POST /repos/user0/pots/forks", As: "alice"},
				apitest.Case{Do: "POST /repos/user1/pots/forks", As: "alice"}) {
				if status != http.StatusAccepted {
					t.Errorf("fork %d answered %d", i, status)
				}
			}
			s.Check(t, apitest.Case{Do: "DELETE /repos/alice/pots", As: "alice", Status: 204})
			s.Check(t, apitest.Case{Do: "DELETE /repos/alice/pots-1", As: "alice", Status: 204})
		}
		statuses := s.Together(t, apitest.Case{Do: "POST /repos/user0/pots/forks", As: "alice"},
			apitest.Case{Do: "DELETE /repos/user0/pots", As: "user0"},
			apitest.Case{Do: "POST /repos/user0/pots/forks", As: "user2"},
			apitest.Case{Do: "PATCH /repos/user1/pots", As: "user1", Send: `{"private": true}`},
			apitest.Case{Do: "POST /repos/user1/pots/forks", As: "user3"})
		for i, status := range statuses {
			if status >= 500 || status == http.StatusUnprocessableEntity {
				t.Errorf("request %d answered %d", i, status)
			}
		}
	})
}

// Somebody loses the right to fork while objects are copied: nothing stays of the fork.
func TestForkByACallerWhoLosesTheRight(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		writing := func(context.Context, db.Right) {}
		d := dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
			Writing: func(ctx context.Context, right db.Right) { writing(ctx, right) }})
		s := apitest.Start(t, engine, func(o *server.Options) { o.DB = d })
		s.User(t, "alice")
		bob := s.User(t, "bob")
		r := s.Repo(t, "alice/garden", false)
		forkable(t, s, r)
		found, err := s.Repos.Find(t.Context(), &account.Caller{ID: bob.ID, Login: "bob"}, "alice", "garden")
		testkit.NoError(t, err)
		folders := func() []string {
			list, err := filepath.Glob(filepath.Join(s.Dir, "repositories", "*", "*.git"))
			testkit.NoError(t, err)
			return list
		}
		before, lost := len(folders()), false
		writing = func(_ context.Context, right db.Right) {
			if right == &found.Access && len(folders()) > before {
				lost = true
				dbtest.Exec(t, d, `UPDATE repos SET private = TRUE WHERE id = $1`, r.ID)
			}
		}
		_, err = s.Server.Forge().Network.Fork(t.Context(), &found.Access, network.NewFork{})
		if !errs.Is(err, errs.NotFound) {
			t.Errorf("the fork ends with %v", err)
		}
		s.Server.Forge().Repos.Wait()
		reserved := dbtest.Number(t, s.DB, `SELECT count(*) FROM reserved_repos`)
		if left := folders(); !lost || reserved != 0 || len(left) != before {
			t.Errorf("lost %v, %d ids are reserved, and these folders are there: %q", lost, reserved, left)
		}
	})
}
