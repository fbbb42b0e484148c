package graphql_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// What programs of 2026 ask of issues, milestones and pull requests: one unknown field fails the whole query.
func TestWhatProgramsAskOfIssues(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		bed(t, s)
		for _, c := range []apitest.Case{
			{Do: "POST /repos/alice/bed/milestones", Send: `{"title": "Spring"}`, Status: 201},
			{Do: "PATCH /repos/alice/bed/issues/1", Send: `{"milestone": 1, "state": "closed"}`, Status: 200},
			{Do: "PATCH /repos/alice/bed/issues/2", Send: `{"milestone": 1}`, Status: 200},
			{Do: "POST /repos/alice/bed/issues/5/labels", Send: `{"labels": ["bug", "Weeds"]}`, Status: 200},
			{Do: "POST /repos/alice/bed/git/refs", Send: `{"ref": "refs/heads/two", "sha": "` +
				member(t, s, "alice", "/repos/alice/bed/commits/fix", "sha") + `"}`, Status: 201},
			{Do: "POST /repos/alice/bed/pulls", Send: `{"title": "Late", "head": "two", "base": "main", "body": "Fixes #3"}`,
				Status: 201},
			{Do: "PATCH /repos/alice/bed/pulls/6", Send: `{"state": "closed"}`, Status: 200},
			{Do: "POST /repos/alice/bed/pulls", Send: `{"title": "Again", "head": "two", "base": "main", "body": "Fixes #3"}`,
				Status: 201},
		} {
			c.As = "alice"
			s.Check(t, c)
		}
		in := func(fields string) string { return `{repository(owner:"alice",name:"bed"){` + fields + `}}` }
		for _, a := range []ask{
			{query: in(`milestone(number:1){openIssueCount closedIssueCount}`),
				want: `{"data": {"repository": {"milestone": {"openIssueCount": 1, "closedIssueCount": 1}}}}`},
			{query: in(`a:pullRequests(first:2,labels:["weeds","BUG"]){totalCount nodes{number}}
				b:pullRequests(first:2,labels:["bug","wontfix"]){totalCount}
				c:pullRequests(first:2,labels:["none"]){nodes{number}} d:pullRequests(first:2,labels:[]){totalCount}`),
				want: `{"data": {"repository": {"a": {"totalCount": 1, "nodes": [{"number": 5}]}, "b": {"totalCount": 0},
				"c": {"nodes": []}, "d": {"totalCount": 3}}}}`},
			{query: in(`issueFields(first:9){nodes{...on IssueFieldText{name}}}
				issues(first:1,filterBy:{issueFieldValues:[]}){nodes{issueFieldValues(first:9){totalCount}}}
				pullRequest(number:5){mergeRequirements{conditions{result}}}
				issue(number:1){timelineItems(last:9,itemTypes:[ISSUE_TYPE_ADDED_EVENT,CLOSED_EVENT]){nodes{
				...on ClosedEvent{duplicateOf{__typename}} ...on IssueTypeAddedEvent{issueType{name}}}}}`),
				want: `{"data": {"repository": {"issueFields": {"nodes": []}, "issues": {"nodes": [{"issueFieldValues": {"totalCount": 0}}]},
				"pullRequest": {"mergeRequirements": {"conditions": [{"result": "PASSED"}]}},
				"issue": {"timelineItems": {"nodes": [{"duplicateOf": null}]}}}}}`},
			{query: in(`issues(first:1,filterBy:{issueFieldValues:[{fieldName:"Size",textValue:"S"}]}){totalCount}`),
				want: `{"errors": [{"message": "Arbor has no fields of issues."}]}`},
			{query: in(`a:issue(number:3){closedByPullRequestsReferences(first:9,includeClosedPrs:true,orderByState:true){nodes{
				number state}}} b:issue(number:3){closedByPullRequestsReferences(first:9,includeClosedPrs:true){nodes{number}}}`),
				want: `{"data": {"repository": {"a": {"closedByPullRequestsReferences": {"nodes": [{"number": 7, "state": "OPEN"},
				{"number": 6, "state": "CLOSED"}]}}, "b": {"closedByPullRequestsReferences": {"nodes": [{"number": 6},
				{"number": 7}]}}}}}`},
			{query: `{search(type:DISCUSSION,query:"peas",first:3){discussionCount issueCount nodes{__typename} pageInfo{
				hasNextPage}}}`, want: `{"data": {"search": {"discussionCount": 0, "issueCount": 0, "nodes": [],
				"pageInfo": {"hasNextPage": false}}}}`},
			{query: `mutation{addPullRequestReview(input:{pullRequestId:"` + member(t, s, "alice",
				"/repos/alice/bed/pulls/5", "node_id") + `"}){pullRequestReview{state submittedAt createdAt updatedAt}}}`,
				want: `{"data": {"addPullRequestReview": {"pullRequestReview": {"state": "PENDING", "submittedAt": null}}}}`},
			{query: `mutation{setIssueFieldValue(input:{issueId:"x",issueFields:[]}){clientMutationId}}`,
				want: `{"errors": [{"message": "Arbor has no fields of issues."}]}`},
		} {
			a.check(t, s)
		}
	})
}
