package repos_test

import (
	"strings"
	"testing"

	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// What members may create in an organization holds for every way on which a repository comes to be there, and for
// nobody who owns it.
func TestMembersMayCreate(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "mia", "sam")
		s.Admin(t, "chief")
		s.Org(t, "guild", "alice")
		s.Ask(t, "alice", "PUT /orgs/guild/members/mia", "", 204)
		s.Ask(t, "alice", "PATCH /orgs/guild", `{"members_can_fork_private_repositories": true}`, 200)
		visibilities := []string{"public", "private"}
		for _, v := range visibilities {
			private := `, "private": true`
			if v == "public" {
				private = ""
			}
			for _, who := range []string{"alice", "mia", "chief"} {
				s.Ask(t, who, "POST /user/repos", `{"name": "give-`+v+`", "auto_init": true`+private+`}`, 201)
			}
			s.Ask(t, "mia", "POST /user/repos", `{"name": "template-`+v+`", "is_template": true, "auto_init": true`+
				private+`}`, 201)
			s.Ask(t, "mia", "POST /user/repos", `{"name": "fork-`+v+`", "auto_init": true`+private+`}`, 201)
		}
		// ways are all ways on which somebody creates a repository in guild.
		ways := []struct{ name, do, send string }{
			{"a new one", "POST /orgs/guild/repos", `{"name": "new-N", "private": PRIVATE}`},
			{"with a first commit", "POST /orgs/guild/repos", `{"name": "first-N", "private": PRIVATE, "auto_init": true}`},
			{"from a template", "POST /repos/mia/template-VISIBILITY/generate",
				`{"owner": "guild", "name": "made-N", "private": PRIVATE}`},
			{"GraphQL", "POST /graphql", `{"query": "mutation{createRepository(input:{ownerId:\"OWNER\",name:\"graph-N\",` +
				`visibility:UPPER}){repository{name}}}"}`},
		}
		var guild struct {
			NodeID string `json:"node_id"`
		}
		s.Ask(t, "alice", "GET /orgs/guild", "", 200).JSON(t, &guild)
		n := 0
		try := func(who, do, send, visibility string) bool {
			t.Helper()
			n++
			text := strings.NewReplacer("-N", "-"+visibility+"-"+who+strings.Repeat("x", n), "PRIVATE",
				map[string]string{"public": "false", "private": "true"}[visibility], "VISIBILITY", visibility,
				"UPPER", strings.ToUpper(visibility), "OWNER", guild.NodeID)
			a := s.Do(t, apitest.Case{Do: text.Replace(do), As: who, Send: text.Replace(send)})
			if made := a.Status < 300 && !strings.Contains(string(a.Body), `"errors"`); made {
				return true
			}
			if !strings.Contains(string(a.Body), "Members of this organization cannot create "+visibility) {
				t.Errorf("%s %s: %d %s", who, do, a.Status, a.Body)
			}
			return false
		}
		for _, c := range []struct{ set, kind, allowed string }{
			{`{"members_can_create_repositories": false}`, "none", ""},
			{`{"members_can_create_repositories": true, "members_can_create_public_repositories": false}`, "private", "private"},
			{`{"members_can_create_public_repositories": true, "members_can_create_private_repositories": false}`, "public",
				"public"},
			{`{"members_allowed_repository_creation_type": "none"}`, "none", ""},
			{`{"members_allowed_repository_creation_type": "private"}`, "private", "private"},
			{`{"members_can_create_repositories": null, "billing_email": "bills@example.org"}`, "private", "private"},
			{`{"members_allowed_repository_creation_type": "all"}`, "all", "public private"},
		} {
			s.Check(t, apitest.Case{Do: "PATCH /orgs/guild", As: "alice", Send: c.set, Status: 200,
				Want: `{"members_allowed_repository_creation_type": "` + c.kind + `"}`})
			s.Check(t, apitest.Case{Do: "GET /orgs/guild", As: "mia", Status: 200,
				Want: `{"members_allowed_repository_creation_type": "` + c.kind + `", "billing_email": "$absent"}`})
			for _, way := range ways {
				for _, v := range visibilities {
					if made := try("mia", way.do, way.send, v); made != strings.Contains(c.allowed, v) {
						t.Errorf("%s, %s, %s: made is %v", c.set, way.name, v, made)
					}
				}
			}
		}
		s.Run(t, []apitest.Case{
			{Name: "strangers see nothing of it", Do: "GET /orgs/guild", As: "sam", Status: 200,
				Want: `{"members_can_create_repositories": "$absent", "billing_email": "$absent"}`},
			{Name: "owners the address", Do: "GET /orgs/guild", As: "alice", Status: 200,
				Want: `{"members_can_create_repositories": true, "billing_email": "bills@example.org"}`},
			{Do: "PATCH /orgs/guild", As: "mia", Send: `{"members_can_create_repositories": true}`, Status: 403},
			{Do: "PATCH /orgs/guild", As: "alice", Send: `{"members_can_create_repositories": false}`, Status: 200,
				Want: `{"members_can_create_repositories": false, "members_can_create_public_repositories": true}`},
			{Name: "nor do they fork", Do: "POST /repos/mia/fork-public/forks", As: "mia", Send: `{"organization": "guild"}`,
				Status: 403},
			{Do: "POST /repos/mia/fork-private/forks", As: "mia", Send: `{"organization": "guild"}`, Status: 403},
			{Name: "nor transfer", Do: "POST /repos/mia/give-public/transfer", As: "mia", Send: `{"new_owner": "guild"}`,
				Status: 403},
			{Do: "POST /repos/mia/give-private/transfer", As: "mia", Send: `{"new_owner": "guild"}`, Status: 403},
			{Name: "an owner does", Do: "POST /repos/alice/give-private/transfer", As: "alice",
				Send: `{"new_owner": "guild"}`, Status: 202},
			{Name: "and a site administrator", Do: "POST /repos/chief/give-public/transfer", As: "chief",
				Send: `{"new_owner": "guild"}`, Status: 202},
			{Do: "POST /orgs/guild/repos", As: "alice", Send: `{"name": "owned"}`, Status: 201},
			{Do: "POST /orgs/guild/repos", As: "chief", Send: `{"name": "administrated"}`, Status: 201},
			{Name: "private ones", Do: "PATCH /orgs/guild", As: "alice",
				Send: `{"members_can_create_repositories": true, "members_can_create_public_repositories": false}`, Status: 200},
			{Do: "POST /repos/mia/fork-public/forks", As: "mia", Send: `{"organization": "guild"}`, Status: 403},
			{Do: "POST /repos/mia/give-public/transfer", As: "mia", Send: `{"new_owner": "guild"}`, Status: 403},
			{Do: "POST /repos/mia/give-private/transfer", As: "mia", Send: `{"new_owner": "guild", "new_name": "given"}`,
				Status: 202},
			{Name: "the audit log says so", Do: "GET /orgs/guild/audit-log?per_page=100&phrase=action:org.update", As: "alice",
				Status: 200},
		})
		_, err := s.Repos.Create(t.Context(), nil, repo.NewRepo{Owner: "guild", Name: "by-operator"})
		testkit.NoError(t, err)
		// A browser's form says the same, and its settings change it.
		s.Visit(t, "mia", "POST /new", "owner", "guild", "name", "page", "visibility", "public").Shows(t, 403,
			"Members of this organization cannot create public repositories")
		s.Visit(t, "alice", "POST /orgs/guild/settings", "name", "G", "default_repository_permission", "read",
			"public_repositories", "1").Leads(t, "/orgs/guild/settings")
		s.Check(t, apitest.Case{Do: "GET /orgs/guild", As: "mia", Status: 200,
			Want: `{"members_can_create_public_repositories": true, "members_can_create_private_repositories": false}`})
	})
}
