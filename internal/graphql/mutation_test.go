package graphql_test

import (
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// What REST has no address for is done by GraphQL, and told by REST.
func TestWhatOnlyGraphQLDoes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		ids := cellar(t, s)
		s.Grant(t, s.Access(t, "alice", "alice/cellar").Repo, "bob", account.Push)
		variables := map[string]any{"id": ids["pull"], "issue": ids["issue"]}
		draft := `mutation($id:ID!){convertPullRequestToDraft(input:{pullRequestId:$id,clientMutationId:"7"}){
			clientMutationId pullRequest{isDraft mergeStateStatus}}}`
		ready := `mutation($id:ID!){markPullRequestReadyForReview(input:{pullRequestId:$id}){pullRequest{isDraft}}}`
		ask{as: "bob", query: draft, variables: variables,
			want: `{"data": {"convertPullRequestToDraft": {"clientMutationId": "7",
			"pullRequest": {"isDraft": true, "mergeStateStatus": "BLOCKED"}}}}`}.check(t, s)
		ask{query: `mutation($id:ID!){mergePullRequest(input:{pullRequestId:$id}){pullRequest{merged}}}`,
			variables: variables,
			want: `{"data": {"mergePullRequest": null}, "errors": [{"type": "UNPROCESSABLE", "path": ["mergePullRequest"],
			"message": "Pull Request is still a draft"}]}`}.check(t, s)
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/cellar/pulls/2", As: "bob", Status: 200,
				Want: `{"draft": true, "mergeable_state": "draft"}`},
			{Do: "GET /search/issues?q=repo:alice/cellar+draft:true", As: "bob", Status: 200,
				Want: `{"total_count": 1}`},
		})
		ask{query: ready, variables: variables,
			want: `{"data": {"markPullRequestReadyForReview": {"pullRequest": {"isDraft": false}}}}`}.check(t,
			s)
		s.Run(t, []apitest.Case{
			{Do: "GET /search/issues?q=repo:alice/cellar+draft:true", As: "bob", Status: 200,
				Want: `{"total_count": 0}`},
			{Do: "GET /repos/alice/cellar/issues/2/events", As: "bob", Status: 200,
				Want: `[{"event": "convert_to_draft", "actor": {"login": "bob"}},
				{"event": "ready_for_review", "actor": {"login": "alice"}}]`},
		})
		ask{as: "bob", query: `mutation($issue:ID!){pinIssue(input:{issueId:$issue}){issue{isPinned}}}`,
			variables: variables,
			want:      `{"data": {"pinIssue": {"issue": {"isPinned": true}}}}`}.check(t, s)
		ask{as: "bob", query: `mutation($issue:ID!){deleteIssue(input:{issueId:$issue}){repository{name}}}`,
			variables: variables,
			want: `{"data": {"deleteIssue": null}, "errors": [{"type": "FORBIDDEN",
				"message": "Must have admin rights to Repository."}]}`}.check(t, s)
		s.Check(t, apitest.Case{Do: "POST /user/repos", As: "alice",
			Send:   `{"name": "attic", "private": true}`,
			Status: 201})
		attic := member(t, s, "alice", "/repos/alice/attic", "node_id")
		move := `mutation($issue:ID!,$to:ID!){transferIssue(input:{issueId:$issue,repositoryId:$to,
			createLabelsIfMissing:true}){
			issue{number title repository{nameWithOwner} labels(first:3){nodes{name}}}}}`
		variables["to"] = attic
		ask{as: "bob", query: move, variables: variables,
			want: `{"data": {"transferIssue": null}, "errors": [{"type": "NOT_FOUND",
			"message": "Could not resolve to a node with the global id of '` + attic + `'."}]}`}.check(t, s)
		ask{query: move, variables: variables,
			want: `{"data": {"transferIssue": {"issue": {"number": 1, "title": "SECRET",
			"repository": {"nameWithOwner": "alice/attic"}, "labels": {"nodes": [{"name": "SECRET"}]}}}}}`}.check(t, s)
		moved := member(t, s, "alice", "/repos/alice/attic/issues/1", "node_id")
		ask{query: `mutation($issue:ID!){deleteIssue(input:{issueId:$issue}){repository{issues(first:1){totalCount}}}}`,
			variables: map[string]any{"issue": moved},
			want:      `{"data": {"deleteIssue": {"repository": {"issues": {"totalCount": 0}}}}}`}.check(t, s)
	})
}

