package graphql_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// People tell whom they follow, what they starred and watch, and which keys they have, as REST does.
func TestPeople(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Org(t, "guild", "alice")
		s.Repo(t, "alice/bed", false)
		s.Repo(t, "alice/cellar", true)
		for _, c := range []apitest.Case{
			{Do: "PUT /user/following/alice", As: "bob", Status: 204},
			{Do: "PUT /user/following/alice", As: "carol", Status: 204},
			{Do: "PUT /user/following/guild", As: "carol", Status: 204},
			{Do: "PUT /user/following/bob", As: "alice", Status: 204},
			{Do: "PUT /user/starred/alice/bed", As: "alice", Status: 204},
			{Do: "PUT /user/starred/alice/bed", As: "bob", Status: 204},
			{Do: "PUT /user/starred/alice/cellar", As: "alice", Status: 204},
			{Do: "PUT /repos/alice/cellar/subscription", As: "alice", Send: `{"subscribed": true}`, Status: 200},
			{Do: "PATCH /user", As: "alice", Send: `{"bio": "Peas & beans", "company": "@guild"}`, Status: 200},
		} {
			s.Check(t, c)
		}
		starred := member(t, s, "alice", "/repos/alice/bed", "node_id")
		for _, a := range []ask{
			{as: "bob", query: `{user(login:"alice"){followers(first:1){totalCount nodes{login} pageInfo{hasNextPage}}
				following(first:5){totalCount nodes{login}} viewerIsFollowing isFollowingViewer viewerCanFollow bioHTML companyHTML}}`,
				want: `{"data": {"user": {"followers": {"totalCount": 2, "nodes": [{"login": "bob"}],
					"pageInfo": {"hasNextPage": true}}, "following": {"totalCount": 1, "nodes": [{"login": "bob"}]},
					"viewerIsFollowing": true, "isFollowingViewer": true, "viewerCanFollow": true,
					"bioHTML": "<div>Peas &amp; beans</div>", "companyHTML": "<div>@guild</div>"}}}`},
			{as: "carol", query: `{viewer{viewerCanFollow isFollowingViewer following(first:5){totalCount nodes{login}}}
				organization(login:"guild"){viewerIsFollowing}}`,
				want: `{"data": {"viewer": {"viewerCanFollow": false, "isFollowingViewer": false,
					"following": {"totalCount": 1, "nodes": [{"login": "alice"}]}}, "organization": {"viewerIsFollowing": true}}}`},
			{as: "alice", query: `{viewer{starredRepositories(first:5,orderBy:{field:STARRED_AT,direction:DESC}){totalCount
				nodes{name}} watching(first:5){totalCount nodes{name}}}}`,
				want: `{"data": {"viewer": {"starredRepositories": {"totalCount": 2, "nodes": [{"name": "cellar"}, {"name": "bed"}]},
					"watching": {"totalCount": 1, "nodes": [{"name": "cellar"}]}}}}`},
			{as: "bob", query: `{user(login:"alice"){starredRepositories(first:5){totalCount nodes{name}}
				watching(first:5){totalCount nodes{name}}}}`, want: `{"data": {"user": {"starredRepositories":
					{"totalCount": 1, "nodes": [{"name": "bed"}]}, "watching": {"totalCount": 0, "nodes": []}}}}`},
			{as: "bob", query: `query($id:ID!){node(id:$id){...on Repository{a:stargazers(first:1){totalCount nodes{login}}
				b:stargazers(first:1,orderBy:{field:STARRED_AT,direction:DESC}){edges{node{login}}}}}}`,
				variables: map[string]any{"id": starred},
				want: `{"data": {"node": {"a": {"totalCount": 2, "nodes": [{"login": "alice"}]},
					"b": {"edges": [{"node": {"login": "bob"}}]}}}}`},
			{as: "bob", query: `{user(login:"alice"){starredRepositories(first:5,ownedByViewer:true){totalCount}
				watching(first:5,visibility:PUBLIC){totalCount}}}`,
				want: `{"data": {"user": {"starredRepositories": {"totalCount": 0}, "watching": {"totalCount": 0}}}}`},
			{as: "bob", query: `{user(login:"alice"){watching(first:5,affiliations:[OWNER]){totalCount}}}`,
				want: `{"data": {"user": {"watching": {"totalCount": 0}}}}`},
		} {
			a.check(t, s)
		}
	})
}

