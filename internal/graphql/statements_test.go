package graphql_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

const (
	slack = 6  // statements that later rows may need besides, of 18
	most  = 40 // statements of a query
)

// The number of statements depends on what is asked for, and not on how much there is.
func TestStatementsDoNotGrowWithRows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var statements atomic.Int64
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
				Trace: func(ctx context.Context, _ string) {
					if account.CallerFrom(ctx) != nil { // the server's workers ask for work now and then
						statements.Add(1)
					}
				}})
		})
		s.User(t, "alice")
		s.User(t, "bob")
		for n := range 30 {
			s.Repo(t, fmt.Sprintf("bob/plot%d", n), false)
		}
		s.Repo(t, "alice/garden", false)
		for n := range 20 {
			s.Check(t, apitest.Case{Do: fmt.Sprintf("PUT /repos/alice/garden/contents/a%d", n), As: "alice",
				Send: `{"message": "A", "content": "YQ=="}`, Status: 201})
		}
		sha := member(t, s, "alice", "/repos/alice/garden/commits/main", "sha")
		for n := range 30 {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: []string{"alice", "bob"}[n%2],
				Send: `{"title": "Peas", "labels": ["bug"]}`, Status: 201})
		}
		for n := range 20 {
			branch := fmt.Sprintf("b%d", n)
			for _, c := range []apitest.Case{
				{Do: "POST /repos/alice/garden/releases", Send: fmt.Sprintf(`{"tag_name": "v%d"}`, n),
					Status: 201},
				{Do: "POST /repos/alice/garden/git/refs",
					Send: `{"ref": "refs/heads/` + branch + `", "sha": "` + sha +
						`"}`, Status: 201},
				{Do: "PUT /repos/alice/garden/contents/" + branch,
					Send: `{"message": "B", "content": "Yg==", "branch": "` +
						branch + `"}`, Status: 201},
				{Do: "POST /repos/alice/garden/pulls",
					Send:   fmt.Sprintf(`{"title": "Peas", "head": "%s", "base": "main", "body": "fixes #%d"}`, branch, n+1),
					Status: 201},
				{Do: fmt.Sprintf("POST /repos/alice/garden/issues/%d/comments", 30-n),
					Send: `{"body": "Peas"}`, Status: 201},
				{Do: fmt.Sprintf("POST /repos/alice/garden/issues/%d/comments", 30-n),
					Send: `{"body": "Beans"}`, Status: 201},
				{Do: fmt.Sprintf("POST /repos/alice/garden/issues/%d/comments", 30-n),
					Send: `{"body": "Kale"}`, Status: 201},
				{Do: fmt.Sprintf("POST /repos/alice/garden/pulls/%d/reviews", 31+n),
					Send: `{"body": "Fine", "event": "COMMENT", "comments": [{"path": "` + branch +
						`", "line": 1, "body": "Here"}]}`, Status: 200},
			} {
				c.As = "alice"
				s.Check(t, c)
			}
		}
		for n := range 20 {
			id := member(t, s, "alice", fmt.Sprintf("/repos/alice/garden/issues/%d", n+1), "node_id")
			run(t, s, "alice", `mutation($i:ID!,$sha:GitObjectID!){createLinkedBranch(input:{issueId:$i,oid:$sha}){
				clientMutationId}}`,
				map[string]any{"i": id, "sha": sha})
		}
		if err := s.Server.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		for n := range 20 {
			run(t, s, "alice", `mutation($r:ID!,$p:String!,$b:ID!){createBranchProtectionRule(input:{repositoryId:$r,pattern:$p,
				requiresApprovingReviews:true,pushActorIds:[$b],restrictsPushes:true}){clientMutationId}}`, map[string]any{
				"r": member(t, s, "alice", "/repos/alice/garden", "node_id"), "p": fmt.Sprintf("b%d", n),
				"b": member(t, s, "alice", "/users/bob", "node_id")})
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/rulesets", As: "alice", Status: 201, Send: fmt.Sprintf(
				`{"name": "r%d", "enforcement": "active", "rules": [{"type": "deletion"}]}`, n)})
		}
		starred := false
		for _, query := range append(growing(), ghPullList(t)) {
			cost := func(n int) int64 {
				starred = !starred // nothing that was kept before counts any more
				s.Check(t, apitest.Case{Do: map[bool]string{true: "PUT", false: "DELETE"}[starred] +
					" /user/starred/bob/plot0", As: "bob", Status: 204})
				if err := s.Server.Settle(t.Context()); err != nil {
					t.Fatal(err)
				}
				statements.Store(0)
				if body := run(t, s, "alice", query, map[string]any{"n": n}); strings.Contains(body,
					`"errors"`) {
					t.Fatalf("%s\n%s", query, body)
				}
				return statements.Load()
			}
			// The first rows have less than others: no comments. That is a few statements, however many rows
			// there are.
			few, many := max(cost(1), cost(2)), cost(20)
			for range 20 { // what workers change meanwhile is read anew
				if few > 0 && many <= few+slack {
					break
				}
				few, many = max(few, cost(2)), min(many, cost(20))
			}
			if few == 0 || many > few+slack || many > most {
				t.Errorf("%s\n%d statements for 2, %d for 20", query, few, many)
			}
		}
	})
}

