package accounts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/review"
	"arbor/internal/test/apitest"
)

// step is a request while receivers are down, and the payloads expected once they are up: one kind for all,
// or one for each.
type step struct {
	names, as, do, send string
	status              int
	wants               []string
}

// ups are the steps' deliveries, once the receiver of the hook is up.
func ups(t *testing.T, s *apitest.Server, r *receiver, hook int64, steps []step) {
	t.Helper()
	alter(t, s, `UPDATE hooks SET due_at = 0 WHERE id = $1`, hook)
	s.DB.Ring("hooks")
	var names []string
	for _, x := range steps {
		names = append(names, strings.Fields(x.names)...)
	}
	got := r.wait(t, len(names))
	for _, x := range steps {
		for n, name := range strings.Fields(x.names) {
			d := got[0]
			got = got[1:]
			if d.name() != name {
				t.Fatalf("%s: hooks were told %s, want %s", x.do, d.name(), name)
			}
			want := x.wants[min(n, len(x.wants)-1)]
			if err := apitest.Contains(d.Body, want); err != nil {
				t.Errorf("%s after %s: %v", name, x.do, err)
			}
			if body := string(d.Body); strings.Contains(body, ".invalid") {
				t.Errorf("%s has an address that stands for the server's: %s", name, body)
			}
		}
	}
	r.forget()
}

// downs sends the requests of the steps.
func downs(t *testing.T, s *apitest.Server, steps []step) {
	t.Helper()
	for _, x := range steps {
		s.Check(t, apitest.Case{Do: x.do, As: x.as, Send: x.send, Status: x.status,
			Headers: graduated})
	}
}

// graduated asks for GitHub's own media type.
var graduated = map[string]string{"Accept": "application/vnd.github.v3+json"}

func is(parts ...string) []string { return parts }

// Each delivery shows the state at its event, even if it was changed back, deleted, hidden or renamed
// before the receiver is up again.
func TestDeliveriesShowTheStateAtTheirEvent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		r, _, id, tip := gardenOfGuild(t, s, `["*"]`)
		rest(t, s, id)
		const at = "/repos/guild/garden"
		steps := slices.Concat(ofIssues(at), ofGit(at, tip), ofPulls(at), ofTheRest(at, id))
		downs(t, s, steps)
		ups(t, s, r, id, steps)
	})
}

