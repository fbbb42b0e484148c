package graphql_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Lists of pull requests, comments and deployments have the fields and arguments of GitHub.
func TestMoreFields(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Repo(t, "alice/bed", false)
		s.Repo(t, "alice/cellar", true)
		file := func(name, branch string) apitest.Case {
			return apitest.Case{Do: "PUT /repos/alice/bed/contents/" + name, As: "alice", Status: 201,
				Send: `{"message": "` + name + `", "content": "YQ==", "branch": "` + branch + `"}`}
		}
		s.Run(t, []apitest.Case{{Do: "PUT /repos/alice/bed/contents/a", As: "alice",
			Send: `{"message": "A", "content": "YQ=="}`, Status: 201}})
		main := member(t, s, "alice", "/repos/alice/bed/commits/main", "sha")
		s.Bot(t, "builder", "alice", "checks=write")
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/bed/git/refs", As: "alice", Send: `{"ref": "refs/heads/fix", "sha": "` + main + `"}`, Status: 201},
			file("b", "fix"),
		})
		fix := s.Tip(t, "alice", "alice/bed", "fix")
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/bed/issues", As: "bob", Send: `{"title": "One"}`, Status: 201},
			{Do: "POST /repos/alice/bed/issues", As: "bob", Send: `{"title": "Two"}`, Status: 201},
			{Do: "POST /repos/alice/bed/issues/1/comments", As: "bob", Send: `{"body": "First"}`, Status: 201},
			{Do: "POST /repos/alice/bed/issues/1/comments", As: "bob", Send: `{"body": "Second"}`, Status: 201},
			{Do: "POST /repos/alice/cellar/issues", As: "alice", Send: `{"title": "Dark"}`, Status: 201},
			{Do: "POST /repos/alice/cellar/issues/1/comments", As: "alice", Send: `{"body": "SECRET"}`, Status: 201},
			{Do: "POST /repos/alice/bed/issues/2/comments", As: "alice", Send: `{"body": "Seen"}`, Status: 201},
			{Do: "POST /repos/alice/bed/pulls", As: "alice", Status: 201,
				Send: `{"title": "Fix", "head": "fix", "base": "main", "body": "Fixes #1, fixes #2"}`},
			{Do: "POST /repos/alice/bed/pulls/3/comments", As: "alice", Status: 201, Send: `{"body": "Why?", "path": "b", "line": 1,
				"side": "RIGHT", "commit_id": "` + fix + `"}`},
			{Do: "POST /repos/alice/bed/pulls/3/comments/1/replies", As: "alice", Send: `{"body": "So"}`, Status: 201},
			{Do: "POST /repos/alice/bed/check-runs", As: "builder[bot]", Status: 201,
				Send: `{"name": "build", "head_sha": "` + fix + `"}`},
			{Do: "POST /repos/alice/cellar/deployments", As: "alice", Status: 409, Send: `{"ref": "main"}`},
			{Do: "POST /repos/alice/bed/deployments", As: "alice", Send: `{"ref": "main", "environment": "stage"}`, Status: 201},
			{Do: "POST /repos/alice/bed/deployments/1/statuses", As: "alice", Send: `{"state": "success"}`, Status: 201},
			{Do: "PUT /repos/alice/bed/subscription", As: "alice", Send: `{"subscribed": true}`, Status: 200},
		})
		s.Settle(t)
		in := func(fields string) string { return `{repository(owner:"alice",name:"bed"){` + fields + `}}` }
		repo := func(want string) string { return `{"data": {"repository": {` + want + `}}}` }
		for _, a := range []ask{
			{as: "carol", query: `{user(login:"alice"){issueComments(first:5){totalCount nodes{body issue{title}}}}
				bob:user(login:"bob"){issueComments(first:1,orderBy:{field:UPDATED_AT,direction:DESC}){totalCount nodes{body}}}}`,
				want: `{"data": {"user": {"issueComments": {"totalCount": 1, "nodes": [{"body": "Seen", "issue": {"title": "Two"}}]}},
					"bob": {"issueComments": {"totalCount": 2, "nodes": [{"body": "Second"}]}}}}`},
			{as: "alice", query: `{viewer{issueComments(first:5){totalCount nodes{body repository{name}}}}}`,
				want: `{"data": {"viewer": {"issueComments": {"totalCount": 2, "nodes": [{"body": "SECRET"}, {"body": "Seen"}]}}}}`},
			{query: in(`pullRequest(number:3){up:closingIssuesReferences(first:5){nodes{title}}
				down:closingIssuesReferences(first:5,orderBy:{field:CREATED_AT,direction:DESC}){nodes{title}}
				talk:closingIssuesReferences(first:5,orderBy:{field:COMMENTS,direction:ASC}){nodes{title}}
				hand:closingIssuesReferences(first:5,userLinkedOnly:true){totalCount}
				reviewThreads(first:1){nodes{comments(first:5,skip:1){totalCount nodes{body}}}}}
				issue(number:1){closedByPullRequestsReferences(first:5,userLinkedOnly:true){totalCount}}`),
				want: repo(`"pullRequest": {"up": {"nodes": [{"title": "One"}, {"title": "Two"}]},
					"down": {"nodes": [{"title": "Two"}, {"title": "One"}]}, "talk": {"nodes": [{"title": "Two"}, {"title": "One"}]},
					"hand": {"totalCount": 0}, "reviewThreads": {"nodes": [{"comments": {"totalCount": 1, "nodes": [{"body": "So"}]}}]}},
					"issue": {"closedByPullRequestsReferences": {"totalCount": 0}}`)},
			{query: in(`object(expression:"fix"){...on Commit{checkSuites(first:1){nodes{
				all:matchingPullRequests(first:5){nodes{title}} main:matchingPullRequests(first:5,baseRefName:"main",headRefName:"fix",
				states:[OPEN]){totalCount} none:matchingPullRequests(first:5,baseRefName:"fix"){totalCount}
				closed:matchingPullRequests(states:[CLOSED]){totalCount} bug:matchingPullRequests(labels:["bug"]){totalCount}}}}}`),
				want: repo(`"object": {"checkSuites": {"nodes": [{"all": {"nodes": [{"title": "Fix"}]}, "main": {"totalCount": 1},
					"none": {"totalCount": 0}, "closed": {"totalCount": 0}, "bug": {"totalCount": 0}}]}}`)},
			{query: `{viewer{a:watching(first:5,affiliations:[OWNER]){totalCount} b:watching(first:5,affiliations:[COLLABORATOR,
				ORGANIZATION_MEMBER]){totalCount} c:watching(first:5,ownerAffiliations:[OWNER]){totalCount}}}`,
				want: `{"data": {"viewer": {"a": {"totalCount": 1}, "b": {"totalCount": 0}, "c": {"totalCount": 1}}}}`},
		} {
			a.check(t, s)
		}
		status := member(t, s, "alice", "/repos/alice/bed/deployments/1/statuses/1", "node_id")
		const node = `query($id:ID!){node(id:$id){...on DeploymentStatus{state creator{login} deployment{environment}}}}`
		ask{as: "carol", query: node, variables: map[string]any{"id": status}, want: `{"data": {"node": {"state": "SUCCESS",
			"creator": {"login": "alice"}, "deployment": {"environment": "stage"}}}}`}.check(t, s)
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/bed", As: "alice", Send: `{"private": true}`, Status: 200})
		ask{as: "carol", query: node, variables: map[string]any{"id": status},
			want: `{"data": {"node": null}, "errors": [{"type": "NOT_FOUND"}]}`}.check(t, s)
		ask{as: "carol", query: `{user(login:"alice"){issueComments(first:5){totalCount nodes{body}}}}`,
			want: `{"data": {"user": {"issueComments": {"totalCount": 0, "nodes": []}}}}`}.check(t, s)
	})
}

