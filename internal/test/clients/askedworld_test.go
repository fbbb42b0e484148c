//go:build long

package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// asking is who asks: an administrator of the repository.
const asking = "keeper"

// asker asks what programs ask in a repository with one of each thing.
type asker struct {
	*fixture.World
	home   *fixture.Home
	T      *testing.T // of the whole, which makes the world
	schema *ast.Schema
	empty  map[string]bool // fields that are always empty, as the documentation lists them
	met    map[string]bool // fields with something in an answer
	fresh  int
}

func newAsker(t *testing.T, s *apitest.Server, schema *ast.Schema) *asker {
	t.Helper()
	w := fixture.New(t, s)
	a := &asker{World: w, home: w.Homes[0], T: t, schema: schema, empty: documentedEmpty(t)}
	w.OK(t, asking, "PATCH "+a.at(""), `{"allow_auto_merge":true}`)
	w.OK(t, asking, "POST "+a.at("/pulls"), fmt.Sprintf(`{"title":"t","head":%q,"base":"main"}`, a.branch(t)))
	w.OK(t, asking, "POST "+a.at("/issues/"+a.home.Is["pull"]+"/comments"), `{"body":"b"}`)
	w.OK(t, asking, "PUT "+a.at("/subscription"), `{"subscribed":true}`)
	return a
}

// documentedEmpty reads the table of fields that are always empty.
func documentedEmpty(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../../docs/graphql.md")
	testkit.NoError(t, err)
	_, table, _ := strings.Cut(string(text), "## Fields that are always empty")
	table, _, _ = strings.Cut(table, "\n## ")
	list := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\w+) \| (.*) \|$`).FindAllStringSubmatch(table, -1) {
		list[row[1]] = true
		for field := range strings.SplitSeq(row[2], ", ") {
			list[row[1]+"."+strings.Trim(field, "`")] = true
		}
	}
	return list
}

func (a *asker) at(path string) string { return "/repos/" + a.home.Owner + "/" + a.home.Name + path }

// id is the id of what a request returns.
func (a *asker) id(t *testing.T, as, do, send string) string {
	t.Helper()
	if strings.HasPrefix(do, "/") {
		do = "GET " + a.at(do)
	} else if method, path, _ := strings.Cut(do, " "); !strings.HasPrefix(path, "/user") {
		do = method + " " + a.at(path)
	}
	id, _ := a.OK(t, as, do, send)["node_id"].(string)
	if id == "" {
		t.Fatalf("%s has no node_id", do)
	}
	return id
}

func (a *asker) name() string {
	a.fresh++
	return fmt.Sprint("asked", a.fresh)
}

// branch makes a branch with a commit of its own.
func (a *asker) branch(t *testing.T) string {
	t.Helper()
	name := a.name()
	a.OK(t, asking, "POST "+a.at("/git/refs"), fmt.Sprintf(`{"ref":"refs/heads/%s","sha":%q}`, name, a.home.Is["commit"]))
	a.OK(t, asking, "PUT "+a.at("/contents/"+name), fmt.Sprintf(`{"message":"m\n\nb","content":"YQo=","branch":%q}`, name))
	return name
}

// pull makes a pull request of writer's, and returns its number and id.
func (a *asker) pull(t *testing.T) (number, id string) {
	t.Helper()
	made := a.OK(t, "writer", "POST "+a.at("/pulls"), fmt.Sprintf(`{"title":"t","head":%q,"base":"main"}`, a.branch(t)))
	return fmt.Sprint(int64(made["number"].(float64))), made["node_id"].(string)
}

// thread makes a pull request with a line that is commented on, and returns the ids of its thread, comment and review.
func (a *asker) thread(t *testing.T, event string) (thread, comment, review string) {
	t.Helper()
	number, _ := a.pull(t)
	made := a.OK(t, asking, "POST "+a.at("/pulls/"+number+"/reviews"), fmt.Sprintf(
		`{"body":"b","comments":[{"path":"asked%d","line":1,"body":"c"}]%s}`, a.fresh, event))
	var got struct {
		Data struct {
			Repository struct {
				PullRequest struct {
					ReviewThreads struct {
						Nodes []struct {
							ID       string
							Comments struct{ Nodes []struct{ ID string } }
						}
					}
				}
			}
		}
	}
	send, err := json.Marshal(map[string]any{"query": `{repository(owner:"` + a.home.Owner + `",name:"` + a.home.Name +
		`"){pullRequest(number:` + number + `){reviewThreads(first:1){nodes{id comments(first:1){nodes{id}}}}}}}`})
	testkit.NoError(t, err)
	body := a.Do(t, apitest.Case{Do: "POST /graphql", As: asking, Send: string(send)}).Body
	testkit.NoError(t, json.Unmarshal(body, &got))
	n := got.Data.Repository.PullRequest.ReviewThreads.Nodes
	if len(n) == 0 {
		t.Fatalf("no thread: %s", body)
	}
	return n[0].ID, n[0].Comments.Nodes[0].ID, made["node_id"].(string)
}

