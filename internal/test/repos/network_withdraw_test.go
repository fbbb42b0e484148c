package repos_test

import (
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// showing are answers in which a fork of bob's, which carol reads, stands.
var showing = [][2]string{
	{"bob", "/repos/bob/vault"}, {"carol", "/repos/bob/vault"}, {"bob", "/repos/bob/vault/issues"},
	{"bob", "/repos/bob/vault/branches"},
	{"bob", "/user/repos"}, {"bob", "/user/repos?affiliation=owner"},
	{"bob", "/user/repos?visibility=private&sort=created"},
	{"bob", "/user/repos?since=2001-01-01T00:00:00Z"}, {"bob", "/users/bob/repos"},
	{"carol", "/users/bob/repos"}, {"carol", "/user/repos"},
	{"carol", "/user/repos?type=member"}, {"bob", "/repos/alice/vault/forks"},
	{"carol", "/repos/alice/vault/forks"},
	{"bob", "/user/starred"}, {"carol", "/users/bob/starred"}, {"bob", "/user/subscriptions"},
	{"bob", "/users/bob/subscriptions"},
	{"bob", "/search/issues?q=zucchini"}, {"carol", "/search/issues?q=zucchini+user:bob"},
	{"bob", "/issues?filter=all"}, {"bob", "/user/issues?filter=all"}, {"carol", "/issues?filter=all"},
	{"bob", "/users/bob/events"}, {"bob", "/users/bob/received_events"},
	{"bob", "/networks/alice/vault/events"},
}

// A fork of a private repository belongs to its root, too: whose access to the root
// ends does not see the fork any more, by any address, nor do those whom they let
// in. Nothing of it is lost.
func TestWithdrawnFork(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Admin(t, "chief")
		root := s.Repo(t, "alice/vault", true)
		tip := forkable(t, s, root)
		s.Grant(t, root, "bob", account.Push)
		s.Grant(t, root, "carol", account.Pull)
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/vault/forks", As: "bob", Status: 202},
			{Do: "PATCH /repos/bob/vault", As: "bob", Send: `{"has_issues": true}`, Status: 200},
			{Do: "PUT /repos/bob/vault/collaborators/carol", As: "bob",
				Send: `{"permission": "push"}`, Status: 204},
			{Do: "PUT /user/starred/bob/vault", As: "bob", Status: 204},
			{Do: "PUT /repos/bob/vault/subscription", As: "bob", Send: `{"subscribed": true}`, Status: 200},
			{Do: "POST /repos/bob/vault/issues", As: "bob",
				Send: `{"title": "zucchini", "assignees": ["bob", "carol"]}`, Status: 201},
			{Do: "PUT /repos/bob/vault/contents/x", As: "bob",
				Send: `{"message": "x", "content": "eA==", "branch": "topic"}`, Status: 201},
		})
		s.Settle(t)
		shown := func(want bool) {
			t.Helper()
			for _, at := range showing {
				a := s.Do(t, apitest.Case{Do: "GET " + at[1], As: at[0]})
				got := strings.Contains(string(a.Body), "bob/vault")
				if got != want || want && a.Status != 200 {
					t.Errorf("%s of %s: the fork is shown: %v, want %v (status %d)", at[1], at[0],
						got, want, a.Status)
				}
			}
			counts := map[bool]string{true: "1", false: "0"}[want]
			s.Check(t, apitest.Case{Do: "GET /user", As: "bob", Status: 200,
				Want: `{"total_private_repos": ` + counts + `, "owned_private_repos": ` + counts + `}`})
			s.Check(t, apitest.Case{Do: "GET /repos/alice/vault", As: "carol", Status: 200,
				Want: `{"forks_count": ` + counts + `, "network_count": ` + counts + `}`})
			for _, as := range []string{"bob", "carol"} {
				dir := gittest.Bare(t)
				_, _, err := gittest.Try(t, dir, nil, "fetch", "-q", s.Remote(t, as, "bob/vault"), tip)
				if (err == nil) != want {
					t.Errorf("a fetch of %s: %v", as, err)
				}
			}
			for _, path := range []string{"/repos/bob/vault", "/users/bob/repos", "/repos/alice/vault/forks",
				"/search/issues?q=zucchini"} {
				a := s.Do(t, apitest.Case{Do: "GET " + path, As: "chief"})
				if !strings.Contains(string(a.Body), "bob/vault") {
					t.Errorf("%s of the site's administrator: no fork in %s", path, a.Body)
				}
			}
		}
		shown(true)
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/vault/collaborators/bob", As: "alice", Status: 204})
		shown(false)
		s.Run(t, []apitest.Case{
			{Name: "nor is it written", Do: "PUT /repos/bob/vault/contents/y", As: "carol",
				Send: `{"message": "y", "content": "eA=="}`, Status: 404},
			{Do: "PATCH /repos/bob/vault", As: "bob", Send: `{"private": false}`, Status: 404},
			{Do: "DELETE /repos/bob/vault", As: "bob", Status: 404},
			{Name: "not even by who sees it", Do: "PATCH /repos/bob/vault", As: "chief",
				Send: `{"private": false}`, Status: 422,
				Want: `{"errors": [{"message": "Withdrawn forks can't be made public."}]}`},
		})
		s.Grant(t, root, "bob", account.Pull)
		shown(true)

		// Without the root nobody can give access to it.
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/vault/collaborators/bob", As: "alice", Status: 204})
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/vault", As: "alice", Status: 204})
		const path = "/repos/bob/vault"
		s.Run(t, []apitest.Case{
			{Do: "GET " + path, As: "bob", Status: 404},
			{Do: "GET " + path, As: "carol", Status: 404},
			{Do: "GET /user", As: "bob", Status: 200, Want: `{"total_private_repos": 0}`},
			{Do: "PATCH " + path, As: "bob", Send: `{"private": false}`, Status: 404},
			{Do: "PATCH " + path, As: "chief", Send: `{"private": false}`, Status: 422},
			{Do: "GET " + path, As: "chief", Status: 200, Want: `{"private": true, "fork": false}`},
		})
		found, err := s.Repos.Find(t.Context(), &account.Caller{SiteAdmin: true}, "bob", "vault")
		testkit.NoError(t, err)
		testkit.NoError(t, s.Forge.Network.GiveBack(t.Context(), nil, found.ID))
		s.Check(t, apitest.Case{Do: "GET " + path, As: "bob", Status: 200, Want: `{"fork": false}`})
		if err := s.Forge.Network.GiveBack(t.Context(), nil, found.ID); err == nil {
			t.Error("a fork that is not withdrawn is given back")
		}
	})
}

