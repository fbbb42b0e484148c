package graphql_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Comments on commits are those of REST, below commits, repositories and people, for who may see them.
func TestCommitComments(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		for _, in := range []string{"plot", "shed"} {
			s.Check(t, apitest.Case{Do: "PUT /repos/garden/" + in + "/contents/a", As: "alice",
				Send: `{"message": "A", "content": "YQ=="}`, Status: 201})
			s.Check(t, apitest.Case{Do: "POST /repos/garden/" + in + "/commits/main/comments", As: "will",
				Send: `{"body": "Nice *peas* in ` + in + `", "path": "a", "position": 1}`, Status: 201})
		}
		s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/commits/main/comments", As: "sam",
			Send: `{"body": "Beans"}`, Status: 201})
		id := member(t, s, "will", "/repos/garden/plot/comments/1", "node_id")
		const shown = `{id databaseId body bodyHTML path position author{login} commit{messageHeadline} repository{name}
			lastEditedAt viewerCanUpdate viewerCanDelete viewerDidAuthor isMinimized reactionGroups{content users{totalCount}}}`
		peas := `{"databaseId": 1, "body": "Nice *peas* in plot", "path": "a", "position": 1, "author": {"login": "will"},
			"commit": {"messageHeadline": "A"}, "repository": {"name": "plot"}, "lastEditedAt": null, "isMinimized": false, `
		for _, a := range []ask{
			{as: "will", query: `{repository(owner:"garden",name:"plot"){commitComments(first:1){totalCount nodes` + shown +
				`} object(expression:"main"){...on Commit{comments(first:5){totalCount nodes{databaseId}}}}}}`,
				want: `{"data": {"repository": {"commitComments": {"totalCount": 2, "nodes": [` + peas +
					`"viewerDidAuthor": true, "viewerCanUpdate": true, "viewerCanDelete": true}]},
					"object": {"comments": {"totalCount": 2, "nodes": [{"databaseId": 1}, {"databaseId": 3}]}}}}}`},
			{as: "sam", query: `{node(id:"` + id + `"){...on CommitComment` + shown + `}}`,
				want: `{"data": {"node": ` + peas + `"id": "` + id + `", "viewerDidAuthor": false, "viewerCanUpdate": false,
					"viewerCanDelete": false}}}`},
			{as: "rae", query: `{user(login:"will"){commitComments(first:5){totalCount nodes{body}}}}`,
				want: `{"data": {"user": {"commitComments": {"totalCount": 2, "nodes": [{"body": "Nice *peas* in plot"},
					{"body": "Nice *peas* in shed"}]}}}}`},
			{as: "sam", query: `{user(login:"will"){commitComments(first:5){totalCount nodes{body}}}}`,
				want: `{"data": {"user": {"commitComments": {"totalCount": 1, "nodes": [{"body": "Nice *peas* in plot"}]}}}}`},
		} {
			a.check(t, s)
		}
		body := run(t, s, "sam", `mutation($i:ID!){addReaction(input:{subjectId:$i,content:HEART}){
			subject{...on CommitComment{body reactionGroups{content users{totalCount}}}}}}`, map[string]any{"i": id})
		if !strings.Contains(body, `"content":"HEART","users":{"totalCount":1}`) {
			t.Error(body)
		}
		ask{as: "will", query: `{node(id:"` + id + `"){...on CommitComment{bodyHTML reactions(first:2){totalCount
			nodes{content user{login}}}}}}`, want: `{"data": {"node": {"reactions": {"totalCount": 1, "nodes": [
			{"content": "HEART", "user": {"login": "sam"}}]}}}}`}.check(t, s)
		hidden := member(t, s, "will", "/repos/garden/shed/comments/2", "node_id")
		ask{as: "sam", query: `{node(id:"` + hidden + `"){id}}`, want: `{"data": {"node": null},
			"errors": [{"type": "NOT_FOUND"}]}`}.check(t, s)
	})
}

