// Tests of reviews against a whole server.
package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

const github = "application/vnd.github+json"

// A reader comments on a line, is answered, thinks again; everyone sees the
// lines that it is about.
func TestComments(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		head := s.Tip(t, "alice", "alice/plot", "verse")
		const one = reviewPlot + "/pulls/comments/1"
		first := `{"id": 1, "pull_request_review_id": 1, "url": "{base}` + one +
			`", "html_url": "{base}/alice/plot/pull/1#discussion_r1",
			"pull_request_url": "{base}` + reviewPlot + `/pulls/1", "path": "song.txt", "commit_id": "` + head + `", "original_commit_id": "` + head + `",
			"diff_hunk": "@@ -2,7 +2,7 @@ line 1\n line 2\n line 3\n line 4\n-line 5\n+FIVE", "body": "Why @alice?", "user": {"login": "rita"},
			"line": 5, "original_line": 5, "side": "RIGHT", "position": 5, "original_position": 5, "start_line": null, "original_start_line": null, "start_side": null,
			"subject_type": "line", "author_association": "NONE", "in_reply_to_id": "$absent", "reactions": "$absent",
			"_links": {"self": {"href": "{base}` + one + `"}, "html": {"href": "{base}/alice/plot/pull/1#discussion_r1"}, "pull_request": {"href": "{base}` + reviewPlot + `/pulls/1"}}}`
		s.Run(t, []apitest.Case{
			{Do: "POST " + reviewPlot + "/pulls/1/comments", As: "rita",
				Send:   `{"body": "Why @alice?", "commit_id": "` + head + `", "path": "song.txt", "line": 5}`,
				Status: 201,
				Want:   first, Has: map[string]string{"Location": "{base}" + one}},
			{Do: "GET " + one, Status: 200, Want: first},
			{Do: "GET " + reviewPlot + "/pulls/1/comments", Status: 200, Want: `[` + first + `]`},
			{Do: "GET " + reviewPlot + "/pulls/comments", Status: 200, Want: `[` + first + `]`},
			{Name: "counted", Do: "GET " + reviewPlot + "/pulls/1", Status: 200,
				Want: `{"review_comments": 1, "comments": 0}`},
			{Name: "mentioned", Do: "GET /issues?filter=mentioned", As: "alice", Status: 200,
				Want: `[{"number": 1}]`},
			{Name: "subscribed", Do: "GET " + reviewPlot + "/issues/1/subscription", As: "rita", Status: 200},
			{Name: "reply", Do: "POST " + reviewPlot + "/pulls/1/comments/1/replies", As: "sam",
				Send: `{"body": "Because"}`, Status: 201,
				Want: `{"id": 2, "in_reply_to_id": 1, "path": "song.txt", "line": 5, "diff_hunk": "$any", "user": {"login": "sam"}}`},
			{Name: "reply to a reply joins its thread", Do: "POST " + reviewPlot + "/pulls/1/comments", As: "will",
				Send: `{"body": "Really", "in_reply_to": 2}`, Status: 201,
				Want: `{"id": 3, "in_reply_to_id": 1, "author_association": "COLLABORATOR"}`},
			{Name: "reply to nothing", Do: "POST " + reviewPlot + "/pulls/1/comments", As: "will",
				Send: `{"body": "Really", "in_reply_to": 99}`, Status: 422,
				Want: `{"errors": [{"field": "in_reply_to", "code": "invalid"}]}`},
			{Do: "POST " + reviewPlot + "/pulls/1/comments/99/replies", As: "will", Send: `{"body": "x"}`,
				Status: 404},
			{Name: "several lines, before the change", Do: "POST " + reviewPlot + "/pulls/1/comments",
				As: "will", Status: 201,
				Send: `{"body": "x", "commit_id": "` + head +
					`", "path": "song.txt", "line": 15, "side": "LEFT", "start_line": 13, "start_side": "LEFT"}`,
				Want: `{"id": 4, "line": 15, "start_line": 13, "side": "LEFT", "start_side": "LEFT", "position": 13, "original_start_line": 13}`},
			{Name: "a position", Do: "POST " + reviewPlot + "/pulls/1/comments", As: "will",
				Send:   `{"body": "x", "commit_id": "` + head + `", "path": "song.txt", "position": 4}`,
				Status: 201,
				Want:   `{"id": 5, "line": 5, "side": "LEFT", "position": 4}`},
			{Name: "a file", Do: "POST " + reviewPlot + "/pulls/1/comments", As: "will",
				Send: `{"body": "x", "commit_id": "` + head +
					`", "path": "song.txt", "subject_type": "file"}`, Status: 201,
				Want: `{"id": 6, "line": null, "subject_type": "file", "diff_hunk": ""}`},
			{Do: "GET " + reviewPlot + "/pulls/1/comments?sort=created&direction=desc&per_page=2", Status: 200,
				Want: `[{"id": 6}, {"id": 5}]`},
			{Do: "GET " + reviewPlot + "/pulls/1/comments?per_page=2&page=2", Status: 200,
				Want: `[{"id": 3}, {"id": 4}]`},
			{Name: "a direction without a sort",
				Do: "GET " + reviewPlot + "/pulls/comments?direction=desc&per_page=1", Status: 200,
				Want: `[{"id": 1}]`},
			{Name: "not by another", Do: "PATCH " + one, As: "sam", Send: `{"body": "x"}`, Status: 403},
			{Name: "by its author", Do: "PATCH " + one, As: "rita", Send: `{"body": "Why **so**"}`,
				Status: 200, Want: `{"body": "Why **so**", "user": {"login": "rita"}}`},
			{Name: "by who may push", Do: "PATCH " + one, As: "will", Send: `{"body": "Why *not*"}`,
				Status: 200, Want: `{"body": "Why *not*", "user": {"login": "rita"}}`},
			{Do: "GET " + one, Headers: accept("full"), Status: 200,
				Want: `{"body": "Why *not*", "body_text": "Why not", "body_html": "<p>Why <em>not</em></p>"}`},
			{Do: "GET " + one, Headers: accept("html"), Status: 200,
				Want: `{"body": "$absent", "body_html": "$any"}`},
			{Do: "GET " + reviewPlot + "/pulls/comments?sort=updated&direction=desc&per_page=1", Status: 200,
				Want: `[{"id": 1}]`},
			{Do: "GET " + reviewPlot + "/pulls/comments?since=2100-01-01T00:00:00Z", Status: 200, Body: `[]`},
			{Do: "GET " + reviewPlot + "/pulls/comments?since=2000-01-01T00:00:00Z&per_page=1", Status: 200,
				Want: `[{"id": 1}]`},
			{Do: "DELETE " + one, As: "sam", Status: 403},
			{Do: "DELETE " + one, As: "rita", Status: 204, Body: "-"},
			{Do: "GET " + one, Status: 404},
			{Name: "its review said nothing else", Do: "GET " + reviewPlot + "/pulls/1/reviews/1", Status: 404},
			{Name: "replies stay", Do: "GET " + reviewPlot + "/pulls/comments/2", Status: 200,
				Want: `{"in_reply_to_id": 1}`},
			{Name: "and are answered", Do: "POST " + reviewPlot + "/pulls/1/comments/2/replies", As: "sam",
				Send: `{"body": "Because"}`, Status: 201, Want: `{"in_reply_to_id": 1, "line": 5}`},
			{Do: "GET " + reviewPlot + "/pulls/1", Status: 200, Want: `{"review_comments": 6}`},
			{Name: "events are elsewhere", Do: "GET " + reviewPlot + "/issues/1/events", Status: 200,
				Want: `[{"event": "mentioned"}, {"event": "subscribed"}]`},
		})
	})
}

