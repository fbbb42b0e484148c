package graphql_test

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/graphql/schema"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
)

// act is one mutation with an input that succeeds after those before it, and the route whose checks it meets.
type act struct {
	name, input string // $NAME is an id
	route       string // below repositories where it begins with a slash after the method
	as          string // who may do it; empty: alice
	told        string // what limited callers may be told before the route is met
	in          string // the repository; empty: alice/cellar
}

const (
	runs, issues, pulls = "/check-runs", "/issues/{number}", "/pulls/{number}"
	mustTriage          = "Must have triage access to Repository."
	mustPush            = "Must have push access to Repository."
	mustAdmin           = "Must have admin rights to Repository."
	noNode              = "not accessible"
)

// acts are all mutations that do something.
var acts = []act{
	{name: "createIssue", input: `repositoryId:"$repository",title:"New"`, route: "POST /issues"},
	{name: "updateIssue", input: `id:"$issue",title:"Other"`, route: "PATCH " + issues},
	{name: "closeIssue", input: `issueId:"$issue"`, route: "PATCH " + issues},
	{name: "reopenIssue", input: `issueId:"$issue"`, route: "PATCH " + issues},
	{name: "pinIssue", input: `issueId:"$issue"`, route: "PATCH " + issues},
	{name: "unpinIssue", input: `issueId:"$issue"`, route: "PATCH " + issues},
	{name: "addComment", input: `subjectId:"$issue",body:"Peas"`, route: "POST " + issues + "/comments"},
	{name: "updateIssueComment", input: `id:"$comment",body:"Beans"`, route: "PATCH /issues/comments/{id}"},
	{name: "minimizeComment", input: `subjectId:"$comment",classifier:SPAM`, route: "PATCH /issues/comments/{id}"},
	{name: "unminimizeComment", input: `subjectId:"$comment"`, route: "PATCH /issues/comments/{id}"},
	{name: "addLabelsToLabelable", input: `labelableId:"$pull",labelIds:["$label"]`, route: "POST " + issues + "/labels"},
	{name: "removeLabelsFromLabelable", input: `labelableId:"$pull",labelIds:["$label"]`,
		route: "DELETE " + issues + "/labels/{name}"},
	{name: "clearLabelsFromLabelable", input: `labelableId:"$issue"`, route: "DELETE " + issues + "/labels"},
	{name: "addAssigneesToAssignable", input: `assignableId:"$issue",assigneeIds:["$alice"]`,
		route: "POST " + issues + "/assignees"},
	{name: "removeAssigneesFromAssignable", input: `assignableId:"$issue",assigneeIds:["$alice"]`,
		route: "DELETE " + issues + "/assignees"},
	{name: "replaceActorsForAssignable", input: `assignableId:"$issue",actorLogins:["alice"]`, route: "PATCH " + issues,
		told: mustTriage},
	{name: "lockLockable", input: `lockableId:"$issue",lockReason:SPAM`, route: "PUT " + issues + "/lock"},
	{name: "unlockLockable", input: `lockableId:"$issue"`, route: "DELETE " + issues + "/lock"},
	{name: "addReaction", input: `subjectId:"$issue",content:EYES`, route: "POST " + issues + "/reactions"},
	{name: "removeReaction", input: `subjectId:"$issue",content:EYES`,
		route: "DELETE " + issues + "/reactions/{reaction_id}"},
	{name: "addReaction", input: `subjectId:"$comment",content:EYES`, route: "POST /issues/comments/{id}/reactions"},
	{name: "addReaction", input: `subjectId:"$line",content:EYES`, route: "POST /pulls/comments/{id}/reactions"},
	{name: "addReaction", input: `subjectId:"$release",content:EYES`, route: "POST /releases/{release_id}/reactions"},
	{name: "updateSubscription", input: `subscribableId:"$issue",state:IGNORED`, route: "PUT " + issues + "/subscription"},
	{name: "updateSubscription", input: `subscribableId:"$pull",state:UNSUBSCRIBED`,
		route: "DELETE " + issues + "/subscription"},
	{name: "updateSubscription", input: `subscribableId:"$repository",state:SUBSCRIBED`, route: "PUT /subscription"},
	{name: "createLabel", input: `repositoryId:"$repository",name:"ripe",color:"ff0000"`, route: "POST /labels"},
	{name: "updateLabel", input: `id:"$label",description:"Told"`, route: "PATCH /labels/{name}"},
	{name: "updateTopics", input: `repositoryId:"$repository",topicNames:["peas"]`, route: "PUT /topics"},

	{name: "updatePullRequest", input: `pullRequestId:"$pull",title:"Better"`, route: "PATCH " + pulls},
	{name: "updatePullRequest", input: `pullRequestId:"$pull",labelIds:["$label"]`, route: "PATCH " + issues,
		told: mustTriage},
	{name: "convertPullRequestToDraft", input: `pullRequestId:"$pull"`, route: "PATCH " + pulls},
	{name: "markPullRequestReadyForReview", input: `pullRequestId:"$pull"`, route: "PATCH " + pulls},
	{name: "closePullRequest", input: `pullRequestId:"$pull"`, route: "PATCH " + pulls},
	{name: "reopenPullRequest", input: `pullRequestId:"$pull"`, route: "PATCH " + pulls},
	{name: "requestReviews", input: `pullRequestId:"$pull",userIds:["$carol"],union:true`,
		route: "POST " + pulls + "/requested_reviewers"},
	{name: "requestReviewsByLogin", input: `pullRequestId:"$pull",userLogins:[],union:false`,
		route: "DELETE " + pulls + "/requested_reviewers"},
	{name: "markFileAsViewed", input: `pullRequestId:"$pull",path:"b"`, route: "PATCH " + pulls},
	{name: "unmarkFileAsViewed", input: `pullRequestId:"$pull",path:"b"`, route: "PATCH " + pulls},
	{name: "addPullRequestReview", input: `pullRequestId:"$pull",body:"Fine",event:COMMENT`,
		route: "POST " + pulls + "/reviews"},
	{name: "addPullRequestReviewThread", input: `pullRequestId:"$pull",path:"b",line:1,body:"Why?"`,
		route: "POST " + pulls + "/comments"},
	{name: "addPullRequestReviewThreadReply", input: `pullRequestReviewThreadId:"$thread",body:"So"`,
		route: "POST " + pulls + "/comments"},
	{name: "addPullRequestReviewComment", input: `pullRequestId:"$pull",path:"b",position:1,body:"Oh"`,
		route: "POST " + pulls + "/comments"},
	{name: "updatePullRequestReviewComment", input: `pullRequestReviewCommentId:"$line",body:"Ah"`,
		route: "PATCH /pulls/comments/{id}"},
	{name: "resolveReviewThread", input: `threadId:"$thread"`, route: "PATCH /pulls/comments/{id}"},
	{name: "unresolveReviewThread", input: `threadId:"$thread"`, route: "PATCH /pulls/comments/{id}"},
	{name: "submitPullRequestReview", input: `pullRequestId:"$pull",event:COMMENT`,
		route: "POST " + pulls + "/reviews/{id}/events"},
	{name: "updatePullRequestReview", input: `pullRequestReviewId:"$review",body:"Finer"`,
		route: "PUT " + pulls + "/reviews/{id}"},
	{name: "dismissPullRequestReview", input: `pullRequestReviewId:"$approval",message:"Old"`,
		route: "PUT " + pulls + "/reviews/{id}/dismissals"},
	{name: "addPullRequestReview", input: `pullRequestId:"$pull",body:"Pending"`, route: "POST " + pulls + "/reviews"},
	{name: "deletePullRequestReview", input: `pullRequestReviewId:"$pending"`, route: "DELETE " + pulls + "/reviews/{id}"},
	{name: "deletePullRequestReviewComment", input: `id:"$line"`, route: "DELETE /pulls/comments/{id}"},

	{name: "createCheckRun", input: `repositoryId:"$repository",name:"lint",headSha:"$sha"`, route: "POST " + runs,
		as: "builder[bot]"},
	{name: "updateCheckRun", input: `repositoryId:"$repository",checkRunId:"$run",conclusion:SUCCESS`,
		route: "PATCH " + runs + "/{check_run_id}", as: "builder[bot]"},
	{name: "createCheckSuite", input: `repositoryId:"$repository",headSha:"$sha"`, route: "POST /check-suites",
		as: "builder[bot]"},
	{name: "rerequestCheckSuite", input: `repositoryId:"$repository",checkSuiteId:"$suite"`,
		route: "POST /check-suites/{check_suite_id}/rerequest", as: "builder[bot]"},
	{name: "updateCheckSuitePreferences", input: `repositoryId:"$repository",autoTriggerPreferences:[{appId:"$app",
		setting:false}]`, route: "PATCH /check-suites/preferences"},

	{name: "createBranchProtectionRule", input: `repositoryId:"$repository",pattern:"release/*"`,
		route: "PUT /branches/{branch...}/protection"},
	{name: "updateBranchProtectionRule", input: `branchProtectionRuleId:"$protection",lockBranch:true`,
		route: "PUT /branches/{branch...}/protection", told: mustAdmin},
	{name: "deleteBranchProtectionRule", input: `branchProtectionRuleId:"$protection"`,
		route: "DELETE /branches/{branch...}/protection", told: mustAdmin},
	{name: "createRepositoryRuleset", input: `sourceId:"$repository",name:"tags",enforcement:ACTIVE,target:TAG,
		conditions:{refName:{include:["~ALL"],exclude:[]}},rules:[{type:DELETION}]`, route: "POST /rulesets"},
	{name: "updateRepositoryRuleset", input: `repositoryRulesetId:"$tags",enforcement:DISABLED`,
		route: "PUT /rulesets/{ruleset_id}"},
	{name: "deleteRepositoryRuleset", input: `repositoryRulesetId:"$tags"`, route: "DELETE /rulesets/{ruleset_id}"},
	{name: "createDeployment", input: `repositoryId:"$repository",refId:"$tip",requiredContexts:[]`,
		route: "POST /deployments"},
	{name: "createDeploymentStatus", input: `deploymentId:"$deployment",state:INACTIVE`,
		route: "POST /deployments/{deployment_id}/statuses", told: noNode},
	{name: "deleteDeployment", input: `id:"$deployment"`, route: "DELETE /deployments/{deployment_id}", told: noNode},
	{name: "createEnvironment", input: `repositoryId:"$repository",name:"lab"`,
		route: "PUT /environments/{environment_name}"},
	{name: "updateEnvironment", input: `environmentId:"$environment",waitTimer:5`,
		route: "PUT /environments/{environment_name}", told: noNode},
	{name: "deleteEnvironment", input: `id:"$environment"`, route: "DELETE /environments/{environment_name}", told: noNode},
	{name: "updateRefs", input: `repositoryId:"$repository",refUpdates:[{name:"refs/heads/two",afterOid:"$sha"}]`,
		route: "PATCH /git/refs/{ref...}"},
	{name: "createRef", input: `repositoryId:"$repository",name:"refs/heads/one",oid:"$sha"`, route: "POST /git/refs"},
	{name: "updateRef", input: `refId:"$tip",oid:"$sha",force:true`, route: "PATCH /git/refs/{ref...}"},
	{name: "deleteRef", input: `refId:"$tip"`, route: "DELETE /git/refs/{ref...}"},
	{name: "createLinkedBranch", input: `issueId:"$issue",oid:"$sha",name:"linked"`, route: "POST /git/refs"},
	{name: "deleteLinkedBranch", input: `linkedBranchId:"$linked"`, route: "PATCH " + issues},
	{name: "createCommitOnBranch", input: `branch:{repositoryNameWithOwner:"alice/cellar",branchName:"main"},
		expectedHeadOid:"$sha",message:{headline:"c"},fileChanges:{additions:[{path:"c",contents:"Yw=="}]}`,
		route: "POST /git/commits"},
	{name: "mergeBranch", input: `repositoryId:"$repository",base:"one",head:"main"`, route: "POST /merges"},
	{name: "createPullRequest", input: `repositoryId:"$repository",baseRefName:"linked",headRefName:"main",title:"Back"`,
		route: "POST /pulls"},
	{name: "updatePullRequestBranch", input: `pullRequestId:"$pull"`, route: "PUT " + pulls + "/update-branch"},
	{name: "enqueuePullRequest", input: `pullRequestId:"$queued"`, route: "PUT " + pulls + "/merge"},
	{name: "dequeuePullRequest", input: `id:"$queued"`, route: "PATCH " + pulls},
	{name: "enablePullRequestAutoMerge", input: `pullRequestId:"$pull"`, route: "PUT " + pulls + "/merge"},
	{name: "disablePullRequestAutoMerge", input: `pullRequestId:"$pull"`, route: "PATCH " + pulls},
	{name: "mergePullRequest", input: `pullRequestId:"$pull"`, route: "PUT " + pulls + "/merge"},
	{name: "revertPullRequest", input: `pullRequestId:"$pull"`, route: "PUT " + pulls + "/merge"},

	{name: "createRepository", input: `name:"attic",visibility:PUBLIC`, route: "POST /user/repos"},
	{name: "createRepository", input: `name:"shed",visibility:PUBLIC,ownerId:"$org"`, route: "POST /orgs/{org}/repos"},
	{name: "cloneTemplateRepository", input: `repositoryId:"$template",name:"copy",ownerId:"$alice",visibility:PUBLIC`,
		route: "POST /generate", told: "You can't create a repository for alice."},
	{name: "updateRepository", input: `repositoryId:"$repository",description:"Cool"`, route: "PATCH "},
	{name: "archiveRepository", input: `repositoryId:"$template"`, route: "PATCH "},
	{name: "unarchiveRepository", input: `repositoryId:"$template"`, route: "PATCH "},
	{name: "addStar", input: `starrableId:"$repository"`, route: "PUT /user/starred/{owner}/{repo}"},
	{name: "removeStar", input: `starrableId:"$repository"`, route: "DELETE /user/starred/{owner}/{repo}"},
	{name: "updateTeamsRepository", input: `repositoryId:"$hut",teamIds:["$crew"],permission:WRITE`,
		route: "PUT /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}", in: "guild/hut"},
	{name: "removeOutsideCollaborator", input: `organizationId:"$org",userId:"$bob"`,
		route: "DELETE /orgs/{org}/outside_collaborators/{username}"},
	{name: "followUser", input: `userId:"$bob"`, route: "PUT /user/following/{username}"},
	{name: "unfollowUser", input: `userId:"$bob"`, route: "DELETE /user/following/{username}"},
	{name: "followOrganization", input: `organizationId:"$org"`, route: "PUT /user/following/{username}"},
	{name: "unfollowOrganization", input: `organizationId:"$org"`, route: "DELETE /user/following/{username}"},
	{name: "deleteIssueComment", input: `id:"$comment"`, route: "DELETE /issues/comments/{id}"},
	{name: "deleteLabel", input: `id:"$label"`, route: "DELETE /labels/{name}"},
	{name: "transferIssue", input: `issueId:"$issue",repositoryId:"$garden"`, route: "PATCH " + issues},
	{name: "deleteIssue", input: `issueId:"$other"`, route: "PATCH " + issues},
}