func ofIssues(at string) []step {
	const a = "alice"
	return []step{
		{"issues.opened issues.labeled issues.assigned", a, "POST " + at + "/issues",
			`{"title": "Slugs", "body": "Many.", "labels": ["bug"], "assignees": ["alice"]}`, 201, is(
				`{"issue": {"title": "Slugs", "body": "Many.", "state": "open"}, "sender": {"login": "alice"},
					"organization": {"login": "guild"}, "repository": {"full_name": "guild/garden",
					"private": false, "open_issues": 1}}`,
				`{"issue": {"labels": [{"name": "bug"}]}, "label": {"name": "bug"}}`,
				`{"issue": {"assignees": [{"login": "alice"}]}, "assignee": {"login": "alice"}}`)},
		{"issues.edited", a, "PATCH " + at + "/issues/1", `{"title": "Snails", "body": null}`, 200, is(
			`{"issue": {"title": "Snails", "body": null}, "changes": {"title": {"from": "Slugs"}}}`)},
		{"issues.labeled issues.unlabeled", a, "PUT " + at + "/issues/1/labels", `{"labels": ["question"]}`, 200,
			is(`{"issue": {"labels": [{"name": "question"}]}, "label": {"name": "question"}}`,
				`{"label": {"name": "bug"}}`)},
		{"issues.unassigned", a, "DELETE " + at + "/issues/1/assignees", `{"assignees": ["alice"]}`, 200, is(
			`{"issue": {"assignees": []}, "assignee": {"login": "alice"}}`)},
		{"issues.closed", a, "PATCH " + at + "/issues/1", `{"state": "closed"}`, 200, is(
			`{"issue": {"state": "closed"}, "repository": {"open_issues": 0}}`)},
		{"issues.reopened", a, "PATCH " + at + "/issues/1", `{"state": "open"}`, 200, is(
			`{"issue": {"state": "open", "closed_at": null}}`)},
		{"issues.locked", a, "PUT " + at + "/issues/1/lock", ``, 204, is(`{"issue": {"locked": true}}`)},
		{"issues.unlocked", a, "DELETE " + at + "/issues/1/lock", ``, 204, is(`{"issue": {"locked": false}}`)},
		{"milestone.created", a, "POST " + at + "/milestones", `{"title": "Spring"}`, 201, is(
			`{"milestone": {"title": "Spring", "state": "open", "open_issues": 0}}`)},
		{"issues.milestoned", a, "PATCH " + at + "/issues/1", `{"milestone": 1}`, 200, is(
			`{"issue": {"milestone": {"title": "Spring"}}, "milestone": {"title": "Spring", "open_issues": 1}}`)},
		{"issues.demilestoned", a, "PATCH " + at + "/issues/1", `{"milestone": null}`, 200, is(
			`{"issue": {"milestone": null}, "milestone": {"title": "Spring"}}`)},
		{"milestone.edited milestone.closed", a, "PATCH " + at + "/milestones/1",
			`{"title": "Summer", "state": "closed"}`, 200, is(
				`{"milestone": {"title": "Summer", "state": "closed"}}`)},
		{"milestone.opened", a, "PATCH " + at + "/milestones/1", `{"state": "open"}`, 200, is(
			`{"milestone": {"state": "open", "title": "Summer"}}`)},
		{"milestone.deleted", a, "DELETE " + at + "/milestones/1", ``, 204, is(`{"milestone": {"title": "Summer"}}`)},
		{"issue_comment.created", "bob", "POST " + at + "/issues/1/comments", `{"body": "Indeed"}`, 201, is(
			`{"comment": {"body": "Indeed", "user": {"login": "bob"}}, "issue": {"comments": 1}}`)},
		{"issue_comment.edited", "bob", "PATCH " + at + "/issues/comments/1", `{"body": "Indeed!"}`, 200, is(
			`{"comment": {"body": "Indeed!"}, "changes": {"body": {"from": "Indeed"}}}`)},
		{"issue_comment.pinned", a, "PUT " + at + "/issues/comments/1/pin", ``, 200, is(
			`{"comment": {"pin": {"pinned_by": {"login": "alice"}}}}`)},
		{"issue_comment.unpinned", a, "DELETE " + at + "/issues/comments/1/pin", ``, 204, is(
			`{"comment": {"pin": null}}`)},
		{"issue_comment.deleted", "bob", "DELETE " + at + "/issues/comments/1", ``, 204, is(
			`{"comment": {"body": "Indeed!"}, "issue": {"comments": 0}}`)},
		{"label.created", a, "POST " + at + "/labels", `{"name": "peas", "color": "00ff00"}`, 201, is(
			`{"label": {"name": "peas", "color": "00ff00"}}`)},
		{"label.edited", a, "PATCH " + at + "/labels/peas", `{"new_name": "beans", "color": "00ff01"}`, 200, is(
			`{"label": {"name": "beans", "color": "00ff01"}, "changes": {"name": {"from": "peas"}}}`)},
		{"label.deleted", a, "DELETE " + at + "/labels/beans", ``, 204, is(`{"label": {"name": "beans"}}`)},
	}
}

