package graphql_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// lastID is the last node id of an answer.
func lastID(body string) string {
	found := regexp.MustCompile(`"id":"([^"]+)"`).FindAllStringSubmatch(body, -1)
	if found == nil {
		return ""
	}
	return found[len(found)-1][1]
}

// Rulesets are made, changed and removed by GraphQL as by REST, for repositories and organizations.
func TestRulesetMutations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		s.Org(t, "guild", "alice")
		v["r"], v["o"] = member(t, s, "alice", "/repos/alice/bed", "node_id"), member(t, s, "alice", "/orgs/guild", "node_id")
		check := func(as, query, want string) string {
			t.Helper()
			return ask{as: as, query: query, want: want, variables: v}.check(t, s)
		}
		const create = `mutation($r:ID!){createRepositoryRuleset(input:{sourceId:$r,name:"main",enforcement:ACTIVE,target:BRANCH,
			conditions:{refName:{include:["refs/heads/main"],exclude:[]}},bypassActors:[{repositoryRoleDatabaseId:5,
			bypassMode:PULL_REQUEST},{deployKey:true,bypassMode:ALWAYS}],rules:[{type:DELETION},{type:REQUIRED_STATUS_CHECKS,
			parameters:{requiredStatusChecks:{requiredStatusChecks:[{context:"ci"}],strictRequiredStatusChecksPolicy:true}}},
			{type:PULL_REQUEST,parameters:{pullRequest:{requiredApprovingReviewCount:1,dismissStaleReviewsOnPush:true,
			requireCodeOwnerReview:false,requireLastPushApproval:false,requiredReviewThreadResolution:false,
			allowedMergeMethods:["SQUASH"]}}}]}){ruleset{id databaseId name enforcement rules(first:5){nodes{type}}}}}`
		check("bob", create, `{"data": {"createRepositoryRuleset": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		v["s"] = lastID(check("alice", create, `{"data": {"createRepositoryRuleset": {"ruleset": {"name": "main", "enforcement": "ACTIVE",
			"rules": {"nodes": [{"type": "DELETION"}, {"type": "REQUIRED_STATUS_CHECKS"}, {"type": "PULL_REQUEST"}]}}}}}`))
		var id struct{ ID int64 }
		var list []struct{ ID int64 }
		s.Check(t, apitest.Case{Do: "GET /repos/alice/bed/rulesets", As: "bob", Status: 200}).JSON(t, &list)
		id = list[0]
		at := fmt.Sprintf("/repos/alice/bed/rulesets/%d", id.ID)
		s.Run(t, []apitest.Case{
			{Name: "by REST", Do: "GET " + at, As: "alice", Status: 200, Want: `{"enforcement": "active", "target": "branch",
				"current_user_can_bypass": "pull_requests_only", "bypass_actors": [{"actor_id": 5, "actor_type": "RepositoryRole",
				"bypass_mode": "pull_request"}, {"actor_id": null, "actor_type": "DeployKey", "bypass_mode": "always"}],
				"rules": [{"type": "deletion"}, {"type": "required_status_checks", "parameters": {"required_status_checks":
				[{"context": "ci"}], "strict_required_status_checks_policy": true}}, {"type": "pull_request", "parameters":
				{"allowed_merge_methods": ["squash"], "required_approving_review_count": 1}}]}`},
			{Do: "GET " + at, As: "bob", Status: 200, Want: `{"current_user_can_bypass": "never", "bypass_actors": "$absent"}`},
			{Do: "GET " + at, Status: 200, Want: `{"current_user_can_bypass": "never"}`},
			{Do: "PUT " + at, As: "alice", Status: 200, Want: `{"current_user_can_bypass": "always"}`, Send: `{"bypass_actors":
				[{"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "always"}]}`},
			{Name: "it holds", Do: "PUT /repos/alice/bed/contents/n", As: "bob", Status: 409,
				Send: `{"message": "n", "content": "eA==", "branch": "main"}`},
		})
		check("carol", `{repository(owner:"alice",name:"bed"){main:ref(qualifiedName:"main"){rules(first:5){nodes{type
			repositoryRuleset{name}}}} fix:ref(qualifiedName:"fix"){rules(first:5){totalCount}}}}`, `{"data": {"repository": {
			"main": {"rules": {"nodes": [{"type": "DELETION", "repositoryRuleset": {"name": "main"}},
			{"type": "REQUIRED_STATUS_CHECKS"}, {"type": "PULL_REQUEST"}]}}, "fix": {"rules": {"totalCount": 0}}}}}`)
		for input, want := range map[string]string{
			`rules:[{type:WORKFLOWS}]`: "UNPROCESSABLE",
			`rules:[{type:DELETION,parameters:{update:{updateAllowsFetchAndMerge:true}}}]`: "UNPROCESSABLE",
			`bypassActors:[{bypassMode:ALWAYS,enterpriseOwner:true}]`:                      "UNPROCESSABLE",
			`bypassActors:[{bypassMode:ALWAYS}]`:                                           "UNPROCESSABLE",
			`bypassActors:[{bypassMode:ALWAYS,actorId:"x"}]`:                               "NOT_FOUND",
			`conditions:{repositoryId:{repositoryIds:[]}}`:                                 "UNPROCESSABLE",
			`name:""`: "UNPROCESSABLE",
		} {
			check("alice", `mutation($s:ID!){updateRepositoryRuleset(input:{repositoryRulesetId:$s,`+input+`}){clientMutationId}}`,
				`{"data": {"updateRepositoryRuleset": null}, "errors": [{"type": "`+want+`"}]}`)
		}
		const update = `mutation($s:ID!){updateRepositoryRuleset(input:{repositoryRulesetId:$s,name:"all",rules:[]}){
			ruleset{name enforcement rules(first:5){totalCount}}}}`
		const remove = `mutation($s:ID!){deleteRepositoryRuleset(input:{repositoryRulesetId:$s}){clientMutationId}}`
		check("bob", update, `{"data": {"updateRepositoryRuleset": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		check("alice", update, `{"data": {"updateRepositoryRuleset": {"ruleset": {"name": "all", "enforcement": "ACTIVE",
			"rules": {"totalCount": 0}}}}}`)
		check("bob", remove, `{"data": {"deleteRepositoryRuleset": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		check("alice", remove, `{"data": {"deleteRepositoryRuleset": {"clientMutationId": null}}}`)
		check("alice", remove, `{"errors": [{"type": "NOT_FOUND"}]}`)

		const org = `mutation($o:ID!){createRepositoryRuleset(input:{sourceId:$o,name:"org",enforcement:EVALUATE,
			conditions:{refName:{include:["~ALL"],exclude:[]},repositoryName:{include:["~ALL"],exclude:[]}},
			rules:[{type:NON_FAST_FORWARD}]}){ruleset{id name}}}`
		check("bob", org, `{"data": {"createRepositoryRuleset": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		v["s"] = lastID(check("alice", org, `{"data": {"createRepositoryRuleset": {"ruleset": {"name": "org"}}}}`))
		const node = `query($s:ID!){node(id:$s){...on RepositoryRuleset{name source{...on Organization{login}}}}}`
		check("alice", node, `{"data": {"node": {"name": "org", "source": {"login": "guild"}}}}`)
		check("bob", node, `{"data": {"node": null}, "errors": [{"type": "NOT_FOUND"}]}`)
		check("bob", update, `{"errors": [{"type": "NOT_FOUND"}]}`)
		check("alice", update, `{"data": {"updateRepositoryRuleset": {"ruleset": {"name": "all"}}}}`)
		check("alice", remove, `{"data": {"deleteRepositoryRuleset": {"clientMutationId": null}}}`)
		check("alice", node, `{"data": {"node": null}}`)
	})
}

// Deployments and environments are made by GraphQL as by REST.
func TestDeploymentMutations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		v["r"], v["bob"] = member(t, s, "alice", "/repos/alice/bed", "node_id"), member(t, s, "alice", "/users/bob", "node_id")
		v["ref"] = member(t, s, "alice", "/repos/alice/bed/git/ref/heads/main", "node_id")
		check := func(as, query, want string) string {
			t.Helper()
			return ask{as: as, query: query, want: want, variables: v}.check(t, s)
		}
		const create = `mutation($r:ID!,$ref:ID!){createDeployment(input:{repositoryId:$r,refId:$ref,environment:"staging",
			payload:"{\"bed\":1}",requiredContexts:[],description:"Roses"}){autoMerged deployment{id environment task payload state
			description creator{login}}}}`
		check("carol", create, `{"data": {"createDeployment": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		v["d"] = lastID(check("alice", create, `{"data": {"createDeployment": {"autoMerged": false, "deployment": {"environment": "staging",
			"task": "deploy", "payload": "{\"bed\":1}", "state": "PENDING", "description": "Roses", "creator": {"login": "alice"}}}}}`))
		check("alice", `mutation($r:ID!,$ref:ID!){createDeployment(input:{repositoryId:$r,refId:$ref,payload:"{"}){clientMutationId}}`,
			`{"errors": [{"type": "UNPROCESSABLE", "message": "payload must be JSON."}]}`)
		const node = `query($d:ID!){node(id:$d){...on Deployment{environment latestStatus{state} ref{name}}}}`
		check("carol", node, `{"data": {"node": {"environment": "staging", "latestStatus": null, "ref": {"name": "main"}}}}`)
		const status = `mutation($d:ID!){createDeploymentStatus(input:{deploymentId:$d,state:IN_PROGRESS,
			logUrl:"https://ci.example/1"}){deploymentStatus{state logUrl deployment{state}}}}`
		check("carol", status, `{"data": {"createDeploymentStatus": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		check("alice", status, `{"data": {"createDeploymentStatus": {"deploymentStatus": {"state": "IN_PROGRESS",
			"logUrl": "https://ci.example/1", "deployment": {"state": "IN_PROGRESS"}}}}}`)
		check("alice", `mutation($d:ID!){createDeploymentStatus(input:{deploymentId:$d,state:WAITING}){clientMutationId}}`,
			`{"errors": [{"type": "UNPROCESSABLE"}]}`)
		const remove = `mutation($d:ID!){deleteDeployment(input:{id:$d}){clientMutationId}}`
		check("carol", remove, `{"data": {"deleteDeployment": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		check("alice", remove, `{"data": {"deleteDeployment": {"clientMutationId": null}}}`)
		check("alice", node, `{"data": {"node": null}}`)

		const environment = `mutation($r:ID!){createEnvironment(input:{repositoryId:$r,name:"lab"}){environment{id name}}}`
		check("carol", environment, `{"data": {"createEnvironment": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		v["e"] = lastID(check("alice", environment, `{"data": {"createEnvironment": {"environment": {"name": "lab"}}}}`))
		check("alice", `mutation($e:ID!,$bob:ID!){updateEnvironment(input:{environmentId:$e,waitTimer:30,reviewers:[$bob]}){
			environment{name}}}`, `{"data": {"updateEnvironment": {"environment": {"name": "lab"}}}}`)
		check("alice", environment, `{"data": {"createEnvironment": {"environment": {"name": "lab"}}}}`)
		s.Check(t, apitest.Case{Name: "rules stay", Do: "GET /repos/alice/bed/environments/lab", As: "alice", Status: 200,
			Want: `{"protection_rules": [{"type": "wait_timer", "wait_timer": 30}, {"type": "required_reviewers"}]}`})
		check("alice", `mutation($e:ID!){updateEnvironment(input:{environmentId:$e,waitTimer:-1}){clientMutationId}}`,
			`{"errors": [{"type": "UNPROCESSABLE"}]}`)
		check("alice", `mutation($r:ID!){createEnvironment(input:{repositoryId:$r,name:""}){clientMutationId}}`,
			`{"errors": [{"type": "UNPROCESSABLE"}]}`)
		const named = `query($e:ID!){node(id:$e){...on Environment{name databaseId}}}`
		check("carol", named, `{"data": {"node": {"name": "lab"}}}`)
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/bed", As: "alice", Send: `{"private": true}`, Status: 200})
		check("carol", named, `{"data": {"node": null}, "errors": [{"type": "NOT_FOUND"}]}`)
		check("alice", `mutation($e:ID!){deleteEnvironment(input:{id:$e}){clientMutationId}}`,
			`{"data": {"deleteEnvironment": {"clientMutationId": null}}}`)
		check("alice", named, `{"data": {"node": null}}`)
	})
}

// Several refs move together or not at all, and a check is required where rules of the base say so.
func TestRefsMoveTogetherAndChecksAreRequired(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		v["r"] = member(t, s, "alice", "/repos/alice/bed", "node_id")
		main, fix := s.Tip(t, "alice", "alice/bed", "main"), s.Tip(t, "alice", "alice/bed", "fix")
		move := func(updates, want string) {
			t.Helper()
			updates = strings.NewReplacer("$main", `"`+main+`"`, "$fix", `"`+fix+`"`, "$zero",
				`"0000000000000000000000000000000000000000"`).Replace(updates)
			ask{as: "alice", query: `mutation($r:ID!){updateRefs(input:{repositoryId:$r,refUpdates:[` + updates +
				`]}){clientMutationId}}`, want: want, variables: map[string]any{"r": v["r"]}}.check(t, s)
		}
		const done, wrong = `{"data": {"updateRefs": {"clientMutationId": null}}}`, `{"data": {"updateRefs": null}, "errors": [{"type": "UNPROCESSABLE"}]}`
		move(`{name:"refs/heads/a",afterOid:$main},{name:"refs/heads/b",afterOid:$fix,beforeOid:$zero}`, done)
		move(`{name:"refs/heads/a",afterOid:$fix,force:true},{name:"refs/heads/b",afterOid:$main,beforeOid:$main,force:true}`, wrong)
		move(`{name:"refs/heads/a",afterOid:$fix,force:true},{name:"refs/pull/5/head",afterOid:$main}`, wrong)
		move(`{name:"refs/heads/c",afterOid:$fix},{name:"refs/heads/c",afterOid:$main}`, wrong)
		if s.Tip(t, "alice", "alice/bed", "a") != main || s.Tip(t, "alice", "alice/bed", "b") != fix {
			t.Error("a ref moved though another could not")
		}
		move(`{name:"refs/heads/a",afterOid:$zero,beforeOid:$main},{name:"refs/heads/b",afterOid:$main,force:true}`, done)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/bed/git/ref/heads/a", As: "alice", Status: 404})
		if s.Tip(t, "alice", "alice/bed", "b") != main {
			t.Error("b did not move")
		}

		bot := s.Bot(t, "builder", "alice", "checks=write,statuses=write")
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/bed/statuses/" + fix, As: "alice", Send: `{"state": "success", "context": "ci"}`, Status: 201},
			{Do: "POST /repos/alice/bed/statuses/" + fix, As: "alice", Send: `{"state": "success", "context": "other"}`, Status: 201},
			{Do: "POST /repos/alice/bed/check-runs", As: "builder[bot]", Send: `{"name": "build", "head_sha": "` + fix + `"}`, Status: 201},
			{Do: "POST /repos/alice/bed/rulesets", As: "alice", Status: 201, Send: fmt.Sprintf(`{"name": "main", "enforcement": "active",
				"conditions": {"ref_name": {"include": ["refs/heads/main"], "exclude": []}}, "rules": [{"type":
				"required_status_checks", "parameters": {"strict_required_status_checks_policy": false,
				"required_status_checks": [{"context": "CI"}, {"context": "build", "integration_id": %d}]}}]}`, bot.ID)},
		})
		const rollup = `query($n:Int!,$i:ID){repository(owner:"alice",name:"bed"){ref(qualifiedName:"fix"){target{...on Commit{
			statusCheckRollup{contexts(first:5){nodes{...on StatusContext{context isRequired(pullRequestNumber:$n)
			again:isRequired(pullRequestId:$i)} ...on CheckRun{name isRequired(pullRequestNumber:$n)}}}}}}}}}`
		v["n"], v["i"] = 5, v["p"]
		body := ask{as: "carol", query: rollup, want: `{"data": {"repository": {}}}`, variables: v}.check(t, s)
		for _, want := range []string{`"context":"ci","isRequired":true,"again":true`, `"context":"other","isRequired":false`,
			`"name":"build","isRequired":true`} {
			if !strings.Contains(body, want) {
				t.Errorf("%s is not in %s", want, body)
			}
		}
	})
}

// Teams get a repository, and outside collaborators lose those of an organization, by those who may do so by REST.
func TestOrganizationMutations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Org(t, "guild", "alice")
		r := s.Repo(t, "guild/hut", true)
		s.Grant(t, r, "bob", account.Push)
		s.Check(t, apitest.Case{Do: "POST /orgs/guild/teams", As: "alice", Send: `{"name": "crew"}`, Status: 201})
		v := map[string]any{"r": member(t, s, "alice", "/repos/guild/hut", "node_id"), "o": member(t, s, "alice", "/orgs/guild", "node_id"),
			"t": member(t, s, "alice", "/orgs/guild/teams/crew", "node_id"), "bob": member(t, s, "alice", "/users/bob", "node_id")}
		check := func(as, query, want string) {
			t.Helper()
			ask{as: as, query: query, want: want, variables: v}.check(t, s)
		}
		const give = `mutation($r:ID!,$t:ID!){updateTeamsRepository(input:{repositoryId:$r,teamIds:[$t],permission:TRIAGE}){
			repository{name} teams{slug}}}`
		check("bob", give, `{"data": {"updateTeamsRepository": null}}`)
		check("alice", give, `{"data": {"updateTeamsRepository": {"repository": {"name": "hut"}, "teams": [{"slug": "crew"}]}}}`)
		s.Check(t, apitest.Case{Do: "GET /repos/guild/hut/teams", As: "alice", Status: 200,
			Want: `[{"slug": "crew", "permission": "triage"}]`})
		const remove = `mutation($o:ID!,$bob:ID!){removeOutsideCollaborator(input:{organizationId:$o,userId:$bob}){removedUser{login}}}`
		check("carol", remove, `{"data": {"removeOutsideCollaborator": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		check("alice", remove, `{"data": {"removeOutsideCollaborator": {"removedUser": {"login": "bob"}}}}`)
		s.Check(t, apitest.Case{Do: "GET /repos/guild/hut", As: "bob", Status: 404})
	})
}
