package accounts_test

import (
	"fmt"
	"log/slog"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/hook"
	"arbor/internal/review"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Every event of a repository is delivered once and in order. Bots cannot learn of events missing here.
func TestEvents(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) { story(t, s) })
}

// story does one of each thing, and gives all that hooks were told.
func story(t *testing.T, s *apitest.Server) (all []*sent) {
	t.Helper()
	for _, login := range []string{"alice", "bob", "chief"} {
		if login == "chief" {
			s.Admin(t, login)
		} else {
			s.User(t, login)
		}
	}
	s.Org(t, "guild", "alice")
	repo := s.Repo(t, "guild/garden", false)
	s.Import(t, repo, gittest.Repository(t, 3, 2))
	r, orgs := receive(t, nil), receive(t, nil)
	const at = "/repos/guild/garden"
	hookOn(t, s, at, "alice", r, `["*"]`)
	hookOn(t, s, "/orgs/guild", "alice", orgs, `["repository", "organization"]`)
	tip := shaOf(t, s, at, "main")
	graduated := map[string]string{"Accept": "application/vnd.github.v3+json"}
	do := func(names, as, do, send string, status int) []*sent {
		t.Helper()
		got := told(t, s, r, apitest.Case{Do: do, As: as, Send: send, Status: status, Headers: graduated},
			names)
		all = append(all, got...)
		return got
	}
	both := func(names, as, do_, send string, status int) {
		t.Helper()
		do(names, as, do_, send, status)
		all = append(all, orgs.expect(t, last(names))...)
	}

	// Issues and what is said of them.
	do("issues.opened issues.labeled issues.assigned", "alice", "POST "+at+"/issues",
		`{"title": "Slugs", "body": "Many.", "labels": ["bug"], "assignees": ["alice"]}`, 201)
	do("issues.edited", "alice", "PATCH "+at+"/issues/1", `{"title": "Snails", "body": null}`, 200)
	do("issues.labeled issues.unlabeled", "alice", "PUT "+at+"/issues/1/labels",
		`{"labels": ["question"]}`, 200)
	do("issues.unassigned", "alice", "DELETE "+at+"/issues/1/assignees", `{"assignees": ["alice"]}`, 200)
	do("milestone.created", "alice", "POST "+at+"/milestones",
		`{"title": "Spring", "due_on": "2030-01-02T00:00:00Z"}`, 201)
	do("issues.milestoned", "alice", "PATCH "+at+"/issues/1", `{"milestone": 1}`, 200)
	do("issues.demilestoned", "alice", "PATCH "+at+"/issues/1", `{"milestone": null}`, 200)
	do("issues.locked", "alice", "PUT "+at+"/issues/1/lock", ``, 204)
	do("issues.unlocked", "alice", "DELETE "+at+"/issues/1/lock", ``, 204)
	do("issue_comment.created", "bob", "POST "+at+"/issues/1/comments", `{"body": "Indeed"}`, 201)
	do("issue_comment.edited", "bob", "PATCH "+at+"/issues/comments/1", `{"body": "Indeed!"}`, 200)
	do("issue_comment.pinned", "alice", "PUT "+at+"/issues/comments/1/pin", ``, 200)
	do("issue_comment.unpinned", "alice", "DELETE "+at+"/issues/comments/1/pin", ``, 204)
	do("issue_comment.deleted", "bob", "DELETE "+at+"/issues/comments/1", ``, 204)
	do("issues.closed", "alice", "PATCH "+at+"/issues/1", `{"state": "closed"}`, 200)
	do("issues.reopened", "alice", "PATCH "+at+"/issues/1", `{"state": "open"}`, 200)
	do("milestone.edited milestone.closed", "alice", "PATCH "+at+"/milestones/1",
		`{"title": "Summer", "state": "closed"}`, 200)
	do("milestone.opened", "alice", "PATCH "+at+"/milestones/1", `{"state": "open"}`, 200)
	do("milestone.deleted", "alice", "DELETE "+at+"/milestones/1", ``, 204)
	do("label.created", "alice", "POST "+at+"/labels", `{"name": "peas", "color": "00ff00"}`, 201)
	do("label.edited", "alice", "PATCH "+at+"/labels/peas", `{"color": "00ff01"}`, 200)
	do("label.deleted", "alice", "DELETE "+at+"/labels/peas", ``, 204)
	do("label.created label.created issues.labeled issues.labeled", "alice", "POST "+at+"/issues/1/labels",
		`{"labels": ["oak", "ash"]}`, 200)

	// Branches, tags, statuses.
	do("create push", "alice", "POST "+at+"/git/refs", `{"ref": "refs/tags/v0", "sha": "`+tip+`"}`, 201)
	do("delete push", "alice", "DELETE "+at+"/git/refs/tags/v0", ``, 204)
	do("create push", "alice", "POST "+at+"/git/refs", `{"ref": "refs/heads/fence", "sha": "`+tip+`"}`, 201)
	do("push", "alice", "PUT "+at+"/contents/wood",
		`{"message": "Wood", "content": "eA==", "branch": "fence"}`, 201)
	do("commit_comment.created", "bob", "POST "+at+"/commits/"+tip+"/comments",
		`{"body": "Peas!", "path": "a", "position": 1}`, 201)
	do("status", "alice", "POST "+at+"/statuses/"+tip, `{"state": "success", "context": "ci"}`, 201)

	// Pull requests.
	do("pull_request.opened", "alice", "POST "+at+"/pulls",
		`{"title": "Fence", "head": "fence", "base": "main"}`, 201)
	do("push pull_request.synchronize", "alice", "PUT "+at+"/contents/nails",
		`{"message": "Nails", "content": "eA==", "branch": "fence"}`, 201)
	do("pull_request.edited", "alice", "PATCH "+at+"/pulls/2", `{"title": "A fence"}`, 200)
	do("pull_request.review_requested", "alice", "POST "+at+"/pulls/2/requested_reviewers",
		`{"reviewers": ["bob"]}`, 201)
	do("pull_request.review_request_removed", "alice", "DELETE "+at+"/pulls/2/requested_reviewers",
		`{"reviewers": ["bob"]}`, 200)
	do("pull_request.labeled", "alice", "POST "+at+"/issues/2/labels", `{"labels": ["bug"]}`, 200)
	do("pull_request.assigned", "alice", "POST "+at+"/issues/2/assignees", `{"assignees": ["alice"]}`, 201)
	do("pull_request_review.submitted pull_request_review_comment.created", "bob",
		"POST "+at+"/pulls/2/reviews",
		`{"body": "Nice", "event": "APPROVE", "comments": [{"path": "wood", "position": 1, "body": "Oak?"}]}`,
		200)
	do("pull_request_review_comment.edited", "bob", "PATCH "+at+"/pulls/comments/1", `{"body": "Oak!"}`, 200)
	for _, c := range []struct{ name, mutation string }{
		{"pull_request_review_thread.resolved", "resolve"}, {"", "resolve"}, // it is
		{"pull_request_review_thread.unresolved", "unresolve"},
	} {
		do(c.name, "alice", "POST /graphql",
			fmt.Sprintf(`{"query": "mutation{%sReviewThread(input:{threadId:\"%s\"}){thread{isResolved}}}"}`,
				c.mutation, account.NodeID(review.ThreadKind, int64(1))), 200)
	}
	do("pull_request_review.edited", "bob", "PUT "+at+"/pulls/2/reviews/1", `{"body": "Very nice"}`, 200)
	do("pull_request_review.dismissed", "alice", "PUT "+at+"/pulls/2/reviews/1/dismissals",
		`{"message": "later"}`, 200)
	do("pull_request_review_comment.deleted", "bob", "DELETE "+at+"/pulls/comments/1", ``, 204)
	do("pull_request.closed", "alice", "PATCH "+at+"/pulls/2", `{"state": "closed"}`, 200)
	do("pull_request.reopened", "alice", "PATCH "+at+"/pulls/2", `{"state": "open"}`, 200)
	do("push pull_request.closed", "alice", "PUT "+at+"/pulls/2/merge", ``, 200)

	// Issues that are pinned, and that leave.
	all = append(all, departures(t, s, r)...)
	all = append(all, orgs.expect(t,
		"repository.created repository.created repository.deleted repository.deleted")...)

	// Releases, stars, forks, people.
	do("create push release.created release.published release.released", "alice", "POST "+at+"/releases",
		`{"tag_name": "v1"}`, 201)
	do("release.edited", "alice", "PATCH "+at+"/releases/1", `{"name": "One"}`, 200)
	do("release.prereleased", "alice", "PATCH "+at+"/releases/1", `{"prerelease": true}`, 200)
	do("release.deleted", "alice", "DELETE "+at+"/releases/1", ``, 204)
	do("create push release.created release.published release.released", "alice", "POST "+at+"/releases",
		`{"tag_name": "v2"}`, 201)
	do("delete push release.unpublished", "alice", "DELETE "+at+"/git/refs/tags/v2", ``, 204)
	do("star.created watch.started", "bob", "PUT /user/starred/guild/garden", ``, 204)
	do("star.deleted", "bob", "DELETE /user/starred/guild/garden", ``, 204)
	do("fork", "bob", "POST "+at+"/forks", ``, 202)
	do("member.added", "alice", "PUT "+at+"/collaborators/bob", `{"permission": "pull"}`, 204)
	do("member.edited", "alice", "PUT "+at+"/collaborators/bob", `{"permission": "push"}`, 204)
	do("member.removed", "alice", "DELETE "+at+"/collaborators/bob", ``, 204)
	do("repository_dispatch.build", "alice", "POST "+at+"/dispatches",
		`{"event_type": "build", "client_payload": {"bed": 1}}`, 204)

	// The repository and its organization.
	both("repository.edited", "alice", "PATCH "+at,
		`{"description": "Peas", "homepage": "https://peas.example"}`, 200)
	both("repository.edited", "alice", "PUT "+at+"/topics", `{"names": ["peas", "beds"]}`, 200)
	both("repository.archived", "alice", "PATCH "+at, `{"archived": true}`, 200)
	both("repository.unarchived", "alice", "PATCH "+at, `{"archived": false}`, 200)
	both("repository.renamed", "alice", "PATCH "+at, `{"name": "plot"}`, 200)
	both("repository.privatized", "alice", "PATCH /repos/guild/plot", `{"private": true}`, 200)
	both("public repository.publicized", "alice", "PATCH /repos/guild/plot", `{"private": false}`, 200)
	s.Org(t, "club", "alice")
	do("repository.transferred", "alice", "POST /repos/guild/plot/transfer", `{"new_owner": "club"}`, 202)
	do("repository.transferred", "alice", "POST /repos/club/plot/transfer", `{"new_owner": "guild"}`, 202)
	all = append(all, orgs.expect(t, "repository.transferred")...)
	org := func(names, as, do, send string, status int) {
		t.Helper()
		all = append(all, told(t, s, orgs,
			apitest.Case{Do: do, As: as, Send: send, Status: status}, names)...)
	}
	org("organization.member_added", "alice", "PUT /orgs/guild/memberships/bob", `{"role": "member"}`, 200)
	org("organization.member_removed", "alice", "DELETE /orgs/guild/members/bob", ``, 204)
	org("organization.renamed", "chief", "PATCH /admin/organizations/guild", `{"login": "circle"}`, 202)
	org("repository.created", "alice", "POST /orgs/circle/repos", `{"name": "shed"}`, 201)
	org("repository.deleted", "alice", "DELETE /repos/circle/shed", ``, 204)
	org("repository.deleted", "alice", "DELETE /repos/circle/plot", ``, 204)
	if err := s.Accounts.Delete(t.Context(), nil, account.Organization, "circle"); err != nil {
		t.Fatal(err)
	}
	all = append(all, orgs.expect(t, "organization.deleted")...)
	noHooks(t, s)
	return all
}

// noHooks demands that nothing is left of the hooks whose places are gone.
func noHooks(t *testing.T, s *apitest.Server) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		if err := hook.NewPruner(s.DB, slog.New(slog.DiscardHandler)).Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		var left int64
		if err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT COUNT(*) FROM hooks`).Scan(&left)
		}); err != nil {
			t.Fatal(err)
		}
		return left == 0
	}, "no hook is left")
}

// last is the last of some names.
func last(names string) string {
	var first, rest string
	if n, _ := fmt.Sscan(names, &first, &rest); n == 2 {
		return rest
	}
	return first
}

func shaOf(t testing.TB, s *apitest.Server, at, branch string) string {
	t.Helper()
	var found struct{ Object struct{ SHA string } }
	s.Check(t, apitest.Case{Do: "GET " + at + "/git/ref/heads/" + branch, As: "alice", Status: 200}).JSON(t,
		&found)
	return found.Object.SHA
}