func accept(kind string) map[string]string {
	return map[string]string{"Accept": "application/vnd.service.v3." + kind + "+json"}
}

// What is wrong with a comment is said field by field, and nothing is written.
func TestCommentsOfBadInput(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		head, base := s.Tip(t, "alice", "alice/plot", "verse"), s.Tip(t, "alice", "alice/plot", "main")
		path := "POST " + reviewPlot + "/pulls/1/comments"
		whole := func(change string) string {
			return strings.Replace(`{"body": "x", "commit_id": "`+head+`", "path": "song.txt", "line": 5, `+
				change+`}`, ", }", "}", 1)
		}
		for _, c := range []struct{ send, field string }{
			{`{}`, "body"}, {whole(`"body": ""`), "body"}, {whole(`"body": null`), "body"},
			{whole(`"body": "  \n"`), "body"}, {whole(`"body": 7`), "body"},
			{whole(`"body": ["x"]`), "body"}, {whole(`"body": "a\u0000"`), "body"},
			{whole(`"body": "` + strings.Repeat("é", 65_537) + `"`), "body"},
			{whole(`"commit_id": null`), "commit_id"}, {whole(`"commit_id": 5`), "commit_id"},
			{whole(`"commit_id": "main"`), "commit_id"}, {whole(`"commit_id": "--help"`), "commit_id"},
			{whole(`"commit_id": "` + base + `"`), "commit_id"},
			{whole(`"commit_id": "` + strings.Repeat("1", 40) + `"`), "commit_id"},
			{whole(`"path": null`), "path"}, {whole(`"path": 1`), "path"},
			{whole(`"path": "other.txt"`), "pull_request_review_thread.path"},
			{whole(`"path": "../song.txt"`), "pull_request_review_thread.path"},
			{whole(`"path": "--help"`), "pull_request_review_thread.path"},
			{whole(`"line": null`), "line"}, {whole(`"line": "5"`), "line"}, {whole(`"line": 5.5`), "line"},
			{whole(`"line": 10`), "pull_request_review_thread.line"},
			{whole(`"line": 0`), "pull_request_review_thread.line"},
			{whole(`"line": -5`), "pull_request_review_thread.line"},
			{whole(`"line": 9223372036854775807`), "pull_request_review_thread.line"},
			{whole(`"line": 92233720368547758070`), "line"},
			{whole(`"line": 9, "side": "LEFT"`), "pull_request_review_thread.line"},
			{whole(`"side": "left"`), "side"}, {whole(`"side": 1`), "side"},
			{whole(`"start_side": "x", "start_line": 3`), "start_side"},
			{whole(`"start_line": "3"`), "start_line"},
			{whole(`"start_line": 1`), "pull_request_review_thread.start_line"},
			{whole(`"start_line": 0`), "pull_request_review_thread.start_line"},
			{whole(`"start_line": 5`), "pull_request_review_thread.start_line"},
			{whole(`"start_line": 6`), "pull_request_review_thread.start_line"},
			{whole(`"line": 15, "start_line": 5`), "pull_request_review_thread.start_line"},
			{whole(`"line": null, "position": 0`), "pull_request_review_thread.position"},
			{whole(`"line": null, "position": 9`), "pull_request_review_thread.position"},
			{whole(`"line": null, "position": 100`), "pull_request_review_thread.position"},
			{whole(`"line": null, "position": "1"`), "position"},
			{whole(`"subject_type": "x"`), "subject_type"}, {whole(`"subject_type": []`), "subject_type"},
			{`{"body": "x", "in_reply_to": "1"}`, "in_reply_to"},
			{`{"body": "x", "in_reply_to": 0}`, "in_reply_to"},
			{`{"body": "x", "in_reply_to": 7}`, "in_reply_to"},
		} {
			a := s.Check(t, apitest.Case{Do: path, As: "rita", Send: c.send, Status: 422})
			if !strings.Contains(string(a.Body), `"field":"`+c.field+`"`) {
				t.Errorf("%.200s: %s does not name %s", c.send, a.Body, c.field)
			}
		}
		s.Run(t, []apitest.Case{
			{Name: "GitHub's words", Do: path, As: "rita", Send: whole(`"line": 10`), Status: 422,
				Want: `{"errors": [{"resource": "PullRequestReviewComment", "code": "custom", "message": "pull_request_review_thread.line must be part of the diff"}]}`},
			{Do: path, As: "rita", Send: `[]`, Status: 400},
			{Do: path, As: "rita", Send: `{`, Status: 400},
			{Do: path, Send: whole(``), Status: 401},
			{Name: "nothing was written", Do: "GET " + reviewPlot + "/pulls/1/comments", Status: 200, Body: `[]`},
			{Do: "GET " + reviewPlot + "/pulls/1/reviews", Status: 200, Body: `[]`},
			{Do: "GET " + reviewPlot + "/pulls/1/comments?sort=x", Status: 422},
			{Do: "GET " + reviewPlot + "/pulls/comments?direction=x", Status: 422},
			{Do: "GET " + reviewPlot + "/pulls/comments?since=yesterday", Status: 422},
			{Do: "GET " + reviewPlot + "/pulls/9/comments", Status: 404},
			{Do: "GET " + reviewPlot + "/pulls/x/comments", Status: 404},
			{Do: "GET " + reviewPlot + "/pulls/comments/01", Status: 404},
			{Do: "GET " + reviewPlot + "/pulls/comments/99999999999999999999", Status: 404},
		})
	})
}

