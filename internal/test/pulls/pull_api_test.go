package pulls_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// plot creates alice's repository plot, to which will may push, and returns the commit of main. Sam is a stranger.
func plot(t *testing.T, s *apitest.Server) string {
	t.Helper()
	s.Users(t, "alice", "will", "sam")
	r := s.Repo(t, "alice/plot", false)
	s.Grant(t, r, "will", account.Push)
	s.Import(t, r, gittest.Repository(t, 3, 2))
	return s.Tip(t, "alice", "alice/plot", "main")
}

// garden is a repository garden/plot of alice's with two branches ahead of main
// that change different files, and one, wild, that conflicts with slugs.
func garden(t *testing.T, s *apitest.Server) {
	t.Helper()
	plot(t, s)
	for branch, file := range map[string]string{"slugs": "slugs.txt", "snails": "snails.txt",
		"wild": "slugs.txt"} {
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/git/refs", As: "will", Status: 201,
			Send: `{"ref": "refs/heads/` + branch + `", "sha": "` + s.Tip(t, "alice", "alice/plot", "main") + `"}`})
		commit(t, s, "alice/plot", branch, file, "about "+branch)
	}
}

// commit adds a file to a branch and returns the new commit.
func commit(t *testing.T, s *apitest.Server, repo, branch, file, content string) string {
	t.Helper()
	var made struct{ Commit struct{ SHA string } }
	owner, _, _ := strings.Cut(repo, "/")
	s.Check(t, apitest.Case{Do: "PUT /repos/" + repo + "/contents/" + file, As: owner, Status: 201,
		Send: `{"message": "Add ` + file + ` on ` + branch + `", "branch": "` + branch + `", "content": "` +
			base64.StdEncoding.EncodeToString([]byte(content)) + `"}`}).JSON(t, &made)
	return made.Commit.SHA
}

