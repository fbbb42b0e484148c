package graphql_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// bed creates a public repository of alice's with four issues, and a pull request that fixes two of them; bob
// may push.
func bed(t *testing.T, s *apitest.Server) map[string]any {
	t.Helper()
	s.User(t, "alice")
	s.User(t, "bob")
	s.User(t, "carol")
	s.Repo(t, "alice/bed", false)
	s.Grant(t, s.Access(t, "alice", "alice/bed").Repo, "bob", account.Push)
	do := func(method, path, send string, status int) {
		t.Helper()
		s.Check(t, apitest.Case{Do: method + " /repos/alice/bed" + path, As: "alice", Send: send,
			Status: status})
	}
	do("PUT", "/contents/a", `{"message": "Begin", "content": "YQ=="}`, 201)
	sha := member(t, s, "alice", "/repos/alice/bed/commits/main", "sha")
	for n := range 4 {
		do("POST", "/issues", fmt.Sprintf(`{"title": "Issue %d"}`, n+1), 201)
	}
	do("POST", "/git/refs", `{"ref": "refs/heads/fix", "sha": "`+sha+`"}`, 201)
	do("PUT", "/contents/b", `{"message": "Weed\n\nAll of it.", "content": "Yg==", "branch": "fix"}`, 201)
	do("POST", "/pulls", `{"title": "Weeds", "head": "fix", "base": "main",
		"body": "Fixes #1, closes alice/bed#2, see #3, fixes #99."}`, 201)
	return map[string]any{"i": member(t, s, "alice", "/repos/alice/bed/issues/1", "node_id"),
		"p": member(t, s, "alice", "/repos/alice/bed/pulls/5", "node_id")}
}

