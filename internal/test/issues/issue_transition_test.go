package issues_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

// The interface's table of states and transitions: its rows on issues, each as all permitted callers and as
// others. Its rows on locks are in TestLock and TestLockRefusals.
func TestIssueTransitions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const (
			open     = `{"state": "open", "closed_at": null, "closed_by": null, "locked": false}`
			reopened = `{"state": "open", "closed_at": null, "closed_by": null, "state_reason": "reopened"}`
			closed   = `{"state": "closed", "closed_at": "$any", "closed_by": {"login": "$any"}, "state_reason": "completed"}`
			toClosed = `{"state": "closed"}`
			toOpen   = `{"state": "open"}`

			notPlanned = `{"state": "closed", "state_reason": "not_planned"}`
		)
		for _, row := range []struct {
			name   string
			before []apitest.Case // how the issue gets into its state
			by     apitest.Case   // the trigger; the path follows the issue's
			next   string
		}{
			{"open, closed by its author", nil,
				apitest.Case{Do: "PATCH ", As: "sam", Send: toClosed, Status: 200, Want: closed}, closed},
			{"open, closed by who can push", nil,
				apitest.Case{Do: "PATCH ", As: "will", Send: toClosed, Status: 200, Want: closed}, closed},
			{"open, closed by another", nil, apitest.Case{Do: "PATCH ", As: "rae", Send: toClosed,
				Status: 403}, open},
			{"open, closed by nobody", nil, apitest.Case{Do: "PATCH ", Send: toClosed, Status: 401}, open},
			{"open, opened", nil, apitest.Case{Do: "PATCH ", As: "sam", Send: toOpen, Status: 200,
				Want: open}, open},
			{"closed, opened by its author",
				[]apitest.Case{{Do: "PATCH ", As: "will", Send: toClosed, Status: 200}},
				apitest.Case{Do: "PATCH ", As: "sam", Send: toOpen, Status: 200, Want: reopened}, reopened},
			{"closed, opened by who can push",
				[]apitest.Case{{Do: "PATCH ", As: "sam", Send: toClosed, Status: 200}},
				apitest.Case{Do: "PATCH ", As: "will", Send: toOpen, Status: 200, Want: reopened}, reopened},
			{"closed, opened by another",
				[]apitest.Case{{Do: "PATCH ", As: "sam", Send: toClosed, Status: 200}},
				apitest.Case{Do: "PATCH ", As: "rae", Send: toOpen, Status: 403}, closed},
			{"closed, closed by another who can push",
				[]apitest.Case{{Do: "PATCH ", As: "sam", Send: toClosed, Status: 200}},
				apitest.Case{Do: "PATCH ", As: "will", Send: toClosed, Status: 200},
				`{"state": "closed", "closed_by": {"login": "sam"}}`},
			{"closed for a reason, closed again",
				[]apitest.Case{{Do: "PATCH ", As: "will", Send: notPlanned, Status: 200}},
				apitest.Case{Do: "PATCH ", As: "will", Send: toClosed, Status: 200},
				`{"state": "closed", "state_reason": "not_planned"}`},
			{"closed, closed for another reason",
				[]apitest.Case{{Do: "PATCH ", As: "will", Send: toClosed, Status: 200}},
				apitest.Case{Do: "PATCH ", As: "will", Send: notPlanned, Status: 200},
				`{"state": "closed", "state_reason": "not_planned"}`},
			{"open, closed as reopened", nil, apitest.Case{Do: "PATCH ", As: "will",
				Send: `{"state": "closed", "state_reason": "reopened"}`, Status: 200}, closed},
			{"locked, closed by its author",
				[]apitest.Case{{Do: "PUT /lock", As: "will", Headers: issuetest.Graduated, Status: 204}},
				apitest.Case{Do: "PATCH ", As: "sam", Send: toClosed, Status: 200},
				`{"state": "closed", "locked": true}`},
		} {
			t.Run(row.name, func(t *testing.T) {
				on := issuetest.File(t, s, "sam", "garden/plot")
				for _, c := range append(row.before, row.by) {
					method, rest, _ := strings.Cut(c.Do, " ")
					c.Do = method + " " + on + rest
					s.Check(t, c)
				}
				s.Check(t, apitest.Case{Do: "GET " + on, Status: 200, Want: row.next})
			})
		}
	})
}

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
		for _, method := range []string{"PUT ", "DELETE "} { // the second meets what the first did
			before := fmt.Sprintf(`{"locked": %t}`, method == "DELETE ")
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
				{Name: "nothing changed", Do: "GET " + on, Status: 200, Want: before},
				{Name: "with it", Do: method + on + "/lock", As: "will", Headers: key, Status: 204},
			})
		}
		for _, reason := range []string{`"boring"`, `""`, `"Spam"`, `1`, `true`, `["spam"]`, `{}`} {
			s.Check(t, apitest.Case{Do: "PUT " + on + "/lock", As: "will", Headers: key,
				Send: `{"lock_reason": ` + reason + `}`, Status: 422, Want: wrongField("lock_reason", "invalid")})
		}
		for send, want := range map[string]string{`[]`: noObject, `"spam"`: noObject, `{`: malformed} {
			s.Check(t, apitest.Case{Do: "PUT " + on + "/lock", As: "will", Headers: key, Send: send,
				Status: 400, Want: want})
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
		var own struct{ ID int64 }
		s.Check(t, apitest.Case{Do: "POST " + on + "/reactions", As: "sam", Headers: issuetest.Graduated,
			Send: `{"content": "heart"}`, Status: 201}).JSON(t, &own)
		s.Check(t, apitest.Case{Do: "PUT " + on + "/lock", As: "will", Headers: issuetest.Graduated, Status: 204})
		s.Run(t, []apitest.Case{
			{Name: "the author of the issue", Do: "POST " + on + "/comments", As: "sam",
				Send: `{"body": "x"}`, Status: 403, Want: locked},
			{Name: "before the body is looked at", Do: "POST " + on + "/comments", As: "sam", Send: `{`,
				Status: 403, Want: locked},
			{Name: "editing", Do: "PATCH " + at, As: "sam", Send: `{"body": "x"}`, Status: 403, Want: locked},
			{Name: "deleting", Do: "DELETE " + at, As: "sam", Status: 403, Want: locked},
			{Name: "reacting", Do: "POST " + on + "/reactions", As: "sam", Headers: issuetest.Graduated,
				Send: `{"content": "-1"}`, Status: 403, Want: locked},
			{Name: "taking a reaction back", Do: fmt.Sprintf("DELETE %s/reactions/%d", on, own.ID), As: "sam",
				Headers: issuetest.Graduated, Status: 403, Want: locked},
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