func (a *asker) issue(t *testing.T) string {
	return a.id(t, asking, "POST /issues", `{"title":"t","labels":["bug"],"assignees":["writer"]}`)
}

func (a *asker) labels(t *testing.T) []string { return []string{a.id(t, asking, "/labels/bug", "")} }

func (a *asker) me(t *testing.T) string { return a.id(t, asking, "GET /user", "") }

// inputs makes what a mutation needs anew. Those of features that Arbor lacks need nothing.
func (a *asker) inputs(t *testing.T, mutation string) map[string]any {
	t.Helper()
	type m = map[string]any
	repository := func() string { return a.id(t, asking, "GET ", "") }
	pull := func() string { _, id := a.pull(t); return id }
	const submitted, pending = `,"event":"COMMENT"`, ""
	switch mutation {
	case "addComment":
		return m{"subjectId": a.issue(t), "body": "b"}
	case "addReaction":
		return m{"subjectId": a.issue(t), "content": "HEART"}
	case "removeReaction":
		id := a.issue(t)
		a.mutate(t, "addReaction", m{"subjectId": id, "content": "HEART"})
		return m{"subjectId": id, "content": "HEART"}
	case "addStar", "removeStar":
		return m{"starrableId": repository()}
	case "addLabelsToLabelable", "removeLabelsFromLabelable":
		return m{"labelableId": a.issue(t), "labelIds": a.labels(t)}
	case "addAssigneesToAssignable", "removeAssigneesFromAssignable":
		return m{"assignableId": a.issue(t), "assigneeIds": []string{a.me(t)}}
	case "replaceActorsForAssignable":
		return m{"assignableId": a.issue(t), "actorIds": []string{a.me(t)}, "actorLogins": []string{asking}}
	case "updateSubscription":
		return m{"subscribableId": a.issue(t), "state": "SUBSCRIBED"}
	case "createIssue":
		return m{"repositoryId": repository(), "title": "t", "body": "b"}
	case "updateIssue":
		return m{"id": a.issue(t), "title": "u", "body": "b", "state": "OPEN"}
	case "closeIssue", "deleteIssue", "pinIssue":
		return m{"issueId": a.issue(t), "stateReason": "COMPLETED"}
	case "unpinIssue":
		id := a.issue(t)
		a.mutate(t, "pinIssue", m{"issueId": id})
		return m{"issueId": id}
	case "reopenIssue":
		id := a.issue(t)
		a.mutate(t, "closeIssue", m{"issueId": id})
		return m{"issueId": id}
	case "updateIssueComment", "deleteIssueComment":
		return m{"id": a.id(t, asking, "POST /issues/"+a.home.Is["issue"]+"/comments", `{"body":"b"}`), "body": "c"}
	case "minimizeComment", "unminimizeComment":
		return m{"subjectId": a.id(t, asking, "POST /issues/"+a.home.Is["issue"]+"/comments", `{"body":"b"}`),
			"classifier": "SPAM"}
	case "createLabel":
		return m{"repositoryId": repository(), "name": a.name(), "color": "abcdef", "description": "d"}
	case "updateLabel", "deleteLabel":
		return m{"id": a.id(t, asking, "POST /labels", `{"name":"`+a.name()+`"}`), "color": "abcdef", "name": a.name()}
	case "deleteRef":
		return m{"refId": a.id(t, asking, "/git/ref/heads/"+a.branch(t), "")}
	case "createRef":
		return m{"repositoryId": repository(), "name": "refs/heads/" + a.name(), "oid": a.home.Is["commit"]}
	case "createPullRequest":
		return m{"repositoryId": repository(), "headRefName": a.branch(t), "baseRefName": "main", "title": "t", "body": "b"}
	case "updatePullRequest":
		return m{"pullRequestId": pull(), "title": "u", "body": "b", "state": "OPEN"}
	case "closePullRequest", "mergePullRequest", "convertPullRequestToDraft", "requestReviews", "requestReviewsByLogin",
		"addPullRequestReview", "markFileAsViewed", "unmarkFileAsViewed":
		id := pull()
		return m{"pullRequestId": id, "userIds": []string{a.me(t)}, "userLogins": []string{asking}, "body": "b",
			"event": "COMMENT", "path": fmt.Sprint("asked", a.fresh)}
	case "enablePullRequestAutoMerge", "disablePullRequestAutoMerge":
		return a.autoMerge(t, mutation == "disablePullRequestAutoMerge")
	case "enqueuePullRequest", "dequeuePullRequest":
		return a.queued(t, mutation == "dequeuePullRequest")
	case "reopenPullRequest":
		id := pull()
		a.mutate(t, "closePullRequest", m{"pullRequestId": id})
		return m{"pullRequestId": id}
	case "markPullRequestReadyForReview":
		id := pull()
		a.mutate(t, "convertPullRequestToDraft", m{"pullRequestId": id})
		return m{"pullRequestId": id}
	case "revertPullRequest":
		id := pull()
		a.mutate(t, "mergePullRequest", m{"pullRequestId": id})
		return m{"pullRequestId": id, "title": "t", "body": "b"}
	case "updatePullRequestBranch":
		id := pull()
		a.OK(t, asking, "PUT "+a.at("/contents/"+a.name()), `{"message":"m","content":"YQo="}`)
		return m{"pullRequestId": id}
	case "addPullRequestReviewThread":
		id := pull()
		return m{"pullRequestId": id, "path": fmt.Sprint("asked", a.fresh), "line": 1, "body": "b", "side": "RIGHT"}
	case "addPullRequestReviewThreadReply":
		thread, _, review := a.thread(t, pending)
		return m{"pullRequestReviewThreadId": thread, "pullRequestReviewId": review, "body": "b"}
	case "addPullRequestReviewComment":
		_, comment, review := a.thread(t, pending)
		return m{"pullRequestReviewId": review, "inReplyTo": comment, "body": "b", "commitOID": nil,
			"path": fmt.Sprint("asked", a.fresh), "position": 1}
	case "resolveReviewThread":
		thread, _, _ := a.thread(t, submitted)
		return m{"threadId": thread}
	case "unresolveReviewThread":
		thread, _, _ := a.thread(t, submitted)
		a.mutate(t, "resolveReviewThread", m{"threadId": thread})
		return m{"threadId": thread}
	case "submitPullRequestReview", "deletePullRequestReview", "updatePullRequestReview":
		_, _, review := a.thread(t, pending)
		return m{"pullRequestReviewId": review, "event": "COMMENT", "body": "b"}
	case "updatePullRequestReviewComment", "deletePullRequestReviewComment":
		_, comment, _ := a.thread(t, submitted)
		return m{"id": comment, "pullRequestReviewCommentId": comment, "body": "b"}
	case "dismissPullRequestReview":
		_, _, review := a.thread(t, `,"event":"APPROVE"`)
		return m{"pullRequestReviewId": review, "message": "m"}
	}
	return m{}
}