// Submodules are those that .gitmodules names, with their commits.
func TestSubmodules(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/bed", false)
		s.Repo(t, "alice/bare", false)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/bed/contents/a", As: "alice", Send: `{"message": "A", "content": "YQ=="}`,
			Status: 201})
		const other = "1111111111111111111111111111111111111111"
		tree := s.Check(t, apitest.Case{Do: "POST /repos/alice/bed/git/trees", As: "alice", Status: 201, Send: `{"tree": [
			{"path": ".gitmodules", "mode": "100644", "type": "blob", "content":
			"[submodule \"peas\"]\n\tpath = lib/peas\n\turl = https://example.org/peas.git\n\tbranch = main\n[submodule \"gone\"]\n\tpath = gone\n\turl = ../gone\n[submodule \"bad\"]\n\tpath = bad\n"},
			{"path": "lib/peas", "mode": "160000", "type": "commit", "sha": "` + other + `"}]}`})
		commit := s.Check(t, apitest.Case{Do: "POST /repos/alice/bed/git/commits", As: "alice", Status: 201,
			Send: `{"message": "Modules", "tree": "` + shaOf(t, tree.Body) + `"}`})
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/bed/git/refs/heads/main", As: "alice", Status: 200,
			Send: `{"sha": "` + shaOf(t, commit.Body) + `", "force": true}`})
		const list = `submodules(first:1){totalCount nodes{name path pathRaw gitUrl branch subprojectCommitOid}}`
		want := `"submodules": {"totalCount": 2, "nodes": [{"name": "peas", "path": "lib/peas", "pathRaw": "bGliL3BlYXM=",
			"gitUrl": "https://example.org/peas.git", "branch": "main", "subprojectCommitOid": "` + other + `"}]}`
		ask{as: "bob", query: `{repository(owner:"alice",name:"bed"){` + list + ` object(expression:"main"){...on Commit{` + list + `}}
			last:submodules(last:1){nodes{name branch subprojectCommitOid}}} bare:repository(owner:"alice",name:"bare"){` + list + `}}`,
			want: `{"data": {"repository": {` + want + `, "object": {` + want + `}, "last": {"nodes": [{"name": "gone",
				"branch": null, "subprojectCommitOid": null}]}}, "bare": {"submodules": {"totalCount": 0, "nodes": []}}}}`}.check(t, s)
	})
}

