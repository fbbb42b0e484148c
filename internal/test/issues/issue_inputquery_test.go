package issues_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
)

// Each enumerated parameter with values that it does not have: a 422 that names
// it, never a list that is something else (decisions 17, 25).
func TestEachParameterWithWrongValues(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "sam", "garden/plot")
		across := "filter state sort direction since"
		for _, list := range []struct{ resource, path, parameters string }{
			{"Issue", "/repos/garden/plot/issues", "state sort direction since milestone"},
			{"Issue", "/issues", across}, {"Issue", "/user/issues", across},
			{"Issue", "/orgs/garden/issues", across},
			{"Milestone", "/repos/garden/plot/milestones", "state sort direction"},
			{"IssueComment", "/repos/garden/plot/issues/comments", "sort direction since"},
			{"IssueComment", on + "/comments", "since"},
			{"Reaction", on + "/reactions", "content"},
		} {
			for parameter := range strings.FieldsSeq(list.parameters) {
				for _, value := range []string{"foo", "OPEN", "Created", "open,closed", "open%20", "-2",
					"1.5", "0", "%00", "%ff", "null", "%5B%5D", "all%00", "DESC", "2020-13-01T00:00:00Z",
					"20200101", "99999999999999999999"} {
					s.Check(t, apitest.Case{Do: "GET " + list.path + "?" + parameter + "=" + value,
						As: "will", Headers: issuetest.Graduated, Status: 422,
						Want: fmt.Sprintf(`{"message": "Validation Failed", "errors": [{"resource": %q, "field": %q, "code": "invalid", "value": "$any"}]}`, list.resource, parameter)})
				}
				s.Check(t, apitest.Case{Do: "GET " + list.path + "?" + parameter + "=", As: "will",
					Headers: issuetest.Graduated, Status: 200})
			}
		}
	})
}

// A parameter that names what is not there chooses nothing; what a page cannot
// be is the default; and no bytes make the server fail (decisions 23, 25).
func TestParametersThatNameNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		issuetest.File(t, s, "will", "garden/plot")
		const list = "GET /repos/garden/plot/issues?"
		for _, value := range []string{"nobody-here", "%00", "a%00b", "%ff%fe", "%F0%9F%98%80",
			strings.Repeat("x", 5000), "..", "%2F", "%25", "*x", "None", "'%20OR%201=1--", "%20will"} {
			for _, parameter := range []string{"creator", "mentioned", "assignee", "labels"} {
				if parameter == "labels" && (strings.Contains(value, "%00") ||
					strings.Contains(value, "%ff")) {
					s.Check(t, apitest.Case{Do: list + "labels=bug," + value, Status: 422,
						Want: wrongField("labels", "invalid")})
					continue
				}
				s.Check(t, apitest.Case{Do: list + parameter + "=" + value, Status: 200, Body: "[]"})
			}
			s.Check(t, apitest.Case{Do: list + "milestone=" + value, Status: 422,
				Want: wrongField("milestone", "invalid")})
		}
		for _, value := range []string{"0", "-1", "x", "1e3", "1.5", "%00", "%ff", "0x10", "+1", "%202"} {
			for _, parameter := range []string{"page", "per_page"} {
				s.Check(t, apitest.Case{Do: list + parameter + "=" + value, Status: 200,
					Want: `[{"number": 1}]`})
			}
		}
		s.Run(t, []apitest.Case{
			{Do: list + "page=99999999999999999999", Status: 200, Body: "[]"},
			{Do: list + "per_page=99999999999999999999", Status: 200, Want: `[{"number": 1}]`},
			{Do: list + "page=9223372036854775807&per_page=100", Status: 200, Body: "[]"},
			{Name: "many labels", Do: list + "labels=" + strings.TrimSuffix(strings.Repeat("bug,", 101), ","),
				Status: 200, Body: "[]"},
			{Name: "too many labels", Do: list + "labels=" + manyLabels(101), Status: 422,
				Want: `{"errors": [{"field": "labels", "code": "invalid"}]}`},
			{Name: "labels that are none", Do: list + "labels=,,%20,", Status: 200, Want: `[{"number": 1}]`},
			{Name: "a parameter twice", Do: list + "state=closed&state=open", Status: 200, Body: "[]"},
			{Name: "what is not known", Do: list + "foo=bar&State=x&%00=%00", Status: 200,
				Want: `[{"number": 1}]`},
			{Name: "no query at all", Do: list + "%zz;&&=&state", Status: 200, Want: `[{"number": 1}]`},
		})
		for _, name := range []string{"%00", "%ff", "a%00b", "nobody-here", strings.Repeat("x", 5000),
			"%F0%9F%98%80", "a%2Fb", "%25", "will%20"} {
			for _, do := range []string{"GET /repos/garden/plot/labels/", "DELETE /repos/garden/plot/labels/",
				"DELETE /repos/garden/plot/issues/1/labels/", "GET /repos/garden/plot/assignees/",
				"GET /repos/garden/plot/issues/1/assignees/"} {
				s.Check(t, apitest.Case{Do: do + name, As: "will", Status: 404})
			}
			s.Ask(t, "will", "PATCH /repos/garden/plot/labels/"+name, `{"color": "ffffff"}`, 404)
		}
	})
}

