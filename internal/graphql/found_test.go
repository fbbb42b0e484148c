package graphql_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// What a page of the server is about is found by the page's address, and nothing else.
func TestResource(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		grown(t, s)
		s.Repo(t, "alice/secret", true)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/secret/issues", As: "alice", Send: `{"title": "Hush"}`,
			Status: 201})
		for address, want := range map[string]string{
			"{base}/alice": `{"__typename": "User"}`, "{base}/guild": `{"__typename": "Organization"}`,
			"{base}/alice/bed": `{"__typename": "Repository", "url": "{base}/alice/bed"}`,
			"/alice/bed":       `{"resourcePath": "/alice/bed"}`,
			"{base}/alice/bed/issues/1#issuecomment-1": `{"__typename": "Issue", "number": 1}`,
			"{base}/alice/bed/pull/5/files":            `{"__typename": "PullRequest", "number": 5}`,
			"{base}/alice/bed/milestone/1":             `{"__typename": "Milestone"}`,
			"{base}/alice/bed/commit/fix":              `{"__typename": "Commit"}`,
			"{base}/alice/bed/releases/tag/v1":         `{"__typename": "Release"}`,
			"{base}/alice/bed/runs/1":                  `{"__typename": "CheckRun"}`,
			"{base}":                                   "null", "{base}/nobody": "null", "{base}/alice/none": "null",
			"{base}/alice/bed/issues/99": "null",
			"{base}/alice/bed/issues/x":  "null", "{base}/alice/bed/commit/none": "null",
			"{base}/alice/bed/tree/main":          "null",
			"https://elsewhere.example/alice/bed": "null", "{base}/alice/%zz": "null", "{base}//": "null",
			"{base}/alice/bed/issues": "null",
		} {
			ask{query: `query($u:URI!){resource(url:$u){__typename url resourcePath ...on Issue{number}
				...on PullRequest{number}}}`,
				variables: map[string]any{"u": strings.ReplaceAll(address, "{base}", s.URL)},
				want:      `{"data": {"resource": ` + want + `}}`}.check(t, s)
		}
		for _, path := range []string{"/alice/secret", "/alice/secret/issues/1"} {
			ask{as: "bob", query: `{resource(url:"` + s.URL + path + `"){url}}`,
				want: `{"data": {"resource": null}}`}.check(t, s)
		}
	})
}

// VS Code marks files as viewed, and shows which have changed since.
func TestViewedFiles(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		states := func(as, want string) {
			t.Helper()
			ask{as: as, query: `{repository(owner:"alice",name:"bed"){pullRequest(number:5){
				files(first:5){nodes{path viewerViewedState}}}}}`,
				want: `{"data": {"repository": {"pullRequest": {"files": {"nodes": [{"path": "b", "viewerViewedState": "` +
					want + `"}]}}}}}`}.check(t, s)
		}
		mark := func(as, name, path, want string) {
			t.Helper()
			ask{as: as, query: `mutation($p:ID!){` + name + `(input:{pullRequestId:$p,path:"` + path +
				`"}){pullRequest{number}}}`, variables: v, want: want}.check(t, s)
		}
		states("bob", "UNVIEWED")
		mark("bob", "markFileAsViewed", "b", `{"data": {"markFileAsViewed": {"pullRequest": {"number": 5}}}}`)
		states("bob", "VIEWED")
		states("alice", "UNVIEWED")
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/bed/contents/b", As: "alice", Status: 200,
			Send: `{"message": "More", "content": "Yw==", "branch": "fix", "sha": "` + member(t, s, "alice",
				"/repos/alice/bed/contents/b?ref=fix", "sha") + `"}`})
		states("bob", "DISMISSED")
		mark("bob", "unmarkFileAsViewed", "b",
			`{"data": {"unmarkFileAsViewed": {"pullRequest": {"number": 5}}}}`)
		states("bob", "UNVIEWED")
		mark("bob", "markFileAsViewed", "none",
			`{"data": {"markFileAsViewed": null}, "errors": [{"type": "NOT_FOUND"}]}`)
	})
}