func shaOf(t *testing.T, body []byte) string {
	t.Helper()
	_, sha, _ := strings.Cut(string(body), `"sha":"`)
	if len(sha) < 40 {
		t.Fatalf("no SHA in %s", body)
	}
	return sha[:40]
}

// Open invitations that name a team are shown to those who manage it, and teams are chosen by how they notify.
func TestInvitationsOfTeams(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Run(t, []apitest.Case{
			{Do: "PUT /orgs/garden/memberships/rae", As: "alice", Send: `{"role": "member"}`, Status: 200},
			{Do: "POST /orgs/garden/teams", As: "alice", Send: `{"name": "Growers", "privacy": "closed"}`, Status: 201},
			{Do: "POST /orgs/garden/teams", As: "alice", Status: 201,
				Send: `{"name": "Quiet", "privacy": "closed", "notification_setting": "notifications_disabled"}`},
			{Do: "POST /orgs/garden/invitations", As: "alice", Status: 201,
				Send: fmt.Sprintf(`{"invitee_id": %s, "team_ids": [1]}`, member(t, s, "alice", "/users/sam", "id"))},
		})
		const query = `{organization(login:"garden"){teams(first:5){nodes{slug invitations(first:5){totalCount nodes{role
			invitationType invitee{login} inviter{login} organization{login}}}}}
			quiet:teams(first:5,notificationSetting:NOTIFICATIONS_DISABLED){nodes{slug}} ldap:teams(ldapMapped:true){totalCount}}}`
		const rest = `"quiet": {"nodes": [{"slug": "quiet"}]}, "ldap": {"totalCount": 0}}}}`
		ask{as: "alice", query: query, want: `{"data": {"organization": {"teams": {"nodes": [{"slug": "growers",
			"invitations": {"totalCount": 1, "nodes": [{"role": "DIRECT_MEMBER", "invitationType": "USER",
			"invitee": {"login": "sam"}, "inviter": {"login": "alice"}, "organization": {"login": "garden"}}]}},
			{"slug": "quiet", "invitations": {"totalCount": 0}}]}, ` + rest}.check(t, s)
		ask{as: "rae", query: query, want: `{"data": {"organization": {"teams": {"nodes": [{"slug": "growers",
			"invitations": {"totalCount": 0, "nodes": []}}, {"slug": "quiet"}]}, ` + rest}.check(t, s)
	})
}