// A comment of one repository is none of another; a private one's are nobody's
// business.
func TestCommentsElsewhere(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		head := s.Tip(t, "alice", "alice/plot", "verse")
		id := say(t, s, "rita", `{"body": "x", "commit_id": "`+head+`", "path": "song.txt", "line": 5}`)
		s.Repo(t, "rita/own", false)
		s.Check(t, apitest.Case{Do: "POST " + reviewPlot + "/git/refs", As: "alice", Status: 201,
			Send: `{"ref": "refs/heads/again", "sha": "` + head + `"}`})
		write(t, s, "again", "more.txt", "more\n")
		s.Check(t, apitest.Case{Do: "POST " + reviewPlot + "/pulls", As: "sam",
			Send: `{"title": "Again", "head": "again", "base": "main"}`, Status: 201, Want: `{"number": 2}`})
		for _, do := range []string{"GET", "PATCH", "DELETE"} {
			s.Check(t, apitest.Case{Do: fmt.Sprintf("%s /repos/rita/own/pulls/comments/%d", do, id),
				As: "rita", Send: `{"body": "y"}`, Status: 404})
		}
		s.Run(t, []apitest.Case{
			{Name: "of another pull request", Do: fmt.Sprintf("POST %s/pulls/2/comments/%d/replies", reviewPlot,
				id), As: "rita", Send: `{"body": "y"}`, Status: 404},
			{Do: plotGet("/pulls/2/reviews/1"), Status: 404},
			{Do: "PATCH " + reviewPlot, As: "alice", Send: `{"private": true}`, Status: 200},
			{Do: plotGet("/pulls/comments"), Status: 404},
			{Do: plotGet(fmt.Sprint("/pulls/comments/", id)), As: "rita", Status: 404},
			{Do: plotGet("/pulls/1/reviews"), As: "rita", Status: 404},
			{Do: fmt.Sprintf("DELETE %s/pulls/comments/%d", reviewPlot, id), As: "rita", Status: 404},
			{Do: plotGet(fmt.Sprint("/pulls/comments/", id)), As: "will", Status: 200},
		})
	})
}