// What people contributed is counted as far as the caller sees it.
func TestContributions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/bed", false)
		s.Repo(t, "alice/cellar", true)
		for _, c := range []apitest.Case{
			{Do: "PUT /repos/alice/bed/contents/a", As: "alice", Send: `{"message": "A", "content": "YQ=="}`, Status: 201},
			{Do: "PUT /repos/alice/bed/contents/b", As: "alice", Send: `{"message": "B", "content": "Yg=="}`, Status: 201},
			{Do: "POST /repos/alice/bed/issues", As: "bob", Send: `{"title": "Peas", "labels": []}`, Status: 201},
			{Do: "POST /repos/alice/bed/issues", As: "alice", Send: `{"title": "Beans", "labels": ["late"]}`, Status: 201},
			{Do: "POST /repos/alice/cellar/issues", As: "alice", Send: `{"title": "SECRET"}`, Status: 201},
		} {
			s.Check(t, c)
		}
		s.Settle(t)
		const fields = `contributionsCollection{totalIssueContributions totalRepositoriesWithContributedIssues
			user{login} isSingleDay hasAnyContributions contributionCalendar{weeks{contributionDays{contributionCount}}}}
			repositoriesContributedTo(first:5){totalCount nodes{name}}
			topRepositories(first:5,orderBy:{field:NAME,direction:ASC}){nodes{name}}
			issues(first:5,orderBy:{field:CREATED_AT,direction:DESC}){totalCount nodes{title}}
			late:issues(labels:["late"]){totalCount} closed:issues(states:[CLOSED]){totalCount} pullRequests(states:[OPEN,CLOSED]){totalCount}`
		ask{as: "alice", query: `{viewer{` + fields + `}}`, want: `{"data": {"viewer": {"contributionsCollection":
			{"totalIssueContributions": 2, "totalRepositoriesWithContributedIssues": 2, "user": {"login": "alice"},
			"isSingleDay": false, "hasAnyContributions": true}, "repositoriesContributedTo": {"totalCount": 0, "nodes": []},
			"topRepositories": {"nodes": [{"name": "bed"}, {"name": "cellar"}]},
			"issues": {"totalCount": 2, "nodes": [{"title": "SECRET"}, {"title": "Beans"}]},
			"late": {"totalCount": 1}, "closed": {"totalCount": 0}, "pullRequests": {"totalCount": 0}}}}`}.check(t, s)
		ask{as: "bob", query: `{user(login:"alice"){` + fields + `}}`, want: `{"data": {"user": {"contributionsCollection":
			{"totalIssueContributions": 1, "totalRepositoriesWithContributedIssues": 1, "user": {"login": "alice"},
			"isSingleDay": false, "hasAnyContributions": true}, "topRepositories": {"nodes": [{"name": "bed"}]},
			"issues": {"totalCount": 1, "nodes": [{"title": "Beans"}]}}}}`}.check(t, s)
		ask{as: "bob", query: `{viewer{repositoriesContributedTo(first:5){totalCount nodes{name}}
			a:contributionsCollection(from:"2020-01-01T00:00:00Z",to:"2020-01-01T05:00:00Z"){isSingleDay hasAnyContributions
			totalIssueContributions contributionCalendar{totalContributions weeks{firstDay contributionDays{date weekday}}}}}}`,
			want: `{"data": {"viewer": {"repositoriesContributedTo": {"totalCount": 1, "nodes": [{"name": "bed"}]},
				"a": {"isSingleDay": true, "hasAnyContributions": false, "totalIssueContributions": 0, "contributionCalendar":
				{"totalContributions": 0, "weeks": [{"firstDay": "2020-01-01", "contributionDays": [{"date": "2020-01-01",
				"weekday": 3}]}]}}}}}`}.check(t, s)
		for _, args := range []string{`from:"2020-01-01T00:00:00Z",to:"2022-01-01T00:00:00Z"`,
			`from:"2020-01-02T00:00:00Z",to:"2020-01-01T00:00:00Z"`, `from:"then"`} {
			ask{as: "bob", query: `{viewer{contributionsCollection(` + args + `){hasAnyContributions}}}`,
				want: `{"data": null, "errors": [{"type": "UNPROCESSABLE"}]}`}.check(t, s)
		}
	})
}

