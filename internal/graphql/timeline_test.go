package graphql_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// What happened to an issue and to a pull request is told as editors show it, in its order, by type, and as
// far as one sees it.
func TestTimelines(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		s.Repo(t, "alice/cellar", true)
		for _, c := range []apitest.Case{
			{Do: "PATCH /repos/alice/bed/issues/1",
				Send: `{"title": "Weeds everywhere", "labels": ["bug"], "assignees": ["bob"]}`, Status: 200},
			{Do: "POST /repos/alice/bed/milestones", Send: `{"title": "Spring"}`, Status: 201},
			{Do: "PATCH /repos/alice/bed/issues/1", Send: `{"milestone": 1}`, Status: 200},
			{Do: "POST /repos/alice/bed/issues/1/comments", Send: `{"body": "Soon, @carol"}`, Status: 201},
			{Do: "PUT /repos/alice/bed/issues/1/lock", Send: `{"lock_reason": "spam"}`, Status: 204},
			{Do: "POST /repos/alice/cellar/issues", Send: `{"title": "SECRET", "body": "like alice/bed#1"}`,
				Status: 201},
			{Do: "POST /repos/alice/bed/pulls/5/requested_reviewers", Send: `{"reviewers": ["bob"]}`,
				Status: 201},
			{Do: "POST /repos/alice/bed/pulls/5/reviews", Send: `{"event": "COMMENT", "body": "So"}`,
				Status: 200},
			{Do: "PUT /repos/alice/bed/pulls/5/merge", Status: 200},
		} {
			c.As, c.Headers = "alice", map[string]string{"Accept": "application/vnd.github+json"}
			s.Check(t, c)
		}
		check := func(as, query, want string) string {
			t.Helper()
			return ask{as: as, query: query, want: want, variables: v}.check(t, s)
		}
		const all = `totalCount filteredCount pageCount updatedAt nodes{__typename ...on Node{id}
			...on IssueComment{body} ...on LabeledEvent{label{name color} labelable{labels(first:1){totalCount}}}
			...on AssignedEvent{actor{login} assignee{...on User{login}} user{login} assignable{assignees(first:1){
			totalCount}}} ...on MilestonedEvent{milestoneTitle}
			...on RenamedTitleEvent{previousTitle currentTitle} ...on LockedEvent{lockReason lockable{locked}}
			...on MentionedEvent{actor{login}}
			...on CrossReferencedEvent{isCrossRepository willCloseTarget referencedAt source{...on Issue{title}
			...on PullRequest{number title}} target{...on Issue{number}}}
			...on ClosedEvent{stateReason closer{...on Commit{oid}} closable{closed} url}
			...on MergedEvent{mergeRefName mergeRef{name} commit{messageHeadline} pullRequest{number}}
			...on PullRequestCommit{commit{message} url}
			...on ReviewRequestedEvent{requestedReviewer{...on User{login}}} ...on PullRequestReview{body state}
			...on AddedToMergeQueueEvent{createdAt} ...on HeadRefDeletedEvent{headRefName}}`
		issue := `{repository(owner:"alice",name:"bed"){issue(number:1){
			timelineItems(first:50,itemTypes:[CROSS_REFERENCED_EVENT,RENAMED_TITLE_EVENT,LABELED_EVENT,ASSIGNED_EVENT,
			MILESTONED_EVENT,ISSUE_COMMENT,LOCKED_EVENT,CLOSED_EVENT]){` +
			strings.NewReplacer(
				"...on MergedEvent{mergeRefName mergeRef{name} commit{messageHeadline} pullRequest{number}} ",
				"",
				"...on PullRequestCommit{commit{message} url}", "", "...on PullRequestReview{body state}", "",
				"...on AddedToMergeQueueEvent{createdAt}", "",
				"...on HeadRefDeletedEvent{headRefName}", "",
				"...on ReviewRequestedEvent{requestedReviewer{...on User{login}}}", "").Replace(all) + `}}}}`
		const seen = `{"__typename": "CrossReferencedEvent", "isCrossRepository": false, "willCloseTarget": true,
			"source": {"number": 5, "title": "Weeds"}, "target": {"number": 1}},
			{"__typename": "RenamedTitleEvent", "previousTitle": "Issue 1", "currentTitle": "Weeds everywhere"},
			{"__typename": "LabeledEvent", "label": {"name": "bug"}, "labelable": {"labels": {"totalCount": 1}}},
			{"__typename": "AssignedEvent", "actor": {"login": "alice"}, "assignee": {"login": "bob"},
			"user": {"login": "bob"}},
			{"__typename": "MilestonedEvent", "milestoneTitle": "Spring"}, {"__typename": "IssueComment",
			"body": "Soon, @carol"},
			{"__typename": "LockedEvent", "lockReason": "SPAM", "lockable": {"locked": true}}, `
		const closed = `{"__typename": "ClosedEvent", "stateReason": "COMPLETED", "closable": {"closed": true},
			"closer": {"oid": "$any"}}`
		body := check("", issue, `{"data": {"repository": {"issue": {"timelineItems": {"totalCount": 9,
			"filteredCount": 9, "pageCount": 9, "nodes": [`+seen+`
			{"__typename": "CrossReferencedEvent", "isCrossRepository": true, "willCloseTarget": false,
			"source": {"title": "SECRET"}}, `+closed+`]}}}}}`)
		if !strings.Contains(body, "SECRET") {
			t.Error("alice does not see her own")
		}
		if body := check("carol", issue,
			`{"data": {"repository": {"issue": {"timelineItems": {"totalCount": 8,
			"nodes": [`+seen+closed+`]}}}}}`); strings.Contains(body, "SECRET") {
			t.Error(body)
		}
		body = check("carol", `{repository(owner:"alice",name:"bed"){pullRequest(number:5){
			timelineItems(first:50,itemTypes:[PULL_REQUEST_COMMIT,REVIEW_REQUESTED_EVENT,
			PULL_REQUEST_REVIEW,MERGED_EVENT,CLOSED_EVENT]){`+all+`}}}}`,
			`{"data": {"repository": {"pullRequest": {"timelineItems": {"totalCount": 5}}}}}`)
		for _, text := range []string{`{"__typename":"PullRequestCommit"`, `"message":"Weed\n\nAll of it."`,
			`"requestedReviewer":{"login":"bob"}`, `"body":"So","state":"COMMENTED"`,
			`"mergeRefName":"main","mergeRef":{"name":"main"}`} {
			if !strings.Contains(body, text) {
				t.Errorf("%s is not in %s", text, body)
			}
		}
		check("carol", `{repository(owner:"alice",name:"bed"){issue(number:1){a:timelineItems(first:2,skip:1,
			itemTypes:[LABELED_EVENT,RENAMED_TITLE_EVENT]){totalCount nodes{__typename}}
			b:timelineItems(first:1,since:"2100-01-01T00:00:00Z"){totalCount} c:timelineItems(last:1,
			itemTypes:[ISSUE_COMMENT]){nodes{...on IssueComment{body}} pageInfo{hasPreviousPage}}}}}`,
			`{"data": {"repository": {"issue": {"a": {"totalCount": 1, "nodes": [{"__typename": "LabeledEvent"}]},
				"b": {"totalCount": 0},
			"c": {"nodes": [{"body": "Soon, @carol"}], "pageInfo": {"hasPreviousPage": false}}}}}}`)
	})
}