func plotGet(path string) string { return "GET " + reviewPlot + path }

// In a locked conversation only those with push access speak.
func TestCommentsInLockedConversation(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		send := `{"body": "x", "commit_id": "` + s.Tip(t, "alice", "alice/plot", "verse") +
			`", "path": "song.txt", "line": 5}`
		id := say(t, s, "rita", send)
		one := fmt.Sprint(reviewPlot, "/pulls/comments/", id)
		s.Run(t, []apitest.Case{
			{Do: "PUT " + reviewPlot + "/issues/1/lock", As: "will", Headers: map[string]string{"Accept": github},
				Status: 204},
			{Do: "POST " + reviewPlot + "/pulls/1/comments", As: "rita", Send: send, Status: 403},
			{Do: fmt.Sprint("POST ", reviewPlot, "/pulls/1/comments/", id, "/replies"), As: "sam",
				Send: `{"body": "x"}`, Status: 403},
			{Do: "POST " + reviewPlot + "/pulls/1/reviews", As: "rita", Send: `{"event": "APPROVE"}`, Status: 403},
			{Do: "PATCH " + one, As: "rita", Send: `{"body": "y"}`, Status: 403},
			{Do: "DELETE " + one, As: "rita", Status: 403},
			{Do: "POST " + one + "/reactions", As: "rita", Headers: map[string]string{"Accept": github},
				Send: `{"content": "heart"}`, Status: 403},
			{Do: "POST " + reviewPlot + "/pulls/1/comments", As: "will", Send: send, Status: 201},
		})
	})
}

