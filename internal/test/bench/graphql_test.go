//go:build long

package bench

import (
	"encoding/json"
	"fmt"
	"testing"

	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// graphql measures what the first query costs, which reads the schema, and a query like the largest that VS Code's
// pull request extension sends.
func (s *suite) graphql(b *testing.B) {
	data, token := s.newData(b)
	query := func(text string, variables any) []byte {
		body, err := json.Marshal(map[string]any{"query": text, "variables": variables})
		testkit.NoError(b, err)
		return request("POST", "/graphql", token, string(body))
	}
	var first, held []float64
	for range 9 {
		a := s.serve(b, data, token)
		c := connect(b, a.url)
		ask := func(r []byte) float64 {
			return 1000 * timed(func() {
				_, err := c.must(r)
				testkit.NoError(b, err)
			})
		}
		ask(get("/user", token))
		before := memory(b, a.cmd.Process.Pid, "VmRSS")
		took := ask(query(`{viewer{login}}`, nil))
		held = append(held, memory(b, a.cmd.Process.Pid, "VmRSS")-before)
		first = append(first, took-ask(query(`{viewer{login name}}`, nil)))
		a.stop(b)
	}
	s.part(b, "first-query", func(b *testing.B) {
		s.atMost(b, median(first), 60, "ms", "longer than the second query, which has the schema")
	})
	s.part(b, "first-memory", func(b *testing.B) {
		s.atMost(b, median(held), 20, "MiB", "more after the first query")
	})
	s.part(b, "pull-request", s.largestQuery)
}

// largestQuery measures a pull request with its conversation, as VS Code shows it, and the endpoints of REST that say most
// of the same.
func (s *suite) largestQuery(b *testing.B) {
	a := s.start(b)
	a.create(b, "small")
	dir := gittest.Repository(b, 10, 20)
	gittest.Run(b, dir, "branch", "bed", "main")
	gittest.Run(b, dir, "push", "-q", a.remote("small"), allBranches)
	c, at := connect(b, a.url), "/repos/alice/small"
	send := func(method, path, body string) {
		status, _, err := c.do(request(method, path, a.token, body))
		testkit.NoError(b, err)
		if status/100 != 2 {
			b.Fatalf("%s %s: %d", method, path, status)
		}
	}
	send("PUT", at+"/contents/new.txt", `{"message": "New", "content": "YQpiCmMK", "branch": "bed"}`)
	send("POST", at+"/pulls", `{"title": "Beans", "head": "bed", "base": "main", "body": "Some **beans**"}`)
	for n := range 20 {
		send("POST", at+"/issues/1/comments", fmt.Sprintf(`{"body": "Comment %d"}`, n))
		send("POST", at+"/pulls/1/reviews", fmt.Sprintf(
			`{"event": "COMMENT", "body": "Review %d", "comments": [{"path": "new.txt", "line": %d, "body": "Here"}]}`, n, n%3+1))
	}
	body, err := json.Marshal(map[string]any{"query": conversation})
	testkit.NoError(b, err)
	var rest [][]byte
	for _, path := range []string{"/pulls/1", "/issues/1/timeline?per_page=100", "/pulls/1/reviews?per_page=100",
		"/pulls/1/comments?per_page=100", "/pulls/1/commits?per_page=100"} {
		rest = append(rest, get(at+path, a.token))
	}
	change := func(n int) { // nothing that was kept before counts any more
		send("PATCH", at+"/issues/1", fmt.Sprintf(`{"title": "Beans %d"}`, n))
	}
	var queried, asked []float64
	for n := range 30 {
		change(2 * n)
		queried = append(queried, 1000*timed(func() {
			length, err := c.must(request("POST", "/graphql", a.token, string(body)))
			testkit.NoError(b, err)
			if length < 20_000 {
				b.Fatalf("an error of %d bytes", length)
			}
		}))
		change(2*n + 1)
		asked = append(asked, 1000*timed(func() {
			for _, r := range rest {
				_, err := c.must(r)
				testkit.NoError(b, err)
			}
		}))
	}
	s.note(b, median(queried), "ms", fmt.Sprintf("with HTML, rights and reactions: 20 reviews with a thread each, 20 comments; "+
		"%.1f ms by five requests of REST, which show less", median(asked)))
}

// conversation is a pull request with its timeline and its threads.
const conversation = `{repository(owner:"alice",name:"small"){pullRequest(number:1){number url title titleHTML body
	bodyHTML createdAt updatedAt state isDraft merged mergeable mergeStateStatus reviewDecision viewerCanUpdate
	viewerCanEnableAutoMerge viewerCanDisableAutoMerge lastEditedAt author{login avatarUrl url ...on User{id name email}}
	headRef{name target{oid}} headRefOid baseRef{name target{oid}} baseRefOid headRepository{name owner{login} url}
	baseRepository{name owner{login} url squashMergeCommitTitle} labels(first:50){nodes{name color}}
	assignees(first:10){nodes{login name}} participants(first:10){nodes{login name}} milestone{title dueOn}
	reactionGroups{content viewerHasReacted users(first:10){nodes{login}}}
	commits(first:50){nodes{commit{oid message author{name user{login}} statusCheckRollup{state}}}}
	reviewThreads(first:100){nodes{id isResolved viewerCanResolve path line originalLine startLine diffSide isOutdated
		comments(first:50){nodes{id databaseId body bodyHTML path position author{login avatarUrl} createdAt lastEditedAt
		isMinimized minimizedReason viewerCanUpdate viewerCanDelete reactionGroups{content viewerHasReacted
		users(first:10){nodes{login}}} pullRequestReview{id databaseId state}}}}}
	timelineItems(first:100){nodes{__typename
		...on IssueComment{id databaseId body bodyHTML author{login} createdAt lastEditedAt viewerCanUpdate viewerCanDelete
			reactionGroups{content viewerHasReacted users(first:10){nodes{login}}}}
		...on PullRequestReview{id databaseId body bodyHTML state author{login} submittedAt comments(first:10){nodes{id}}}
		...on PullRequestCommit{commit{oid message author{name user{login}}}}
		...on RenamedTitleEvent{actor{login} previousTitle currentTitle createdAt}
		...on MergedEvent{actor{login} createdAt} ...on LabeledEvent{label{name}}}}}}}`