func ofGit(at, tip string) []step {
	const a, ci = "alice", "ci[bot]"
	short := func(sha string) string { return `{"id": "` + sha + `"}` }
	return []step{
		{"create push", a, "POST " + at + "/git/refs", `{"ref": "refs/tags/v0", "sha": "` + tip + `"}`, 201, is(
			`{"ref": "v0", "ref_type": "tag", "master_branch": "main"}`,
			`{"created": true, "after": "`+tip+`", "head_commit": `+short(tip)+`, "pusher": {"name": "alice"}}`)},
		{"delete push", a, "DELETE " + at + "/git/refs/tags/v0", ``, 204, is(`{"ref": "v0", "ref_type": "tag"}`,
			`{"deleted": true, "before": "`+tip+`", "head_commit": null}`)},
		{"create push", a, "POST " + at + "/git/refs", `{"ref": "refs/heads/fence", "sha": "` + tip + `"}`, 201, is(
			`{"ref": "fence", "ref_type": "branch"}`, `{"created": true, "commits": []}`)},
		{"create push delete push", a, "POST " + at + "/branches/fence/rename", `{"new_name": "gate"}`, 201, is(
			`{"ref": "gate", "ref_type": "branch"}`, `{"ref": "refs/heads/gate", "commits": []}`, `{"ref": "fence"}`,
			`{"ref": "refs/heads/fence", "deleted": true}`)},
		{"create push delete push", a, "POST " + at + "/branches/gate/rename", `{"new_name": "fence"}`, 201, is(
			`{"ref": "fence"}`, `{"ref": "refs/heads/fence"}`, `{"ref": "gate"}`, `{"ref": "refs/heads/gate"}`)},
		{"push", a, "PUT " + at + "/contents/wood", `{"message": "Wood", "content": "eA==", "branch": "fence"}`, 201,
			is(`{"commits": [{"message": "Wood", "added": ["wood"]}], "repository": {"default_branch": "main"}}`)},
		{"commit_comment.created", "bob", "POST " + at + "/commits/" + tip + "/comments", `{"body": "Peas!"}`, 201,
			is(`{"comment": {"body": "Peas!", "user": {"login": "bob"}}}`)},
		{"", "bob", "DELETE " + at + "/comments/1", ``, 204, nil},
		{"status", a, "POST " + at + "/statuses/" + tip, `{"state": "pending", "context": "ci"}`, 201, is(
			`{"state": "pending", "branches": [{"name": "main"}], "commit": {"sha": "` + tip + `"}}`)},
		{"status", a, "POST " + at + "/statuses/" + tip, `{"state": "success", "context": "ci"}`, 201, is(
			`{"state": "success", "name": "guild/garden"}`)},
		{"deployment.created", a, "POST " + at + "/deployments", `{"ref": "main", "required_contexts": []}`, 201, is(
			`{"deployment": {"ref": "main", "environment": "production", "creator": {"login": "alice"}}}`)},
		{"deployment_status.created", a, "POST " + at + "/deployments/1/statuses", `{"state": "success"}`, 201, is(
			`{"deployment_status": {"state": "success"}, "deployment": {"id": 1, "task": "deploy"}}`)},
		{"check_run.created", ci, "POST " + at + "/check-runs", `{"name": "tests", "head_sha": "` + tip + `"}`, 201, is(
			`{"check_run": {"status": "queued", "conclusion": null, "check_suite": {"status": "queued"}}}`)},
		{"check_run.completed check_suite.completed", ci, "PATCH " + at + "/check-runs/1",
			`{"conclusion": "success", "output": {"title": "t", "summary": "Fine"}}`, 200, is(
				`{"check_run": {"conclusion": "success", "output": {"summary": "Fine"}}}`,
				`{"check_suite": {"conclusion": "success", "head_commit": `+short(tip)+`}}`)},
		{"check_run.completed", ci, "PATCH " + at + "/check-runs/1", `{"conclusion": "failure"}`, 200, is(
			`{"check_run": {"conclusion": "failure"}}`)},
	}
}

