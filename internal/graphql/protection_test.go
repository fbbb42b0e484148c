package graphql_test

import (
	"fmt"
	"regexp"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// Protections of patterns are made and changed by GraphQL, as Terraform does it, and refuse pushes as those of REST.
func TestProtectionsOfPatterns(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		v["r"], v["bob"] = member(t, s, "alice", "/repos/alice/bed", "node_id"), member(t, s, "alice", "/users/bob", "node_id")
		check := func(as, query, want string) string {
			t.Helper()
			return ask{as: as, query: query, want: want, variables: v}.check(t, s)
		}
		const shown = `branchProtectionRule{id databaseId pattern allowsDeletions isAdminEnforced requiresApprovingReviews
			requiredApprovingReviewCount requiresStatusChecks requiresStrictStatusChecks requiredStatusCheckContexts
			requiredStatusChecks{context app{slug}} restrictsPushes requiresCommitSignatures repository{name} pushAllowances(first:5){nodes{actor{__typename
			...on User{login}}}} bypassPullRequestAllowances(first:5){totalCount} bypassForcePushAllowances(first:5){totalCount}
			reviewDismissalAllowances(first:5){totalCount} matchingRefs(first:5){totalCount nodes{name}}}`
		const create = `mutation($r:ID!,$bob:ID!){createBranchProtectionRule(input:{repositoryId:$r,pattern:"f*",
			isAdminEnforced:true,bypassForcePushActorIds:[$bob],requiresApprovingReviews:true,requiredApprovingReviewCount:2,requiresStatusChecks:true,
			requiresStrictStatusChecks:true,requiredStatusCheckContexts:["build"],restrictsPushes:true,pushActorIds:[$bob],
			requiresCommitSignatures:true}){` + shown + `}}`
		check("bob", create, `{"data": {"createBranchProtectionRule": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		made := check("alice", create, `{"data": {"createBranchProtectionRule": {"branchProtectionRule": {"pattern": "f*",
			"allowsDeletions": false, "isAdminEnforced": true, "requiresApprovingReviews": true, "requiredApprovingReviewCount": 2,
			"requiresStatusChecks": true, "requiresStrictStatusChecks": true, "requiredStatusCheckContexts": ["build"],
			"requiredStatusChecks": [{"context": "build", "app": null}],
			"restrictsPushes": true, "requiresCommitSignatures": true, "repository": {"name": "bed"},
			"pushAllowances": {"nodes": [{"actor": {"__typename": "User", "login": "bob"}}]},
			"bypassPullRequestAllowances": {"totalCount": 0}, "bypassForcePushAllowances": {"totalCount": 1},
			"reviewDismissalAllowances": {"totalCount": 0}, "matchingRefs": {"totalCount": 1, "nodes": [{"name": "fix"}]}}}}}`)
		v["id"] = regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(made)[1]
		check("alice", create, `{"data": {"createBranchProtectionRule": null}, "errors": [{"type": "UNPROCESSABLE"}]}`)
		check("alice", `mutation($r:ID!){createBranchProtectionRule(input:{repositoryId:$r,pattern:""}){clientMutationId}}`,
			`{"data": {"createBranchProtectionRule": null}, "errors": [{"type": "UNPROCESSABLE"}]}`)
		check("alice", `mutation($r:ID!){createBranchProtectionRule(input:{repositoryId:$r,pattern:"x",requiresDeployments:true}){
			clientMutationId}}`, `{"errors": [{"type": "UNPROCESSABLE", "message": "requiresDeployments is not supported."}]}`)
		s.Check(t, apitest.Case{Name: "by REST", Do: "GET /repos/alice/bed/branches/fix/protection", As: "alice", Status: 200,
			Want: `{"required_pull_request_reviews": {"required_approving_review_count": 2}, "required_signatures": {"enabled": true}}`})
		s.Check(t, apitest.Case{Name: "it holds", Do: "PUT /repos/alice/bed/contents/n", As: "alice", Status: 409,
			Send: `{"message": "n", "content": "eA==", "branch": "fix"}`})

		// Those who do not administer the repository see what holds for them, and not the protection.
		const refs = `{repository(owner:"alice",name:"bed"){branchProtectionRules(first:5){totalCount}
			ref(qualifiedName:"fix"){branchProtectionRule{pattern} refUpdateRule{pattern viewerCanPush requiresSignatures
			requiredApprovingReviewCount}} main:ref(qualifiedName:"main"){refUpdateRule{pattern}}}}`
		const rest = `, "main": {"refUpdateRule": null}}}}`
		check("alice", refs, `{"data": {"repository": {"branchProtectionRules": {"totalCount": 1},
			"ref": {"branchProtectionRule": {"pattern": "f*"}, "refUpdateRule": {"viewerCanPush": false}}`+rest)
		check("bob", refs, `{"data": {"repository": {"branchProtectionRules": {"totalCount": 0}, "ref": {"branchProtectionRule": null,
			"refUpdateRule": {"pattern": "f*", "viewerCanPush": true, "requiresSignatures": true, "requiredApprovingReviewCount": 2}}`+rest)
		check("carol", refs, `{"data": {"repository": {"ref": {"refUpdateRule": {"viewerCanPush": false}}}}}`)
		const node = `query($id:ID!){node(id:$id){...on BranchProtectionRule{pattern}}}`
		check("alice", node, `{"data": {"node": {"pattern": "f*"}}}`)
		check("bob", node, `{"data": {"node": null}}`)

		const update = `mutation($id:ID!){updateBranchProtectionRule(input:{branchProtectionRuleId:$id,pattern:"main",
			requiresApprovingReviews:false,requiresStatusChecks:false,restrictsPushes:false,requiresCommitSignatures:false,
			lockBranch:true}){branchProtectionRule{pattern lockBranch isAdminEnforced requiresApprovingReviews
			requiredApprovingReviewCount requiresStatusChecks restrictsPushes}}}`
		check("bob", update, `{"data": {"updateBranchProtectionRule": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		check("alice", update, `{"data": {"updateBranchProtectionRule": {"branchProtectionRule": {"pattern": "main", "lockBranch": true,
			"isAdminEnforced": true, "requiresApprovingReviews": false, "requiredApprovingReviewCount": null,
			"requiresStatusChecks": false, "restrictsPushes": false}}}}`)
		const remove = `mutation($id:ID!){deleteBranchProtectionRule(input:{branchProtectionRuleId:$id}){clientMutationId}}`
		check("alice", remove, `{"data": {"deleteBranchProtectionRule": {"clientMutationId": null}}}`)
		check("alice", remove, `{"errors": [{"type": "NOT_FOUND"}]}`)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/bed/branches/main/protection", As: "alice", Status: 404})
	})
}

// Teams and Apps are actors of protections and rulesets, for those who see them.
func TestActorsOfRules(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		s.Org(t, "guild", "alice")
		s.Repo(t, "guild/hall", false)
		s.Ask(t, "alice", "PUT /orgs/guild/members/bob", "", 204)
		s.Ask(t, "alice", "PUT /repos/guild/hall/collaborators/bob", `{"permission": "admin"}`, 204)
		s.Ask(t, "alice", "POST /orgs/guild/teams", `{"name": "core", "privacy": "closed"}`, 201)
		s.Ask(t, "alice", "POST /orgs/guild/teams", `{"name": "ops", "privacy": "secret"}`, 201)
		robot := s.Bot(t, "robot", "guild", "contents=write")
		v["r"] = member(t, s, "alice", "/repos/guild/hall", "node_id")
		v["core"] = member(t, s, "alice", "/orgs/guild/teams/core", "node_id")
		v["ops"] = member(t, s, "alice", "/orgs/guild/teams/ops", "node_id")
		v["app"] = account.NodeID("Integration", robot.ID)
		v["repo"] = member(t, s, "alice", "/repos/alice/bed", "node_id")
		check := func(as, query, want string) {
			t.Helper()
			ask{as: as, query: query, want: want, variables: v}.check(t, s)
		}
		const actors = `{totalCount nodes{actor{__typename ...on Team{slug} ...on App{slug}}}}`
		const shown = `{branchProtectionRule{pushAllowances(first:5)` + actors + ` bypassPullRequestAllowances(first:5)` + actors + `
			restrictsReviewDismissals reviewDismissalAllowances(first:5)` + actors + `}}`
		const create = `mutation($r:ID!,$core:ID!,$ops:ID!,$app:ID!){createBranchProtectionRule(input:{repositoryId:$r,pattern:"f*",
			requiresApprovingReviews:true,restrictsPushes:true,pushActorIds:[$core,$app],bypassPullRequestActorIds:[$ops],
			restrictsReviewDismissals:true,reviewDismissalActorIds:[$core]})` + shown + `}`
		check("bob", create, `{"data": {"createBranchProtectionRule": null}, "errors": [{"type": "UNPROCESSABLE"}]}`)
		check("alice", create, `{"data": {"createBranchProtectionRule": {"branchProtectionRule": {"pushAllowances": {"totalCount": 2, "nodes": [
			{"actor": {"__typename": "Team", "slug": "core"}}, {"actor": {"__typename": "App", "slug": "robot"}}]},
			"bypassPullRequestAllowances": {"totalCount": 1, "nodes": [{"actor": {"__typename": "Team",
				"slug": "ops"}}]},
			"restrictsReviewDismissals": true,
			"reviewDismissalAllowances": {"totalCount": 1, "nodes": [{"actor": {"__typename": "Team", "slug": "core"}}]}}}}}`)
		check("alice", `mutation($r:ID!,$repo:ID!){createBranchProtectionRule(input:{repositoryId:$r,pattern:"x",
			pushActorIds:[$repo]}){clientMutationId}}`, `{"errors": [{"type": "NOT_FOUND"}]}`)
		const secret = `{repository(owner:"guild",name:"hall"){branchProtectionRules(first:1){nodes{bypassPullRequestAllowances(first:5){
			totalCount}}} rulesets(first:1){nodes{bypassActors(first:5){totalCount nodes{actor{...on Team{slug}}}}}}}}`
		s.Ask(t, "alice", "POST /repos/guild/hall/rulesets", `{"name": "a", "enforcement": "disabled", "bypass_actors": [
			{"actor_type": "Team", "actor_id": `+member(t, s, "alice", "/orgs/guild/teams/ops", "id")+`}]}`, 201)
		for who, want := range map[string]string{"alice": `{"actor": {"slug": "ops"}}`, "bob": `{"actor": null}`} {
			count := map[string]string{"alice": "1", "bob": "0"}[who]
			check(who, secret, `{"data": {"repository": {"branchProtectionRules": {"nodes": [{"bypassPullRequestAllowances":
				{"totalCount": `+count+`}}]}, "rulesets": {"nodes": [{"bypassActors": {"totalCount": 1, "nodes": [`+want+`]}}]}}}}`)
		}
	})
}

// Rulesets are shown as REST shows them, and their bypassers to those who may change them.
func TestRulesets(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/bed/rulesets", As: "alice", Status: 201, Send: `{"name": "Releases",
			"enforcement": "active", "bypass_actors": [{"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "pull_request"}],
			"conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": ["refs/heads/old"]}},
			"rules": [{"type": "deletion"}, {"type": "pull_request", "parameters": {"required_approving_review_count": 1,
				"dismiss_stale_reviews_on_push": false, "require_code_owner_review": false, "require_last_push_approval": false,
				"required_review_thread_resolution": true}}, {"type": "commit_message_pattern", "parameters": {"operator":
				"starts_with", "pattern": "G"}}, {"type": "required_status_checks", "parameters": {"required_status_checks":
				[{"context": "build"}], "strict_required_status_checks_policy": true}}]}`})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/bed/rulesets", As: "alice", Status: 201, Send: `{"name": "Tags",
			"target": "tag", "enforcement": "disabled"}`})
		v["node"], v["n"] = account.NodeID("RepositoryRuleset", int64(1)), 1
		check := func(as, query, want string) {
			t.Helper()
			ask{as: as, query: query, want: want, variables: v}.check(t, s)
		}
		const fields = `{name databaseId target enforcement source{__typename ...on Repository{nameWithOwner}}
			conditions{refName{include exclude} repositoryName{include}} bypassActors(first:5){nodes{bypassMode
			repositoryRoleDatabaseId repositoryRoleName organizationAdmin deployKey actor{__typename}}}
			rules(first:9){totalCount nodes{type parameters{__typename ...on PullRequestParameters{requiredApprovingReviewCount
			allowedMergeMethods} ...on CommitMessagePatternParameters{operator pattern negate}
			...on RequiredStatusChecksParameters{requiredStatusChecks{context integrationId}}}}}
			one:rules(first:9,type:DELETION){nodes{type}}}`
		one := func(bypass string) string {
			return `{"name": "Releases", "target": "BRANCH", "enforcement": "ACTIVE", "source": {"__typename": "Repository",
				"nameWithOwner": "alice/bed"}, "conditions": {"refName": {"include": ["~DEFAULT_BRANCH"],
				"exclude": ["refs/heads/old"]}, "repositoryName": null}, "bypassActors": ` + bypass + `,
				"rules": {"totalCount": 4, "nodes": [{"type": "DELETION", "parameters": null}, {"type": "PULL_REQUEST",
				"parameters": {"requiredApprovingReviewCount": 1, "allowedMergeMethods": null}}, {"type": "COMMIT_MESSAGE_PATTERN",
				"parameters": {"operator": "starts_with", "pattern": "G", "negate": false}}, {"type": "REQUIRED_STATUS_CHECKS",
				"parameters": {"requiredStatusChecks": [{"context": "build", "integrationId": null}]}}]},
				"one": {"nodes": [{"type": "DELETION"}]}}`
		}
		const bypass = `{"nodes": [{"bypassMode": "PULL_REQUEST", "repositoryRoleDatabaseId": 5, "repositoryRoleName": "admin",
			"organizationAdmin": false, "deployKey": false, "actor": null}]}`
		const query = `query($n:Int!){repository(owner:"alice",name:"bed"){ruleset(databaseId:$n)` + fields +
			` none:ruleset(databaseId:99){name} rulesets(first:5){totalCount nodes{name}} tags:rulesets(first:5,targets:[TAG]){nodes{name}}}}`
		rest := `, "none": null, "rulesets": {"totalCount": 2, "nodes": [{"name": "Releases"}, {"name": "Tags"}]},
			"tags": {"nodes": [{"name": "Tags"}]}}}}`
		check("alice", query, `{"data": {"repository": {"ruleset": `+one(bypass)+rest)
		check("carol", query, `{"data": {"repository": {"ruleset": `+one("null")+rest)
		check("alice", `query($node:ID!){node(id:$node){...on RepositoryRuleset`+fields+`}}`, `{"data": {"node": `+one(bypass)+`}}`)

		// A pull request that lacks a review that is required says so.
		const decision = `{repository(owner:"alice",name:"bed"){pullRequest(number:5){reviewDecision}}}`
		check("carol", decision, `{"data": {"repository": {"pullRequest": {"reviewDecision": "REVIEW_REQUIRED"}}}}`)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/bed/pulls/5/reviews", As: "bob", Send: `{"event": "APPROVE"}`, Status: 200})
		check("carol", decision, `{"data": {"repository": {"pullRequest": {"reviewDecision": "APPROVED"}}}}`)
	})
}

// A protection names the branches that another one matches, too. The one that names a branch exactly counts for it.
func TestConflictsOfProtections(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		v["r"] = member(t, s, "alice", "/repos/alice/bed", "node_id")
		for _, pattern := range []string{"f*", "fix", "m*", "none"} {
			v["p"] = pattern
			ask{as: "alice", variables: v, query: `mutation($r:ID!,$p:String!){createBranchProtectionRule(input:{
				repositoryId:$r,pattern:$p}){branchProtectionRule{pattern}}}`,
				want: `{"data": {"createBranchProtectionRule": {"branchProtectionRule": {"pattern": "` + pattern + `"}}}}`}.check(t, s)
		}
		const conflict = `{"ref": {"name": "fix"}, "branchProtectionRule": {"pattern": "%s"}, "conflictingBranchProtectionRule": {"pattern": "%s"}}`
		none := `{"totalCount": 0, "nodes": []}`
		ask{as: "alice", query: `{repository(owner:"alice",name:"bed"){branchProtectionRules(first:5){nodes{pattern
			matchingRefs(first:5){nodes{name}} branchProtectionRuleConflicts(first:5){totalCount nodes{ref{name}
			branchProtectionRule{pattern} conflictingBranchProtectionRule{pattern}}}}}}}`, want: `{"data": {"repository": {
			"branchProtectionRules": {"nodes": [
			{"pattern": "f*", "matchingRefs": {"nodes": []}, "branchProtectionRuleConflicts": {"totalCount": 1, "nodes": [` +
			fmt.Sprintf(conflict, "f*", "fix") + `]}},
			{"pattern": "fix", "matchingRefs": {"nodes": [{"name": "fix"}]}, "branchProtectionRuleConflicts": {"totalCount": 1,
			"nodes": [` + fmt.Sprintf(conflict, "fix", "f*") + `]}},
			{"pattern": "m*", "matchingRefs": {"nodes": [{"name": "main"}]}, "branchProtectionRuleConflicts": ` + none + `},
			{"pattern": "none", "branchProtectionRuleConflicts": ` + none + `}]}}}}`}.check(t, s)
	})
}