// gh of 2025 and 2026 asks these of every server, undetected.
func TestWhatNewerClientsAsk(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		repository := func(fields string) string {
			return `{repository(owner:"alice",name:"bed"){` + fields + `}}`
		}
		wrap := func(want string) string { return `{"data": {"repository": ` + want + `}}` }
		for _, a := range []ask{
			{query: repository(`pullRequest(number:5){closingIssuesReferences(first:9){
				totalCount nodes{number title state repository{name}}}}`),
				want: wrap(`{"pullRequest": {"closingIssuesReferences": {"totalCount": 2,
					"nodes": [{"number": 1, "title": "Issue 1",
				"state": "OPEN", "repository": {"name": "bed"}}, {"number": 2}]}}}`)},
			{query: repository(`issues(first:9){nodes{number closedByPullRequestsReferences(first:9){
				nodes{number title state}}}}`),
				want: wrap(`{"issues": {"nodes": [{"closedByPullRequestsReferences": {"nodes": [{"number": 5,
					"title": "Weeds", "state": "OPEN"}]}},
				{"closedByPullRequestsReferences": {"nodes": [{"number": 5}]}},
				{"closedByPullRequestsReferences": {"nodes": []}}, {}]}}`)},
			{query: repository(`issue(number:1){issueType{id name} parent{number} subIssues(first:9){totalCount nodes{number}}
				subIssuesSummary{total completed percentCompleted} blockedBy(first:9){totalCount} blocking(first:9){nodes{title}}
				assignedActors(first:9){nodes{...on User{login} ...on Bot{login}}} suggestedActors(first:9,query:"BO"){
				nodes{__typename ...on User{login name}}}}`),
				want: wrap(`{"issue": {"issueType": null, "parent": null, "subIssues": {"totalCount": 0, "nodes": []},
				"subIssuesSummary": {"total": 0, "completed": 0, "percentCompleted": 0}, "blockedBy": {"totalCount": 0},
				"blocking": {"nodes": []},
				"assignedActors": {"nodes": []}, "suggestedActors": {"nodes": [{"__typename": "User", "login": "bob"}]}}}`)},
			{query: repository(`suggestedActors(first:9,capabilities:CAN_BE_ASSIGNED){nodes{login ...on User{id name}}
				pageInfo{hasNextPage}}
				issueTypes(first:9){nodes{name}} collaborators(first:0){totalCount} c:collaborators(first:9,query:"bo"){
				edges{permission node{login}}}
				pullRequest(number:5){suggestedReviewerActors(first:9,query:"bob"){nodes{isAuthor reviewer{login}}}
				viewerMergeHeadlineText viewerMergeBodyText s:viewerMergeHeadlineText(mergeType:SQUASH)
				b:viewerMergeBodyText(mergeType:SQUASH)}`),
				want: wrap(`{"suggestedActors": {"nodes": [{"login": "alice"}, {"login": "bob"}],
					"pageInfo": {"hasNextPage": false}}, "issueTypes": null,
				"collaborators": {"totalCount": 2}, "c": {"edges": [{"permission": "WRITE", "node": {"login": "bob"}}]},
				"pullRequest": {"suggestedReviewerActors": {"nodes": [{"isAuthor": false, "reviewer": {"login": "bob"}}]},
				"viewerMergeHeadlineText": "Merge pull request #5 from alice/fix", "viewerMergeBodyText": "Weeds",
				"s": "Weed", "b": "All of it."}}`)},
			{as: "carol", query: repository(`collaborators(first:9){totalCount}`),
				want: `{"data": {"repository": {"collaborators": null}}, "errors": [{"type": "FORBIDDEN"}]}`},
			{query: repository(`ref(qualifiedName:"main"){compare(headRef:"fix"){aheadBy behindBy status}
				n:compare(headRef:"none"){status}}`),
				want: `{"data": {"repository": {"ref": {"compare": {"aheadBy": 1, "behindBy": 0, "status": "AHEAD"}, "n": null}}},
				"errors": [{"type": "NOT_FOUND"}]}`},
			{query: `mutation($i:ID!){replaceActorsForAssignable(input:{assignableId:$i,actorLogins:["bob","alice"]}){
				assignable{assignees(first:9){nodes{login}}}}}`,
				want: `{"data": {"replaceActorsForAssignable": {"assignable": {"assignees": {"nodes": [{"login": "bob"},
					{"login": "alice"}]}}}}}`},
			{query: `mutation($i:ID!){replaceActorsForAssignable(input:{assignableId:$i,actorLogins:["bob","nobody"]}){
				assignable{locked:__typename}}}`,
				want: `{"data": {"replaceActorsForAssignable": null}, "errors": [{"type": "NOT_FOUND",
				"message": "Could not resolve to a Bot or User with the login of 'nobody'."}]}`},
			{as: "carol", query: `mutation($i:ID!){replaceActorsForAssignable(input:{assignableId:$i,
				actorLogins:["bob"]}){assignable{locked:__typename}}}`,
				want: `{"data": {"replaceActorsForAssignable": null}, "errors": [{"type": "FORBIDDEN"}]}`},
			{query: `mutation($i:ID!){replaceActorsForAssignable(input:{assignableId:$i}){
				assignable{...on Issue{assignedActors(first:9){totalCount}}}}}`,
				want: `{"data": {"replaceActorsForAssignable": {"assignable": {"assignedActors": {"totalCount": 0}}}}}`},
			{query: `mutation($p:ID!){requestReviewsByLogin(input:{pullRequestId:$p,userLogins:["bob"],union:true}){
				pullRequest{reviewRequests(first:9){nodes{requestedReviewer{...on User{login}}}}}}}`,
				want: `{"data": {"requestReviewsByLogin": {"pullRequest": {"reviewRequests":
					{"nodes": [{"requestedReviewer": {"login": "bob"}}]}}}}}`},
			{query: `mutation($p:ID!){requestReviewsByLogin(input:{pullRequestId:$p,userLogins:[],union:false}){
				pullRequest{reviewRequests(first:9){totalCount}}}}`,
				want: `{"data": {"requestReviewsByLogin": {"pullRequest": {"reviewRequests": {"totalCount": 0}}}}}`},
			{query: `mutation($p:ID!){requestReviewsByLogin(input:{pullRequestId:$p,teamSlugs:["a/b"]}){clientMutationId}}`,
				want: `{"errors": [{"type": "UNPROCESSABLE"}]}`},
			{query: `mutation($p:ID!,$i:ID!){enablePullRequestAutoMerge(input:{pullRequestId:$p}){clientMutationId}
				addBlockedBy(input:{issueId:$i,blockingIssueId:$i}){clientMutationId}
				addSubIssue(input:{issueId:$i}){clientMutationId} updateIssueIssueType(input:{issueId:$i}){clientMutationId}}`,
				want: `{"errors": [{"type": "UNPROCESSABLE", "message": "Auto merge is not allowed for this repository"},
				{"message": "Arbor has no issue dependencies."}, {"message": "Arbor has no sub-issues."},
				{"message": "Arbor has no types of issues."}]}`},
		} {
			a.variables = v
			a.check(t, s)
		}
	})
}