// What Arbor knows of rules, addresses and subscriptions is shown to those who may know it.
func TestKnownFacts(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Run(t, []apitest.Case{
			{Do: "PUT /orgs/garden/memberships/rae", As: "alice", Send: `{"role": "member"}`, Status: 200},
			{Do: "PATCH /orgs/garden", As: "alice", Send: `{"members_can_fork_private_repositories": true}`, Status: 200},
			{Do: "PUT /repos/garden/plot/contents/SECURITY.md", As: "alice", Send: `{"message": "A", "content": "YQ=="}`, Status: 201},
			{Do: "POST /repos/garden/plot/issues", As: "rae", Send: `{"title": "Peas"}`, Status: 201},
		})
		const query = `{organization(login:"garden"){requiresTwoFactorAuthentication membersCanForkPrivateRepositories}
			repository(owner:"garden",name:"plot"){isSecurityPolicyEnabled securityPolicyUrl planFeatures{codeowners
			maximumAssignees maximumManualReviewRequests} issue(number:1){viewerThreadSubscriptionStatus
			viewerThreadSubscriptionFormAction}}}`
		for login, want := range map[string][3]string{"alice": {`false`, `true`, `"NONE"`},
			"rae": {`null`, `true`, `"SUBSCRIBED_TO_THREAD"`}, "sam": {`null`, `false`, `"NONE"`}} {
			action := map[bool]string{true: `"SUBSCRIBE"`, false: `"UNSUBSCRIBE"`}[want[2] == `"NONE"`]
			ask{as: login, query: query, want: `{"data": {"organization": {"requiresTwoFactorAuthentication": ` + want[0] + `,
				"membersCanForkPrivateRepositories": ` + want[1] + `}, "repository": {"isSecurityPolicyEnabled": true,
				"securityPolicyUrl": "{base}/garden/plot/blob/main/SECURITY.md", "planFeatures": {"codeowners": true,
				"maximumAssignees": 10, "maximumManualReviewRequests": 15}, "issue": {"viewerThreadSubscriptionStatus": ` + want[2] + `,
				"viewerThreadSubscriptionFormAction": ` + action + `}}}}`}.check(t, s)
		}
		s.Run(t, []apitest.Case{{Do: "POST /user/emails", As: "rae", Send: `["rae@example.org"]`, Status: 201}})
		ask{as: "rae", query: `{repository(owner:"garden",name:"shed"){viewerDefaultCommitEmail viewerPossibleCommitEmails
			isSecurityPolicyEnabled securityPolicyUrl}}`, want: `{"data": {"repository": {"viewerDefaultCommitEmail": null,
			"viewerPossibleCommitEmails": [], "isSecurityPolicyEnabled": false, "securityPolicyUrl": null}}}`}.check(t, s)
	})
}

// Who made a protection, when labels and reactions were made, whom releases mention, and what is unread.
func TestFactsOfRows(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Run(t, []apitest.Case{
			{Do: "PUT /repos/garden/plot/contents/a", As: "alice", Send: `{"message": "A", "content": "YQ=="}`, Status: 201},
			{Do: "PUT /repos/garden/plot/branches/main/protection", As: "alice", Status: 200, Send: `{"enforce_admins": true,
				"required_status_checks": null, "required_pull_request_reviews": null, "restrictions": null}`},
			{Do: "POST /repos/garden/plot/labels", As: "alice", Send: `{"name": "late", "color": "ff0000"}`, Status: 201},
			{Do: "POST /repos/garden/plot/releases", As: "alice", Status: 201,
				Send: `{"tag_name": "v1", "body": "*Thanks* to @sam, @Sam and @nobody, and to @garden"}`},
			{Do: "POST /repos/garden/plot/releases", As: "alice", Send: `{"tag_name": "v2"}`, Status: 201},
			{Do: "POST /repos/garden/plot/issues", As: "sam", Send: `{"title": "Peas", "body": "@rae"}`, Status: 201},
			{Do: "POST /repos/garden/plot/issues/1/reactions", As: "rae", Send: `{"content": "heart"}`, Status: 201,
				Headers: map[string]string{"Accept": "application/vnd.github.squirrel-girl-preview+json"}},
			{Do: "PATCH /orgs/garden", As: "alice", Send: `{"billing_email": "bills@example.org"}`, Status: 200},
		})
		s.Settle(t)
		in := func(fields string) string { return `{repository(owner:"garden",name:"plot"){` + fields + `}}` }
		for _, a := range []ask{
			{as: "alice", query: in(`branchProtectionRules(first:2){nodes{creator{login}}}`),
				want: `{"data": {"repository": {"branchProtectionRules": {"nodes": [{"creator": {"login": "alice"}}]}}}}`},
			{as: "sam", query: in(`releases(first:5){nodes{tagName mentions(first:5){totalCount nodes{login}}
				shortDescriptionHTML(limit:9)}}`), want: `{"data": {"repository": {"releases": {"nodes": [
				{"tagName": "v2", "mentions": {"totalCount": 0}, "shortDescriptionHTML": ""},
				{"tagName": "v1", "mentions": {"totalCount": 1, "nodes": [{"login": "sam"}]},
				"shortDescriptionHTML": "<div>Thanks to…</div>"}]}}}}`},
			{as: "rae", query: in(`issue(number:1){isReadByViewer}`), want: `{"data": {"repository": {"issue": {
				"isReadByViewer": false}}}}`},
			{as: "sam", query: in(`issue(number:1){isReadByViewer}`), want: `{"data": {"repository": {"issue": {
				"isReadByViewer": true}}}}`},
			{as: "alice", query: `{organization(login:"garden"){organizationBillingEmail viewerIsAMember}}`,
				want: `{"data": {"organization": {"organizationBillingEmail": "bills@example.org", "viewerIsAMember": true}}}`},
			{as: "sam", query: `{organization(login:"garden"){organizationBillingEmail viewerIsAMember}
				license(key:"gpl-3.0"){nickname}}`, want: `{"data": {"organization": {"organizationBillingEmail": null,
				"viewerIsAMember": false}, "license": {"nickname": "GNU GPLv3"}}}`},
			{as: "sam", query: `{user(login:"sam"){contributionsCollection{mostRecentCollectionWithoutActivity{
				hasAnyContributions isSingleDay}}}}`, want: `{"data": {"user": {"contributionsCollection": {
				"mostRecentCollectionWithoutActivity": {"hasAnyContributions": false, "isSingleDay": false}}}}}`},
		} {
			a.check(t, s)
		}
		body := run(t, s, "sam", in(`label(name:"late"){createdAt updatedAt} issue(number:1){reactionGroups{content createdAt}}`), nil)
		for _, want := range []string{`{"createdAt":"2`, `"updatedAt":"2`, `{"content":"HEART","createdAt":"2`,
			`{"content":"EYES","createdAt":null}`} {
			if !strings.Contains(body, want) {
				t.Errorf("%s is missing in %s", want, body)
			}
		}
		s.Check(t, apitest.Case{Do: "PUT /notifications", As: "rae", Send: `{}`, Status: 205})
		ask{as: "rae", query: in(`issue(number:1){isReadByViewer}`), want: `{"data": {"repository": {"issue": {
			"isReadByViewer": true}}}}`}.check(t, s)
	})
}

