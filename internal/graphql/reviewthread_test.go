package graphql_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"arbor/internal/test/apitest"
)

// found reads a value out of an answer, by its path.
func found(t *testing.T, body string, path ...any) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	for _, step := range path {
		switch at := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[at]
		case int:
			list, _ := v.([]any)
			if at >= len(list) {
				t.Fatalf("%v is not in %s", path, body)
			}
			v = list[at]
		}
	}
	return fmt.Sprint(v)
}

// An editor's review: threads in a review that others do not see yet, replies, and who resolves them.
func TestReviewThreads(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		check := func(as, query, want string) string {
			t.Helper()
			return ask{as: as, query: query, want: want, variables: v}.check(t, s)
		}
		const threads = `{repository(owner:"alice",name:"bed"){pullRequest(number:5){reviewThreads(first:9){
			totalCount nodes{id path line diffSide subjectType
			isResolved isOutdated isCollapsed resolvedBy{login} viewerCanReply viewerCanResolve viewerCanUnresolve
			pullRequest{number} repository{name}
			comments(first:9){totalCount nodes{id databaseId body state path diffHunk line outdated author{login}
			replyTo{databaseId} pullRequestReview{id databaseId state}
			commit{oid} originalCommit{oid} pullRequest{number} viewerDidAuthor viewerCanUpdate publishedAt
			reactionGroups{content users{totalCount}}}}}}}}}`
		is := func(as, want string) string {
			t.Helper()
			return check(as, threads,
				`{"data": {"repository": {"pullRequest": {"reviewThreads": `+want+`}}}}`)
		}
		is("bob", `{"totalCount": 0, "nodes": []}`)
		body := check("bob",
			`mutation($p:ID!){addPullRequestReviewThread(input:{pullRequestId:$p,path:"b",line:1,
			side:RIGHT,body:"Why?"}){thread{id path line isResolved
			comments(first:2){nodes{body state pullRequestReview{id}}}}}}`,
			`{"data": {"addPullRequestReviewThread": {"thread": {"path": "b", "line": 1, "isResolved": false,
				"comments": {"nodes": [{"body": "Why?", "state": "PENDING"}]}}}}}`)
		v["t"] = found(t, body, "data", "addPullRequestReviewThread", "thread", "id")
		v["v"] = found(t, body, "data", "addPullRequestReviewThread", "thread", "comments", "nodes", 0,
			"pullRequestReview", "id")
		is("alice", `{"totalCount": 0}`) // it is bob's own still
		is("bob", `{"totalCount": 1, "nodes": [{"viewerCanResolve": true,
			"comments": {"nodes": [{"state": "PENDING", "publishedAt": null}]}}]}`)
		for _, query := range []string{`query($t:ID!){node(id:$t){id}}`, `query($v:ID!){node(id:$v){id}}`} {
			check("alice", query, `{"data": {"node": null}, "errors": [{"type": "NOT_FOUND"}]}`)
		}
		check("bob", `mutation($t:ID!){resolveReviewThread(input:{threadId:$t}){thread{id}}}`,
			`{"errors": [{"type": "FORBIDDEN"}]}`)
		check("bob", `mutation($v:ID!){addPullRequestReviewThread(input:{pullRequestReviewId:$v,path:"b",
			body:"All of it",subjectType:FILE}){thread{subjectType line}}}`,
			`{"data": {"addPullRequestReviewThread": {"thread": {"subjectType": "FILE", "line": null}}}}`)
		check("bob", `mutation($p:ID!){addPullRequestReviewThread(input:{pullRequestId:$p,path:"none",line:1,
			body:"x"}){thread{id}}}`,
			`{"data": {"addPullRequestReviewThread": null}, "errors": [{"type": "UNPROCESSABLE"}]}`)
		check("bob", `mutation($v:ID!){submitPullRequestReview(input:{pullRequestReviewId:$v,event:COMMENT,
			body:"See"}){pullRequestReview{state comments(first:5){totalCount nodes{body}}}}}`,
			`{"data": {"submitPullRequestReview": {"pullRequestReview": {"state": "COMMENTED",
				"comments": {"totalCount": 2, "nodes": [{"body": "Why?"}, {"body": "All of it"}]}}}}}`)
		body = is("carol", `{"totalCount": 2, "nodes": [{"path": "b", "line": 1, "diffSide": "RIGHT",
			"subjectType": "LINE", "viewerCanReply": true, "viewerCanResolve": false,
			"comments": {"totalCount": 1, "nodes": [{"body": "Why?", "state": "SUBMITTED", "author": {"login": "bob"},
			"replyTo": null, "viewerDidAuthor": false, "viewerCanUpdate": false}]}},
			{"subjectType": "FILE"}]}`)
		v["c"] = found(t, body, "data", "repository", "pullRequest", "reviewThreads", "nodes", 0,
			"comments", "nodes", 0, "id")
		check("carol", `mutation($t:ID!){addPullRequestReviewThreadReply(input:{pullRequestReviewThreadId:$t,
			body:"Because"}){comment{body state replyTo{body}}}}`,
			`{"data": {"addPullRequestReviewThreadReply": {"comment": {"body": "Because", "state": "SUBMITTED",
				"replyTo": {"body": "Why?"}}}}}`)
		check("carol", `mutation($t:ID!){resolveReviewThread(input:{threadId:$t}){thread{id}}}`,
			`{"data": {"resolveReviewThread": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		check("", `mutation($t:ID!){resolveReviewThread(input:{threadId:$t}){thread{isResolved resolvedBy{login}
			viewerCanResolve viewerCanUnresolve comments(first:5){totalCount}}}}`,
			`{"data": {"resolveReviewThread": {"thread": {"isResolved": true, "resolvedBy": {"login": "alice"},
				"viewerCanResolve": false, "viewerCanUnresolve": true,
			"comments": {"totalCount": 2}}}}}`)
		check("carol", `query($t:ID!){node(id:$t){...on PullRequestReviewThread{isResolved isCollapsed
			pullRequest{title}}}}`,
			`{"data": {"node": {"isResolved": true, "isCollapsed": true, "pullRequest": {"title": "Weeds"}}}}`)
		check("bob", `mutation($t:ID!){unresolveReviewThread(input:{threadId:$t}){thread{isResolved resolvedBy{login}}}}`,
			`{"data": {"unresolveReviewThread": {"thread": {"isResolved": false, "resolvedBy": null}}}}`)
		check("bob", `mutation($c:ID!){updatePullRequestReviewComment(input:{pullRequestReviewCommentId:$c,
			body:"Why so?"}){pullRequestReviewComment{body includesCreatedEdit}}
			addReaction(input:{subjectId:$c,content:HEART}){reaction{content}}}`,
			`{"data": {"updatePullRequestReviewComment": {"pullRequestReviewComment": {"body": "Why so?"}},
				"addReaction": {"reaction": {"content": "HEART"}}}}`)
		check("carol", `mutation($c:ID!){deletePullRequestReviewComment(input:{id:$c}){clientMutationId}}`,
			`{"errors": [{"type": "FORBIDDEN"}]}`)
		// The first comment goes, and the thread stays with its reply.
		check("", `mutation($t:ID!){resolveReviewThread(input:{threadId:$t}){clientMutationId}}`,
			`{"data": {"resolveReviewThread": {}}}`)
		check("bob", `mutation($c:ID!){deletePullRequestReviewComment(input:{id:$c}){pullRequestReviewComment{body}}}`,
			`{"data": {"deletePullRequestReviewComment": {"pullRequestReviewComment": {"body": "Why so?"}}}}`)
		is("carol", `{"totalCount": 2, "nodes": [{"isResolved": true, "resolvedBy": {"login": "alice"}, "path": "b",
			"comments": {"nodes": [{"body": "Because"}]}}, {}]}`)
		// A review with all its comments at once, and what is elsewhere.
		check("bob", `mutation($p:ID!){addPullRequestReview(input:{pullRequestId:$p,event:COMMENT,
			threads:[{path:"b",line:1,body:"One"}],comments:[{path:"b",position:1,body:"Two"}]}){
			pullRequestReview{comments(first:5){nodes{body}}}}}`,
			`{"data": {"addPullRequestReview": {"pullRequestReview": {"comments": {"nodes": [{"body": "Two"},
				{"body": "One"}]}}}}}`)
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/bed", As: "alice", Send: `{"private": true}`,
			Status: 200})
		check("carol", `query($t:ID!){node(id:$t){id}}`,
			`{"data": {"node": null}, "errors": [{"type": "NOT_FOUND"}]}`)
		check("carol", `mutation($t:ID!){addPullRequestReviewThreadReply(input:{pullRequestReviewThreadId:$t,
			body:"x"}){comment{id}}}`, `{"errors": [{"type": "NOT_FOUND"}]}`)
		is("bob", `{"totalCount": 4}`)
	})
}
