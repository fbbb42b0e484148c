package issues_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

// The interface's table of states and transitions: its rows on issues and their conversations, each as all
// permitted callers and as others.
func TestIssueTransitions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		preview := issuetest.Media("the-key-preview")
		const (
			open     = `{"state": "open", "closed_at": null, "closed_by": null, "locked": false}`
			reopened = `{"state": "open", "closed_at": null, "closed_by": null, "state_reason": "reopened"}`
			closed   = `{"state": "closed", "closed_at": "$any", "closed_by": {"login": "$any"}, "state_reason": "completed"}`
			locked   = `{"locked": true, "state": "open"}`
			unlocked = `{"locked": false, "active_lock_reason": null, "state": "open"}`
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
			{"unlocked, locked", nil, apitest.Case{Do: "PUT /lock", As: "will", Headers: preview, Status: 204,
				Body: "-"}, locked},
			{"unlocked, locked without push access", nil,
				apitest.Case{Do: "PUT /lock", As: "sam", Headers: preview, Status: 403}, unlocked},
			{"unlocked, locked by nobody", nil, apitest.Case{Do: "PUT /lock", Headers: preview, Status: 401},
				unlocked},
			{"unlocked, locked without the media type", nil, apitest.Case{Do: "PUT /lock", As: "will",
				Status: 415, Want: `{"message": "$any", "documentation_url": "$any"}`}, unlocked},
			{"unlocked, locked with another preview", nil, apitest.Case{Do: "PUT /lock", As: "will",
				Headers: issuetest.Media("cerberus-preview"), Status: 415}, unlocked},
			{"unlocked, unlocked", nil, apitest.Case{Do: "DELETE /lock", As: "will", Headers: preview,
				Status: 204}, unlocked},
			{"locked, unlocked", []apitest.Case{{Do: "PUT /lock", As: "alice", Headers: preview,
				Status: 204}},
				apitest.Case{Do: "DELETE /lock", As: "will", Headers: preview, Status: 204, Body: "-"},
				unlocked},
			{"locked, unlocked without push access",
				[]apitest.Case{{Do: "PUT /lock", As: "will", Headers: preview, Status: 204}},
				apitest.Case{Do: "DELETE /lock", As: "sam", Headers: preview, Status: 403}, locked},
			{"locked, unlocked without the media type",
				[]apitest.Case{{Do: "PUT /lock", As: "will", Headers: preview, Status: 204}},
				apitest.Case{Do: "DELETE /lock", As: "will", Status: 415}, locked},
			{"locked, locked", []apitest.Case{{Do: "PUT /lock", As: "will", Headers: preview, Status: 204}},
				apitest.Case{Do: "PUT /lock", As: "will", Headers: preview, Status: 204}, locked},
			{"locked, closed by its author",
				[]apitest.Case{{Do: "PUT /lock", As: "will", Headers: preview, Status: 204}},
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
