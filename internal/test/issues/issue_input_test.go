package issues_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
)

// Invalid input: the response names the invalid field, nothing is written, and fields that are ignored by
// rule cause no error.

// desk is a tracker with what bodies may refer to: the milestone 1 and the issue
// 1, filed by sam; eleven who can be assigned; and elsewhere a milestone 2.
func desk(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Team(t)
	plot := s.Repo(t, "will/desk", false)
	for n := range 11 {
		login := fmt.Sprint("hand", n)
		s.User(t, login)
		s.Grant(t, plot, login, account.Push)
	}
	for n, at := range []string{"will/desk", "garden/plot", "garden/plot"} {
		s.Ask(t, "will", "POST /repos/"+at+"/milestones", fmt.Sprintf(`{"title": "M%d"}`, n), 201)
	}
	issuetest.File(t, s, "sam", "will/desk")
}

// wrongField is the answer that names one field of an issue.
func wrongField(field, code string) string {
	return fmt.Sprintf(`{"message": "Validation Failed", "documentation_url": "$any", "errors": [{"resource": "Issue", "field": %q, "code": %q}]}`, field, code)
}

const (
	malformed = `{"message": "Problems parsing JSON", "documentation_url": "$any", "errors": "$absent"}`
	noObject  = `{"message": "Body should be a JSON object", "documentation_url": "$any"}`
)

// values has a value of each JSON type.
var values = []struct{ kind, json string }{
	{"string", `"x"`}, {"number", `1`}, {"float", `1.5`}, {"whole float", `1.0`}, {"exponent", `1e0`},
	{"huge number", `99999999999999999999`}, {"true", `true`}, {"false", `false`},
	{"null", `null`}, {"empty array", `[]`}, {"array", `["x"]`}, {"array of numbers", `[1]`},
	{"array of null", `[null]`}, {"array of arrays", `[["x"]]`}, {"object", `{"a": 1}`},
	{"empty object", `{}`},
}

// takes says which of them each field takes; a good string of its own stands
// for "x".
var takes = []struct{ field, kinds, text string }{
	{"title", "string", "Beetles"},
	{"body", "string null", "They fly."},
	{"assignee", "string null", "will"},
	{"milestone", "number null", ""},
	{"labels", "array,empty array,null", ""},
	{"assignees", "array,empty array,null", "will"},
	{"state", "string null", "open"},
	{"state_reason", "string null", "completed"},
}

// Each field with each JSON type: what it does not take is a 422 that names it
// (decision 17), and the issue stays as it was.
func TestEachFieldWithEachType(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		desk(t, s)
		for _, f := range takes {
			for _, v := range values {
				text := v.json
				if f.text != "" {
					text = strings.ReplaceAll(text, `"x"`, `"`+f.text+`"`)
				}
				taken := strings.Contains(" "+strings.ReplaceAll(f.kinds, ",", "  ")+" ", " "+v.kind+" ")
				t.Run(f.field+" with "+v.kind, func(t *testing.T) {
					read := apitest.Case{Do: "GET /repos/will/desk/issues/1",
						Headers: issuetest.Graduated, Status: 200}
					before := s.Check(t, read).Body
					c := apitest.Case{Do: "PATCH /repos/will/desk/issues/1", As: "will",
						Headers: issuetest.Graduated, Send: fmt.Sprintf(`{%q: %s}`, f.field, text),
						Status: 200}
					if !taken {
						c.Status, c.Want = 422, wrongField(f.field, "invalid")
					}
					if f.field == "title" && v.kind == "null" {
						c.Want = wrongField(f.field, "missing_field")
					}
					s.Check(t, c)
					if read.Body = string(before); c.Status == 422 {
						s.Check(t, read)
					}
					if strings.HasPrefix(f.field, "state") || f.field == "title" {
						return
					}
					c.Do, c.Send = "POST /repos/will/desk/issues",
						fmt.Sprintf(`{"title": "x", %q: %s}`, f.field, text)
					if c.Status == 200 {
						c.Status = 201
					}
					s.Check(t, c)
				})
			}
		}
	})
}

