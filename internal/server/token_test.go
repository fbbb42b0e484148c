package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"arbor/internal/account/token"

	"arbor/internal/account"
	"arbor/internal/scope"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Clients find out from headers what their token may do: gh says which scope is missing.
func TestTokenHeaders(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		garden := int64(s.Repo(t, "alice/garden", false).ID)
		usual := apitest.Bearer(s.Scoped(t, "alice", scope.Usual))
		none := apitest.Bearer(s.Scoped(t, "alice", ""))
		began := time.Now().Truncate(time.Second)
		ending, _, err := s.Forge.Tokens.CreateToken(t.Context(),
			token.NewToken{Login: "alice", Expires: time.Hour})
		testkit.NoError(t, err)
		made := time.Now()
		fine := apitest.Bearer(s.Fine(t, "alice", true, garden))
		classic := func(scopes, accepted string) map[string]string {
			return map[string]string{"X-Oauth-Scopes": scopes, "X-Accepted-Oauth-Scopes": accepted,
				"X-Accepted-Github-Permissions": "-", "Github-Authentication-Token-Expiration": "-"}
		}
		silent := map[string]string{"X-Oauth-Scopes": "-", "X-Accepted-Oauth-Scopes": "-",
			"X-Accepted-Github-Permissions": "-"}
		grained := map[string]string{"X-Oauth-Scopes": "-", "X-Accepted-Oauth-Scopes": "-",
			"X-Accepted-Github-Permissions": "issues=write"}
		every := scope.All.String()
		s.Run(t, []apitest.Case{
			{Name: "usual", Do: "GET /repos/alice/garden", Headers: usual, Status: 200,
				Has: classic("repo, read:org, plants", "repo, public_repo")},
			{Name: "everything", Do: "GET /repos/alice/garden", As: "alice", Status: 200,
				Has: classic(every, "repo, public_repo")},
			{Name: "on a refusal", Do: "DELETE /repos/alice/garden", Headers: usual, Status: 403,
				Has:  classic("repo, read:org, plants", "delete_repo"),
				Want: `{"message": "Your token has not been granted the required scopes: this needs one of delete_repo."}`},
			{Name: "where nothing is", Do: "GET /repos/alice/nothing", Headers: usual, Status: 404,
				Has: classic("repo, read:org, plants", "repo, public_repo")},
			{Name: "of a parent", Do: "PATCH /orgs/none", Headers: usual, Send: "{}", Status: 403,
				Has: classic("repo, read:org, plants", "admin:org")},
			{Name: "nobody", Do: "GET /repos/alice/garden", Status: 200, Has: silent},
			{Name: "git has none", Do: "GET /alice/garden.git/info/refs?service=git-upload-pack",
				Headers: usual, Status: 200, Has: silent},
			{Name: "fine-grained", Do: "POST /repos/alice/garden/issues", Headers: fine,
				Send: `{"title": "t"}`, Status: 201, Has: grained},
			{Name: "not accessible", Do: "PATCH /repos/alice/garden", Headers: fine, Send: `{}`, Status: 403,
				Want: `{"message": "Resource not accessible by personal access token"}`},
			{Name: "an empty value", Do: "GET /user", Headers: none, Status: 200,
				Keep: func(a *apitest.Answer) {
					if v, ok := a.Header["X-Oauth-Scopes"]; !ok || v[0] != "" ||
						len(a.Header["X-Accepted-Oauth-Scopes"]) != 1 {
						t.Errorf("headers %v", a.Header)
					}
				}},
			{Name: "expiry", Do: "GET /user", Headers: apitest.Bearer(ending), Status: 200,
				Keep: func(a *apitest.Answer) {
					got, err := time.Parse("2006-01-02 15:04:05 UTC",
						a.Header.Get("Github-Authentication-Token-Expiration"))
					if err != nil || got.Before(began.Add(time.Hour)) || got.After(made.Add(time.Hour)) {
						t.Errorf("expires %v, %v", got, err)
					}
				}},
		})
	})
}