// Reactions are listed, counted and told as one's own.
func TestReactionLists(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		grown(t, s)
		const groups = `reactionGroups{content viewerHasReacted users(first:5){totalCount nodes{login}}
			reactors(first:1){totalCount nodes{...on User{login}} pageInfo{hasNextPage}} subject{id}}`
		heart := func(own string) string {
			return `{"content": "HEART", "viewerHasReacted": ` + own + `, "users": {"totalCount": 2,
				"nodes": [{"login": "bob"}, {"login": "alice"}]},
				"reactors": {"totalCount": 2, "nodes": [{"login": "bob"}], "pageInfo": {"hasNextPage": true}}}`
		}
		for as, own := range map[string]string{"bob": "true", "carol": "false"} {
			ask{as: as, query: `{repository(owner:"alice",name:"bed"){issue(number:1){titleHTML viewerCanReact
				reactions(first:9){totalCount viewerHasReacted nodes{content
				user{login} reactable{id}} edges{cursor}} rocket:reactions(first:5,content:ROCKET){totalCount nodes{id}} ` +
				groups + `}}}`,
				want: `{"data": {"repository": {"issue": {"titleHTML": "Issue 1", "viewerCanReact": ` + own +
					`, "reactions": {"totalCount": 2,
					"viewerHasReacted": ` + own + `, "nodes": [{"content": "HEART", "user": {"login": "bob"}},
					{"content": "HEART", "user": {"login": "alice"}}]},
					"rocket": {"totalCount": 0, "nodes": []}, "reactionGroups": [{"content": "THUMBS_UP", "viewerHasReacted": false,
					"users": {"totalCount": 0, "nodes": []}}, {}, {}, {}, {}, ` + heart(own) + `, {}, {}]}}}}`}.check(t, s)
		}
		ask{query: `{repository(owner:"alice",name:"bed"){pullRequest(number:5){reviews(first:5){
			nodes{viewerCanReact reactions(first:1){totalCount nodes{id}}
			reactionGroups{viewerHasReacted} comments(first:5){nodes{reactions(first:5){nodes{content}} ` + groups + `}}}}}}}`,
			want: `{"data": {"repository": {"pullRequest": {"reviews": {"nodes": [{"viewerCanReact": false,
				"reactions": {"totalCount": 0, "nodes": []},
				"comments": {"nodes": [{"reactions": {"nodes": [{"content": "EYES"}]}, "reactionGroups": [{}, {}, {}, {},
				{}, {}, {}, {"viewerHasReacted": true}]}]}}]}}}}}`}.check(t, s)
	})
}