// A title is needed; null and nothing are none.
func TestTitles(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		desk(t, s)
		missing, invalid := wrongField("title", "missing_field"), wrongField("title", "invalid")
		for _, c := range []struct {
			value        string
			post, patch  int
			want, wanted string
		}{
			{`null`, 422, 422, missing, missing}, {`""`, 422, 422, missing, missing},
			{`"  \t"`, 422, 422, missing, missing}, {`"\u3000\u00a0"`, 422, 422, missing, missing},
			{`"a\u0000b"`, 422, 422, invalid, invalid}, {`1`, 422, 422, invalid, invalid},
			{`["x"]`, 422, 422, invalid, invalid},
			{`"x"`, 201, 200, `{"title": "x"}`, `{"title": "x"}`},
		} {
			s.Check(t, apitest.Case{Do: "POST /repos/will/desk/issues", As: "sam",
				Send: `{"title": ` + c.value + `}`, Status: c.post, Want: c.want})
			s.Check(t, apitest.Case{Do: "PATCH /repos/will/desk/issues/1", As: "sam",
				Send: `{"title": ` + c.value + `}`, Status: c.patch, Want: c.wanted})
		}
		s.Run(t, []apitest.Case{
			{Name: "none", Do: "POST /repos/will/desk/issues", As: "sam", Send: `{}`, Status: 422,
				Want: missing},
			{Name: "a key in another case", Do: "POST /repos/will/desk/issues", As: "sam",
				Send: `{"Title": "x", "TITLE": "y"}`, Status: 422, Want: missing},
			{Name: "a key that is not known", Do: "POST /repos/will/desk/issues", As: "sam",
				Send:   `{"title": "x", "state": 7, "number": 99, "user": {"login": "will"}, "id": 1}`,
				Status: 201,
				Want:   `{"title": "x", "state": "open", "number": 3, "user": {"login": "sam"}}`},
			{Name: "of a repeated key the last", Do: "POST /repos/will/desk/issues", As: "sam",
				Send: `{"title": 1, "title": "x", "body": "a", "body": null}`, Status: 201,
				Want: `{"title": "x", "body": null}`},
			{Name: "and that alone", Do: "POST /repos/will/desk/issues", As: "sam",
				Send: `{"title": "x", "title": 1}`, Status: 422, Want: invalid},
			{Name: "an empty body is none", Do: "POST /repos/will/desk/issues", As: "sam",
				Send: `{"title": "x", "body": ""}`, Status: 201, Want: `{"body": null}`},
			{Name: "a NUL in the body", Do: "POST /repos/will/desk/issues", As: "sam",
				Send: `{"title": "x", "body": "\u0000"}`, Status: 422, Want: wrongField("body", "invalid")},
			{Name: "everything wrong is named at once", Do: "POST /repos/will/desk/issues", As: "will",
				Send: `{"body": 1, "labels": 2, "milestone": "3", "assignee": 4}`, Status: 422,
				Want: `{"errors": [{"field": "title"}, {"field": "body"}, {"field": "assignee"}, {"field": "milestone"}, {"field": "labels"}]}`},
			{Name: "nothing was made by mistake", Do: "GET /repos/will/desk/issues?state=all&per_page=1",
				Status: 200, Want: `[{"number": 5}]`},
		})
	})
}