// Each scope lets through what GitHub's does, and nothing else.
func TestScopes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		_, vault := guild(t, s)
		private := int64(vault.ID)
		s.Repo(t, "keeper/own", false)
		hidden := int64(s.Repo(t, "keeper/hidden", true).ID)
		as := func(login, scopes string) map[string]string { return apitest.Bearer(s.Scoped(t, login, scopes)) }
		fine := func(login string, changes bool, id int64) map[string]string {
			return apitest.Bearer(s.Fine(t, login, changes, id))
		}
		names := func(list ...string) string {
			out := "["
			for n, name := range list {
				if n > 0 {
					out += ","
				}
				out += fmt.Sprintf(`{"full_name": %q}`, name)
			}
			return out + "]"
		}
		const mine, lacks = "GET /user/repos", `{"message": "$any", "documentation_url": "$any"}`
		s.Run(t, []apitest.Case{
			{Name: "full token, before the others", Do: mine, As: "keeper", Status: 200,
				Want: names("guild/hall", "guild/vault", "keeper/hidden", "keeper/own")},
			{Name: "public_repo lists", Do: mine, Headers: as("keeper", "public_repo"), Status: 200,
				Want: names("guild/hall", "keeper/own")},
			{Name: "none lists", Do: mine, Headers: as("keeper", ""), Status: 200,
				Want: names("guild/hall", "keeper/own")},
			{Name: "repo lists", Do: mine, Headers: as("keeper", "repo"), Status: 200,
				Want: names("guild/hall", "guild/vault", "keeper/hidden", "keeper/own")},
			{Name: "fine-grained lists", Do: mine, Headers: fine("keeper", false, private), Status: 200,
				Want: names("guild/hall", "guild/vault", "keeper/own")},
			{Name: "each lists what it was made for", Do: mine, Headers: fine("keeper", false, hidden),
				Status: 200, Want: names("guild/hall", "keeper/hidden", "keeper/own")},
			{Name: "of an owner", Do: "GET /users/keeper/repos", Headers: as("keeper", "public_repo"),
				Status: 200, Want: names("keeper/own")},
			{Name: "of an owner, all", Do: "GET /users/keeper/repos", Headers: as("keeper", "repo"),
				Status: 200, Want: names("keeper/hidden", "keeper/own")},
			{Name: "of an organization", Do: "GET /orgs/guild/repos?type=private",
				Headers: as("owner", "public_repo"), Status: 200, Want: `[]`},
			{Name: "chosen of an organization", Do: "GET /orgs/guild/repos?type=private",
				Headers: fine("owner", false, private), Status: 200, Want: names("guild/vault")},
			{Name: "its forks", Do: "GET /orgs/guild/repos?type=forks",
				Headers: fine("owner", false, private), Status: 200, Want: `[]`},
			{Name: "counters", Do: "GET /user", Headers: as("keeper", "public_repo"), Status: 200,
				Want: `{"total_private_repos": 0, "owned_private_repos": 0}`},
			{Name: "counters in full", Do: "GET /user", Headers: as("keeper", "repo"), Status: 200,
				Want: `{"total_private_repos": 1}`},
			{Name: "counters of an organization", Do: "GET /orgs/guild", Headers: as("owner", "read:org"),
				Status: 200, Want: `{"total_private_repos": 0, "default_repository_permission": "read"}`},
			{Name: "an organization from outside", Do: "GET /orgs/guild", Headers: as("owner", "repo"),
				Status: 200, Want: `{"default_repository_permission": "$absent"}`},

			{Name: "concealed memberships", Do: "GET /users/member/orgs", Headers: as("member", "read:org"),
				Status: 200, Want: `[{"login": "guild"}]`},
			{Name: "not without read:org", Do: "GET /users/member/orgs", Headers: as("member", "repo"),
				Status: 200, Want: `[]`},
			{Name: "nor their own list", Do: "GET /user/orgs", Headers: as("member", "repo,user"),
				Status: 403, Want: lacks},
			{Name: "to publicize", Do: "PUT /orgs/guild/public_members/member",
				Headers: as("member", "read:org"), Status: 403, Want: lacks},
			{Name: "with write:org", Do: "PUT /orgs/guild/public_members/member",
				Headers: as("member", "write:org"), Status: 204},
			{Name: "to rule", Do: "PATCH /orgs/guild", Headers: as("owner", "write:org"), Send: `{}`,
				Status: 403, Want: lacks},
			{Name: "with admin:org", Do: "PATCH /orgs/guild", Headers: as("owner", "admin:org"), Send: `{}`,
				Status: 200},
			{Name: "never more than the account", Do: "PATCH /orgs/guild", Headers: as("member", "admin:org"),
				Send: `{}`, Status: 403},

			{Name: "profile", Do: "PATCH /user", Headers: as("keeper", "read:user,user:follow"),
				Send: `{"bio": "b"}`, Status: 403, Want: lacks},
			{Name: "with user", Do: "PATCH /user", Headers: as("keeper", "user"), Send: `{"bio": "b"}`,
				Status: 200},
			{Name: "follow", Do: "PUT /user/following/owner", Headers: as("keeper", "user:follow"),
				Status: 204},
			{Name: "star in public", Do: "PUT /user/starred/guild/hall", Headers: as("reader", "public_repo"),
				Status: 204},
			{Name: "star without a scope", Do: "PUT /user/starred/guild/hall",
				Headers: as("writer", "read:org"), Status: 403, Want: lacks},
			{Name: "it did not", Do: "GET /user/starred/guild/hall", As: "writer", Status: 404},
			{Name: "watch", Do: "PUT /repos/guild/hall/subscription", Headers: as("reader", "notifications"),
				Send: `{"subscribed": true}`, Status: 200},

			{Name: "builds of a private repository", Do: "GET /repos/guild/vault/commits/main/statuses",
				Headers: as("writer", "repo:status"), Status: 409},
			{Name: "and nothing else of it", Do: "GET /repos/guild/vault",
				Headers: as("writer", "repo:status"), Status: 404},
			{Name: "to make a private repository", Do: "POST /user/repos",
				Headers: as("keeper", "public_repo"), Send: `{"name": "n", "private": true}`, Status: 403,
				Want: lacks},
			{Name: "a public one", Do: "POST /user/repos", Headers: as("keeper", "public_repo"),
				Send: `{"name": "n"}`, Status: 201},
			{Name: "to hide one", Do: "PATCH /repos/keeper/n", Headers: as("keeper", "public_repo"),
				Send: `{"private": true}`, Status: 403},
			{Name: "it is still there", Do: "GET /repos/keeper/n", Status: 200, Want: `{"private": false}`},
			{Name: "to delete one", Do: "DELETE /repos/keeper/n", Headers: as("keeper", "delete_repo"),
				Status: 403},
			{Name: "with both", Do: "DELETE /repos/keeper/n",
				Headers: as("keeper", "public_repo,delete_repo"), Status: 204},
			{Name: "a private one", Do: "DELETE /repos/guild/vault",
				Headers: as("keeper", "public_repo,delete_repo"), Status: 404},

			{Name: "an administrator's usual token", Do: "GET /repos/guild/vault",
				Headers: as("chief", scope.Usual), Status: 404},
			{Name: "with site_admin", Do: "GET /repos/guild/vault", Headers: as("chief", "repo,site_admin"),
				Status: 200},
			{Name: "site_admin of somebody else", Do: "GET /repos/guild/vault",
				Headers: as("stranger", "repo,site_admin"), Status: 404},
			{Name: "plants", Do: "GET /plants", Headers: as("keeper", "plants"), Status: 200},
			{Name: "not with repo", Do: "GET /plants", Headers: as("keeper", "repo"), Status: 403,
				Want: `{"error": 40301, "message": "$any"}`},
			{Name: "not with a fine-grained one", Do: "GET /plants",
				Headers: fine("keeper", true, private), Status: 403, Want: `{"error": 40301}`},
		})
	})
}