// What reviewers decided is told as the search for review:approved finds it.
func TestReviewDecision(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		bed(t, s)
		decision := func(want string) {
			t.Helper()
			ask{query: `{repository(owner:"alice",name:"bed"){pullRequest(number:5){
				reviewDecision latestOpinionatedReviews(first:9,writersOnly:true){totalCount}}}}`,
				want: `{"data": {"repository": {"pullRequest": ` + want + `}}}`}.check(t, s)
		}
		review := func(as, event string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "POST /repos/alice/bed/pulls/5/reviews", As: as,
				Send: `{"body": "So", "event": "` + event + `"}`, Status: 200})
		}
		decision(`{"reviewDecision": null, "latestOpinionatedReviews": {"totalCount": 0}}`)
		review("carol", "APPROVE") // whose word does not count
		decision(`{"reviewDecision": null, "latestOpinionatedReviews": {"totalCount": 0}}`)
		review("bob", "REQUEST_CHANGES")
		review("bob", "COMMENT")
		decision(`{"reviewDecision": "CHANGES_REQUESTED", "latestOpinionatedReviews": {"totalCount": 1}}`)
		review("bob", "APPROVE")
		decision(`{"reviewDecision": "APPROVED", "latestOpinionatedReviews": {"totalCount": 1}}`)
	})
}

// A fork is found by whom it belongs to, and what is private stays so.
func TestForksOfTheViewer(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		bed(t, s)
		for _, login := range []string{"bob", "carol"} {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/bed/forks", As: login, Status: 202})
		}
		const query = `{repository(owner:"alice",name:"bed"){forks(first:1,affiliations:[OWNER,COLLABORATOR]){
			nodes{nameWithOwner}} all:forks(first:9){totalCount}}}`
		for _, login := range []string{"bob", "carol"} {
			ask{as: login, query: query,
				want: `{"data": {"repository": {"forks": {"nodes": [{"nameWithOwner": "` +
					login + `/bed"}]}, "all": {"totalCount": 2}}}}`}.check(t, s)
		}
		ask{query: query, want: `{"data": {"repository": {"forks": {"nodes": []}}}}`}.check(t, s)
		// What a pull request fixes in a repository whose issues are off is nothing.
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/bed", As: "alice", Send: `{"has_issues": false}`,
			Status: 200})
		body := run(t, s, "bob", `{repository(owner:"alice",name:"bed"){pullRequest(number:5){
			closingIssuesReferences(first:9){totalCount nodes{title}}}}}`, nil)
		if !strings.Contains(body, `{"totalCount":0,"nodes":[]}`) {
			t.Error(body)
		}
	})
}

// A template is made, used and shown by GraphQL as by REST.
func TestTemplateRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		bed(t, s)
		v := map[string]any{"r": member(t, s, "alice", "/repos/alice/bed", "node_id"),
			"o": member(t, s, "alice",
				"/users/bob", "node_id"),
			"a": member(t, s, "alice", "/users/alice", "node_id")}
		const clone = `mutation($r:ID!,$o:ID!){cloneTemplateRepository(input:{repositoryId:$r,ownerId:$o,name:"copy",
			visibility:PUBLIC}){repository{
			nameWithOwner isTemplate templateRepository{nameWithOwner isTemplate}
			defaultBranchRef{target{...on Commit{history(first:5){totalCount}}}}}}}`
		for _, a := range []ask{
			{as: "bob", query: clone, want: `{"data": {"cloneTemplateRepository": null},
				"errors": [{"type": "UNPROCESSABLE"}]}`},
			{query: `mutation($r:ID!){updateRepository(input:{repositoryId:$r,template:true}){
				repository{isTemplate templateRepository{id}}}}`,
				want: `{"data": {"updateRepository": {"repository": {"isTemplate": true, "templateRepository": null}}}}`},
			{as: "bob", query: clone, want: `{"data": {"cloneTemplateRepository":
				{"repository": {"nameWithOwner": "bob/copy", "isTemplate": false,
				"templateRepository": {"nameWithOwner": "alice/bed", "isTemplate": true},
				"defaultBranchRef": {"target": {"history": {"totalCount": 1}}}}}}}`},
			{as: "bob", query: `mutation($r:ID!,$a:ID!){cloneTemplateRepository(input:{repositoryId:$r,ownerId:$a,
				name:"x",visibility:PUBLIC}){repository{id}}}`,
				want: `{"data": {"cloneTemplateRepository": null}, "errors": [{"type": "UNPROCESSABLE"}]}`},
			{query: `mutation{createRepository(input:{name:"form",visibility:PRIVATE,template:true}){repository{isTemplate}}}`,
				want: `{"data": {"createRepository": {"repository": {"isTemplate": true}}}}`},
		} {
			a.variables = v
			a.check(t, s)
		}
	})
}

