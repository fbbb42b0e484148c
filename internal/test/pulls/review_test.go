package pulls_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// A maintainer approves, another asks for changes and is overruled.
func TestReviews(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		head := s.Tip(t, "alice", "alice/plot", "verse")
		const path = reviewPlot + "/pulls/1/reviews"
		s.Run(t, []apitest.Case{
			{Do: "POST " + reviewPlot + "/pulls/1/requested_reviewers", As: "sam",
				Send: `{"reviewers": ["will", "rita"]}`, Status: 201},
			{Do: "POST " + path, As: "will", Send: `{"event": "APPROVE", "body": "Good, @alice"}`,
				Status: 200,
				Want: `{"id": 1, "state": "APPROVED", "body": "Good, @alice", "user": {"login": "will"}, "commit_id": "` + head + `", "submitted_at": "$any",
					"html_url": "{base}/alice/plot/pull/1#pullrequestreview-1", "pull_request_url": "{base}` + reviewPlot + `/pulls/1", "author_association": "COLLABORATOR",
					"_links": {"html": {"href": "{base}/alice/plot/pull/1#pullrequestreview-1"}, "pull_request": {"href": "{base}` + reviewPlot + `/pulls/1"}}}`},
			{Name: "is asked no longer", Do: plotGet("/pulls/1/requested_reviewers"), Status: 200,
				Want: `{"users": [{"login": "rita"}]}`},
			{Do: "POST " + path, As: "rita", Status: 200,
				Want: `{"id": 2, "state": "CHANGES_REQUESTED", "body": ""}`,
				Send: `{"event": "REQUEST_CHANGES", "comments": [{"path": "song.txt", "line": 5, "body": "No"}, {"path": "song.txt", "position": 14, "body": "Neither"}]}`},
			{Do: plotGet("/pulls/1/reviews"), Status: 200,
				Want: `[{"id": 1, "state": "APPROVED"}, {"id": 2, "state": "CHANGES_REQUESTED"}]`},
			{Do: plotGet("/pulls/1/reviews?per_page=1&page=2"), Status: 200, Want: `[{"id": 2}]`},
			{Do: plotGet("/pulls/1/reviews/2/comments"), Status: 200,
				Want: `[{"body": "No", "line": 5, "pull_request_review_id": 2}, {"body": "Neither", "line": 15}]`},
			{Do: plotGet("/pulls/1"), Status: 200, Want: `{"review_comments": 2, "requested_reviewers": []}`},
			{Name: "only who may push overrules", Do: "PUT " + path + "/2/dismissals", As: "sam",
				Send: `{"message": "no"}`, Status: 403},
			{Do: "PUT " + path + "/2/dismissals", As: "will", Send: `{"event": "DISMISS"}`, Status: 422,
				Want: `{"errors": [{"field": "message", "code": "missing_field"}]}`},
			{Do: "PUT " + path + "/2/dismissals", As: "will",
				Send: `{"message": "It is fine", "event": "DISMISS"}`, Status: 200,
				Want: `{"state": "DISMISSED"}`},
			{Do: "PUT " + path + "/2/dismissals", As: "will", Send: `{"message": "again"}`, Status: 422},
			{Name: "edit", Do: "PUT " + path + "/1", As: "will", Send: `{"body": "Very good"}`, Status: 200,
				Want: `{"body": "Very good", "state": "APPROVED"}`},
			{Do: "PUT " + path + "/1", As: "alice", Send: `{"body": "Very good"}`, Status: 403},
			{Name: "no deletion", Do: "DELETE " + path + "/1", As: "will", Status: 422},
			{Do: "POST " + path + "/1/events", As: "will", Send: `{"event": "APPROVE"}`, Status: 422},
			{Do: plotGet("/pulls/1/reviews/1"), Headers: accept("full"), Status: 200,
				Want: `{"body": "Very good", "body_text": "Very good", "body_html": "<p>Very good</p>"}`},
			{Do: plotGet("/issues/1/timeline"), Status: 200,
				Want: `[{"event": "review_requested"}, {"event": "review_requested"},
				{"event": "reviewed", "id": 1, "state": "approved", "body": "Very good", "user": {"login": "will"}, "commit_id": "` + head + `", "author_association": "COLLABORATOR"},
				{"event": "mentioned"}, {"event": "subscribed"}, {"event": "reviewed", "id": 2, "state": "changes_requested", "body": ""},
				{"event": "review_dismissed", "dismissed_review": {"review_id": 2, "state": "changes_requested", "dismissal_message": "It is fine"}}]`},
			{Name: "as HTML", Do: plotGet("/issues/1/timeline?per_page=1&page=3"),
				Headers: accept("html"), Status: 200,
				Want: `[{"event": "reviewed", "id": 1, "body": "$absent", "body_html": "<p>Very good</p>"}]`},
		})
	})
}

