package graphql_test

import (
	"encoding/json"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// A review is begun by REST, and submitted, changed and dismissed by GraphQL; others do not see it before.
func TestMutationsOfReviews(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		ids := cellar(t, s)
		s.Grant(t, s.Access(t, "alice", "alice/cellar").Repo, "bob", account.Push)
		begin := func() string {
			t.Helper()
			a := s.Check(t, apitest.Case{Do: "POST /repos/alice/cellar/pulls/2/reviews", As: "bob",
				Send: `{"body": "So far"}`, Status: 200})
			var made struct {
				NodeID string `json:"node_id"`
			}
			if err := json.Unmarshal(a.Body, &made); err != nil {
				t.Fatal(err)
			}
			return made.NodeID
		}
		v := map[string]any{"v": begin(), "p": ids["pull"]}
		for _, a := range []ask{
			{query: `query($v:ID!){node(id:$v){id}}`,
				want: `{"data": {"node": null}, "errors": [{"type": "NOT_FOUND"}]}`},
			{query: `mutation($v:ID!){deletePullRequestReview(input:{pullRequestReviewId:$v}){pullRequestReview{id}}}`,
				want: `{"data": {"deletePullRequestReview": null}, "errors": [{"type": "NOT_FOUND"}]}`},
			{as: "bob", query: `query($v:ID!){node(id:$v){...on PullRequestReview{state body}}}`,
				want: `{"data": {"node": {"state": "PENDING", "body": "So far"}}}`},
			{as: "bob", query: `mutation($v:ID!){deletePullRequestReview(input:{pullRequestReviewId:$v}){
				pullRequestReview{body}}}`,
				want: `{"data": {"deletePullRequestReview": {"pullRequestReview": {"body": "So far"}}}}`},
			{as: "bob", query: `mutation($p:ID!){submitPullRequestReview(input:{pullRequestId:$p,event:APPROVE}){
				pullRequestReview{id}}}`,
				want: `{"data": {"submitPullRequestReview": null}, "errors": [{"type": "NOT_FOUND"}]}`},
		} {
			a.variables = v
			a.check(t, s)
		}
		v["v"] = begin()
		for _, a := range []ask{
			{as: "bob", query: `mutation($p:ID!){submitPullRequestReview(input:{pullRequestId:$p,event:REQUEST_CHANGES,
				body:"No"}){pullRequestReview{state body}}}`,
				want: `{"data": {"submitPullRequestReview": {"pullRequestReview": {"state": "CHANGES_REQUESTED",
					"body": "No"}}}}`},
			{as: "bob", query: `mutation($v:ID!){updatePullRequestReview(input:{pullRequestReviewId:$v,body:"Not yet"}){
				pullRequestReview{body}}}`,
				want: `{"data": {"updatePullRequestReview": {"pullRequestReview": {"body": "Not yet"}}}}`},
			{query: `mutation($v:ID!){dismissPullRequestReview(input:{pullRequestReviewId:$v,message:"Done"}){
				pullRequestReview{state}}}`,
				want: `{"data": {"dismissPullRequestReview": {"pullRequestReview": {"state": "DISMISSED"}}}}`},
		} {
			a.variables = v
			a.check(t, s)
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/cellar/pulls/2/reviews", As: "alice", Status: 200,
			Want: `[{}, {"state": "DISMISSED", "body": "Not yet"}]`})
	})
}