// What people contributed is listed, by sort and by repository, as far as the caller sees it.
func TestContributionLists(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Repo(t, "alice/bed", false)
		s.Repo(t, "alice/cellar", true)
		s.Run(t, []apitest.Case{
			{Do: "PUT /repos/alice/bed/contents/a", As: "alice", Send: `{"message": "A", "content": "YQ=="}`, Status: 201},
			{Do: "PUT /repos/alice/bed/contents/b", As: "alice", Send: `{"message": "B", "content": "Yg=="}`, Status: 201},
		})
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/bed/git/refs", As: "alice", Status: 201,
				Send: `{"ref": "refs/heads/old", "sha": "` + member(t, s, "alice", "/repos/alice/bed/commits/main", "sha") + `"}`},
			{Do: "PUT /repos/alice/bed/contents/d", As: "alice", Status: 201,
				Send: `{"message": "D", "content": "ZA==", "branch": "old"}`},
			{Do: "POST /repos/alice/bed/issues", As: "alice", Send: `{"title": "Peas"}`, Status: 201},
			{Do: "POST /repos/alice/bed/issues", As: "alice", Send: `{"title": "Beans"}`, Status: 201},
			{Do: "POST /repos/alice/cellar/issues", As: "alice", Send: `{"title": "SECRET"}`, Status: 201},
			{Do: "POST /repos/garden/shed/issues", As: "alice", Send: `{"title": "Weeds"}`, Status: 201},
			{Do: "POST /repos/alice/bed/issues/2/comments", As: "alice", Send: `{"body": "Soon"}`, Status: 201},
			{Do: "POST /repos/alice/bed/pulls", As: "alice", Send: `{"title": "Sow", "head": "old", "base": "main"}`, Status: 201},
			{Do: "POST /repos/alice/bed/pulls/3/reviews", As: "alice", Send: `{"event": "COMMENT", "body": "Good"}`, Status: 200},
		})
		s.Settle(t)
		of := func(fields string) string { return `{user(login:"alice"){contributionsCollection{` + fields + `}}}` }
		in := func(want string) string { return `{"data": {"user": {"contributionsCollection": {` + want + `}}}}` }
		for _, a := range []ask{
			{as: "sam", query: of(`issueContributions(first:9,orderBy:{direction:ASC}){totalCount nodes{isRestricted resourcePath
				issue{title} user{login}}}`), want: in(`"issueContributions": {"totalCount": 2, "nodes": [
				{"isRestricted": false, "resourcePath": "/alice/bed/issues/1", "issue": {"title": "Peas"}, "user": {"login": "alice"}},
				{"issue": {"title": "Beans"}}]}`)},
			{as: "alice", query: of(`issueContributions(first:9){totalCount nodes{issue{title}}}`),
				want: in(`"issueContributions": {"totalCount": 4, "nodes": [{"issue": {"title": "Weeds"}},
				{"issue": {"title": "SECRET"}}, {"issue": {"title": "Beans"}}, {"issue": {"title": "Peas"}}]}`)},
			{as: "sam", query: of(`firstIssueContribution{...on CreatedIssueContribution{issue{title}}}
				popularIssueContribution{issue{title}} popularPullRequestContribution{pullRequest{title}}
				firstRepositoryContribution{...on CreatedRepositoryContribution{repository{name}}}
				joinedGitHubContribution{resourcePath} a:totalIssueContributions(excludeFirst:true)
				b:totalIssueContributions(excludeFirst:true,excludePopular:true) c:totalIssueContributions
				d:totalRepositoriesWithContributedIssues(excludeFirst:true) e:totalRepositoryContributions(excludeFirst:true)`),
				want: in(`"firstIssueContribution": {"issue": {"title": "Peas"}},
				"popularIssueContribution": {"issue": {"title": "Beans"}}, "popularPullRequestContribution": null,
				"firstRepositoryContribution": {"repository": {"name": "bed"}}, "joinedGitHubContribution": {"resourcePath": "/alice"},
				"a": 1, "b": 0, "c": 2, "d": 1, "e": 0`)},
			{as: "sam", query: of(`commitContributionsByRepository(maxRepositories:5){repository{name} resourcePath
				contributions(first:5){totalCount nodes{commitCount repository{name}}}}
				issueContributionsByRepository{repository{name} contributions(first:1){totalCount nodes{issue{title}}}}
				pullRequestContributions(first:5){nodes{pullRequest{title}}}
				pullRequestReviewContributions(first:5){nodes{pullRequest{number} pullRequestReview{body}}}
				repositoryContributions(first:5){totalCount nodes{repository{name}}}`),
				want: in(`"issueContributionsByRepository": [{"repository": {"name": "bed"}, "contributions": {"totalCount": 2,
				"nodes": [{"issue": {"title": "Beans"}}]}}],
				"pullRequestContributions": {"nodes": [{"pullRequest": {"title": "Sow"}}]},
				"pullRequestReviewContributions": {"nodes": [{"pullRequest": {"number": 3}, "pullRequestReview": {"body": "Good"}}]},
				"repositoryContributions": {"totalCount": 1, "nodes": [{"repository": {"name": "bed"}}]},
				"commitContributionsByRepository": [{"repository": {"name": "bed"}, "resourcePath": "/alice/bed/commits?author=alice",
				"contributions": {"nodes": [{"repository": {"name": "bed"}}]}}]`)},
			{query: of(`commitContributionsByRepository(maxRepositories:500){resourcePath}`),
				want: `{"data": {"user": null}, "errors": [{"type": "UNPROCESSABLE"}]}`},
		} {
			a.check(t, s)
		}
		org := member(t, s, "alice", "/orgs/garden", "node_id")
		ask{as: "alice", query: `{user(login:"alice"){contributionsCollection(organizationID:"` + org + `"){
			issueContributions(first:9){nodes{issue{title}}} totalCommitContributions}
			early:contributionsCollection(from:"2019-01-01T00:00:00Z",to:"2019-02-01T00:00:00Z"){firstIssueContribution{__typename}
			joinedGitHubContribution{url} mostRecentCollectionWithActivity{hasAnyContributions}}}}`,
			want: `{"data": {"user": {"contributionsCollection": {"issueContributions": {"nodes": [{"issue": {"title": "Weeds"}}]},
			"totalCommitContributions": 0}, "early": {"firstIssueContribution": null, "joinedGitHubContribution": null,
			"mostRecentCollectionWithActivity": null}}}}`}.check(t, s)
	})
}