// A review keeps the teams whose requests it answered, for those who see them.
func TestReviewsOnBehalfOfTeams(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Run(t, []apitest.Case{
			{Do: "PUT /orgs/garden/memberships/rae", As: "alice", Send: `{"role": "member"}`, Status: 200},
			{Do: "PUT /orgs/garden/memberships/will", As: "alice", Send: `{"role": "member"}`, Status: 200},
			{Do: "POST /orgs/garden/teams", As: "alice", Send: `{"name": "Growers", "privacy": "closed"}`, Status: 201},
			{Do: "PUT /orgs/garden/teams/growers/memberships/rae", As: "alice", Status: 200},
			{Do: "PUT /orgs/garden/teams/growers/repos/garden/plot", As: "alice", Send: `{"permission": "push"}`, Status: 204},
			{Do: "PUT /repos/garden/plot/contents/a", As: "alice", Send: `{"message": "A", "content": "YQ=="}`, Status: 201},
		})
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/garden/plot/git/refs", As: "alice", Status: 201,
				Send: `{"ref": "refs/heads/fix", "sha": "` + s.Tip(t, "alice", "garden/plot", "main") + `"}`},
			{Do: "PUT /repos/garden/plot/contents/b", As: "alice", Send: `{"message": "B", "content": "YQ==", "branch": "fix"}`, Status: 201},
			{Do: "POST /repos/garden/plot/pulls", As: "alice", Send: `{"title": "Fix", "head": "fix", "base": "main"}`, Status: 201},
			{Do: "POST /repos/garden/plot/pulls/1/requested_reviewers", As: "alice", Send: `{"team_reviewers": ["growers"]}`, Status: 201},
			{Do: "POST /repos/garden/plot/pulls/1/reviews", As: "will", Send: `{"event": "COMMENT", "body": "Hm"}`, Status: 200},
			{Do: "POST /repos/garden/plot/pulls/1/reviews", As: "rae", Send: `{"event": "APPROVE", "body": "Good"}`, Status: 200},
		})
		const query = `{repository(owner:"garden",name:"plot"){pullRequest(number:1){reviews(first:5){nodes{author{login}
			onBehalfOf(first:5){totalCount nodes{slug}}}}}}}`
		for login, teams := range map[string]string{"alice": `[{"slug": "growers"}]`, "will": `[{"slug": "growers"}]`, "sam": `[]`} {
			ask{as: login, query: query, want: `{"data": {"repository": {"pullRequest": {"reviews": {"nodes": [{"author":
				{"login": "will"}, "onBehalfOf": {"totalCount": 0, "nodes": []}}, {"author": {"login": "rae"},
				"onBehalfOf": {"nodes": ` + teams + `}}]}}}}}`}.check(t, s)
		}
		s.Check(t, apitest.Case{Do: "DELETE /orgs/garden/teams/growers", As: "alice", Status: 204})
		ask{as: "alice", query: query, want: `{"data": {"repository": {"pullRequest": {"reviews": {"nodes": [
			{"onBehalfOf": {"totalCount": 0}}, {"onBehalfOf": {"totalCount": 0}}]}}}}}`}.check(t, s)
	})
}