// autoMerge makes a pull request that waits for a check, and is going to be merged then if on is true.
func (a *asker) autoMerge(t *testing.T, on bool) map[string]any {
	t.Helper()
	base := a.branch(t)
	a.OK(t, asking, "PUT "+a.at("/branches/"+base+"/protection"), `{"required_status_checks":{"strict":false,"contexts":["c"]},
		"enforce_admins":true,"required_pull_request_reviews":null,"restrictions":null}`)
	made := a.OK(t, "writer", "POST "+a.at("/pulls"), fmt.Sprintf(`{"title":"t","head":%q,"base":%q}`, a.branch(t), base))
	input := map[string]any{"pullRequestId": made["node_id"]}
	if on {
		a.mutate(t, "enablePullRequestAutoMerge", input)
	}
	return map[string]any{"pullRequestId": made["node_id"], "mergeMethod": "MERGE", "commitHeadline": "h", "commitBody": "b"}
}

// queued makes a pull request for a merge queue, which waits in it if in is true.
func (a *asker) queued(t *testing.T, in bool) map[string]any {
	t.Helper()
	base := a.branch(t)
	a.OK(t, asking, "POST "+a.at("/rulesets"), fmt.Sprintf(`{"name":%q,"enforcement":"active","target":"branch",
		"conditions":{"ref_name":{"include":["refs/heads/%[1]s"],"exclude":[]}},"rules":[{"type":"merge_queue"},
		{"type":"required_status_checks","parameters":{"strict_required_status_checks_policy":false,
		"required_status_checks":[{"context":"c"}]}}]}`, base))
	made := a.OK(t, "writer", "POST "+a.at("/pulls"), fmt.Sprintf(`{"title":"t","head":%q,"base":%q}`, a.branch(t), base))
	a.OK(t, "writer", "POST "+a.at("/statuses/"+made["head"].(map[string]any)["sha"].(string)),
		`{"state":"success","context":"c"}`)
	if in {
		a.mutate(t, "enqueuePullRequest", map[string]any{"pullRequestId": made["node_id"]})
	}
	return map[string]any{"pullRequestId": made["node_id"], "id": made["node_id"]}
}

// mutate runs a mutation that must succeed.
func (a *asker) mutate(t *testing.T, name string, input map[string]any) {
	t.Helper()
	kind := a.schema.Types["Mutation"].Fields.ForName(name).Arguments.ForName("input").Type
	send, err := json.Marshal(map[string]any{"query": "mutation($i:" + kind.String() + "){" + name +
		"(input:$i){clientMutationId}}", "variables": map[string]any{"i": input}})
	testkit.NoError(t, err)
	if body := a.Do(t, apitest.Case{Do: "POST /graphql", As: asking, Send: string(send)}).Body; strings.Contains(string(body),
		`"errors"`) {
		t.Fatalf("%s: %s", name, body)
	}
}