// An organization decides about forks of its private repositories, and about forks
// of these; a fork in its hands stays while one of its owners sees the root.
func TestForksOfPrivateRepositoriesOfOrganizations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol", "dora")
		s.Admin(t, "chief")
		s.Org(t, "guild", "alice")
		s.Org(t, "club", "dora")
		for _, name := range []string{"guild/vault", "guild/hall"} {
			forkable(t, s, s.Repo(t, name, name == "guild/vault"))
		}
		vault := func(name string) *repo.Repo {
			owner, short, _ := strings.Cut(name, "/")
			f, err := s.Repos.Find(t.Context(), &account.Caller{SiteAdmin: true}, owner, short)
			testkit.NoError(t, err)
			return f.Repo
		}
		s.Grant(t, vault("guild/vault"), "carol", account.Pull)
		s.Run(t, []apitest.Case{
			{Do: "PUT /orgs/guild/members/bob", As: "alice", Status: 204},
			{Do: "PUT /orgs/club/members/carol", As: "dora", Status: 204},
			{Do: "GET /orgs/guild", As: "bob", Status: 200,
				Want: `{"members_can_fork_private_repositories": false}`},
			{Do: "GET /orgs/guild", Status: 200,
				Want: `{"members_can_fork_private_repositories": "$absent"}`},
			{Do: "GET /repos/guild/vault", As: "bob", Status: 200, Want: `{"allow_forking": false}`},
			{Do: "GET /repos/guild/hall", Status: 200, Want: `{"allow_forking": true}`},
			{Name: "hidden", Do: "PATCH /repos/guild/hall", As: "alice", Send: `{"private": true}`,
				Status: 200, Want: `{"allow_forking": false}`},
			{Name: "shown", Do: "PATCH /repos/guild/hall", As: "alice", Send: `{"private": false}`,
				Status: 200, Want: `{"allow_forking": true}`},
			{Name: "a member", Do: "POST /repos/guild/vault/forks", As: "bob", Status: 403},
			{Name: "an owner", Do: "POST /repos/guild/vault/forks", As: "alice", Status: 403},
			{Name: "what is public", Do: "POST /repos/guild/hall/forks", As: "bob", Status: 202},
			{Name: "not for members to say", Do: "PATCH /orgs/guild", As: "bob",
				Send: `{"members_can_fork_private_repositories": true}`, Status: 403},
			{Do: "PATCH /orgs/guild", As: "alice",
				Send: `{"members_can_fork_private_repositories": null}`, Status: 422},
			{Do: "PATCH /orgs/guild", As: "alice",
				Send: `{"members_can_fork_private_repositories": "yes"}`, Status: 422},
			{Do: "PATCH /orgs/guild", As: "alice", Send: `{"members_can_fork_private_repositories": true}`,
				Status: 200, Want: `{"members_can_fork_private_repositories": true}`},
			{Name: "then they do", Do: "POST /repos/guild/vault/forks", As: "bob", Status: 202,
				Want: `{"allow_forking": true}`},
			{Name: "no owner of the club sees it", Do: "POST /repos/guild/vault/forks", As: "carol",
				Send: `{"organization": "club"}`, Status: 403},
			{Name: "and nothing was made", Do: "GET /orgs/club/repos", As: "chief", Status: 200, Body: "[]"},
			{Do: "PUT /repos/bob/vault/collaborators/dora", As: "bob", Status: 204},
			{Name: "nor does who sees a fork alone", Do: "POST /repos/bob/vault/forks",
				As: "dora", Status: 403},
		})
		s.Grant(t, vault("guild/vault"), "dora", account.Pull)
		s.Run(t, []apitest.Case{
			{Name: "one does now", Do: "POST /repos/guild/vault/forks", As: "carol",
				Send: `{"organization": "club"}`, Status: 202},
			{Do: "DELETE /repos/guild/vault/collaborators/carol", As: "alice", Status: 204},
			{Name: "it is the club's", Do: "GET /repos/club/vault", As: "carol", Status: 200},
			{Do: "GET /orgs/club", As: "dora", Status: 200, Want: `{"total_private_repos": 1}`},
			{Do: "DELETE /repos/guild/vault/collaborators/dora", As: "alice", Status: 204},
			{Do: "GET /repos/club/vault", As: "carol", Status: 404},
			{Do: "GET /repos/club/vault", As: "dora", Status: 404},
			{Do: "GET /orgs/club/repos", As: "dora", Status: 200, Body: "[]"},
			{Do: "GET /orgs/club/repos?type=forks", As: "dora", Status: 200, Body: "[]"},
			{Do: "GET /orgs/club/repos?type=member", As: "carol", Status: 200, Body: "[]"},
			{Do: "GET /orgs/club", As: "dora", Status: 200, Want: `{"total_private_repos": 0}`},
			{Do: "GET /orgs/club/repos", As: "chief", Status: 200, Want: `[{"full_name": "club/vault"}]`},
			{Name: "another owner", Do: "PUT /orgs/club/memberships/bob", As: "dora",
				Send: `{"role": "admin"}`, Status: 200},
			{Do: "GET /repos/club/vault", As: "dora", Status: 200},
			{Name: "forbidden again", Do: "PATCH /orgs/guild", As: "alice",
				Send: `{"members_can_fork_private_repositories": false}`, Status: 200},
			{Name: "what is there stays", Do: "GET /repos/bob/vault", As: "bob", Status: 200,
				Want: `{"allow_forking": false}`},
			{Name: "a fork of a fork is none the less one of the root", Do: "POST /repos/bob/vault/forks",
				As: "dora", Status: 403},
		})
	})
}
