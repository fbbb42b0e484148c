package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// Reviewers and bots comment on commits that no pull request has.
func TestCommitComments(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol", "will")
		s.Admin(t, "chief")
		r := s.Repo(t, "alice/garden", false)
		s.Grant(t, r, "will", account.Push)
		dir := gittest.Bare(t)
		gittest.Import(t, dir,
			strings.NewReader("commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n"+
				"M 100644 inline a\ndata 1\na\ncommit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\ny\n"))
		s.Import(t, r, dir)
		tip, first := gittest.Run(t, dir, "rev-parse", "main"), gittest.Run(t, dir, "rev-parse", "main~1")
		const one = "/repos/alice/garden/comments/1"
		on := func(sha string) string { return "/repos/alice/garden/commits/" + sha + "/comments" }
		star := map[string]string{"Accept": "application/vnd.github.v3.full+json"}
		s.Run(t, []apitest.Case{
			{Do: "POST " + on(tip), As: "bob",
				Send: `{"body": "Why **now**, @alice?", "path": "a", "position": 1, "line": 1}`, Status: 201,
				Want: fmt.Sprintf(`{"id": 1, "commit_id": %q, "path": "a", "position": 1, "line": 1, "body": "Why **now**, @alice?", "user": {"login": "bob"},
					"url": "{base}%s", "html_url": "{base}/alice/garden/commit/%s#commitcomment-1", "author_association": "NONE", "reactions": "$absent"}`, tip, one, tip),
				Has: map[string]string{"Location": "{base}" + one}},
			{Do: "POST " + on(first), As: "alice", Send: `{"body": "first"}`, Status: 201,
				Want: `{"path": null, "position": null, "line": null, "author_association": "OWNER"}`},
			{Do: "GET " + on(tip), Status: 200, Want: `[{"id": 1}]`},
			{Do: "GET " + on("main"), Status: 200, Want: `[{"id": 1}]`},
			{Do: "GET " + on(first[:10]), Status: 200, Want: `[{"id": 2}]`},
			{Do: "GET /repos/alice/garden/comments", Status: 200, Want: `[{"id": 1}, {"id": 2}]`},
			{Do: "GET /repos/alice/garden/comments?per_page=1&page=2", Status: 200, Want: `[{"id": 2}]`},
			{Do: "GET " + one, Status: 200, Headers: star, Want: `{"reactions": {"total_count": 0},
				"body_html": "<p>Why <strong>now</strong>, <a class=\"user-mention\" href=\"{base}/alice\">@alice</a>?</p>"}`},
			{Do: "POST " + one + "/reactions", As: "carol", Headers: star, Send: `{"content": "heart"}`,
				Status: 201},
			{Do: "GET " + one + "/reactions", Headers: star, Status: 200,
				Want: `[{"content": "heart", "user": {"login": "carol"}}]`},
			{Do: "GET " + one, Status: 200, Headers: star,
				Want: `{"reactions": {"total_count": 1, "heart": 1}}`},
			{Do: "DELETE " + one + "/reactions/1", As: "bob", Headers: star, Status: 403},
			{Do: "GET /users/bob/events", Status: 200,
				Want: `[{"type": "CommitCommentEvent", "payload": {"action": "created", "comment": {"id": 1}}}]`},
			{Do: "POST " + on(tip), Send: `{"body": "x"}`, Status: 401},
			{Do: "POST " + on(strings.Repeat("0", 40)), As: "bob", Send: `{"body": "x"}`, Status: 422},
			{Do: "POST " + on("nowhere"), As: "bob", Send: `{"body": "x"}`, Status: 422},
			{Do: "POST " + on(tip), As: "bob", Send: `{}`, Status: 422,
				Want: `{"errors": [{"resource": "CommitComment", "field": "body", "code": "missing_field"}]}`},
			{Do: "POST " + on(tip), As: "bob", Send: `{"body": " "}`, Status: 422},
			{Do: "POST " + on(tip), As: "bob", Send: `{"body": "x", "position": -1}`, Status: 422},
			{Do: "POST " + on(tip), As: "bob", Send: `{"body": "x", "line": "1"}`, Status: 422},
			{Do: "PATCH " + one, As: "carol", Send: `{"body": "x"}`, Status: 403},
			{Do: "PATCH " + one, As: "bob", Send: `{"body": "Because"}`, Status: 200,
				Want: `{"body": "Because"}`},
			{Do: "PATCH " + one, As: "will", Send: `{"body": ""}`, Status: 422},
			{Do: "PATCH " + one, As: "will", Send: `{"body": "So"}`, Status: 200,
				Want: `{"body": "So", "user": {"login": "bob"}}`},
			{Do: "GET /repos/alice/garden/comments/99", Status: 404},
			{Do: "DELETE " + one, As: "carol", Status: 403},
			// It stays with ghost when its author goes, and when nothing leads to the commit.
			{Do: "DELETE /admin/users/bob", As: "chief", Status: 204},
			{Do: "GET " + one, Status: 200, Want: `{"user": {"login": "ghost"}}`},
			{Do: "PATCH /repos/alice/garden/git/refs/heads/main", As: "alice",
				Send: fmt.Sprintf(`{"sha": %q, "force": true}`, first), Status: 200},
			{Do: "GET " + one, Status: 200},
			{Do: "GET " + on(tip), Status: 422},
			// What is private tells nobody; what is archived takes nothing.
			{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200},
			{Do: "GET " + one, As: "carol", Status: 404},
			{Do: "GET /repos/alice/garden/comments", As: "carol", Status: 404},
			{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"archived": true}`, Status: 200},
			{Do: "POST " + on(first), As: "alice", Send: `{"body": "x"}`, Status: 403},
			{Do: "DELETE " + one, As: "alice", Status: 403},
			{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"archived": false}`, Status: 200},
			{Do: "DELETE " + one, As: "will", Status: 204},
			{Do: "GET " + one, As: "alice", Status: 404},
			{Do: "GET /repos/alice/garden/comments", As: "alice", Status: 200, Want: `[{"id": 2}]`},
		})
	})
}