func ofPulls(at string) []step {
	const a = "alice"
	resolve := func(do string) string {
		return fmt.Sprintf(`{"query": "mutation{%sReviewThread(input:{threadId:\"%s\"}){thread{isResolved}}}"}`,
			do, account.NodeID(review.ThreadKind, int64(1)))
	}
	auto := func(do string) string {
		return fmt.Sprintf(`{"query": "mutation{%sPullRequestAutoMerge(input:{pullRequestId:\"%s\"}){clientMutationId}}"}`,
			do, account.NodeID("PullRequest", int64(2)))
	}
	return []step{
		{"pull_request.opened", a, "POST " + at + "/pulls", `{"title": "Fence", "head": "fence", "base": "main"}`,
			201, is(`{"pull_request": {"title": "Fence", "state": "open", "merged": false}}`)},
		{"push pull_request.synchronize", a, "PUT " + at + "/contents/nails",
			`{"message": "Nails", "content": "eA==", "branch": "fence"}`, 201, is(
				`{"commits": [{"message": "Nails"}]}`, `{"pull_request": {"title": "Fence"}}`)},
		{"pull_request.edited", a, "PATCH " + at + "/pulls/2", `{"title": "A fence"}`, 200, is(
			`{"pull_request": {"title": "A fence"}, "changes": {"title": {"from": "Fence"}}}`)},
		{"pull_request.review_requested", a, "POST " + at + "/pulls/2/requested_reviewers",
			`{"reviewers": ["bob"]}`, 201, is(`{"pull_request": {"requested_reviewers": [{"login": "bob"}]},
				"requested_reviewer": {"login": "bob"}}`)},
		{"pull_request.review_request_removed", a, "DELETE " + at + "/pulls/2/requested_reviewers",
			`{"reviewers": ["bob"]}`, 200, is(`{"pull_request": {"requested_reviewers": []}}`)},
		{"pull_request.labeled", a, "POST " + at + "/issues/2/labels", `{"labels": ["bug"]}`, 200, is(
			`{"pull_request": {"labels": [{"name": "bug"}]}, "label": {"name": "bug"}}`)},
		{"pull_request.unlabeled", a, "DELETE " + at + "/issues/2/labels/bug", ``, 200, is(
			`{"pull_request": {"labels": []}, "label": {"name": "bug"}}`)},
		{"label.deleted", a, "DELETE " + at + "/labels/bug", ``, 204, is(`{"label": {"name": "bug"}}`)},
		{"pull_request_review.submitted pull_request_review_comment.created", "bob", "POST " + at + "/pulls/2/reviews",
			`{"body": "Nice", "event": "APPROVE", "comments": [{"path": "wood", "position": 1, "body": "Oak?"}]}`,
			200, is(`{"review": {"state": "approved", "body": "Nice"}}`,
				`{"comment": {"body": "Oak?", "path": "wood", "position": 1}}`)},
		{"pull_request_review_comment.edited", "bob", "PATCH " + at + "/pulls/comments/1", `{"body": "Oak!"}`, 200,
			is(`{"comment": {"body": "Oak!"}}`)},
		{"pull_request_review_thread.resolved", a, "POST /graphql", resolve("resolve"), 200, is(
			`{"thread": {"comments": [{"body": "Oak!"}]}}`)},
		{"", a, "POST /graphql", resolve("resolve"), 200, nil}, // it is
		{"pull_request_review_thread.unresolved", a, "POST /graphql", resolve("unresolve"), 200, is(
			`{"thread": {"comments": [{"body": "Oak!"}]}}`)},
		{"pull_request_review.edited", "bob", "PUT " + at + "/pulls/2/reviews/1", `{"body": "Very nice"}`, 200, is(
			`{"review": {"state": "approved", "body": "Very nice"}}`)},
		{"pull_request_review.dismissed", a, "PUT " + at + "/pulls/2/reviews/1/dismissals", `{"message": "later"}`,
			200, is(`{"review": {"state": "dismissed"}}`)},
		{"pull_request_review_comment.deleted", "bob", "DELETE " + at + "/pulls/comments/1", ``, 204, is(
			`{"comment": {"body": "Oak!"}}`)},
		{"", a, "PATCH " + at, `{"allow_auto_merge": true}`, 200, nil},
		{"repository_ruleset.created", a, "POST " + at + "/rulesets", `{"name": "ci", "enforcement": "active",
			"conditions": {"ref_name": {"include": ["~ALL"], "exclude": []}}, "rules": [{"type": "required_status_checks",
			"parameters": {"required_status_checks": [{"context": "more"}],
			"strict_required_status_checks_policy": false}}]}`, 201, is(`{"repository_ruleset": {"name": "ci"}}`)},
		{"pull_request.auto_merge_enabled", a, "POST /graphql", auto("enable"), 200, is(
			`{"pull_request": {"auto_merge": {"enabled_by": {"login": "alice"}, "merge_method": "merge"}}}`)},
		{"pull_request.auto_merge_disabled", a, "POST /graphql", auto("disable"), 200, is(
			`{"pull_request": {"auto_merge": null}, "reason": "Manually disabled by user"}`)},
		{"pull_request.auto_merge_enabled", a, "POST /graphql", auto("enable"), 200, is(
			`{"number": 2}`)},
		{"pull_request.closed pull_request.auto_merge_disabled", a, "PATCH " + at + "/pulls/2", `{"state": "closed"}`, 200,
			is(`{"pull_request": {"auto_merge": null}}`, `{"reason": "Pull request was closed"}`)},
		{"pull_request.reopened", a, "PATCH " + at + "/pulls/2", `{"state": "open"}`, 200, is(
			`{"pull_request": {"state": "open"}}`)},
		{"repository_ruleset.deleted", a, "DELETE " + at + "/rulesets/1", ``, 204, is(
			`{"repository_ruleset": {"name": "ci"}}`)},
		{"pull_request.closed", a, "PATCH " + at + "/pulls/2", `{"state": "closed"}`, 200, is(
			`{"pull_request": {"state": "closed", "merged": false}}`)},
		{"pull_request.reopened", a, "PATCH " + at + "/pulls/2", `{"state": "open"}`, 200, is(
			`{"pull_request": {"state": "open", "closed_at": null}}`)},
		{"push pull_request.closed", a, "PUT " + at + "/pulls/2/merge", ``, 200, is(
			`{"ref": "refs/heads/main"}`, `{"pull_request": {"state": "closed", "merged": true,
				"merged_by": {"login": "alice"}}}`)},
		{"delete push", a, "DELETE " + at + "/git/refs/heads/fence", ``, 204, is(`{"ref": "fence"}`,
			`{"deleted": true}`)},
	}
}

