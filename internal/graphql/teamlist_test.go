package graphql_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// Lists of teams, of their people and their repositories are chosen by arguments.
func TestTeamLists(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Run(t, []apitest.Case{
			{Do: "PUT /orgs/garden/memberships/rae", As: "alice", Send: `{"role": "member"}`, Status: 200},
			{Do: "PUT /orgs/garden/memberships/will", As: "alice", Send: `{"role": "member"}`, Status: 200},
			{Do: "POST /orgs/garden/teams", As: "alice", Send: `{"name": "Growers", "privacy": "closed"}`, Status: 201},
			{Do: "POST /orgs/garden/teams", As: "alice", Send: `{"name": "Pea growers", "privacy": "closed",
				"parent_team_id": 1}`, Status: 201},
			{Do: "POST /orgs/garden/teams", As: "alice", Send: `{"name": "Hidden", "privacy": "secret"}`, Status: 201},
			{Do: "PUT /orgs/garden/teams/growers/memberships/rae", As: "alice", Send: `{"role": "maintainer"}`, Status: 200},
			{Do: "PUT /orgs/garden/teams/pea-growers/memberships/will", As: "alice", Status: 200},
			{Do: "PUT /orgs/garden/teams/growers/repos/garden/plot", As: "alice", Send: `{"permission": "push"}`, Status: 204},
		})
		org := func(fields string) string { return `{organization(login:"garden"){` + fields + `}}` }
		team := func(slug, fields string) string { return org(`team(slug:"` + slug + `"){` + fields + `}`) }
		for _, a := range []ask{
			{query: org(`a:teams(first:9,privacy:SECRET){nodes{slug}} b:teams(first:9,query:"pea gr"){totalCount nodes{slug}}
				c:teams(first:9,userLogins:["will"]){nodes{slug}} d:teams(first:1,orderBy:{field:NAME,direction:DESC}){
				totalCount nodes{slug}} e:teams(first:9,role:ADMIN){totalCount}`), want: `{"data": {"organization": {
				"a": {"nodes": [{"slug": "hidden"}]}, "b": {"totalCount": 1, "nodes": [{"slug": "pea-growers"}]},
				"c": {"nodes": [{"slug": "growers"}, {"slug": "pea-growers"}]}, "d": {"totalCount": 3,
				"nodes": [{"slug": "pea-growers"}]}}}}`},
			{as: "rae", query: org(`a:teams(first:9){totalCount} b:teams(first:9,role:ADMIN){nodes{slug viewerCanAdminister}}
				c:teams(first:9,privacy:SECRET){totalCount}`), want: `{"data": {"organization": {"a": {"totalCount": 2},
				"b": {"nodes": [{"slug": "growers", "viewerCanAdminister": true}]}, "c": {"totalCount": 0}}}}`},
			{as: "sam", query: org(`teams(first:9){totalCount nodes{slug}} membersWithRole{totalCount}`),
				want: `{"data": {"organization": {"teams": {"totalCount": 0, "nodes": []}, "membersWithRole": {"totalCount": 0}}}}`},
			{query: team("growers", `a:members(first:9){totalCount nodes{login}} b:members(first:9,membership:IMMEDIATE){edges{
				role memberAccessResourcePath node{login}}} c:members(first:9,membership:CHILD_TEAM){nodes{login}}
				d:members(first:9,query:"WI"){totalCount nodes{login}} repositories(first:9,query:"plo"){edges{permission
				node{name}}} none:repositories(first:9,query:"shed"){totalCount} teamsResourcePath editTeamResourcePath
				notificationSetting`), want: `{"data": {"organization": {"team": {"a": {"totalCount": 3,
				"nodes": [{"login": "alice"}, {"login": "will"}, {"login": "rae"}]}, "b": {"edges": [{"role": "MAINTAINER",
				"memberAccessResourcePath": "/orgs/garden/people/teams/growers", "node": {"login": "alice"}}, {"role": "MAINTAINER",
				"memberAccessResourcePath": "/orgs/garden/people/teams/growers", "node": {"login": "rae"}}]},
				"c": {"nodes": [{"login": "will"}]}, "d": {"totalCount": 1, "nodes": [{"login": "will"}]},
				"repositories": {"edges": [{"permission": "WRITE", "node": {"name": "plot"}}]}, "none": {"totalCount": 0},
				"teamsResourcePath": "/orgs/garden/people/teams/growers",
				"editTeamResourcePath": "/orgs/garden/people/teams/growers/settings",
				"notificationSetting": "NOTIFICATIONS_ENABLED"}}}}`},
			{as: "will", query: team("pea-growers", `ancestors(first:9){totalCount nodes{slug}} viewerCanAdminister`),
				want: `{"data": {"organization": {"team": {"ancestors": {"totalCount": 1, "nodes": [{"slug": "growers"}]},
					"viewerCanAdminister": false}}}}`},
			{query: team("growers", `childTeams(first:9,userLogins:["rae"]){totalCount}`),
				want: `{"data": {"organization": {"team": {"childTeams": {"totalCount": 0}}}}}`},
			{query: team("growers", `childTeams(first:9,immediateOnly:false){totalCount}`),
				want: `{"data": {"organization": {"team": {"childTeams": {"totalCount": 1}}}}}`},
		} {
			a.check(t, s)
		}
	})
}