// Somebody who changes several things in one request sees each as the one before left it.
func TestMutationsRunInOrder(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		ids := cellar(t, s)
		ask{query: `mutation($i:ID!){a:updateIssue(input:{id:$i,title:"One"}){issue{title}}
			b:closeIssue(input:{issueId:$i,stateReason:NOT_PLANNED})
			{issue{title state stateReason closed}} c:addComment(input:{subjectId:$i,body:"Two"}){
			commentEdge{node{body}} subject{...on Issue{comments{totalCount}}}}
			d:reopenIssue(input:{issueId:$i}){issue{state}} e:updateIssue(input:{id:$i,milestoneId:"x"}){issue{id}}}`,
			variables: map[string]any{"i": ids["issue"]},
			want: `{"data": {"a": {"issue": {"title": "One"}}, "b": {"issue": {"title": "One", "state": "CLOSED",
				"stateReason": "NOT_PLANNED", "closed": true}},
				"c": {"commentEdge": {"node": {"body": "Two"}}, "subject": {"comments": {"totalCount": 2}}},
				"d": {"issue": {"state": "OPEN"}}, "e": null},
				"errors": [{"type": "NOT_FOUND", "path": ["e"]}]}`}.check(t, s)
		// Null takes a milestone away; what is missing stays.
		for _, step := range []struct{ input, want string }{
			{`milestoneId:"` + ids["milestone"] + `",labelIds:["` + ids["label"] + `"]`,
				`{"milestone": {"title": "SECRET"}, "labels": {"totalCount": 1}}`},
			{`title:"x"`, `{"milestone": {"title": "SECRET"}, "labels": {"totalCount": 1}}`},
			{`milestoneId:null,labelIds:null`, `{"milestone": null, "labels": {"totalCount": 1}}`},
			{`labelIds:[]`, `{"milestone": null, "labels": {"totalCount": 0}}`},
		} {
			ask{query: `mutation($i:ID!){updateIssue(input:{id:$i,` + step.input + `}){
				issue{milestone{title} labels(first:3){totalCount}}}}`,
				variables: map[string]any{"i": ids["issue"]},
				want: `{"data": {"updateIssue": {"issue": ` + step.want +
					`}}}`}.check(t, s)
		}
	})
}

// Labels and milestones of another repository do not exist for an issue, also where its author knows their
// ids.
func TestThingsOfOtherRepositoriesAreAbsent(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		ids := cellar(t, s)
		garden := member(t, s, "alice", "/repos/alice/garden", "node_id")
		for _, input := range []string{`labelIds:["` + ids["label"] + `"]`,
			`milestoneId:"` + ids["milestone"] + `"`,
			`assigneeIds:["` + ids["label"] + `"]`} {
			body := run(t, s, "alice",
				`mutation($r:ID!){createIssue(input:{repositoryId:$r,title:"x",`+input+`}){
				issue{id}}}`, map[string]any{"r": garden})
			if !strings.Contains(body, "Could not resolve to a node") || strings.Contains(body, "SECRET") {
				t.Errorf("%s: %s", input, body)
			}
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues", As: "alice", Status: 200, Body: "[]"})
	})
}

// What one thing is by REST it is by GraphQL.
func TestOneObjectIsTheSameByBoth(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		cellar(t, s)
		get := func(path, name string) string {
			return member(t, s, "alice", "/repos/alice/cellar"+path, name)
		}
		ask{query: `{repository(owner:"alice",name:"cellar"){id databaseId nameWithOwner url sshUrl isPrivate
			createdAt pushedAt defaultBranchRef{name target{oid}}
			issue(number:1){id databaseId number title body state url createdAt updatedAt author{login}
			comments(first:1){nodes{id body url}}}
			pullRequest(number:2){id title url state headRefName headRefOid baseRefName baseRefOid additions deletions
			changedFiles mergeable
				commits(last:1){totalCount nodes{commit{oid message}}}}}}`, want: `{"data": {"repository": {"id": "` +
			get("", "node_id") + `",
			"databaseId": ` + get("", "id") + `, "url": "` + get("", "html_url") + `", "sshUrl": "` + get("",
			"ssh_url") + `", "isPrivate": true,
			"createdAt": "` + get("", "created_at") + `", "pushedAt": "` + get("",
			"pushed_at") + `", "defaultBranchRef": {"name": "main", "target": {"oid": "` + get(
			"/commits/main", "sha") + `"}},
			"issue": {"id": "` + get("/issues/1", "node_id") + `", "number": 1, "state": "OPEN", "url": "` +
			get("/issues/1", "html_url") + `",
				"createdAt": "` + get("/issues/1", "created_at") + `", "updatedAt": "` + get("/issues/1", "updated_at") +
			`", "author": {"login": "alice"},
				"comments": {"nodes": [{"id": "` + get("/issues/comments/1", "node_id") + `", "url": "` +
			get("/issues/comments/1", "html_url") + `"}]}},
			"pullRequest": {"id": "` + get("/pulls/2", "node_id") + `", "url": "` + get("/pulls/2",
			"html_url") + `", "state": "OPEN", "headRefName": "SECRET",
				"additions": ` + get("/pulls/2", "additions") + `, "changedFiles": ` + get("/pulls/2", "changed_files") +
			`, "mergeable": "MERGEABLE",
				"commits": {"totalCount": 1, "nodes": [{"commit": {"oid": "` + get("/commits/SECRET",
			"sha") + `", "message": "SECRET"}}]}}}}}`}.check(t, s)
	})
}

