package repos_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// What a transfer refuses changes nothing; and what it takes along.
func TestTransferRules(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		society(t, s)
		garden := s.Repo(t, "alice/garden", false)
		s.Import(t, garden, gittest.Repository(t, 2, 2))
		s.Grant(t, garden, "carol", account.Admin)
		hall := s.Repo(t, "guild/hall", true)
		s.Import(t, hall, gittest.Repository(t, 2, 3))
		s.Grant(t, hall, "carol", account.Admin)
		s.Repo(t, "club/Shed", false)
		s.User(t, "sleepy")
		s.Check(t, apitest.Case{Do: "PUT /users/sleepy/suspended", As: "chief", Status: 204})
		const path, to = "POST /repos/alice/garden/transfer", `{"new_owner": "guild"}`
		s.Run(t, []apitest.Case{
			{Name: "nobody", Do: path, Send: to, Status: 401},
			{Name: "who reads", Do: path, As: "fay", Send: to, Status: 403},
			{Name: "an administrator by grant", Do: path, As: "carol",
				Send: `{"new_owner": "carol"}`, Status: 403,
				Want: `{"message": "Must be the owner of the repository to transfer it."}`},
			{Name: "the same, of an organization", Do: "POST /repos/guild/hall/transfer", As: "carol",
				Send:   `{"new_owner": "carol"}`,
				Status: 403, Want: `{"message": "Must be an owner of the organization to transfer its repositories."}`},
			{Name: "a member", Do: "POST /repos/guild/hall/transfer", As: "dora",
				Send:   `{"new_owner": "dora"}`,
				Status: 403},
			{Name: "invisible", Do: "POST /repos/guild/hall/transfer", As: "fay",
				Send:   `{"new_owner": "fay"}`,
				Status: 404},
			{Name: "to another person", Do: path, As: "alice", Send: `{"new_owner": "bob"}`, Status: 422,
				Want: `{"errors": [{"field": "new_owner"}]}`},
			{Name: "to oneself", Do: path, As: "alice", Send: `{"new_owner": "Alice"}`, Status: 422},
			{Name: "to nobody", Do: path, As: "alice", Send: `{"new_owner": "nobody"}`, Status: 422,
				Want: `{"errors": [{"field": "new_owner", "code": "invalid", "value": "nobody"}]}`},
			{Name: "to who is suspended", Do: path, As: "chief", Send: `{"new_owner": "sleepy"}`,
				Status: 422},
			{Name: "to a foreign organization", Do: "POST /repos/guild/hall/transfer", As: "alice",
				Send: `{"new_owner": "nobodys"}`, Status: 422},
			{Name: "without an owner", Do: path, As: "alice", Send: `{}`, Status: 422,
				Want: `{"errors": [{"field": "new_owner", "code": "missing_field"}]}`},
			{Name: "a number", Do: path, As: "alice", Send: `{"new_owner": 1}`, Status: 422},
			{Name: "to teams", Do: path, As: "alice", Send: `{"new_owner": "guild", "team_ids": [1]}`,
				Status: 422},
			{Name: "to no teams at all", Do: path, As: "alice",
				Send:   `{"new_owner": "guild", "team_ids": "x"}`,
				Status: 422},
			{Name: "under no name", Do: path, As: "alice", Send: `{"new_owner": "guild", "new_name": "a b"}`,
				Status: 422,
				Want:   `{"errors": [{"field": "new_name"}]}`},
			{Name: "under a taken name", Do: path, As: "alice",
				Send: `{"new_owner": "club", "new_name": "shed"}`, Status: 422,
				Want: `{"errors": [{"field": "name", "message": "name already exists on this account"}]}`},
			{Name: "nothing happened", Do: "GET /repos/alice/garden", Status: 200,
				Want: `{"full_name": "alice/garden"}`},
			{Do: "GET /users/alice", Status: 200, Want: `{"public_repos": 1}`},

			{Name: "an owner of a network's repository", Do: "POST /repos/alice/garden/forks", As: "bob",
				Status: 202},
			{Name: "gets no second one", Do: path, As: "chief",
				Send: `{"new_owner": "bob", "new_name": "other"}`, Status: 422,
				Want: `{"errors": [{"message": "This owner has a repository of the same network already."}]}`},
			{Name: "nor the root's of a fork", Do: "POST /repos/bob/garden/transfer", As: "chief",
				Send: `{"new_owner": "alice", "new_name": "other"}`, Status: 422},
			{Name: "a private fork", Do: "POST /repos/guild/hall/forks", As: "dora", Status: 202},
			{Name: "goes to nobody who does not see the root",
				Do: "POST /repos/dora/hall/transfer", As: "chief",
				Send: `{"new_owner": "fay"}`, Status: 422},
			{Do: "GET /repos/dora/hall", As: "fay", Status: 404},
			{Name: "and stays", Do: "GET /repos/dora/hall", As: "dora", Status: 200},
			{Name: "but to who does", Do: "POST /repos/dora/hall/transfer", As: "chief",
				Send: `{"new_owner": "carol"}`, Status: 202,
				Want: `{"fork": true, "full_name": "carol/hall"}`},
			{Do: "GET /repos/carol/hall", As: "carol", Status: 200, Want: `{"permissions": {"admin": true}}`},

			{Name: "archived", Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"archived": true}`,
				Status: 200},
			{Name: "with another name", Do: path, As: "alice",
				Send: `{"new_owner": "guild", "new_name": "Beds", "team_ids": []}`, Status: 202,
				Want: `{"full_name": "guild/Beds", "archived": true, "html_url": "{base}/guild/Beds", "forks_count": 1}`},
			{Name: "the old address", Do: "GET /repos/alice/garden/issues?state=all", Status: 301,
				Has: map[string]string{"Location": "{base}/repos/guild/Beds/issues?state=all"}},
			{Name: "to write", Do: "POST /repos/alice/garden/forks", As: "erin", Status: 307,
				Has: map[string]string{"Location": "{base}/repos/guild/Beds/forks"}},
			{Name: "the fork", Do: "GET /repos/bob/garden", Status: 200,
				Want: `{"parent": {"full_name": "guild/Beds"}}`},
			{Name: "of the former owner", Do: "GET /repos/guild/Beds", As: "alice", Status: 200,
				Want: `{"permissions": {"admin": true}}`},
			{Do: "GET /users/alice", Status: 200, Want: `{"public_repos": 0}`},
			{Do: "GET /orgs/guild", Status: 200, Want: `{"public_repos": 1}`},
			{Name: "back", Do: "POST /repos/guild/Beds/transfer", As: "alice",
				Send: `{"new_owner": "alice", "new_name": "garden"}`, Status: 202},
			{Name: "is where it was", Do: "GET /repos/alice/garden", Status: 200},
			{Name: "and is led to", Do: "GET /repos/guild/beds", Status: 301,
				Has: map[string]string{"Location": "{base}/repos/alice/garden"}},
			{Name: "who owns it is no collaborator besides",
				Do: "GET /repos/alice/garden/collaborators?affiliation=direct", As: "alice",
				Status: 200, Want: `[{"login": "alice"}, {"login": "carol"}]`},
			{Name: "what was granted stays", Do: "GET /repos/alice/garden/collaborators/carol/permission",
				As:     "alice",
				Status: 200, Want: `{"permission": "admin"}`},
			{Name: "until the name is another's", Do: "POST /orgs/guild/repos", As: "alice",
				Send: `{"name": "beds"}`, Status: 201},
			{Do: "GET /repos/guild/beds", Status: 200, Want: `{"full_name": "guild/beds"}`},
		})
		s.Settle(t)
		sound(t, s)
	})
}

// Whatever happens at the same time, each repository has one owner, one address and what was
// acknowledged. A transfer that came in between would leave counters wrong, or a push nowhere.
func TestTransfersAtTheSameTime(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		society(t, s)
		garden := s.Repo(t, "alice/garden", false)
		s.Import(t, garden, gittest.Repository(t, 2, 2))
		s.Repo(t, "alice/shed", false)
		const rounds = 8
		var all sync.WaitGroup
		var mu sync.Mutex
		var acknowledged []string
		try := func(do, as, send string, allowed ...int) int {
			a := s.Do(t, apitest.Case{Do: do, As: as, Send: send})
			for _, status := range append(allowed, 403, 404, 409, 422, 307) {
				if a.Status == status {
					return a.Status
				}
			}
			t.Errorf("%s: %d %s", do, a.Status, a.Body)
			return a.Status
		}
		everywhere := func(do, rest string, as, send string, allowed ...int) {
			for _, name := range []string{"alice/garden", "guild/garden", "club/garden", "guild/beds"} {
				if try(do+" /repos/"+name+rest, as, send, allowed...) < 300 {
					mu.Lock()
					if do == http.MethodPut {
						acknowledged = append(acknowledged, strings.TrimPrefix(rest, "/contents/"))
					}
					mu.Unlock()
					return
				}
			}
		}
		for i := range rounds {
			login := fmt.Sprintf("short%d", i)
			s.User(t, login)
			for _, act := range []func(){
				func() { everywhere("POST", "/transfer", "alice", `{"new_owner": "guild"}`, 202) },
				func() { everywhere("POST", "/transfer", "chief", `{"new_owner": "club"}`, 202) },
				func() {
					everywhere("POST", "/transfer", "chief",
						`{"new_owner": "alice", "new_name": "garden"}`, 202)
				},
				func() { everywhere("PATCH", "", "chief", `{"name": "beds"}`, 200) },
				func() {
					everywhere("PUT", fmt.Sprintf("/contents/f%d", i), "chief",
						`{"message": "x", "content": "eA=="}`, 201)
				},
				func() {
					try("POST /repos/alice/shed/transfer", "chief", `{"new_owner": "`+login+`"}`, 202, 301)
				},
				func() { try("DELETE /admin/users/"+login, "chief", "", 204) },
			} {
				all.Add(1)
				go func() { defer all.Done(); act() }()
			}
			all.Wait()
			owner := s.Do(t, apitest.Case{Do: "GET /repos/" + login + "/shed"}).Status
			if account := s.Do(t, apitest.Case{Do: "GET /users/" + login}).Status; owner == 200 &&
				account != 200 {
				t.Fatalf("round %d: the repository is there, its owner is not", i)
			}
			if owner == 200 {
				s.Ask(t, "chief", "POST /repos/"+login+"/shed/transfer", `{"new_owner": "alice"}`, 202)
			}
		}
		names := 0
		for _, name := range []string{"alice/garden", "guild/garden", "club/garden", "alice/beds",
			"guild/beds", "club/beds"} {
			a := s.Do(t, apitest.Case{Do: "GET /repos/" + name + "/contents", As: "chief"})
			if a.Status != 200 {
				continue
			}
			names++
			for _, path := range acknowledged {
				if !strings.Contains(string(a.Body), `"`+path+`"`) {
					t.Errorf("%s was acknowledged and is not there", path)
				}
			}
		}
		if names != 1 {
			t.Errorf("the repository is at %d addresses", names)
		}
		s.Settle(t)
		sound(t, s)
	})
}