// An organization tells who its members are as REST tells the caller, and what the caller may do.
func TestMembersOfOrganization(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.User(t, "guest")
		s.Run(t, []apitest.Case{
			{Do: "PUT /orgs/garden/memberships/rae", As: "alice", Send: `{"role": "member"}`, Status: 200},
			{Do: "PUT /orgs/garden/public_members/rae", As: "rae", Status: 204},
			{Do: "POST /orgs/garden/rulesets", As: "alice", Send: `{"name": "Main", "enforcement": "active",
				"rules": [{"type": "deletion"}]}`, Status: 201},
		})
		const query = `{organization(login:"garden"){membersWithRole(first:9){totalCount edges{role node{login}}}
			viewerCanAdminister viewerCanCreateTeams viewerCanCreateRepositories teamsResourcePath newTeamResourcePath
			pendingMembers(first:2){totalCount} rulesets(first:5){nodes{name}}}}`
		both := `{"totalCount": 2, "edges": [{"role": "ADMIN", "node": {"login": "alice"}},
			{"role": "MEMBER", "node": {"login": "rae"}}]}`
		public := `{"totalCount": 1, "edges": [{"role": "MEMBER", "node": {"login": "rae"}}]}`
		for login, want := range map[string]string{
			"alice": `"membersWithRole": ` + both + `, "viewerCanAdminister": true, "viewerCanCreateTeams": true,
				"viewerCanCreateRepositories": true, "rulesets": {"nodes": [{"name": "Main"}]}`,
			"rae": `"membersWithRole": ` + both + `, "viewerCanAdminister": false, "viewerCanCreateTeams": false,
				"viewerCanCreateRepositories": true, "rulesets": {"nodes": []}`,
			"guest": `"membersWithRole": ` + public + `, "viewerCanAdminister": false, "viewerCanCreateTeams": false,
				"viewerCanCreateRepositories": false, "rulesets": {"nodes": []}`,
		} {
			ask{as: login, query: query, want: `{"data": {"organization": {` + want + `, "pendingMembers": {"totalCount": 0},
				"teamsResourcePath": "/orgs/garden/people/teams", "newTeamResourcePath": "/orgs/garden/people/new-team"}}}`}.check(t, s)
		}
		ask{as: "guest", query: `{user(login:"rae"){organization(login:"garden"){login}}
			alice:user(login:"alice"){organization(login:"garden"){login}}}`,
			want: `{"data": {"user": {"organization": {"login": "garden"}}, "alice": {"organization": null}}}`}.check(t, s)
		ask{as: "rae", query: `{user(login:"alice"){organization(login:"garden"){login}}}`,
			want: `{"data": {"user": {"organization": {"login": "garden"}}}}`}.check(t, s)
	})
}