// Bodies that are not JSON objects, or too large (decisions 16, 19).
func TestBodies(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		desk(t, s)
		full := func(n int) string { // a body of n bytes
			return `{"title": "x", "pad": "` + strings.Repeat("p", n-len(`{"title": "x", "pad": ""}`)) + `"}`
		}
		for _, c := range []struct {
			name, send string
			status     int
			want       string
		}{
			{"nothing", ``, 400, malformed}, {"an open object", `{"title": "x"`, 400, malformed},
			{"no value", `{"title": }`, 400, malformed}, {"single quotes", `{'title': 'x'}`, 400, malformed},
			{"a comma too many", `{"title": "x",}`, 400, malformed}, {"more after it", `{"title": "x"} {}`,
				400, malformed}, {"a form", `title=x`, 400, malformed}, {"a comment", `{"title": "x"} // x`,
				400, malformed},
			{"not a number", `{"title": "x", "milestone": NaN}`, 400, malformed},
			{"a leading zero", `{"title": "x", "milestone": 01}`, 400, malformed},
			{"a raw line break", "{\"title\": \"a\nb\"}", 400, malformed},
			{"a byte order mark", "\ufeff{\"title\": \"x\"}", 400, malformed},
			{"no UTF-8", "{\"title\": \"\xff\"}", 400, malformed}, {"no UTF-8 in what is ignored",
				"{\"title\": \"x\", \"y\": \"\xc0\x80\"}", 400, malformed}, {"a surrogate in UTF-8",
				"{\"title\": \"\xed\xa0\x80\"}", 400, malformed},
			{"deep arrays", strings.Repeat("[", 100_000), 400, malformed},
			{"deep objects", `{"title": "x", "y": ` + strings.Repeat(`{"a":`,
				20_000) + `1` + strings.Repeat("}", 20_001), 400, malformed},
			{"an array", `[{"title": "x"}]`, 400, noObject}, {"a string", `"x"`, 400, noObject},
			{"a number", `1`, 400, noObject}, {"true", `true`, 400, noObject},
			{"null", `null`, 400, noObject},
			{"one byte too many", full(1<<20 + 1), 413, `{"message": "$any", "documentation_url": "$any"}`},
			{"far too many", full(3 << 20), 413, ""},
			{"as much as there may be", full(1 << 20), 0, `{"title": "x"}`},
			{"white space around it", " \t\r\n{\"title\": \"x\"}\n ", 0, `{"title": "x"}`},
		} {
			for do, status := range map[string]int{"POST /repos/will/desk/issues": 201,
				"PATCH /repos/will/desk/issues/1": 200, "POST /repos/will/desk/issues/1": 200} {
				if c.status != 0 {
					status = c.status
				}
				t.Run(c.name+" to "+do, func(t *testing.T) {
					s.Check(t, apitest.Case{Do: do, As: "sam", Send: c.send, Status: status, Want: c.want})
				})
			}
		}
		chunks := io.MultiReader(strings.NewReader(full(1<<20 + 1))) // whose size the client does not announce
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/repos/will/desk/issues", chunks)
		testkit.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+s.Token(t, "sam"))
		a, err := http.DefaultClient.Do(r)
		testkit.NoError(t, err)
		a.Body.Close()
		if a.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("one byte too many in chunks: %d", a.StatusCode)
		}
	})
}

// Each limit of decision 19 exactly, and one beyond it. What counts are code
// points.
func TestLimits(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		desk(t, s)
		for _, letter := range []string{"x", "é", "€", "😀"} {
			for _, l := range []struct {
				field string
				most  int
			}{{"title", 256}, {"body", 65_536}} {
				for over := range 2 {
					text := strings.Repeat(letter, l.most+over)
					post := apitest.Case{Do: "POST /repos/will/desk/issues", As: "sam",
						Send: fmt.Sprintf(`{"title": "x", %q: %q}`, l.field, text), Status: 201,
						Want: fmt.Sprintf(`{%q: %q}`, l.field, text)}
					if over > 0 {
						post.Status = 422
						post.Want = fmt.Sprintf(
							`{"errors": [{"resource": "Issue", "field": %q, "code": "custom", "message": "%[1]s is too long (maximum is %d characters)"}]}`, l.field, l.most)
					}
					patch := post
					patch.Do, patch.Status = "PATCH /repos/will/desk/issues/1", max(200, post.Status-1)
					if over > 0 {
						patch.Status = 422
					}
					s.Check(t, post)
					s.Check(t, patch)
				}
			}
			for _, do := range []string{"POST /repos/will/desk/issues", "PATCH /repos/will/desk/issues/1",
				"PUT /repos/will/desk/issues/1/labels", "POST /repos/will/desk/issues/1/labels"} {
				status := map[string]int{"POST /repos/will/desk/issues": 201}[do]
				for _, form := range []string{`"%s"`, `{"name": "%s"}`} {
					entry := fmt.Sprintf(form, strings.Repeat(letter, 50))
					s.Check(t, apitest.Case{Do: do, As: "will",
						Send: fmt.Sprintf(`{"title": "x", "labels": [%s]}`, entry), Status: max(200, status)})
					entry = fmt.Sprintf(form, strings.Repeat(letter, 51))
					s.Check(t, apitest.Case{Do: do, As: "will",
						Send: fmt.Sprintf(`{"title": "x", "labels": [%s]}`, entry), Status: 422,
						Want: `{"errors": [{"code": "$any"}]}`})
				}
			}
		}
	})
}