// Lists of labels, milestones, branches, teams and people are chosen from by their arguments.
func TestArgumentsOfLists(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		at := "/repos/garden/plot"
		for _, c := range []apitest.Case{
			{Do: "PUT " + at + "/contents/a", Send: `{"message": "A", "content": "YQ=="}`, Status: 201},
			{Do: "POST " + at + "/labels", Send: `{"name": "late", "color": "ff0000"}`, Status: 201},
			{Do: "POST " + at + "/milestones", Send: `{"title": "Spring"}`, Status: 201},
			{Do: "POST " + at + "/issues", Send: `{"title": "Peas", "labels": ["bug", "late"], "milestone": 1,
				"assignee": "will"}`, Status: 201},
			{Do: "POST " + at + "/issues", Send: `{"title": "Beans", "labels": ["bug"], "milestone": 1}`, Status: 201},
			{Do: "POST " + at + "/git/refs", Send: `{"ref": "refs/heads/bed", "sha": "` + "{sha}" + `"}`, Status: 201},
			{Do: "PUT " + at + "/contents/b", Send: `{"message": "B", "content": "Yg==", "branch": "bed"}`, Status: 201},
			{Do: "POST " + at + "/pulls", Send: `{"title": "Kale", "head": "bed", "base": "main"}`, Status: 201},
			{Do: "POST " + at + "/issues/3/labels", Send: `{"labels": ["bug", "late"]}`, Status: 200},
			{Do: "PUT " + at + "/environments/stage", Status: 200, Send: `{"wait_timer": 5, "prevent_self_review": true,
				"reviewers": [{"type": "User", "id": {rae}}]}`},
			{Do: "PUT " + at + "/environments/live", Send: `{}`, Status: 200},
			{Do: "POST " + at + "/deployments", Send: `{"ref": "main", "environment": "stage"}`, Status: 201},
			{Do: "POST " + at + "/deployments/1/statuses", Send: `{"state": "in_progress"}`, Status: 201},
			{Do: "POST " + at + "/deployments/1/statuses", Send: `{"state": "success"}`, Status: 201},
			{Do: "PUT " + at + "/subscription", As: "sam", Send: `{"subscribed": true}`, Status: 200},
			{Do: "PUT /user/starred/garden/plot", As: "sam", Status: 204},
			{Do: "POST /user/repos", As: "sam", Send: `{"name": "own"}`, Status: 201},
			{Do: "PUT /user/starred/sam/own", As: "sam", Status: 204},
			{Do: "POST /orgs/garden/teams", Send: `{"name": "Top", "privacy": "closed"}`, Status: 201},
			{Do: "POST /orgs/garden/teams", Send: `{"name": "Mid", "privacy": "closed", "parent_team_id": 1}`, Status: 201},
			{Do: "POST /orgs/garden/teams", Send: `{"name": "Low", "privacy": "closed", "parent_team_id": 2}`, Status: 201},
			{Do: "PUT /orgs/garden/teams/mid/repos/garden/plot", Send: `{"permission": "push"}`, Status: 204},
			{Do: "PUT /orgs/garden/teams/mid/repos/garden/shed", Send: `{"permission": "pull"}`, Status: 204},
		} {
			if c.As == "" {
				c.As = "alice"
			}
			if before, after, has := strings.Cut(c.Send, "{sha}"); has {
				c.Send = before + member(t, s, "alice", at+"/commits/main", "sha") + after
			}
			if before, after, has := strings.Cut(c.Send, "{rae}"); has {
				c.Send = before + member(t, s, "alice", "/users/rae", "id") + after
			}
			s.Check(t, c)
		}
		s.Settle(t)
		in := func(fields string) string { return `{repository(owner:"garden",name:"plot"){` + fields + `}}` }
		is := func(want string) string { return `{"data": {"repository": {` + want + `}}}` }
		for _, a := range []ask{
			{query: in(`label(name:"bug"){all:issues(first:5){totalCount} issues(first:5,labels:["late"]){nodes{title}}
				assigned:issues(first:5,filterBy:{assignee:"will"}){totalCount}
				none:issues(first:5,labels:["nothing"]){totalCount nodes{title}}
				pullRequests(first:5,labels:["late"],headRefName:"bed",baseRefName:"main"){nodes{title}}
				other:pullRequests(first:5,headRefName:"main"){totalCount}}`),
				want: is(`"label": {"all": {"totalCount": 2}, "issues": {"nodes": [{"title": "Peas"}]},
					"assigned": {"totalCount": 1}, "none": {"totalCount": 0, "nodes": []},
					"pullRequests": {"nodes": [{"title": "Kale"}]}, "other": {"totalCount": 0}}`)},
			{query: in(`milestone(number:1){issues(first:5,filterBy:{labels:["late"]}){nodes{title}}}
				ref(qualifiedName:"bed"){associatedPullRequests(first:5,labels:["late"],baseRefName:"main"){nodes{title}}
				none:associatedPullRequests(first:5,labels:["nothing"]){totalCount}}`),
				want: is(`"milestone": {"issues": {"nodes": [{"title": "Peas"}]}}, "ref": {"associatedPullRequests": {
					"nodes": [{"title": "Kale"}]}, "none": {"totalCount": 0}}`)},
			{query: in(`environments(first:5,names:["STAGE"]){totalCount nodes{name protectionRules(first:5){nodes{type timeout
				preventSelfReview reviewers(first:5){nodes{...on User{login}}}}} latestCompletedDeployment{databaseId}}}
				pinned:environments(first:5,pinnedEnvironmentFilter:ONLY){totalCount}
				object(expression:"main"){...on Commit{deployments(first:5){totalCount nodes{databaseId statuses(first:1){
				totalCount nodes{state}}}}}}`),
				want: is(`"environments": {"totalCount": 1, "nodes": [{"name": "stage", "protectionRules": {"nodes": [
					{"type": "WAIT_TIMER", "timeout": 5, "preventSelfReview": null, "reviewers": {"nodes": []}},
					{"type": "REQUIRED_REVIEWERS", "timeout": 0, "preventSelfReview": true, "reviewers": {"nodes": [
					{"login": "rae"}]}}]}, "latestCompletedDeployment": {"databaseId": 1}}]}, "pinned": {"totalCount": 0},
					"object": {"deployments": {"totalCount": 1, "nodes": [{"databaseId": 1, "statuses": {"totalCount": 2,
					"nodes": [{"state": "SUCCESS"}]}}]}}`)},
			{as: "sam", query: `{viewer{starredRepositories(first:5,ownedByViewer:true){totalCount nodes{name}}
				all:starredRepositories(first:5){totalCount}
				watching(first:5,privacy:PUBLIC,orderBy:{field:NAME,direction:DESC}){totalCount nodes{name}}
				hidden:watching(first:5,privacy:PRIVATE){totalCount}}}`,
				want: `{"data": {"viewer": {"starredRepositories": {"totalCount": 1, "nodes": [{"name": "own"}]},
					"all": {"totalCount": 2}, "watching": {"totalCount": 1, "nodes": [{"name": "plot"}]},
					"hidden": {"totalCount": 0}}}}`},
			{query: `{organization(login:"garden"){team(slug:"top"){childTeams(first:5){nodes{slug}}
				all:childTeams(first:5,immediateOnly:false){nodes{slug parentTeam{slug} organization{login}}}}
				mid:team(slug:"mid"){repositories(first:5,orderBy:{field:NAME,direction:DESC}){nodes{name}}
				members(first:5,orderBy:{field:LOGIN,direction:DESC}){nodes{login}}}}}`,
				want: `{"data": {"organization": {"team": {"childTeams": {"nodes": [{"slug": "mid"}]}, "all": {"nodes": [
					{"slug": "low", "parentTeam": {"slug": "mid"}, "organization": {"login": "garden"}},
					{"slug": "mid", "parentTeam": {"slug": "top"}, "organization": {"login": "garden"}}]}},
					"mid": {"repositories": {"nodes": [{"name": "shed"}, {"name": "plot"}]}, "members": {"nodes": [
					{"login": "alice"}]}}}}}`},
			{query: in(`pullRequest(number:3){mergeRequirements{state conditions{result}} suggestedReviewers{reviewer{login}}
				timeline(first:20){totalCount nodes{__typename}}} issue(number:1){timeline(first:3){nodes{__typename
				...on LabeledEvent{label{name}}}}}`),
				want: is(`"pullRequest": {"mergeRequirements": {"state": "MERGEABLE", "conditions": [{"result": "PASSED"}]},
					"suggestedReviewers": [{"reviewer": {"login": "will"}}], "timeline": {"totalCount": 3}}, "issue": {"timeline":
					{"nodes": [{"label": {"name": "bug"}}, {"label": {"name": "late"}}, {"__typename": "AssignedEvent"}]}}`)},
		} {
			if a.as == "" {
				a.as = "alice"
			}
			a.check(t, s)
		}
		r := httptest.NewRequest("POST", "/graphql", strings.NewReader(
			`{"query": "{rateLimit(dryRun:true){cost} viewer{login}}"}`))
		r.Header.Set("Authorization", "Bearer "+s.Token(t, "alice"))
		w := httptest.NewRecorder()
		if s.Server.ServeHTTP(w, r); w.Body.String() != `{"data":{"rateLimit":{"cost":1}}}` {
			t.Error("not the cost alone:", w.Body)
		}
	})
}