// What GraphQL changes stands in REST's answers.
func TestMutationsOfCodeLabelsAndReactions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		ids := cellar(t, s)
		v := map[string]any{"r": ids["repository"], "i": ids["issue"], "c": ids["comment"], "ref": ids["ref"],
			"l": ids["label"], "sha": ids["sha"],
			"bob": member(t, s, "alice", "/users/bob", "node_id")}
		for _, a := range []ask{
			{query: `mutation($r:ID!,$sha:GitObjectID!){createRef(input:{repositoryId:$r,name:"refs/heads/peas",
				oid:$sha}){ref{name target{oid}}}}`,
				want: `{"data": {"createRef": {"ref": {"name": "peas", "target": {"oid": "` +
					ids["sha"] + `"}}}}}`},
			{query: `mutation($ref:ID!,$sha:GitObjectID!){updateRef(input:{refId:$ref,oid:$sha}){ref{name}}}`,
				// that is no fast-forward
				want: `{"data": {"updateRef": null}, "errors": [{"type": "UNPROCESSABLE"}]}`},
			{query: `mutation($r:ID!){a:mergeBranch(input:{repositoryId:$r,base:"peas",head:"SECRET",
				commitMessage:"Both"}){mergeCommit{message}}
				b:mergeBranch(input:{repositoryId:$r,base:"peas",head:"SECRET"}){mergeCommit{oid}}}`,
				want: `{"data": {"a": {"mergeCommit": {"message": "Both"}}, "b": null},
					"errors": [{"message": "Already merged"}]}`},
			{query: `mutation($ref:ID!,$sha:GitObjectID!){updateRef(input:{refId:$ref,oid:$sha,force:true}){
				ref{target{oid}}}}`,
				want: `{"data": {"updateRef": {"ref": {"target": {"oid": "` + ids["sha"] + `"}}}}}`},
			{query: `mutation($ref:ID!){deleteRef(input:{refId:$ref,clientMutationId:"x"}){clientMutationId}}`,
				want: `{"data": {"deleteRef": {"clientMutationId": "x"}}}`},
			{query: `mutation($ref:ID!){deleteRef(input:{refId:$ref}){clientMutationId}}`,
				want: `{"data": {"deleteRef": null}, "errors": [{"type": "NOT_FOUND"}]}`},
			{query: `mutation($r:ID!,$l:ID!){createLabel(input:{repositoryId:$r,name:"ripe",color:"ff0000"}){label{name color}}
				updateLabel(input:{id:$l,name:"open",description:"Told"}){label{name description}}}`,
				want: `{"data": {"createLabel": {"label": {"name": "ripe", "color": "ff0000"}},
					"updateLabel": {"label": {"name": "open", "description": "Told"}}}}`},
			{query: `mutation($l:ID!){deleteLabel(input:{id:$l}){clientMutationId}}`,
				want: `{"data": {"deleteLabel": {}}}`},
			{query: `mutation($r:ID!){updateTopics(input:{repositoryId:$r,topicNames:["peas"]}){
				repository{repositoryTopics(first:3){nodes{topic{name}}}}}}`,
				want: `{"data": {"updateTopics": {"repository": {"repositoryTopics": {"nodes": [{"topic": {"name": "peas"}}]}}}}}`},
			{query: `mutation($i:ID!,$c:ID!){a:addReaction(input:{subjectId:$i,content:THUMBS_UP}){
				reaction{content user{login} reactable{id}} subject{reactionGroups{content}}}
				b:addReaction(input:{subjectId:$c,content:HEART}){reaction{content}} c:removeReaction(input:{subjectId:$c,
				content:HEART}){reaction{content}}
				d:removeReaction(input:{subjectId:$c,content:HEART}){reaction{content}}}`,
				want: `{"data": {"a": {"reaction": {"content": "THUMBS_UP", "user": {"login": "alice"},
					"reactable": {"id": "` + ids["issue"] + `"}}},
				"b": {"reaction": {"content": "HEART"}}, "c": {"reaction": {"content": "HEART"}}, "d": null},
				"errors": [{"type": "NOT_FOUND", "path": ["d"]}]}`},
			{query: `mutation($bob:ID!){followUser(input:{userId:$bob}){user{login}}}`,
				want: `{"data": {"followUser": {"user": {"login": "bob"}}}}`},
			{as: "bob", query: `mutation($i:ID!){addReaction(input:{subjectId:$i,content:EYES}){reaction{content}}}`,
				want: `{"data": {"addReaction": null}, "errors": [{"type": "NOT_FOUND"}]}`},
			{as: "bob", query: `mutation($r:ID!,$sha:GitObjectID!){createRef(input:{repositoryId:$r,name:"refs/heads/x",
				oid:$sha}){ref{name}}}`,
				want: `{"data": {"createRef": null}, "errors": [{"type": "NOT_FOUND"}]}`},
		} {
			a.variables = v
			a.check(t, s)
		}
		github := map[string]string{"Accept": "application/vnd.github+json"}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/cellar/git/ref/heads/SECRET", As: "alice", Status: 404},
			{Do: "GET /repos/alice/cellar/labels/ripe", As: "alice", Status: 200},
			{Do: "GET /repos/alice/cellar/labels/open", As: "alice", Status: 404},
			{Do: "GET /repos/alice/cellar/issues/1/reactions", As: "alice", Headers: github, Status: 200,
				Want: `[{"content": "+1"}]`},
			{Do: "GET /repos/alice/cellar/issues/comments/1/reactions", As: "alice", Headers: github,
				Status: 200, Want: `[]`},
			{Do: "GET /user/following/bob", As: "alice", Status: 204},
		})
		send, err := json.Marshal(map[string]any{"variables": v,
			"query": `mutation($bob:ID!){unfollowUser(input:{userId:$bob}){user{login}}}`})
		if err != nil {
			t.Fatal(err)
		}
		s.Check(t, apitest.Case{Do: "POST /graphql", As: "alice", Send: string(send), Status: 200})
		s.Check(t, apitest.Case{Do: "GET /user/following/bob", As: "alice", Status: 404})
	})
}