// What is not submitted is its author's alone, and moves nothing.
func TestPendingReview(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		const path = reviewPlot + "/pulls/1/reviews"
		var before struct {
			UpdatedAt string `json:"updated_at"`
		}
		s.Check(t, apitest.Case{Do: plotGet("/pulls/1"), Status: 200}).JSON(t, &before)
		s.Run(t, []apitest.Case{
			{Do: "POST " + path, As: "rita",
				Send: `{"body": "Hm, @will", "comments": [{"path": "song.txt", "line": 5, "body": "Secret"}]}`, Status: 200,
				Want: `{"id": 1, "state": "PENDING", "submitted_at": "$absent"}`},
			{Name: "each their own", Do: "POST " + path, As: "will", Status: 200,
				Want: `{"state": "PENDING"}`},
			{Name: "one at a time", Do: "POST " + path, As: "rita", Status: 422,
				Want: `{"errors": [{"message": "User can only have one pending review per pull request"}]}`},
			{Do: "GET " + path, Status: 200, Body: `[]`},
			{Do: "GET " + path, As: "sam", Status: 200, Body: `[]`},
			{Do: "GET " + path, As: "rita", Status: 200, Want: `[{"id": 1}]`},
			{Do: "GET " + path + "/1", As: "alice", Status: 404},
			{Do: "GET " + path + "/1/comments", As: "alice", Status: 404},
			{Do: "GET " + path + "/1/comments", As: "rita", Status: 200,
				Want: `[{"id": 1, "body": "Secret"}]`},
			{Do: plotGet("/pulls/comments/1"), As: "alice", Status: 404},
			{Do: plotGet("/pulls/comments/1"), As: "rita", Status: 200},
			{Do: plotGet("/pulls/1/comments"), As: "rita", Status: 200, Body: `[]`},
			{Do: "PATCH " + reviewPlot + "/pulls/comments/1", As: "will", Send: `{"body": "x"}`, Status: 404},
			{Do: "DELETE " + reviewPlot + "/pulls/comments/1", As: "will", Status: 404},
			{Do: "POST " + reviewPlot + "/pulls/1/comments/1/replies", As: "will", Send: `{"body": "x"}`,
				Status: 404},
			{Do: "POST " + reviewPlot + "/pulls/comments/1/reactions", As: "will",
				Headers: map[string]string{"Accept": github}, Send: `{"content": "heart"}`, Status: 404},
			{Do: "POST " + path + "/1/events", As: "will", Send: `{"event": "APPROVE"}`, Status: 404},
			{Do: "PUT " + path + "/1/dismissals", As: "alice", Send: `{"message": "x"}`, Status: 404},
			{Do: "DELETE " + path + "/1", As: "alice", Status: 404},
			{Name: "a reply joins", Do: "POST " + reviewPlot + "/pulls/1/comments/1/replies", As: "rita",
				Send: `{"body": "More"}`, Status: 201, Want: `{"pull_request_review_id": 1}`},
			{Do: "PUT " + path + "/1", As: "rita", Send: `{"body": "Well, @will"}`, Status: 200,
				Want: `{"state": "PENDING"}`},
			{Name: "nothing moved", Do: plotGet("/pulls/1"), Status: 200,
				Want: `{"review_comments": 0, "updated_at": "` + before.UpdatedAt + `"}`},
			{Name: "nobody was told", Do: "GET /issues?filter=mentioned", As: "will",
				Status: 200, Body: `[]`},
			{Do: "POST " + path + "/1/events", As: "rita", Send: `{}`, Status: 422},
			{Do: "POST " + path + "/1/events", As: "rita", Send: `{"event": "DISMISS"}`, Status: 422},
			{Name: "submit", Do: "POST " + path + "/1/events", As: "rita", Send: `{"event": "COMMENT"}`,
				Status: 200, Want: `{"state": "COMMENTED", "body": "Well, @will", "submitted_at": "$any"}`},
			{Do: "GET /issues?filter=mentioned", As: "will", Status: 200, Want: `[{"number": 1}]`},
			{Do: plotGet("/pulls/1/comments"), Status: 200,
				Want: `[{"body": "Secret"}, {"body": "More", "in_reply_to_id": 1}]`},
			{Do: plotGet("/pulls/1"), Status: 200, Want: `{"review_comments": 2}`},
			{Name: "give up", Do: "DELETE " + path + "/2", As: "will", Status: 200,
				Want: `{"id": 2, "state": "PENDING"}`},
			{Do: "GET " + path, As: "will", Status: 200, Want: `[{"id": 1}]`},
			{Name: "and begin anew", Do: "POST " + path, As: "will", Status: 200,
				Want: `{"state": "PENDING"}`},
		})
	})
}