// A change is proposed, looked at, and merged; what conflicts is not.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		const path = "{base}/repos/alice/plot/pulls/1"
		head := s.Tip(t, "alice", "alice/plot", "slugs")
		open := `{"number": 1, "state": "open", "title": "Fight slugs", "body": "fixes #2", "user": {"login": "sam"}, "merged": false, "mergeable": true, "mergeable_state": "clean",
			"merge_commit_sha": "$any", "merged_at": null, "merged_by": null, "url": "` + path + `", "html_url": "{base}/alice/plot/pull/1",
			"head": {"label": "alice:slugs", "ref": "slugs", "sha": "` + head + `", "user": {"login": "alice"}, "repo": {"full_name": "alice/plot"}},
			"base": {"label": "alice:main", "ref": "main", "repo": {"full_name": "alice/plot"}},
			"commits": 1, "additions": 1, "deletions": 0, "changed_files": 1, "comments": 0, "review_comments": 0, "maintainer_can_modify": false, "draft": false,
			"_links": {"self": {"href": "` + path + `"}, "html": {"href": "{base}/alice/plot/pull/1"}, "issue": {"href": "{base}/repos/alice/plot/issues/1"},
				"comments": {"href": "{base}/repos/alice/plot/issues/1/comments"}, "review_comments": {"href": "` + path + `/comments"},
				"review_comment": {"href": "{base}/repos/alice/plot/pulls/comments{/number}"}, "commits": {"href": "` + path + `/commits"},
				"statuses": {"href": "{base}/repos/alice/plot/statuses/` + head + `"}}}`
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send:   `{"title": "Fight slugs", "head": "slugs", "base": "main", "body": "fixes #2"}`,
				Status: 201, Want: open,
				Has: map[string]string{"Location": path}},
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200, Want: open},
			{Name: "an issue that it fixes", Do: "POST /repos/alice/plot/issues", As: "sam",
				Send: `{"title": "Slugs!"}`, Status: 201, Want: `{"number": 2}`},
			{Do: "GET /repos/alice/plot/pulls", Status: 200, Want: `[{"number": 1, "mergeable": "$absent"}]`},
			{Do: "GET /repos/alice/plot/pulls?head=alice:slugs&base=main", Status: 200,
				Want: `[{"number": 1}]`},
			{Do: "GET /repos/alice/plot/pulls?head=alice:snails", Status: 200, Want: `[]`},
			{Do: "GET /repos/alice/plot/pulls?base=dev", Status: 200, Want: `[]`},
			{Do: "GET /repos/alice/plot/pulls?state=closed", Status: 200, Want: `[]`},
			{Do: "GET /repos/alice/plot/issues?state=all", Status: 200,
				Want: `[{"number": 2, "pull_request": "$absent"}, {"number": 1, "pull_request": {"url": "` +
					path + `", "merged_at": null}}]`},
			{Do: "GET /repos/alice/plot/pulls/2", Status: 404},
			{Do: "GET /repos/alice/plot/pulls/1/commits", Status: 200,
				Want: `[{"sha": "` + head + `", "commit": {"message": "Add slugs.txt on slugs"}}]`},
			{Do: "GET /repos/alice/plot/pulls/1/files", Status: 200,
				Want: `[{"filename": "slugs.txt", "status": "added", "additions": 1, "patch": "@@ -0,0 +1 @@\n+about slugs\n\\ No newline at end of file"}]`},
			{Do: "GET /repos/alice/plot/pulls/1/merge", Status: 404, Body: "-"},
			{Name: "not without push access", Do: "PUT /repos/alice/plot/pulls/1/merge", As: "sam",
				Status: 403},
			{Name: "of another head", Do: "PUT /repos/alice/plot/pulls/1/merge", As: "will",
				Send: `{"sha": "` + strings.Repeat("1", 40) + `"}`, Status: 409,
				Want: `{"message": "Head branch was modified. Review and try the merge again.", "documentation_url": "$any"}`},
			{Name: "the second of the same branches", Do: "POST /repos/alice/plot/pulls", As: "will",
				Send: `{"title": "Again", "head": "alice:slugs", "base": "main"}`, Status: 422,
				Want: `{"errors": [{"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for alice:slugs."}]}`},
			{Name: "the conflicting one", Do: "POST /repos/alice/plot/pulls", As: "will",
				Send: `{"title": "Wild", "head": "wild", "base": "main"}`, Status: 201,
				Want: `{"number": 3, "mergeable": true}`},
			{Name: "merge", Do: "PUT /repos/alice/plot/pulls/1/merge", As: "will",
				Send: `{"sha": "` + head + `", "commit_message": "Well done."}`, Status: 200,
				Want: `{"sha": "$any", "merged": true, "message": "Pull Request successfully merged"}`},
			{Do: "GET /repos/alice/plot/pulls/1/merge", Status: 204, Body: "-"},
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"state": "closed", "merged": true, "merged_at": "$any", "merged_by": {"login": "will"}, "mergeable": null, "merge_commit_sha": "` + "$any" + `", "commits": 1}`},
			{Name: "still shows what it brought", Do: "GET /repos/alice/plot/pulls/1/files", Status: 200,
				Want: `[{"filename": "slugs.txt"}]`},
			{Name: "merged twice", Do: "PUT /repos/alice/plot/pulls/1/merge", As: "will", Status: 405,
				Want: `{"message": "Pull Request is not mergeable", "documentation_url": "$any"}`},
			{Name: "what it fixed is closed", Do: "GET /repos/alice/plot/issues/2", Status: 200,
				Want: `{"state": "closed", "closed_by": {"login": "will"}}`},
			{Name: "the other conflicts now", Do: "GET /repos/alice/plot/pulls/3", Status: 200,
				Want: `{"mergeable": false, "mergeable_state": "dirty", "merge_commit_sha": null}`},
			{Do: "PUT /repos/alice/plot/pulls/3/merge", As: "will", Status: 405},
			{Name: "no reopening of a merged one", Do: "PATCH /repos/alice/plot/issues/1", As: "will",
				Send: `{"state": "open"}`, Status: 422},
			{Name: "close", Do: "PATCH /repos/alice/plot/pulls/3", As: "will", Send: `{"state": "closed"}`,
				Status: 200, Want: `{"state": "closed", "merged": false}`},
			{Name: "reopen through the issue", Do: "PATCH /repos/alice/plot/issues/3", As: "will",
				Send: `{"state": "open"}`, Status: 200, Want: `{"state": "open"}`},
			{Do: "GET /repos/alice/plot/pulls/3", Status: 200, Want: `{"state": "open", "mergeable": false}`},
			{Name: "missing branches", Do: "POST /repos/alice/plot/pulls", As: "will",
				Send: `{"title": "x"}`, Status: 422,
				Want: `{"errors": [{"field": "head", "code": "missing_field"}, {"field": "base", "code": "missing_field"}]}`},
			{Name: "no such branches", Do: "POST /repos/alice/plot/pulls", As: "will",
				Send: `{"title": "x", "head": "no", "base": "neither"}`, Status: 422,
				Want: `{"errors": [{"field": "head", "code": "invalid"}, {"field": "base", "code": "invalid"}]}`},
			{Name: "nothing to merge", Do: "POST /repos/alice/plot/pulls", As: "will",
				Send: `{"title": "x", "head": "slugs", "base": "main"}`, Status: 422,
				Want: `{"errors": [{"code": "custom", "message": "No commits between main and slugs"}]}`},
			{Name: "of an issue", Do: "POST /repos/alice/plot/issues", As: "sam",
				Send: `{"title": "Snails!", "body": "see"}`, Status: 201, Want: `{"number": 4}`},
			{Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send: `{"issue": 4, "head": "snails", "base": "main"}`, Status: 201,
				Want: `{"number": 4, "title": "Snails!", "body": "see", "mergeable": true}`},
			{Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send: `{"issue": 9, "head": "snails", "base": "slugs"}`, Status: 422,
				Want: `{"errors": [{"field": "issue"}]}`},
		})
		diff := s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/pulls/1",
			Headers: map[string]string{"Accept": "application/vnd.service.v3.diff"}, Status: 200})
		if !strings.HasPrefix(string(diff.Body), "diff --git a/slugs.txt b/slugs.txt\n") {
			t.Errorf("the diff is %s", diff.Body)
		}
		patch := s.Check(t, apitest.Case{Do: "GET /alice/plot/pull/1.patch", Status: 200})
		if !strings.Contains(string(patch.Body), "\nSubject: [PATCH] Add slugs.txt on slugs\n") {
			t.Errorf("the patch is %s", patch.Body)
		}
	})
}