// actors makes the world in which the acts succeed: a public repository of alice's, and what the acts are about.
func actors(t *testing.T, s *apitest.Server) map[string]string {
	t.Helper()
	ids := cellar(t, s)
	s.User(t, "carol")
	s.Org(t, "guild", "alice")
	app := s.Bot(t, "builder", "alice", "checks=write")
	post := func(as, path, send, member string) string {
		t.Helper()
		a := s.Do(t, apitest.Case{Do: "POST /repos/alice/" + path, As: as, Send: send})
		var v map[string]any
		if err := json.Unmarshal(a.Body, &v); err != nil || a.Status > 201 {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		id, _ := v[member].(string)
		return id
	}
	for _, c := range []apitest.Case{
		{Do: "PATCH /repos/alice/cellar", Send: `{"private": false, "allow_auto_merge": true}`, Status: 200},
		{Do: "POST /repos/alice/cellar/rulesets", Send: `{"name": "main", "enforcement": "active", "conditions":
			{"ref_name": {"include": ["refs/heads/main"], "exclude": []}}, "bypass_actors": [{"actor_id": 5,
			"actor_type": "RepositoryRole", "bypass_mode": "always"}], "rules": [{"type": "required_status_checks",
			"parameters": {"required_status_checks": [{"context": "ci"}], "strict_required_status_checks_policy": false}}]}`,
			Status: 201},
		{Do: "POST /user/repos", Send: `{"name": "form", "is_template": true, "auto_init": true}`, Status: 201},
		{Do: "DELETE /repos/alice/cellar/issues/1/labels", Status: 204},
	} {
		c.As = "alice"
		s.Check(t, c)
	}
	s.Grant(t, s.Access(t, "alice", "alice/cellar").Repo, "carol", account.Push)
	ids["line"] = post("alice", "cellar/pulls/2/comments",
		`{"body": "Hm", "path": "b", "line": 1, "commit_id": "`+ids["head"]+`"}`, "node_id")
	ids["queued"] = queuedPull(t, s, post)
	ids["thread"] = account.NodeID("PullRequestReviewThread", int64(1))
	ids["approval"] = post("carol", "cellar/pulls/2/reviews", `{"event": "APPROVE"}`, "node_id")
	ids["other"] = post("alice", "cellar/issues", `{"title": "Other"}`, "node_id")
	ids["run"] = post("builder[bot]", "cellar/check-runs", `{"name": "test", "head_sha": "`+ids["sha"]+`"}`, "node_id")
	ids["suite"], ids["app"] = account.NodeID("CheckSuite", int64(1)), account.NodeID("Integration", int64(app.ID))
	ids["tip"] = post("alice", "cellar/git/refs", `{"ref": "refs/heads/tip", "sha": "`+ids["head"]+`"}`, "node_id")
	ids["linked"] = account.NodeID("LinkedBranch", int64(1))
	ids["deployment"] = post("alice", "cellar/deployments", `{"ref": "tip", "required_contexts": []}`, "node_id")
	ids["release"] = post("alice", "cellar/releases", `{"tag_name": "v2"}`, "node_id")
	ids["environment"] = member(t, s, "alice", "/repos/alice/cellar/environments/production", "node_id")
	ids["tags"] = account.NodeID("RepositoryRuleset", int64(4)) // which an act creates
	for _, c := range []apitest.Case{
		{Do: "POST /orgs/guild/repos", Send: `{"name": "hut"}`, Status: 201},
		{Do: "POST /orgs/guild/teams", Send: `{"name": "crew"}`, Status: 201},
		{Do: "PUT /repos/guild/hut/collaborators/bob", Status: 204},
	} {
		c.As = "alice"
		s.Check(t, c)
	}
	ids["protection"] = account.NodeID("BranchProtectionRule", int64(3)) // which an act creates
	run(t, s, "alice", `mutation($i:ID!,$sha:GitObjectID!){createLinkedBranch(input:{issueId:$i,oid:$sha,name:"first"}){
		linkedBranch{id}}}`, map[string]any{"i": ids["other"], "sha": ids["sha"]})
	for name, address := range map[string]string{"alice": "/users/alice", "bob": "/users/bob", "carol": "/users/carol",
		"org": "/orgs/guild", "garden": "/repos/alice/garden", "template": "/repos/alice/form",
		"hut": "/repos/guild/hut", "crew": "/orgs/guild/teams/crew"} {
		ids[name] = member(t, s, "alice", address, "node_id")
	}
	return ids
}

// ask returns the request of an act. A review that is not submitted is found when it is there.
func (a act) ask(t *testing.T, s *apitest.Server, ids map[string]string) string {
	t.Helper()
	if strings.Contains(a.input, "$pending") {
		body := run(t, s, "alice", `{repository(owner:"alice",name:"cellar"){pullRequest(number:2){reviews(last:1){
			nodes{id}}}}}`, nil)
		ids["pending"] = regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(body)[1]
	}
	input := regexp.MustCompile(`\$\w+`).ReplaceAllStringFunc(a.input, func(name string) string {
		if ids[name[1:]] == "" {
			t.Fatalf("there is no %s", name)
		}
		return ids[name[1:]]
	})
	send, _ := json.Marshal(map[string]string{"query": `mutation{x:` + a.name + `(input:{` + input + `}){clientMutationId}}`})
	return string(send)
}

// routeOf finds the route of an act.
func (a act) routeOf(t *testing.T, s *apitest.Server) *route.Route {
	t.Helper()
	method, path, _ := strings.Cut(a.route, " ")
	for _, r := range s.Server.Routes() {
		if r.Method == method && (r.Pattern == path || r.Pattern == "/repos/{owner}/{repo}"+path) {
			return &r
		}
	}
	t.Fatalf("%s has no route %s", a.name, a.route)
	return nil
}

// answered is the answer to an act.
type answered struct {
	Data   map[string]any
	Errors []struct{ Type, Message string }
}

func (v answered) refused(kind, message string) bool {
	return v.Data["x"] == nil && len(v.Errors) == 1 && v.Errors[0].Type == kind &&
		strings.Contains(v.Errors[0].Message, message)
}

// A mutation needs what the route needs that does the same: the right of the token, a repository that is not
// archived, and room on the disk. Otherwise a limited token, or anybody on a full disk, could do by GraphQL what it
// cannot do by REST.
func TestMutationsMeetTheChecksOfTheirRoutes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		ids := actors(t, s)
		limited := limitedCallers(t, s)
		narrow := server.New(server.Options{DB: s.DB, Git: s.Git, DataDir: s.Dir, MinFree: 1 << 60,
			Log: slog.New(slog.DiscardHandler)})
		for _, a := range acts {
			r, as := a.routeOf(t, s), a.as
			if as == "" {
				as = "alice"
			}
			send := a.ask(t, s, ids)
			do := func(as string) (v answered) {
				body := s.Check(t, apitest.Case{Do: "POST /graphql", As: as, Send: send, Status: 200}).Body
				if err := json.Unmarshal(body, &v); err != nil {
					t.Fatal(err)
				}
				return v
			}
			for who, message := range limited {
				v, own := do(who), strings.Contains(a.input, "$pending") || a.name == "submitPullRequestReview"
				if !v.refused("FORBIDDEN", message) && !(own && v.refused("NOT_FOUND", "")) &&
					!(a.told != "" && (v.refused("FORBIDDEN", a.told) || v.refused("UNPROCESSABLE", a.told))) {
					t.Errorf("%s as %s: %+v", a.name, who, v)
				}
			}
			in := cmp.Or(a.in, "alice/cellar")
			if strings.Contains(r.Pattern, "{repo}") && !r.Archived {
				s.Check(t, apitest.Case{Do: "PATCH /repos/" + in, As: "alice", Send: `{"archived": true}`, Status: 200})
				if v := do(as); !v.refused("FORBIDDEN", "Repository was archived so is read-only.") {
					t.Errorf("%s, archived: %+v", a.name, v)
				}
				s.Check(t, apitest.Case{Do: "PATCH /repos/" + in, As: "alice", Send: `{"archived": false}`, Status: 200})
			}
			if r.Method != http.MethodDelete {
				var v answered
				request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(send))
				request.Header.Set("Authorization", "Bearer "+s.Token(t, as))
				answer := httptest.NewRecorder()
				narrow.ServeHTTP(answer, request)
				if err := json.Unmarshal(answer.Body.Bytes(), &v); err != nil || !v.refused("SERVICE_UNAVAILABLE", "") {
					t.Errorf("%s without room: %s", a.name, answer.Body)
				}
			}
			if v := do(as); v.Data["x"] == nil || len(v.Errors) > 0 {
				t.Errorf("%s: %+v", a.name, v)
			}
		}
	})
}

