package issues_test

import (
	"fmt"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

// A conversation that got out of hand can be stopped, and taken up again: each
// transition, from each state.
func TestLock(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const open, locked = `{"locked": false, "active_lock_reason": null}`,
			`{"locked": true, "active_lock_reason": null}`
		heated, spam := `{"locked": true, "active_lock_reason": "too heated"}`,
			`{"locked": true, "active_lock_reason": "spam"}`
		type transition struct{ method, send, want string }
		for name, on := range map[string]string{"issue": issuetest.File(t, s, "sam", "garden/plot"),
			"pull": issuetest.FilePull(t, s, "sam", "garden/plot")} {
			t.Run(name, func(t *testing.T) {
				for _, step := range []transition{
					{"DELETE", "", open}, {"PUT", "", locked}, {"PUT", "{}", locked}, {"PUT", "null", locked},
					{"PUT", `{"lock_reason": "too heated"}`, heated},
					{"PUT", `{"lock_reason": "too heated"}`, heated},
					{"PUT", `{"lock_reason": "spam"}`, spam}, {"PUT", `{"lock_reason": null}`, locked},
					{"PUT", `{"lock_reason": "off-topic", "more": 1}`, `{"active_lock_reason": "off-topic"}`},
					{"PUT", `{"lock_reason": "resolved"}`, `{"active_lock_reason": "resolved"}`},
					{"DELETE", "", open}, {"DELETE", "{}", open}, {"PUT", `{"lock_reason": "spam"}`, spam},
					{"DELETE", "null", open},
				} {
					s.Check(t, apitest.Case{Do: step.method + " " + on + "/lock", As: "will",
						Headers: issuetest.Graduated, Send: step.send, Status: 204, Body: "-"})
					s.Check(t, apitest.Case{Do: "GET " + on, Status: 200, Want: step.want})
				}
			})
		}
	})
}

// Locking requires the right and the preview's media type (decision 6).
func TestLockRefusals(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "sam", "garden/plot")
		private := issuetest.File(t, s, "rae", "garden/shed")
		const told = `{"message": "Locking is the preview the-key-preview: send an 'Accept' header with application/vnd.service.the-key-preview+json"}`
		key := issuetest.Media("the-key-preview")
		for _, method := range []string{"PUT ", "DELETE "} {
			s.Run(t, []apitest.Case{
				{Name: "without the preview", Do: method + on + "/lock", As: "will", Status: 415, Want: told},
				{Name: "another preview", Do: method + on + "/lock", As: "will",
					Headers: issuetest.Media("cerberus-preview"), Status: 415, Want: told},
				{Name: "anonymous", Do: method + on + "/lock", Headers: key, Status: 401},
				{Name: "the author", Do: method + on + "/lock", As: "sam", Headers: key, Status: 403,
					Want: `{"message": "Must have push access to Repository."}`},
				{Name: "a reader", Do: method + private + "/lock", As: "rae", Headers: key, Status: 403},
				{Name: "a stranger", Do: method + private + "/lock", As: "sam", Headers: key, Status: 404},
				{Name: "no issue", Do: method + "/repos/garden/plot/issues/7/lock", As: "will", Headers: key,
					Status: 404},
				{Name: "with it", Do: method + on + "/lock", As: "will", Headers: key, Status: 204},
			})
		}
		for _, c := range []struct {
			send   string
			status int
		}{
			{`{"lock_reason": "boring"}`, 422}, {`{"lock_reason": ""}`, 422},
			{`{"lock_reason": "Spam"}`, 422}, {`{"lock_reason": 1}`, 422},
			{`{"lock_reason": true}`, 422}, {`{"lock_reason": ["spam"]}`, 422}, {`{"lock_reason": {}}`, 422},
			{`[]`, 400}, {`"spam"`, 400}, {`{`, 400},
		} {
			want := ""
			if c.status == 422 {
				want = `{"errors": [{"resource": "Issue", "field": "lock_reason", "code": "invalid"}]}`
			}
			s.Check(t, apitest.Case{Do: "PUT " + on + "/lock", As: "will", Headers: key, Send: c.send,
				Status: c.status, Want: want})
		}
		s.Check(t, apitest.Case{Do: "GET " + on, Status: 200, Want: `{"locked": false}`})
	})
}

// In a locked conversation only those with push access have a say, also through
// what they said before (decision 34).
func TestLockedConversation(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "sam", "garden/plot")
		at := fmt.Sprintf("/repos/garden/plot/issues/comments/%d",
			issuetest.Comment(t, s, "sam", on, "before"))
		const locked = `{"message": "The conversation is locked: must have push access to Repository."}`
		lock := apitest.Case{Do: "PUT " + on + "/lock", As: "will", Headers: issuetest.Graduated, Status: 204}
		s.Check(t, lock)
		s.Run(t, []apitest.Case{
			{Name: "the author of the issue", Do: "POST " + on + "/comments", As: "sam",
				Send: `{"body": "x"}`, Status: 403, Want: locked},
			{Name: "before the body is looked at", Do: "POST " + on + "/comments", As: "sam", Send: `{`,
				Status: 403, Want: locked},
			{Name: "editing", Do: "PATCH " + at, As: "sam", Send: `{"body": "x"}`, Status: 403, Want: locked},
			{Name: "deleting", Do: "DELETE " + at, As: "sam", Status: 403, Want: locked},
			{Name: "reacting", Do: "POST " + on + "/reactions", As: "sam", Headers: issuetest.Graduated,
				Send: `{"content": "-1"}`, Status: 403, Want: locked},
			{Name: "reacting to a comment", Do: "POST " + at + "/reactions", As: "sam",
				Headers: issuetest.Graduated, Send: `{"content": "-1"}`, Status: 403, Want: locked},
			{Name: "reading", Do: "GET " + on + "/comments", As: "sam", Status: 200,
				Want: `[{"body": "before"}]`},
			{Name: "following", Do: "PUT " + on + "/subscription", As: "rae", Status: 200},
			{Name: "who can push comments", Do: "POST " + on + "/comments", As: "will",
				Send: `{"body": "enough"}`, Status: 201},
			{Name: "who can push edits", Do: "PATCH " + at, As: "will", Send: `{"body": "[removed]"}`,
				Status: 200},
			{Name: "who can push reacts", Do: "POST " + at + "/reactions", As: "alice",
				Headers: issuetest.Graduated, Send: `{"content": "+1"}`, Status: 201},
			{Name: "who can push deletes", Do: "DELETE " + at, As: "alice", Status: 204},
			{Name: "unlock", Do: "DELETE " + on + "/lock", As: "will", Headers: issuetest.Graduated,
				Status: 204},
			{Name: "all may speak again", Do: "POST " + on + "/comments", As: "sam",
				Send: `{"body": "sorry"}`, Status: 201},
		})
	})
}