// Lists of repositories are chosen by arguments, and what Arbor cannot choose by is refused.
func TestRepositoryLists(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		for _, name := range []string{"alice/bed", "alice/old", "alice/quiet"} {
			s.Repo(t, name, false)
		}
		s.Repo(t, "alice/cellar", true)
		s.Run(t, []apitest.Case{
			{Do: "PUT /user/starred/alice/quiet", As: "bob", Status: 204},
			{Do: "PATCH /repos/alice/quiet", As: "alice", Send: `{"has_issues": false}`, Status: 200},
			{Do: "PATCH /repos/alice/old", As: "alice", Send: `{"archived": true}`, Status: 200},
			{Do: "PATCH /repos/alice/cellar", As: "alice", Send: `{"name": "vault"}`, Status: 200},
		})
		names := func(list ...string) string {
			text := ""
			for n, name := range list {
				if n > 0 {
					text += ", "
				}
				text += `{"name": "` + name + `"}`
			}
			return `"nodes": [` + text + `]}`
		}
		const refusal = `"errors": [{"type": "UNPROCESSABLE"}]}`
		for _, a := range []ask{
			{query: `{viewer{a:repositories(first:9,isArchived:true){totalCount nodes{name}}
				b:repositories(first:9,hasIssuesEnabled:true,isArchived:false,visibility:PUBLIC){totalCount nodes{name}}
				c:repositories(first:1,orderBy:{field:STARGAZERS,direction:DESC}){totalCount nodes{name} pageInfo{hasNextPage}}
				d:repositories(first:9,affiliations:[OWNER],visibility:PRIVATE,isLocked:false){nodes{name}}}}`,
				want: `{"data": {"viewer": {"a": {"totalCount": 1, ` + names("old") + `, "b": {"totalCount": 1, ` + names("bed") +
					`, "c": {"totalCount": 4, "pageInfo": {"hasNextPage": true}, ` + names("quiet") + `, "d": {` + names("vault") + `}}}`},
			{as: "bob", query: `{user(login:"alice"){a:repositories(first:9,isArchived:false,orderBy:{field:NAME,
				direction:ASC}){totalCount nodes{name}} b:repositories(first:9,visibility:PRIVATE){totalCount}}}`,
				want: `{"data": {"user": {"a": {"totalCount": 2, ` + names("bed", "quiet") + `, "b": {"totalCount": 0}}}}`},
			{as: "bob", query: `{user(login:"alice"){repositories(first:9,affiliations:[OWNER]){totalCount}}}`,
				want: `{"data": {"user": null}, ` + refusal},
			{query: `{viewer{repositories(first:9,visibility:INTERNAL){totalCount}}}`, want: `{"data": null, ` + refusal},
			{query: `{viewer{organizations(first:9,orderBy:{field:LOGIN,direction:ASC}){totalCount}}}`,
				want: `{"data": null, ` + refusal},
			{query: `{viewer{organizations(first:9,orderBy:{field:CREATED_AT,direction:ASC}){totalCount}}}`,
				want: `{"data": {"viewer": {"organizations": {"totalCount": 0}}}}`},
			{query: `{a:repository(owner:"alice",name:"cellar"){name} b:repository(owner:"alice",name:"cellar",
				followRenames:false){name} c:repository(owner:"alice",name:"VAULT",followRenames:false){name}}`,
				want: `{"data": {"a": {"name": "vault"}, "b": null, "c": {"name": "vault"}}, "errors": [{"type": "NOT_FOUND"}]}`},
			{query: `{rateLimit(dryRun:true){cost limit remaining used}}`, want: `{"data": {"rateLimit": {"cost": 1, "limit": 1000000000,
				"remaining": 1000000000, "used": 0}}}`},
		} {
			a.check(t, s)
		}
	})
}