// What a token of each kind sees when something changes (transition × holder). The columns are
// the status of GET /repos/keeper/shed: with public_repo, with repo, and with a fine-grained token that
// was made for the repository while it was private.
func TestTokensFollowTransitions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "keeper", "friend")
		shed := s.Repo(t, "keeper/shed", true)
		s.Grant(t, shed, "friend", account.Push)
		read, id, err := s.Forge.Tokens.CreateToken(t.Context(),
			token.NewToken{Login: "friend", Repos: []int64{int64(shed.ID)}})
		testkit.NoError(t, err)
		holders := []map[string]string{apitest.Bearer(s.Scoped(t, "friend", "public_repo")),
			apitest.Bearer(s.Scoped(t, "friend", "repo")), apitest.Bearer(read)}
		for _, step := range []struct {
			name, do, send string
			want           [3]int
		}{
			{"private", "", "", [3]int{404, 200, 200}},
			{"renamed", "PATCH /repos/keeper/shed", `{"name": "barn"}`, [3]int{404, 301, 301}},
			{"renamed back", "PATCH /repos/keeper/barn", `{"name": "shed"}`, [3]int{404, 200, 200}},
			{"shown", "PATCH /repos/keeper/shed", `{"private": false}`, [3]int{200, 200, 200}},
			{"hidden again", "PATCH /repos/keeper/shed", `{"private": true}`, [3]int{404, 200, 200}},
			{"the account loses access", "DELETE /repos/keeper/shed/collaborators/friend", "",
				[3]int{404, 404, 404}},
			{"and has it again", "PUT /repos/keeper/shed/collaborators/friend", "", [3]int{404, 200, 200}},
			{"deleted", "DELETE /repos/keeper/shed", "", [3]int{404, 404, 404}},
			{"another of that name", "POST /user/repos", `{"name": "shed", "private": true}`,
				[3]int{404, 404, 404}},
			{"shared, which the token was not made for", "PUT /repos/keeper/shed/collaborators/friend", "",
				[3]int{404, 200, 404}},
			{"that is public", "PATCH /repos/keeper/shed", `{"private": false}`, [3]int{200, 200, 200}},
		} {
			if step.do != "" {
				if a := s.Do(t, apitest.Case{Do: step.do, As: "keeper", Send: step.send}); a.Status >= 300 {
					t.Fatalf("%s: %d %s", step.do, a.Status, a.Body)
				}
			}
			for n, headers := range holders {
				s.Check(t, apitest.Case{Name: fmt.Sprintf("%s, holder %d", step.name, n),
					Do: "GET /repos/keeper/shed", Headers: headers, Status: step.want[n]})
			}
		}
		// The revocation is the same for tokens of all purposes. TestCredentials covers expiry;
		// repo.TestMidPush and the check of each transaction cover the middle of a request.
		testkit.NoError(t, s.Forge.Tokens.RevokeToken(t.Context(), fmt.Sprint(id)))
		s.Check(t, apitest.Case{Do: "GET /repos/keeper/shed", Headers: holders[2],
			Status: http.StatusUnauthorized})
	})
}