// Checks are made, changed and listed, by an App that may.
func TestCheckSuites(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := grownIDs(t, s)
		for _, a := range []ask{
			{query: `{repository(owner:"alice",name:"bed"){object(expression:"fix"){
				...on Commit{status{state contexts{context} context(name:"LINT"){state}}
				checkSuites(first:5){totalCount nodes{databaseId app{name slug} status conclusion branch{name}
				checkRuns(first:5){totalCount nodes{name checkSuite{databaseId}}}
				none:checkRuns(first:5,filterBy:{conclusions:[SUCCESS]}){totalCount} all:checkRuns(first:5,
				filterBy:{checkType:ALL,checkName:"test"}){totalCount}}}
				x:checkSuites(first:5,filterBy:{checkName:"x"}){totalCount} y:checkSuites(first:5,filterBy:{appId:99}){
				totalCount}}}}}`,
				want: `{"data": {"repository": {"object": {"status": {"state": "SUCCESS",
					"contexts": [{"context": "lint"}], "context": {"state": "SUCCESS"}},
				"checkSuites": {"totalCount": 1, "nodes": [{"databaseId": 1, "app": {"name": "Robot", "slug": "robot"},
				"status": "COMPLETED",
				"conclusion": "ACTION_REQUIRED", "checkRuns": {"totalCount": 1,
				"nodes": [{"name": "test", "checkSuite": {"databaseId": 1}}]},
				"none": {"totalCount": 0}, "all": {"totalCount": 1}}]}, "x": {"totalCount": 0}, "y": {"totalCount": 0}}}}}`},
			{query: `mutation($r:ID!,$sha:GitObjectID!){createCheckRun(input:{repositoryId:$r,headSha:$sha,name:"x"}){
				checkRun{id}}}`,
				want: `{"data": {"createCheckRun": null}, "errors": [{"type": "FORBIDDEN"}]}`},
			{as: "robot", query: `mutation($r:ID!,$sha:GitObjectID!){createCheckRun(input:{repositoryId:$r,headSha:$sha,
				name:"build",status:IN_PROGRESS,detailsUrl:"https://ci.example/b",
				actions:[{identifier:"go",label:"Go",description:"Again"}],output:{title:"T",summary:"S",
				annotations:[{path:"b",annotationLevel:WARNING,message:"Hm",
				location:{startLine:1,endLine:1,startColumn:1}}],images:[{alt:"A",imageUrl:"https://ci.example/i.png"}]}}){
				checkRun{name status title detailsUrl checkSuite{url resourcePath}
				annotations(first:5){totalCount nodes{path message annotationLevel title rawDetails blobUrl
				location{start{line column} end{line column}}} pageInfo{hasNextPage}}}}}`,
				want: `{"data": {"createCheckRun": {"checkRun": {"name": "build", "status": "IN_PROGRESS", "title": "T",
					"detailsUrl": "https://ci.example/b",
				"checkSuite": {"url": "{base}/alice/bed/commit/` + v["sha"].(string) + `/checks?check_suite_id=1",
				"resourcePath": "/alice/bed/commit/` + v["sha"].(string) + `/checks?check_suite_id=1"},
				"annotations": {"totalCount": 1, "pageInfo": {"hasNextPage": false}, "nodes": [{"path": "b", "message": "Hm", "annotationLevel": "WARNING",
				"title": null, "rawDetails": null,
				"blobUrl": "{base}/alice/bed/blob/` + v["sha"].(string) +
					`/b", "location": {"start": {"line": 1, "column": 1}, "end": {"line": 1, "column": null}}}]}}}}}`},
			{as: "robot", query: `mutation($r:ID!,$c:ID!){updateCheckRun(input:{repositoryId:$r,checkRunId:$c,
				conclusion:SUCCESS}){checkRun{status conclusion}}}`,
				want: `{"data": {"updateCheckRun": {"checkRun": {"status": "COMPLETED", "conclusion": "SUCCESS"}}}}`},
			{as: "robot", query: `mutation($e:ID!,$c:ID!){updateCheckRun(input:{repositoryId:$e,checkRunId:$c,
				conclusion:FAILURE}){checkRun{status}}}`,
				want: `{"data": {"updateCheckRun": null}, "errors": [{}]}`},
			{as: "robot", query: `mutation($r:ID!,$sha:GitObjectID!){
				createCheckSuite(input:{repositoryId:$r,headSha:$sha}){checkSuite{databaseId}}}`,
				want: `{"data": {"createCheckSuite": {"checkSuite": {"databaseId": 1}}}}`},
			{as: "robot", query: `mutation($r:ID!,$s:ID!){rerequestCheckSuite(input:{repositoryId:$r,checkSuiteId:$s}){
				checkSuite{status conclusion}}}`,
				want: `{"data": {"rerequestCheckSuite": {"checkSuite": {"status": "QUEUED", "conclusion": null}}}}`},
			{query: `mutation($r:ID!,$a:ID!){updateCheckSuitePreferences(input:{repositoryId:$r,
				autoTriggerPreferences:[{appId:$a,setting:false}]}){repository{name}}}`,
				want: `{"data": {"updateCheckSuitePreferences": {"repository": {"name": "bed"}}}}`},
			{query: `mutation($r:ID!,$a:ID!){updateCheckSuitePreferences(input:{repositoryId:$r,
				autoTriggerPreferences:[` + strings.Repeat(`{appId:$a,setting:false} `, 31) + `]}){repository{name}}}`,
				want: `{"data": {"updateCheckSuitePreferences": null}, "errors": [{"type": "UNPROCESSABLE",
				"message": "At most 30 Apps at one time."}]}`},
			{query: `mutation($r:ID!){updateCheckSuitePreferences(input:{repositoryId:$r,
				autoTriggerPreferences:[{appId:"x",setting:false}]}){repository{name}}}`,
				want: `{"data": {"updateCheckSuitePreferences": null}, "errors": [{"type": "NOT_FOUND"}]}`},
			{as: "bob", query: `mutation($r:ID!){a:updateSubscription(input:{subscribableId:$r,state:IGNORED}){
				subscribable{...on Repository{viewerSubscription}}}
				b:updateSubscription(input:{subscribableId:$r,state:SUBSCRIBED}){
				subscribable{...on Repository{viewerSubscription}}}
				c:updateSubscription(input:{subscribableId:$r,state:UNSUBSCRIBED}){
				subscribable{...on Repository{viewerSubscription}}}}`,
				want: `{"data": {"a": {"subscribable": {"viewerSubscription": "IGNORED"}},
					"b": {"subscribable": {"viewerSubscription": "SUBSCRIBED"}},
				"c": {"subscribable": {"viewerSubscription": "UNSUBSCRIBED"}}}}`},
			{as: "bob", query: `mutation($i:ID!){updateSubscription(input:{subscribableId:$i,state:SUBSCRIBED}){
				subscribable{id}}}`,
				want: `{"data": {"updateSubscription": {"subscribable": {}}}}`},
			{as: "bob", query: `mutation($o:ID!){followOrganization(input:{organizationId:$o}){organization{login}}}`,
				want: `{"data": {"followOrganization": {"organization": {"login": "guild"}}}}`},
		} {
			a.variables = v
			a.check(t, s)
		}
		s.Check(t, apitest.Case{Do: "GET /users/bob/following", As: "bob", Status: 200,
			Want: `[{"login": "guild"}]`})
		ask{as: "bob", query: `mutation($o:ID!){unfollowOrganization(input:{organizationId:$o}){
			organization{login}}}`, variables: v,
			want: `{"data": {"unfollowOrganization": {"organization": {"login": "guild"}}}}`}.check(t, s)
		s.Check(t, apitest.Case{Do: "GET /users/bob/following", As: "bob", Status: 200, Want: `[]`})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/bed/issues/2/subscription", As: "bob", Status: 200,
			Want: `{"subscribed": true}`})
	})
}