func ofTheRest(at string, hook int64) []step {
	const a, plot = "alice", "/repos/guild/plot"
	release := `{"release": {"tag_name": "v1", "name": null, "draft": false, "prerelease": false}}`
	return []step{
		{"create push release.created release.published release.released", a, "POST " + at + "/releases",
			`{"tag_name": "v1"}`, 201, is(`{"ref": "v1"}`, `{"created": true}`, release)},
		{"release.edited", a, "PATCH " + at + "/releases/1", `{"name": "One", "body": "New"}`, 200, is(
			`{"release": {"name": "One", "body": "New"}}`)},
		{"release.prereleased", a, "PATCH " + at + "/releases/1", `{"prerelease": true}`, 200, is(
			`{"release": {"prerelease": true}}`)},
		{"release.unpublished", a, "PATCH " + at + "/releases/1", `{"draft": true}`, 200, is(
			`{"release": {"draft": true}}`)},
		{"release.deleted", a, "DELETE " + at + "/releases/1", ``, 204, is(`{"release": {"name": "One"}}`)},
		{"star.created watch.started", "bob", "PUT /user/starred/guild/garden", ``, 204, is(
			`{"sender": {"login": "bob"}, "repository": {"full_name": "guild/garden", "stargazers_count": 1}}`)},
		{"star.deleted", "bob", "DELETE /user/starred/guild/garden", ``, 204, is(
			`{"starred_at": null, "repository": {"full_name": "guild/garden", "stargazers_count": 0}}`)},
		{"fork", "bob", "POST " + at + "/forks", ``, 202, is(
			`{"forkee": {"full_name": "bob/garden"}, "repository": {"forks_count": 1}}`)},
		{"", "bob", "DELETE /repos/bob/garden", ``, 204, nil},
		{"member.added", a, "PUT " + at + "/collaborators/bob", `{"permission": "pull"}`, 204, is(
			`{"member": {"login": "bob"}, "changes": {"permission": {"to": "read"}}}`)},
		{"member.edited", a, "PUT " + at + "/collaborators/bob", `{"permission": "push"}`, 204, is(
			`{"changes": {"permission": {"to": "write"}}}`)},
		{"member.removed", a, "DELETE " + at + "/collaborators/bob", ``, 204, is(`{"member": {"login": "bob"}}`)},
		{"repository_dispatch.build", a, "POST " + at + "/dispatches",
			`{"event_type": "build", "client_payload": {"bed": 1}}`, 204, is(
				`{"branch": "main", "client_payload": {"bed": 1}}`)},
		{"ping", a, fmt.Sprintf("POST %s/hooks/%d/pings", at, hook), ``, 204, is(
			`{"hook": {"active": true, "events": ["*"]}, "repository": {"full_name": "guild/garden"}}`)},
		{"repository.edited", a, "PATCH " + at, `{"description": "Peas", "homepage": "https://peas.example"}`, 200,
			is(`{"repository": {"description": "Peas"}}`)},
		{"repository.edited", a, "PUT " + at + "/topics", `{"names": ["peas"]}`, 200, is(
			`{"repository": {"topics": ["peas"]}}`)},
		{"repository.archived", a, "PATCH " + at, `{"archived": true}`, 200, is(`{"repository": {"archived": true}}`)},
		{"repository.unarchived", a, "PATCH " + at, `{"archived": false}`, 200, is(
			`{"repository": {"archived": false, "name": "garden"}}`)},
		{"repository.renamed", a, "PATCH " + at, `{"name": "plot"}`, 200, is(
			`{"repository": {"name": "plot", "private": false}}`)},
		{"repository.privatized", a, "PATCH " + plot, `{"private": true}`, 200, is(
			`{"repository": {"private": true, "visibility": "private"}}`)},
		{"public repository.publicized", a, "PATCH " + plot, `{"private": false}`, 200, is(
			`{"repository": {"private": false}}`)},
		{"repository.transferred", a, "POST " + plot + "/transfer", `{"new_owner": "club"}`, 202, is(
			`{"repository": {"full_name": "club/plot"}, "organization": {"login": "club"}}`)},
		{"repository.edited", a, "PATCH /repos/club/plot", `{"description": null}`, 200, is(
			`{"repository": {"description": null}}`)},
	}
}