// Releases have the reactions that REST lists, of six kinds.
func TestReactionsToReleases(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Check(t, apitest.Case{Do: "PUT /repos/garden/plot/contents/a", As: "alice",
			Send: `{"message": "A", "content": "YQ=="}`, Status: 201})
		v := map[string]any{"i": posted(t, s, "will", "/repos/garden/plot/releases", `{"tag_name": "v1"}`, "node_id")}
		const groups = `reactionGroups{content viewerHasReacted reactors(first:2){totalCount}} viewerCanReact`
		ask{as: "sam", variables: v, query: `mutation($i:ID!){addReaction(input:{subjectId:$i,content:ROCKET}){
			reaction{content user{login}} subject{id ` + groups + `}}}`, want: `{"data": {"addReaction": {
			"reaction": {"content": "ROCKET", "user": {"login": "sam"}}, "subject": {"viewerCanReact": true, "reactionGroups": [
			{"content": "THUMBS_UP", "viewerHasReacted": false}, {"content": "LAUGH"}, {"content": "HOORAY"}, {"content": "HEART"},
			{"content": "ROCKET", "viewerHasReacted": true, "reactors": {"totalCount": 1}}, {"content": "EYES"}]}}}}`}.check(t, s)
		ask{as: "sam", variables: v, query: `mutation($i:ID!){addReaction(input:{subjectId:$i,content:CONFUSED}){clientMutationId}}`,
			want: `{"data": {"addReaction": null}, "errors": [{"type": "UNPROCESSABLE"}]}`}.check(t, s)
		ask{as: "rae", query: `{repository(owner:"garden",name:"plot"){latestRelease{reactions(first:5){totalCount nodes{content
			user{login} reactable{id}}}}}}`, want: `{"data": {"repository": {"latestRelease": {"reactions": {"totalCount": 1,
			"nodes": [{"content": "ROCKET", "user": {"login": "sam"}}]}}}}}`}.check(t, s)
		ask{as: "sam", variables: v, query: `mutation($i:ID!){removeReaction(input:{subjectId:$i,content:ROCKET}){
			reaction{content} subject{reactions(first:1){totalCount}}}}`, want: `{"data": {"removeReaction": {"reaction": {
			"content": "ROCKET"}, "subject": {"reactions": {"totalCount": 0}}}}}`}.check(t, s)
	})
}