// How many labels and assignees an issue can have (decision 19).
func TestNumbersOfLabelsAndAssignees(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		desk(t, s)
		names := func(prefix string, n int) string {
			list := make([]string, n)
			for k := range list {
				list[k] = fmt.Sprint(prefix, k)
			}
			b, _ := json.Marshal(list)
			return string(b)
		}
		for _, c := range []struct {
			do, field, prefix string
			n, status         int
		}{
			{"POST /repos/will/desk/issues", "labels", "l", 101, 422},
			{"POST /repos/will/desk/issues", "labels", "l", 100, 201},
			{"PATCH /repos/will/desk/issues/1", "labels", "l", 101, 422},
			{"PATCH /repos/will/desk/issues/1", "labels", "l", 100, 200},
			{"POST /repos/will/desk/issues/1/labels", "labels", "other", 1, 422},
			{"POST /repos/will/desk/issues/1/labels", "labels", "l", 100, 200},
			{"PUT /repos/will/desk/issues/1/labels", "labels", "l", 101, 422},
			{"PUT /repos/will/desk/issues/1/labels", "labels", "l", 100, 200},
			{"POST /repos/will/desk/issues", "assignees", "hand", 11, 422},
			{"POST /repos/will/desk/issues", "assignees", "hand", 10, 201},
			{"PATCH /repos/will/desk/issues/1", "assignees", "hand", 11, 422},
			{"PATCH /repos/will/desk/issues/1", "assignees", "hand", 9, 200},
			{"POST /repos/will/desk/issues/1/assignees", "assignees", "hand", 11, 422},
			{"POST /repos/will/desk/issues/1/assignees", "assignees", "hand", 10, 201},
		} {
			t.Run(fmt.Sprint(c.do, " ", c.n, " ", c.field), func(t *testing.T) {
				s.Check(t, apitest.Case{Do: c.do, As: "will", Headers: issuetest.Graduated, Status: c.status,
					Send: fmt.Sprintf(`{"title": "x", %q: %s}`, c.field, names(c.prefix, c.n))})
			})
		}
		s.Run(t, []apitest.Case{
			{Name: "an eleventh", Do: "POST /repos/will/desk/issues/1/assignees", As: "will",
				Headers: issuetest.Graduated, Send: `{"assignees": ["hand10"]}`, Status: 422,
				Want: wrongField("assignees", "custom")},
			{Name: "one of the ten again", Do: "POST /repos/will/desk/issues/1/assignees", As: "will",
				Headers: issuetest.Graduated, Send: `{"assignees": ["HAND9"]}`, Status: 201},
			{Name: "as it was", Do: "GET /repos/will/desk/issues/1", Headers: issuetest.Graduated,
				Status: 200, Keep: func(a *apitest.Answer) {
					var i struct{ Labels, Assignees []any }
					a.JSON(t, &i)
					if len(i.Labels) != 100 || len(i.Assignees) != 10 {
						t.Errorf("%d labels and %d assignees", len(i.Labels), len(i.Assignees))
					}
				}},
		})
	})
}
