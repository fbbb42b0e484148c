package issues_test

import (
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

// What a body refers to must be there, and must be this repository's (decision
// 32).
func TestUnknownReferences(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		desk(t, s)
		for _, c := range []struct{ name, send, want string }{
			{"nobody", `"assignee": "nobody-here"`, wrongField("assignee", "invalid")},
			{"who cannot push", `"assignee": "alice"`, wrongField("assignee", "invalid")},
			{"an organization", `"assignee": "garden"`, wrongField("assignee", "invalid")},
			{"what is no login", `"assignee": "will "`, wrongField("assignee", "invalid")},
			{"a NUL", `"assignee": "a\u0000b"`, wrongField("assignee", "invalid")},
			{"one of several", `"assignees": ["will", "nobody-here"]`, wrongField("assignees", "invalid")},
			{"an empty login", `"assignees": [""]`, wrongField("assignees", "invalid")},
			{"a NUL among several", `"assignees": ["will", "a\u0000b"]`, wrongField("assignees", "invalid")},
			{"both", `"assignee": "will", "assignees": ["will"]`, wrongField("assignees", "custom")},
			{"both, to clear", `"assignee": null, "assignees": []`, wrongField("assignees", "custom")},
			{"a milestone that is not there", `"milestone": 9`, wrongField("milestone", "invalid")},
			{"another repository's milestone", `"milestone": 2`, wrongField("milestone", "invalid")},
			{"milestone 0", `"milestone": 0`,
				`{"errors": [{"resource": "Issue", "field": "milestone", "code": "invalid", "value": 0}]}`},
			{"a negative milestone", `"milestone": -1`, wrongField("milestone", "invalid")},
			{"an empty label", `"labels": [""]`,
				`{"message": "Validation Failed", "errors": [{"resource": "Label", "field": "name", "code": "missing_field"}]}`},
			{"a blank label", `"labels": ["bug", " "]`,
				`{"message": "Validation Failed", "errors": [{"resource": "Label", "field": "name", "code": "missing_field"}]}`},
			{"a NUL in a label", `"labels": ["a\u0000b"]`, wrongField("labels", "invalid")},
			{"a NUL in a label's name", `"labels": [{"name": "a\u0000b"}]`,
				`{"errors": [{"resource": "Label", "field": "name", "code": "invalid"}]}`},
			{"a label without a name", `"labels": [{"color": "ffffff"}]`, wrongField("labels", "invalid")},
			{"a label whose key is in another case", `"labels": [{"Name": "bug"}]`,
				wrongField("labels", "invalid")},
			{"a label whose name is no string", `"labels": [{"name": 1}]`, wrongField("labels", "invalid")},
			{"a label whose name is null", `"labels": [{"name": null}]`, wrongField("labels", "invalid")},
			{"no state", `"state": "ajar"`, wrongField("state", "invalid")},
			{"a state in another case", `"state": "Closed"`, wrongField("state", "invalid")},
			{"all, which is a filter", `"state": "all"`, wrongField("state", "invalid")},
			{"an empty state", `"state": ""`, wrongField("state", "invalid")},
			{"no reason", `"state": "closed", "state_reason": "bored"`,
				wrongField("state_reason", "invalid")},
		} {
			t.Run(c.name, func(t *testing.T) {
				for _, do := range []string{"PATCH /repos/will/desk/issues/1",
					"POST /repos/will/desk/issues/1"} {
					s.Check(t, apitest.Case{Do: do, As: "will", Headers: issuetest.Graduated,
						Send: "{" + c.send + "}", Status: 422, Want: c.want})
				}
				if c.send[:8] != `"state":` {
					s.Check(t, apitest.Case{Do: "POST /repos/will/desk/issues", As: "will",
						Headers: issuetest.Graduated, Send: `{"title": "x", ` + c.send + "}", Status: 422,
						Want: c.want})
				}
			})
		}
		s.Check(t, apitest.Case{Do: "GET /repos/will/desk/issues?state=all",
			Headers: issuetest.Graduated, Status: 200,
			Want: `[{"number": 1, "state": "open", "labels": [], "assignees": [], "milestone": null}]`})
	})
}

// Fields that the caller may not set, and preview fields without their preview, are ignored with any value.
func TestDroppedFields(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		desk(t, s)
		const bare = `{"assignee": null, "milestone": null, "labels": [], "assignees": []}`
		for _, fields := range []string{
			`"assignee": "will", "milestone": 1, "labels": ["bug"]`, `"assignees": ["will"]`,
			`"assignee": "nobody-here", "milestone": 9, "labels": [""]`,
			`"assignee": 1, "milestone": "x", "labels": {}, "assignees": true`,
			`"assignee": [], "milestone": 1.5, "labels": "bug", "assignees": [null]`,
			`"assignee": "will", "assignees": ["will"]`, `"assignee": "a\u0000b", "labels": ["a\u0000b"]`,
		} {
			t.Run(fields, func(t *testing.T) {
				s.Check(t, apitest.Case{Do: "POST /repos/will/desk/issues", As: "sam",
					Headers: issuetest.Graduated, Send: `{"title": "x", ` + fields + `}`,
					Status: 201, Want: bare})
				s.Check(t, apitest.Case{Do: "PATCH /repos/will/desk/issues/1", As: "sam",
					Headers: issuetest.Graduated, Send: `{"title": "y", ` + fields + `}`,
					Status: 200, Want: bare})
			})
		}
		s.Run(t, []apitest.Case{
			{Name: "what sam may set is checked", Do: "PATCH /repos/will/desk/issues/1", As: "sam",
				Send: `{"body": 1, "labels": 1}`, Status: 422, Want: wrongField("body", "invalid")},
			{Name: "assignees without their preview", Do: "POST /repos/will/desk/issues", As: "will",
				Send: `{"title": "x", "assignees": ["will"]}`, Status: 201, Want: `{"assignee": null}`},
			{Name: "of any type", Do: "PATCH /repos/will/desk/issues/1", As: "will",
				Send: `{"assignees": {"x": 1}}`, Status: 200, Want: `{"assignee": null}`},
			{Name: "of any name", Do: "PATCH /repos/will/desk/issues/1", As: "will",
				Send: `{"assignees": ["nobody-here"]}`, Status: 200, Want: `{"assignee": null}`},
			{Name: "beside an assignee", Do: "PATCH /repos/will/desk/issues/1", As: "will",
				Send: `{"assignee": "will", "assignees": []}`, Status: 200,
				Want: `{"assignee": {"login": "will"}, "assignees": "$absent"}`},
			{Name: "with another preview", Do: "PATCH /repos/will/desk/issues/1", As: "will",
				Headers: issuetest.Media("squirrel-girl-preview"), Send: `{"assignees": []}`, Status: 200,
				Want: `{"assignee": {"login": "will"}, "reactions": {"total_count": 0}}`},
			{Name: "with their own", Do: "PATCH /repos/will/desk/issues/1", As: "will",
				Headers: issuetest.Media("cerberus-preview"), Send: `{"assignees": []}`, Status: 200,
				Want: `{"assignee": null, "assignees": []}`},
			{Name: "an empty assignee and milestone clear", Do: "PATCH /repos/will/desk/issues/1", As: "will",
				Send: `{"assignee": "will", "milestone": 1}`, Status: 200,
				Want: `{"milestone": {"number": 1}}`},
			{Do: "PATCH /repos/will/desk/issues/1", As: "will", Send: `{"assignee": "", "milestone": ""}`,
				Status: 200, Want: `{"assignee": null, "milestone": null}`},
		})
	})
}