// What cannot be said is refused before anything is written.
func TestReviewsOfBadInput(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		path := "POST " + reviewPlot + "/pulls/1/reviews"
		many := strings.TrimSuffix(strings.Repeat(`{"path": "song.txt", "line": 5, "body": "x"},`, 501), ",")
		for _, send := range []string{
			`{"event": "COMMENT"}`, `{"event": "REQUEST_CHANGES", "body": "  "}`, `{"event": "approve"}`,
			`{"event": 1}`, `{"body": 1}`, `{"body": "a\u0000"}`,
			`{"body": "` + strings.Repeat("x", 65_537) + `"}`, `{"commit_id": "main"}`, `{"commit_id": 7}`,
			`{"commit_id": "` + strings.Repeat("2", 40) + `"}`,
			`{"comments": {}}`, `{"comments": "x"}`, `{"comments": [1]}`, `{"comments": ["x"]}`,
			`{"comments": [null]}`, `{"comments": [[]]}`, `{"comments": [{}]}`,
			`{"comments": [{"path": "song.txt", "line": 5}]}`,
			`{"comments": [{"path": "song.txt", "body": "x"}]}`, `{"comments": [{"line": 5, "body": "x"}]}`,
			`{"comments": [{"path": "song.txt", "line": 5, "body": "x"}, {"path": "song.txt", "line": 10, "body": "x"}]}`,
			`{"comments": [{"path": "nowhere", "line": 5, "body": "x"}]}`, `{"comments": [` + many + `]}`,
		} {
			s.Check(t, apitest.Case{Do: path, As: "rita", Send: send, Status: 422})
		}
		s.Run(t, []apitest.Case{
			{Do: path, As: "sam", Send: `{"event": "APPROVE"}`, Status: 422,
				Want: `{"errors": [{"message": "Can not approve your own pull request"}]}`},
			{Do: path, As: "sam", Send: `{"event": "REQUEST_CHANGES", "body": "x"}`, Status: 422,
				Want: `{"errors": [{"message": "Can not request changes on your own pull request"}]}`},
			{Do: path, As: "sam", Send: `{"event": "COMMENT", "body": "x"}`, Status: 200},
			{Do: path, As: "sam", Send: `[]`, Status: 400},
			{Do: path, Send: `{}`, Status: 401},
			{Name: "the others wrote nothing", Do: plotGet("/pulls/1/reviews"), As: "rita", Status: 200,
				Want: `[{"user": {"login": "sam"}}]`},
			{Do: plotGet("/pulls/1/reviews/99"), Status: 404},
			{Do: plotGet("/pulls/1/reviews/x"), Status: 404},
			{Do: plotGet("/pulls/2/reviews"), Status: 404},
			{Name: "a comment is nothing to dismiss", Do: "PUT " + reviewPlot + "/pulls/1/reviews/1/dismissals",
				As: "alice", Send: `{"message": "x"}`, Status: 422},
			{Do: "PUT " + reviewPlot + "/pulls/1/reviews/1/dismissals", As: "alice", Send: `{"message": 1}`,
				Status: 422},
			{Do: "PUT " + reviewPlot + "/pulls/1/reviews/1/dismissals", As: "alice",
				Send: `{"message": "x", "event": "x"}`, Status: 422},
			{Do: "PUT " + reviewPlot + "/pulls/1/reviews/1", As: "sam", Send: `{"body": 1}`, Status: 422},
			{Do: "PUT " + reviewPlot + "/pulls/1/reviews/1", As: "sam", Send: `{}`, Status: 422},
		})
		own := `{"comments": [{"path": "song.txt", "line": 5, "body": "x"}]}`
		s.Check(t, apitest.Case{Do: path, As: "sam", Send: own, Status: 200})
		s.Check(t, apitest.Case{Name: "nor by submitting", Do: "POST " + reviewPlot + "/pulls/1/reviews/2/events",
			As: "sam", Send: `{"event": "APPROVE"}`, Status: 422})
	})
}