// What a repository's default branch says of new issues and pull requests is offered to who makes some.
func TestTemplatesOfIssuesAndPulls(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/bed", false)
		const query = `{repository(owner:"alice",name:"bed"){isBlankIssuesEnabled issueTemplates{filename name about
			title body} pullRequestTemplates{filename body repository{name}} contactLinks{name about url}}}`
		ask{query: query, want: `{"data": {"repository": {"isBlankIssuesEnabled": true, "issueTemplates": [],
			"pullRequestTemplates": [], "contactLinks": []}}}`}.check(t, s)
		for path, text := range map[string]string{
			".github/ISSUE_TEMPLATE/bug.md": "---\nname: Bug\nabout: It fails\ntitle: 'Bug: '\n" +
				"labels: bug\n---\n\nWhat happened?\n",
			".github/ISSUE_TEMPLATE/idea.md":  "---\r\nname: Idea\r\n---\r\nWhat for?\r\n",
			".github/ISSUE_TEMPLATE/none.md":  "no head\n",
			".github/ISSUE_TEMPLATE/wrong.md": "---\nname: [\n---\n",
			".github/ISSUE_TEMPLATE/config.yml": "blank_issues_enabled: false\n" +
				"contact_links:\n- {name: Forum, url: 'https://forum.example', about: Ask there}\n- {name: X, url: 'javascript:alert(1)'}\n",
			".github/PULL_REQUEST_TEMPLATE.md":     "What does it do?\n",
			"docs/pull_request_template/small.md":  "Small.\n",
			"docs/pull_request_template/binary.md": "a\x00b",
		} {
			s.Check(t, apitest.Case{Do: "PUT /repos/alice/bed/contents/" + path, As: "alice",
				Send: `{"message": "T", "content": "` + base64.StdEncoding.EncodeToString([]byte(text)) +
					`"}`, Status: 201})
		}
		ask{query: query, want: `{"data": {"repository": {"isBlankIssuesEnabled": false,
			"issueTemplates": [{"filename": "bug.md", "name": "Bug", "about": "It fails", "title": "Bug: ",
			"body": "What happened?\n"},
				{"filename": "idea.md", "name": "Idea", "about": null, "title": null, "body": "What for?\n"}],
			"pullRequestTemplates": [{"filename": "PULL_REQUEST_TEMPLATE.md", "body": "What does it do?\n",
			"repository": {"name": "bed"}}, {"filename": "small.md"}],
			"contactLinks": [{"name": "Forum", "about": "Ask there", "url": "https://forum.example"}]}}}`}.check(t, s)
	})
}

// gh pr revert asks this, and what it makes undoes the merge.
func TestRevert(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		const query = `mutation PullRequestRevert($p:ID!,$t:String){
			revertPullRequest(input:{pullRequestId:$p,title:$t,draft:true}){
			pullRequest{id number} revertPullRequest{id number url title body isDraft headRefName baseRefName
			files(first:5){nodes{path changeType}}}}}`
		ask{query: query, want: `{"data": {"revertPullRequest": null}, "errors": [{"type": "UNPROCESSABLE",
			"message": "Pull Request is not merged"}]}`, variables: v}.check(t, s)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/bed/pulls/5/merge", As: "alice", Status: 200})
		ask{as: "carol", query: query, want: `{"data": {"revertPullRequest": null}, "errors": [{}]}`,
			variables: v}.check(t, s)
		ask{query: query, want: `{"data": {"revertPullRequest": {"pullRequest": {"number": 5},
			"revertPullRequest": {"number": 6, "url": "{base}/alice/bed/pull/6",
			"title": "Revert \"Weeds\"", "body": "Reverts alice/bed#5", "isDraft": true, "headRefName": "revert-5-fix",
			"baseRefName": "main",
			"files": {"nodes": [{"path": "b", "changeType": "DELETED"}]}}}}}`, variables: v}.check(t, s)
		v["t"] = "Grow again"
		ask{query: query, want: `{"data": {"revertPullRequest": {"revertPullRequest": {"number": 7,
			"title": "Grow again", "headRefName": "revert-5-fix-2"}}}}`, variables: v}.check(t, s)
	})
}