func manyLabels(n int) string {
	list := make([]string, n)
	for k := range list {
		list[k] = fmt.Sprint("l", k)
	}
	return strings.Join(list, ",")
}

// An address with a number below 1 or not a number is not found.
func TestNumbersInAddresses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "will", "garden/plot")
		id := issuetest.Comment(t, s, "will", on, "x")
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/garden/plot/milestones", As: "will", Send: `{"title": "x"}`, Status: 201},
			{Do: "POST " + on + "/reactions", As: "will", Headers: issuetest.Graduated,
				Send: `{"content": "eyes"}`, Status: 201},
			{Do: fmt.Sprintf("POST /repos/garden/plot/issues/comments/%d/reactions", id), As: "will",
				Headers: issuetest.Graduated, Send: `{"content": "eyes"}`, Status: 201},
		})
		for _, n := range []string{"0", "00", "01", "-1", "+1", "1e0", "1e3", "1.0", "0x1", "1_0", "%201",
			"1%20", "1%00", "%EF%BC%91", "%D9%A1", "x", "1;", "1,2", "*", "none", "99999999999999999999",
			"9223372036854775807", "9223372036854775808", "18446744073709551617", strings.Repeat("1", 300)} {
			for _, address := range []string{
				"GET issues/N", "PATCH issues/N", "POST issues/N", "GET issues/N/labels",
				"POST issues/N/labels", "PUT issues/N/labels", "DELETE issues/N/labels",
				"DELETE issues/N/labels/bug",
				"POST issues/N/assignees", "DELETE issues/N/assignees", "GET issues/N/assignees/will",
				"PUT issues/N/lock", "DELETE issues/N/lock",
				"GET issues/N/subscription", "PUT issues/N/subscription", "DELETE issues/N/subscription",
				"GET issues/N/comments", "POST issues/N/comments",
				"GET issues/N/reactions", "POST issues/N/reactions", "DELETE issues/1/reactions/N",
				"GET issues/N/events", "GET issues/N/timeline", "GET issues/events/N",
				"GET issues/comments/N", "PATCH issues/comments/N", "DELETE issues/comments/N",
				"GET issues/comments/N/reactions", "POST issues/comments/N/reactions",
				fmt.Sprintf("DELETE issues/comments/%d/reactions/N", id), "GET milestones/N",
				"PATCH milestones/N", "DELETE milestones/N", "GET milestones/N/labels",
			} {
				c := apitest.Case{Do: strings.Replace(strings.Replace(address, " ", " /repos/garden/plot/",
					1), "N", n, 1), As: "will", Headers: issuetest.Graduated, Status: 404,
					Want: `{"message": "Not Found", "documentation_url": "$any"}`}
				if !strings.HasPrefix(c.Do, "GET") {
					c.Send = `{"title": "x", "body": "x", "labels": ["x"], "assignees": ["will"], "content": "heart"}`
				}
				s.Check(t, c)
			}
		}
		s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/issues/%31", Status: 200,
			Want: `{"number": 1, "title": "Slugs", "comments": 1, "labels": []}`})
	})
}

// PUT and DELETE without a payload are taken in each form in which clients send
// none (decision 18).
func TestNoPayload(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "will", "garden/plot")
		for _, send := range []string{"", "{}", "null", " \n", " null "} {
			for _, do := range []struct {
				do     string
				status int
			}{
				{"PUT " + on + "/lock", 204}, {"DELETE " + on + "/lock", 204},
				{"PUT " + on + "/subscription", 200}, {"DELETE " + on + "/subscription", 204},
				{"DELETE " + on + "/labels", 204},
			} {
				s.Check(t, apitest.Case{Do: do.do, As: "will", Headers: issuetest.Graduated, Send: send,
					Status: do.status})
			}
		}
		for _, framing := range []string{"", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n"} {
			for _, path := range []string{"/lock", "/subscription"} {
				for method, want := range map[string]string{"PUT": "20", "DELETE": "204"} {
					if got := raw(t, s, method, on+path, framing); !strings.HasPrefix(got, want) {
						t.Errorf("%s %s with %q: %s", method, path, framing, got)
					}
				}
			}
		}
	})
}

// raw sends a request without a payload with exactly these headers and gives the
// status line's end.
func raw(t *testing.T, s *apitest.Server, method, path, framing string) string {
	t.Helper()
	host := strings.TrimPrefix(s.URL, "http://")
	conn, err := net.Dial("tcp", host)
	testkit.NoError(t, err)
	defer conn.Close()
	end := "\r\n"
	if strings.HasPrefix(framing, "Transfer") {
		end += "0\r\n\r\n"
	}
	_, err = fmt.Fprintf(conn,
		"%s %s HTTP/1.1\r\nHost: %s\r\nAccept: application/vnd.github.v3+json\r\nAuthorization: token %s\r\n%s%s", method, path, host, s.Token(t, "will"), framing, end)
	testkit.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	testkit.NoError(t, err)
	answer.Body.Close()
	return answer.Status
}

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
