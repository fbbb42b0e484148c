package issues_test

import (
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

// A created issue exists under a number counted from one, with its author.
func TestIssue(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const path = "{base}/repos/garden/plot/issues/1"
		filed := `{"id": "$any", "node_id": "$any", "number": 1, "title": "Slugs", "body": "They are *everywhere*.", "state": "open", "locked": false,
			"url": "` + path + `", "repository_url": "{base}/repos/garden/plot", "labels_url": "` + path + `/labels{/name}",
			"comments_url": "` + path + `/comments", "events_url": "` + path + `/events", "html_url": "{base}/garden/plot/issues/1",
			"timeline_url": "` + path + `/timeline", "user": {"login": "sam"}, "labels": [], "assignee": null, "milestone": null, "comments": 0,
			"created_at": "$any", "updated_at": "$any", "closed_at": null, "author_association": "NONE", "active_lock_reason": null,
			"closed_by": null, "state_reason": null, "performed_via_github_app": null, "pull_request": "$absent", "repository": "$absent",
			"assignees": "$absent", "reactions": "$absent", "body_html": "$absent", "body_text": "$absent"}`
		s.Run(t, []apitest.Case{
			{Name: "anyone who can pull may file", Do: "POST /repos/garden/plot/issues", As: "sam",
				Send:   `{"title": "Slugs", "body": "They are *everywhere*."}`,
				Status: 201, Want: filed, Has: map[string]string{"Location": path}},
			{Name: "read", Do: "GET /repos/garden/plot/issues/1", Status: 200, Want: filed},
			{Name: "previews at GitHub's clients", Do: "GET /repos/garden/plot/issues/1",
				Headers: issuetest.Graduated, Status: 200,
				Want: `{"assignees": [], "reactions": {"url": "` + path +
					`/reactions", "total_count": 0, "+1": 0}}`},
			{Name: "one preview each", Do: "GET /repos/garden/plot/issues/1",
				Headers: map[string]string{"Accept": "application/vnd.service.cerberus-preview"}, Status: 200,
				Want: `{"assignees": [], "reactions": "$absent"}`},
			{Name: "text", Do: "GET /repos/garden/plot/issues/1",
				Headers: map[string]string{"Accept": "application/vnd.service.v3.text+json"}, Status: 200,
				Want: `{"body": "$absent", "body_text": "They are everywhere.", "body_html": "$absent"}`},
			{Name: "html", Do: "GET /repos/garden/plot/issues/1",
				Headers: map[string]string{"Accept": "application/vnd.service.v3.html+json"}, Status: 200,
				Want: `{"body": "$absent", "body_text": "$absent", "body_html": "<p>They are <em>everywhere</em>.</p>"}`},
			{Name: "full", Do: "GET /repos/garden/plot/issues/1",
				Headers: map[string]string{"Accept": "application/vnd.service.v3.full+json"}, Status: 200,
				Want: `{"body": "They are *everywhere*.", "body_text": "They are everywhere.", "body_html": "<p>They are <em>everywhere</em>.</p>"}`},
			{Name: "the author edits", Do: "PATCH /repos/garden/plot/issues/1", As: "sam",
				Send: `{"title": "Snails", "body": ""}`, Status: 200,
				Want: `{"title": "Snails", "body": null}`},
			{Name: "who can push edits and assigns", Do: "PATCH /repos/garden/plot/issues/1", As: "will",
				Send: `{"labels": ["Pest", "urgent"], "assignee": "WILL"}`, Status: 200,
				Want: `{"labels": [{"name": "Pest", "color": "ededed", "default": false, "description": null}, {"name": "urgent"}], "assignee": {"login": "will"}}`},
			{Name: "others do not", Do: "PATCH /repos/garden/plot/issues/1", As: "rae",
				Send: `{"title": "x"}`, Status: 403},
			{Name: "close", Do: "PATCH /repos/garden/plot/issues/1", As: "sam",
				Send: `{"state": "closed"}`, Status: 200,
				Want: `{"state": "closed", "closed_at": "$any", "closed_by": {"login": "sam"}, "state_reason": "completed"}`},
			{Name: "reopen", Do: "PATCH /repos/garden/plot/issues/1", As: "sam",
				Send: `{"state": "open"}`, Status: 200,
				Want: `{"state": "open", "closed_at": null, "closed_by": null, "state_reason": "reopened"}`},
			{Name: "the second", Do: "POST /repos/garden/plot/issues", As: "will",
				Send: `{"title": "Frost", "assignees": ["alice", "will"], "labels": ["pest"], "milestone": null}`, Headers: issuetest.Graduated, Status: 201,
				Want: `{"number": 2, "assignee": {"login": "alice"}, "assignees": [{"login": "alice"}, {"login": "will"}], "labels": [{"name": "Pest"}], "author_association": "COLLABORATOR"}`},
			{Name: "none", Do: "GET /repos/garden/plot/issues/3", Status: 404},
			{Name: "counted", Do: "GET /repos/garden/plot", Status: 200,
				Want: `{"open_issues_count": 2, "open_issues": 2}`},
			{Name: "not for strangers", Do: "POST /repos/garden/shed/issues", As: "sam",
				Send: `{"title": "x"}`, Status: 404},
			{Name: "not for the anonymous", Do: "POST /repos/garden/plot/issues", Send: `{"title": "x"}`,
				Status: 401},
		})
	})
}

// A new login appears in responses that were cached before.
func TestRenamedAuthors(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "sam", "garden/plot")
		s.Check(t, apitest.Case{Do: "POST " + on + "/comments", As: "sam", Send: `{"body": "x"}`, Status: 201})
		shows := func(login string) {
			t.Helper()
			for range 3 { // lists are kept when they are asked for again
				s.Check(t, apitest.Case{Do: "GET " + on, Status: 200, Want: `{"user": {"login": "` + login + `"}}`})
				for _, list := range []string{"/repos/garden/plot/issues", on + "/comments"} {
					s.Check(t, apitest.Case{Do: "GET " + list, Status: 200,
						Want: `[{"user": {"login": "` + login + `"}}]`})
				}
			}
		}
		shows("sam")
		s.Admin(t, "chief")
		shows("sam")
		s.Check(t, apitest.Case{Do: "PATCH /admin/users/sam", As: "chief", Send: `{"login": "samuel"}`, Status: 202})
		shows("samuel")
	})
}