func grownIDs(t *testing.T, s *apitest.Server) map[string]any {
	t.Helper()
	grown(t, s)
	s.Repo(t, "alice/secret", true)
	in := func(path, name string) string { return member(t, s, "alice", "/repos/alice/"+path, name) }
	a := s.Check(t, apitest.Case{Do: "GET /repos/alice/bed/check-suites/1", As: "alice", Status: 200})
	var suite struct {
		App struct {
			ID string `json:"node_id"`
		}
	}
	if err := json.Unmarshal(a.Body, &suite); err != nil {
		t.Fatal(err)
	}
	return map[string]any{"r": in("bed", "node_id"), "e": in("secret", "node_id"),
		"sha": in("bed/commits/fix", "sha"),
		"c":   in("bed/check-runs/1", "node_id"), "s": in("bed/check-suites/1", "node_id"), "i": in("bed/issues/2",
			"node_id"), "a": suite.App.ID,
		"o": member(t, s, "alice", "/orgs/guild", "node_id")}
}

// What stands in an answer can be asked for by its id, by those who may see it.
func TestNodesOfChecksAndCommits(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		grown(t, s)
		const query = `{repository(owner:"alice",name:"bed"){pullRequest(number:5){commits(first:5){
			nodes{id commit{statusCheckRollup{id contexts(first:5){nodes{
			...on StatusContext{id} ...on CheckRun{id checkSuite{id}}}}} status{id}}}}}}}`
		body := run(t, s, "alice", query, nil)
		ids := map[string]bool{}
		for _, part := range strings.Split(body, `"id":"`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			ids[id] = true
		}
		if len(ids) != 6 {
			t.Fatalf("%d ids: %s", len(ids), body)
		}
		for id := range ids {
			ask{query: fmt.Sprintf(`{node(id:%q){__typename id}}`, id),
				want: fmt.Sprintf(`{"data": {"node": {"id": %q}}}`, id)}.check(t, s)
		}
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/bed", As: "alice", Send: `{"private": true}`,
			Status: 200})
		for id := range ids {
			ask{as: "carol", query: fmt.Sprintf(`{node(id:%q){__typename id}}`, id),
				want: `{"data": {"node": null}, "errors": [{"type": "NOT_FOUND",
				"message": "Could not resolve to a node with the global id of '` + id + `'."}]}`}.check(t, s)
		}
	})
}