// Webhooks of an organization report what happened to its members and repositories, even to former ones.
func TestOrganizationsAreToldTheStateAtTheEvent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Admin(t, "chief")
		s.Org(t, "guild", "alice")
		r := receive(t, nil)
		id := hookOn(t, s, "/orgs/guild", "alice", r, `["*"]`)
		rest(t, s, id)
		steps := ofOrganization()
		downs(t, s, steps)
		ups(t, s, r, id, steps)
	})
}

func ofOrganization() []step {
	const a = "alice"
	return []step{
		{"organization.member_added", a, "PUT /orgs/guild/memberships/bob", `{"role": "member"}`, 200, is(
			`{"membership": {"user": {"login": "bob"}}, "organization": {"login": "guild"}}`)},
		{"organization.member_removed", a, "DELETE /orgs/guild/members/bob", ``, 204, is(
			`{"membership": {"user": {"login": "bob"}}}`)},
		{"repository.created", a, "POST /orgs/guild/repos", `{"name": "shed", "private": true}`, 201, is(
			`{"repository": {"full_name": "guild/shed", "private": true}, "organization": {"login": "guild"}}`)},
		{"", a, "POST /repos/guild/shed/issues", `{"title": "Secret"}`, 201, nil},
		{"repository.archived", a, "PATCH /repos/guild/shed", `{"archived": true}`, 200, is(
			`{"repository": {"archived": true}}`)},
		{"repository.deleted", a, "DELETE /repos/guild/shed", ``, 204, is(
			`{"repository": {"full_name": "guild/shed"}, "organization": {"login": "guild"}}`)},
		{"organization.renamed", "chief", "PATCH /admin/organizations/guild", `{"login": "circle"}`, 202, is(
			`{"organization": {"login": "circle"}, "changes": {"login": {"from": "guild"}}}`)},
	}
}