// Reactions to comments count in their payloads, and go away with them.
func TestReactions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		one := fmt.Sprint(reviewPlot, "/pulls/comments/", say(t, s, "rita",
			`{"body": "x", "commit_id": "`+s.Tip(t, "alice", "alice/plot", "verse")+
				`", "path": "song.txt", "line": 5}`))
		h := map[string]string{"Accept": github}
		s.Run(t, []apitest.Case{
			{Do: "POST " + one + "/reactions", As: "sam", Headers: h, Send: `{"content": "heart"}`,
				Status: 201, Want: `{"id": 1, "content": "heart"}`},
			{Do: "GET " + one, Headers: h, Status: 200,
				Want: `{"reactions": {"url": "{base}` + one + `/reactions", "total_count": 1, "heart": 1}}`},
			{Do: "GET " + one + "/reactions", Headers: h, Status: 200,
				Want: `[{"id": 1, "user": {"login": "sam"}}]`},
			{Name: "a preview", Do: "GET " + one + "/reactions", Status: 415},
			{Do: "POST " + one + "/reactions", As: "sam", Headers: h, Send: `{"content": "x"}`, Status: 422},
			{Do: "DELETE " + one + "/reactions/1", As: "will", Headers: h, Status: 403},
			{Do: "DELETE " + one + "/reactions/2", As: "sam", Headers: h, Status: 404},
			{Do: "DELETE " + one + "/reactions/1", As: "sam", Headers: h, Status: 204},
			{Do: "GET " + one, Headers: h, Status: 200, Want: `{"reactions": {"total_count": 0}}`},
		})
	})
}

// A comment stands at its line while the branch grows, and is outdated when the
// line is gone; what it was about stays.
func TestCommentsFollowTheHead(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		head := s.Tip(t, "alice", "alice/plot", "verse")
		at := func(rest string) string {
			return `{"body": "x", "commit_id": "` + head + `", "path": "song.txt", ` + rest + `}`
		}
		say(t, s, "rita", at(`"line": 5`))                             // 1: changed later
		say(t, s, "rita", at(`"line": 15, "start_line": 13`))          // 2: moves down
		say(t, s, "rita", at(`"line": 15, "side": "LEFT"`))            // 3: what was there before
		say(t, s, "rita", at(`"subject_type": "file"`))                // 4
		say(t, s, "rita", `{"body": "reply to it", "in_reply_to": 2}`) // 5
		next := write(t, s, "verse", "song.txt",
			song(map[int]string{1: "zero\nline 1", 5: "Fünf", 15: "FIFTEEN"}))
		list := `[
			{"id": 1, "position": null, "line": null, "commit_id": "` + head + `", "original_line": 5, "original_position": 5},
			{"id": 2, "position": "$any", "line": 16, "start_line": 14, "original_line": 15, "original_start_line": 13, "commit_id": "` + next + `", "original_commit_id": "` + head + `"},
			{"id": 3, "line": 15, "side": "LEFT", "commit_id": "` + next + `"},
			{"id": 4, "position": 1, "line": null, "commit_id": "` + next + `"},
			{"id": 5, "line": 16, "in_reply_to_id": 2}]`
		s.Run(t, []apitest.Case{
			{Do: plotGet("/pulls/1/comments"), Status: 200, Want: list},
			{Name: "as it was stored", Do: plotGet("/pulls/comments"), Status: 200, Want: list},
		})
		write(t, s, "verse", "other.txt", "changed\n")
		s.Check(t, apitest.Case{Do: plotGet("/pulls/1/comments"), Status: 200,
			Want: `[{"position": null}, {"line": 16}, {"line": 15}, {"position": 1}, {"line": 16}]`})
		s.Check(t, apitest.Case{Name: "on an earlier commit", Do: "POST " + reviewPlot + "/pulls/1/comments",
			As: "rita", Send: at(`"line": 15`), Status: 201,
			Want: `{"original_commit_id": "` + head + `", "original_line": 15, "line": 16}`})
		write(t, s, "verse", "song.txt", song(nil))
		s.Check(t, apitest.Case{Name: "the file is as it was", Do: plotGet("/pulls/1/comments"), Status: 200,
			Want: `[{"position": null}, {"position": null, "start_line": null}, {"position": null}, {"position": null}, {"position": null}, {"position": null}]`})
	})
}

// A branch that is rewritten takes no comment away.
func TestCommentsOfRewrittenBranch(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		say(t, s, "rita", `{"body": "x", "commit_id": "`+
			s.Tip(t, "alice", "alice/plot", "verse")+`", "path": "song.txt", "line": 5}`)
		branch(t, s, "other", s.Tip(t, "alice", "alice/plot", "main"))
		other := write(t, s, "other", "song.txt", song(map[int]string{2: "", 5: "FIVE"}))
		s.Run(t, []apitest.Case{
			{Do: "PATCH " + reviewPlot + "/git/refs/heads/verse", As: "alice",
				Send: `{"sha": "` + other + `", "force": true}`, Status: 200},
			{Do: plotGet("/pulls/1/comments"), Status: 200,
				Want: `[{"id": 1, "line": 4, "commit_id": "` + other + `", "original_line": 5}]`},
		})
	})
}