// limitedCallers are tokens that read the repository and change nothing, and what each is told.
func limitedCallers(t *testing.T, s *apitest.Server) map[string]string {
	t.Helper()
	few, err := scope.Parse("read:org")
	if err != nil {
		t.Fatal(err)
	}
	cellar := int64(s.Access(t, "alice", "alice/cellar").ID)
	for name, n := range map[string]token.NewToken{
		"no scopes": {Login: "alice"}, "few scopes": {Login: "alice", Scopes: few},
		"reads": {Login: "alice", Repos: []int64{cellar}},
		"elsewhere": {Login: "alice", Repos: []int64{int64(s.Access(t, "alice", "alice/form").ID)},
			Changes: true}} {
		value, _, err := s.Forge.Tokens.CreateToken(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		s.SetToken(name, value)
	}
	s.Bot(t, "reader", "alice", "metadata=read,contents=read,issues=read,pull_requests=read,checks=read,administration=read")
	const scopes, fine = "Your token has not been granted the required scopes", "not accessible by personal access token"
	return map[string]string{"no scopes": scopes, "few scopes": scopes, "reads": fine,
		"reader[bot]": "Resource not accessible by integration"}
}

// queuedPull makes a pull request into a branch with a merge queue, where its checks do not complete.
func queuedPull(t *testing.T, s *apitest.Server, post func(as, path, send, member string) string) string {
	t.Helper()
	sha := s.Tip(t, "alice", "alice/cellar", "main")
	for _, branch := range []string{"lined", "waits"} {
		post("alice", "cellar/git/refs", `{"ref": "refs/heads/`+branch+`", "sha": "`+sha+`"}`, "ref")
	}
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/cellar/contents/waits", As: "alice", Status: 201,
		Send: `{"message": "Wait", "content": "eA==", "branch": "waits"}`})
	post("alice", "cellar/statuses/"+s.Tip(t, "alice", "alice/cellar", "waits"),
		`{"context": "ci", "state": "success"}`,
		"url")
	id := post("alice", "cellar/pulls", `{"title": "Wait", "head": "waits", "base": "lined"}`, "node_id")
	post("alice", "cellar/rulesets", `{"name": "lined", "enforcement": "active", "conditions": {"ref_name": {"include":
		["refs/heads/lined"], "exclude": []}}, "rules": [{"type": "merge_queue"}, {"type": "required_status_checks",
		"parameters": {"required_status_checks": [{"context": "ci"}],
		"strict_required_status_checks_policy": false}}]}`, "node_id")
	return id
}

// A mutation that is added gets an act. All others of GitHub's schema name what Arbor does not have.
func TestEachMutationIsAnAct(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, a := range acts {
		known[a.name] = true
	}
	s, g := apitest.Start(t, db.SQLite), schema.Load()
	s.User(t, "alice")
	for _, f := range g.Mutation.Fields {
		if known[f.Name] || strings.HasPrefix(f.Name, "__") {
			continue
		}
		input := literal(g, f.Arguments.ForName("input").Type)
		ask{query: "mutation{x:" + f.Name + "(input:" + input + "){__typename}}",
			want: `{"data": {"x": null}, "errors": [{"type": "UNPROCESSABLE", "path": ["x"]}]}`}.check(t, s)
	}
}
