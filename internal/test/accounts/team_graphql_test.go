package accounts_test

import (
	"encoding/json"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// GraphQL shows the teams that REST shows, to the same callers.
func TestTeamsByGraphQL(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crew(t, s)
		teamID(t, s, `{"name":"Top","privacy":"closed"}`)
		teamID(t, s, `{"name":"Low","parent_team_id":1,"maintainers":["mia"],"repo_names":["shed"]}`)
		teamID(t, s, `{"name":"moles"}`)
		const query = `{organization(login:"garden"){teams(first:9,orderBy:{field:NAME,direction:ASC}){totalCount nodes{slug
			combinedSlug privacy parentTeam{name} childTeams(first:2){nodes{slug}} organization{login}
			members{nodes{login} totalCount edges{role}}
			direct:members(first:5,role:MEMBER,membership:IMMEDIATE){nodes{login}} repositories(first:5){nodes{nameWithOwner}}}}
			team(slug:"moles"){id}}}`
		ask := func(as, want string) {
			t.Helper()
			body, err := json.Marshal(map[string]string{"query": query})
			testkit.NoError(t, err)
			s.Check(t, apitest.Case{Do: "POST /graphql", As: as, Send: string(body), Status: 200, Want: want})
		}
		const low = `{"slug":"low","combinedSlug":"garden/low","privacy":"VISIBLE","parentTeam":{"name":"Top"},
			"childTeams":{"nodes":[]},"organization":{"login":"garden"},
			"members":{"nodes":[{"login":"alice"},{"login":"mia"}],"totalCount":2,"edges":[{"role":"MAINTAINER"},{"role":"MAINTAINER"}]},
			"direct":{"nodes":[]},
			"repositories":{"nodes":[{"nameWithOwner":"garden/shed"}]}}`
		const top = `{"slug":"top","childTeams":{"nodes":[{"slug":"low"}]},"repositories":{"nodes":[]}}`
		ask("mia",
			`{"data":{"organization":{"teams":{"totalCount":2,"nodes":[`+low+`,`+top+`]},"team":null}}}`)
		ask("alice", `{"data":{"organization":{"teams":{"totalCount":3}}}}`)
		ask("sam", `{"data":{"organization":{"teams":{"totalCount":0,"nodes":[]},"team":null}}}`)
		s.Check(t, apitest.Case{Name: "those of child teams", Do: "POST /graphql", As: "alice", Status: 200,
			Send: `{"query": "{organization(login:\"garden\"){team(slug:\"top\"){members(first:1,membership:CHILD_TEAM){totalCount}}}}"}`,
			Want: `{"data": {"organization": {"team": {"members": {"totalCount": 1}}}}}`})
	})
}