// growing are queries whose answers have $n rows.
func growing() []string {
	in := func(inner string) string {
		return `query($n:Int!){repository(owner:"alice",name:"garden"){` + inner + `}}`
	}
	return []string{
		in(`issues(first:$n){totalCount nodes{number title state labels(first:5){nodes{name}} milestone{title}
				author{login ...on User{id name}} assignees(first:5){nodes{name}} reactionGroups{content users{totalCount}}
				isPinned} pageInfo{hasNextPage endCursor}}`),
		in(`issues(first:$n,orderBy:{field:CREATED_AT,direction:DESC}){
			nodes{comments(first:2){totalCount nodes{body author{login} reactionGroups{content}}}}}`),
		in(`pullRequests(first:$n){nodes{comments(first:100){nodes{id}} reviews(first:2){nodes{state author{login}}}
			latestReviews(first:5){nodes{body}}
				statusCheckRollup{state} commits(last:1){
				nodes{commit{statusCheckRollup{contexts(first:5){nodes{...on StatusContext{context}}}}}}}}}`),
		in(`pullRequests(first:$n){nodes{number title headRefName headRepositoryOwner{login ...on User{name}}
			isCrossRepository isDraft mergeable
				mergeStateStatus additions mergedBy{login} reviewRequests(first:5){
				nodes{requestedReviewer{...on User{login}}}} headRepository{name} mergeCommit{oid}}}`),
		in(`object(expression:"b19"){...on Commit{history(first:$n){nodes{oid author{user{login}} tree{oid}
			parents(first:2){nodes{messageHeadline}}
				associatedPullRequests(first:5){nodes{number title labels(first:5){nodes{name}} mergeCommit{oid}}}}}}}`),
		in(`refs(first:$n,refPrefix:"refs/heads/"){
			nodes{name target{...on Commit{oid committedDate author{user{login}}}}}}`),
		in(`issues(first:$n){nodes{closedByPullRequestsReferences(first:5){totalCount nodes{number title state
			author{login}}}
				assignedActors(first:5){totalCount} subIssuesSummary{total} linkedBranches(first:5){
				nodes{ref{name repository{url}}}}}}`),
		in(`pullRequests(first:$n){nodes{reviewThreads(first:5){totalCount nodes{isResolved path comments(first:5){
			totalCount nodes{body author{login} pullRequestReview{databaseId}}}}}}}`),
		in(`pullRequests(first:$n){nodes{reviewThreads(first:1){totalCount} reviews{totalCount}}}`),
		in(`pullRequests(first:$n){nodes{reviews(first:2){totalCount nodes{comments(first:5){
			totalCount nodes{body author{login}}}}}}}`),
		in(`pullRequests(first:$n){nodes{reviewDecision closingIssuesReferences(first:5){
			totalCount nodes{number title state author{login}}}}}`),
		in(`releases(first:$n){nodes{name tag{name target{oid}} tagCommit{oid committedDate}}}`),
		`query($n:Int!){search(type:ISSUE,query:"repo:alice/garden is:pr",first:$n){
			issueCount nodes{...on PullRequest{number headRefName isDraft additions}}}}`,
		`query($n:Int!){user(login:"bob"){repositories(first:$n){nodes{nameWithOwner owner{login} pushedAt isFork}
			totalCount}}}`,
		// What gh 2.23 and later ask of lists with all fields of --json.
		in(`pullRequests(first:$n){nodes{timelineItems(first:5){totalCount nodes{__typename}} commits(first:100){
			totalCount nodes{commit{oid messageHeadline
				authors(first:100){nodes{name email user{id login}}}}}} files(first:100){totalCount nodes{path additions
				deletions viewerViewedState}}}}`),
		in(`issues(first:$n){nodes{timelineItems(first:5,itemTypes:[LABELED_EVENT,CROSS_REFERENCED_EVENT]){
			nodes{...on LabeledEvent{label{name}} ...on CrossReferencedEvent{source{...on PullRequest{number}}}}}}}`),
		in(`pullRequests(first:$n){nodes{viewerMergeHeadlineText viewerMergeBodyText
			a:viewerMergeHeadlineText(mergeType:SQUASH) b:viewerMergeBodyText(mergeType:SQUASH)}}`),
		in(`pullRequests(first:$n){nodes{baseRef{name} headRef{name target{oid}} potentialMergeCommit{oid
			messageHeadline}}}`),
		in(`refs(first:$n,refPrefix:"refs/heads/"){nodes{name compare(headRef:"main"){aheadBy behindBy status}}}`),
		in(`refs(first:$n,refPrefix:"refs/heads/"){nodes{name branchProtectionRule{id}
			associated:target{...on Commit{associatedPullRequests(first:2){nodes{number}} status{state}
			checkSuites(first:5){nodes{status checkRuns(first:5){nodes{name}}}}}}}}`),
		in(`refs(first:$n,refPrefix:"refs/heads/"){nodes{name branchProtectionRule{pattern pushAllowances(first:3){
			nodes{actor{...on User{login name}}}}} refUpdateRule{viewerCanPush}}}`),
		in(`branchProtectionRules(first:$n){totalCount nodes{pattern matchingRefs(first:3){totalCount nodes{name
			target{oid}}} pushAllowances(first:3){nodes{actor{...on User{login}}}}}}`),
		in(`rulesets(first:$n){totalCount nodes{name rules(first:5){nodes{type}} bypassActors(first:5){totalCount}
			source{...on Repository{name}}}}`),
		in(`issues(first:$n){nodes{titleHTML bodyHTML bodyText reactions(first:5){totalCount viewerHasReacted
			nodes{content user{login}}} reactionGroups{viewerHasReacted users(first:2){nodes{login}}} viewerCanReact
			viewerCanUpdate viewerDidAuthor}}`),
		in(`issues(first:$n,orderBy:{field:CREATED_AT,direction:DESC}){
			nodes{comments(first:3){nodes{reactions(first:2){nodes{content}} issue{number} viewerDidAuthor bodyHTML
			reactionGroups{viewerHasReacted}}}}}`),
		in(`pullRequests(first:$n){nodes{reviews(first:2){nodes{commit{oid messageHeadline} comments(first:2){
			nodes{reactions(first:2){nodes{content}} replyTo{id body} state publishedAt pullRequestReview{body}}}}}}}`),
		in(`pullRequests(first:$n){nodes{suggestedReviewerActors(first:2){nodes{reviewer{login}}}
			suggestedActors(first:2){nodes{...on User{login}}} mergedBy{login ...on User{name}}}}`),
		in(`releases(first:$n){nodes{isLatest descriptionHTML releaseAssets(first:2){nodes{name}} author{login name}}}`),
		in(`milestones(first:$n){nodes{title number dueOn creator{login}} totalCount}`),
		in(`labels(first:$n){nodes{id name color description} totalCount}`),
		in(`object(expression:"main:"){...on Tree{entries{name object{...on Blob{byteSize text}}}}} labels(first:$n){
			totalCount}`),
		`query($n:Int!){search(type:ISSUE,query:"repo:alice/garden is:pr",first:$n){
			nodes{...on PullRequest{number reviewDecision statusCheckRollup{state} repository{nameWithOwner}
			author{login} labels(first:5){nodes{name}}}}}}`,
		`query($n:Int!){search(type:ISSUE,query:"repo:alice/garden is:issue",first:$n){
			nodes{...on Issue{number title repository{nameWithOwner} author{login ...on User{name}} comments(first:1){
			totalCount}}}}}`,
		`query($n:Int!){search(type:REPOSITORY,query:"user:bob",first:$n){
			nodes{...on Repository{nameWithOwner description isPrivate stargazerCount owner{login}}}}}`,
		`query($n:Int!){user(login:"bob"){repositories(first:$n){nodes{nameWithOwner description isPrivate isArchived
			createdAt diskUsage forkCount homepageUrl isEmpty isTemplate
				licenseInfo{name} primaryLanguage{name} sshUrl stargazerCount updatedAt url viewerPermission visibility
				mergeCommitAllowed hasIssuesEnabled}}}}`,
	}
}

// ghPullList is gh pr list with every field of --json.
func ghPullList(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/prlist.graphql")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("$owner: String!,", "", "$repo: String!,", "", "$limit", "$n",
		"$owner", `"alice"`, "$repo", `"garden"`).Replace(string(text))
}