// What is asked for many things at one time is what is asked for each alone.
func TestManyAreAsOne(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		cellar(t, s)
		sha := member(t, s, "alice", "/repos/alice/cellar/commits/main", "sha")
		head := member(t, s, "alice", "/repos/alice/cellar/commits/SECRET", "sha")
		for _, c := range []apitest.Case{
			{Do: "POST /repos/alice/cellar/git/refs",
				Send: `{"ref": "refs/heads/peas", "sha": "` + sha + `"}`, Status: 201},
			{Do: "PUT /repos/alice/cellar/contents/c",
				Send:   `{"message": "C", "content": "Yg==", "branch": "peas"}`,
				Status: 201},
			{Do: "POST /repos/alice/cellar/pulls", Send: `{"title": "Peas", "head": "peas", "base": "main"}`,
				Status: 201},
			{Do: "POST /repos/alice/cellar/pulls/3/reviews", Send: `{"body": "One", "event": "COMMENT"}`,
				Status: 200},
			{Do: "POST /repos/alice/cellar/pulls/3/reviews", Send: `{"body": "Two", "event": "COMMENT"}`,
				Status: 200},
			{Do: "POST /repos/alice/cellar/pulls/3/reviews", Send: `{"body": "Pending"}`, Status: 200},
			{Do: "POST /repos/alice/cellar/issues/3/comments", Send: `{"body": "One"}`, Status: 201},
			{Do: "POST /repos/alice/cellar/issues/3/comments", Send: `{"body": "Two"}`, Status: 201},
			{Do: "POST /repos/alice/cellar/issues/2/comments", Send: `{"body": "Three"}`, Status: 201},
			{Do: "POST /repos/alice/cellar/statuses/" + head, Send: `{"state": "failure", "context": "b"}`,
				Status: 201},
			{Do: "POST /repos/alice/cellar/statuses/" + head, Send: `{"state": "success", "context": "a"}`,
				Status: 201},
		} {
			c.As = "alice"
			s.Check(t, c)
		}
		all := `{number id comments(first:1){totalCount nodes{id body url author{login ...on User{name}}
			authorAssociation viewerDidAuthor} pageInfo{hasNextPage endCursor}}
			more:comments(first:1,after:"Y3Vyc29yOjE="){nodes{body}} reviews(first:2){totalCount nodes{id body state url
			submittedAt commit{oid}} pageInfo{hasNextPage}}
			latestReviews(first:5){nodes{body state}} statusCheckRollup{state contexts(first:5){
			totalCount nodes{...on StatusContext{context state createdAt}}}}}`
		for _, as := range []string{"alice", "bob"} {
			if as == "bob" {
				s.Grant(t, s.Access(t, "alice", "alice/cellar").Repo, "bob", account.Pull)
			}
			many := run(t, s, as, `{repository(owner:"alice",name:"cellar"){pullRequests(first:5){nodes`+
				all+`}}}`, nil)
			for _, number := range []string{"2", "3"} {
				one := run(t, s, as, `{repository(owner:"alice",name:"cellar"){pullRequest(number:`+number+
					`)`+all+`}}`, nil)
				inner := strings.TrimSuffix(strings.TrimPrefix(one, `{"data":{"repository":{"pullRequest":`),
					`}}}`)
				if !strings.Contains(many, strings.TrimSpace(inner)) || strings.Contains(one, "errors") ||
					!strings.Contains(one, `"body":"`) {
					t.Errorf("%s\nis not in\n%s", one, many)
				}
			}
			if pending := strings.Contains(many, "Pending"); pending {
				t.Errorf("a pending review is among the first two: %s", many)
			}
		}
	})
}
