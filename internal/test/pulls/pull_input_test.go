package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// wrongField is the answer that names one field.
func wrongField(field, code string) string {
	return fmt.Sprintf(`{"message": "Validation Failed", "documentation_url": "$any", "errors": [{"resource": "PullRequest", "field": %q, "code": %q}]}`, field, code)
}

// kinds has a value of each JSON type.
var kinds = []struct{ kind, json string }{
	{"string", `"x"`}, {"empty", `""`}, {"number", `7`}, {"float", `1.5`}, {"huge", `99999999999999999999`},
	{"true", `true`}, {"null", `null`}, {"array", `["x"]`}, {"empty-array", `[]`}, {"object", `{"a": 1}`},
}

// Each field of a new pull request with each wrong type: 422 that names it, and
// none is made (decisions 17, 38).
func TestCreateWithEachType(t *testing.T) {
	t.Parallel()
	fields := []struct{ field, good, takes string }{
		{"title", `"T"`, "string"}, {"head", `"b0"`, "string"}, {"base", `"main"`, "string"},
		{"body", "", "string empty null"}, {"issue", "", "null"},
		{"draft", "", "true null"}, {"maintainer_can_modify", "", "true null"},
		{"unknown", "", "string empty number float huge true null array empty-array object"},
	}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		lanes(t, s, 1)
		for _, f := range fields {
			for _, k := range kinds {
				if strings.Contains(" "+f.takes+" ", " "+k.kind+" ") {
					continue
				}
				t.Run(f.field+" "+k.kind, func(t *testing.T) {
					var parts []string
					for _, g := range fields[:3] {
						if g.field != f.field {
							parts = append(parts, fmt.Sprintf("%q: %s", g.field, g.good))
						}
					}
					code := "invalid"
					if f.good != "" && (k.kind == "null" || k.kind == "empty") {
						code = "missing_field"
					}
					send := "{" + strings.Join(append(parts, fmt.Sprintf("%q: %s", f.field, k.json)),
						", ") + "}"
					s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam", Send: send,
						Status: 422, Want: wrongField(f.field, code)})
				})
			}
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/pulls?state=all", Status: 200, Body: "[]"})
	})
}

// Everything else that a new pull request can have wrong (decision 38), and what
// it may have.
func TestCreate(t *testing.T) {
	t.Parallel()
	const create = "POST /repos/alice/plot/pulls"
	long := func(n int) string { return strings.Repeat("\U0001f41b", n) }
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		lanes(t, s, 4)
		s.User(t, "eve")
		s.Ask(t, "eve", "POST /user/repos", `{"name": "plot", "auto_init": true}`, 201)
		s.Check(t, apitest.Case{Do: "POST /user/repos", As: "eve", Send: `{"name": "empty"}`, Status: 201})
		bad := func(name, send string, status int, want string) apitest.Case {
			return apitest.Case{Name: name, Do: create, As: "sam", Send: send, Status: status, Want: want}
		}
		invalid := func(head, base string, fields ...string) apitest.Case {
			var list []string
			for _, f := range fields {
				value := map[string]string{"head": head, "base": base}[f]
				list = append(list, fmt.Sprintf(
					`{"resource": "PullRequest", "field": %q, "code": "invalid", "value": %q}`, f, value))
			}
			return bad(head+" into "+base, fmt.Sprintf(`{"title": "x", "head": %q, "base": %q}`, head, base),
				422, `{"message": "Validation Failed", "errors": [`+strings.Join(list, ", ")+`]}`)
		}
		cases := []apitest.Case{
			{Name: "nobody", Do: create, Send: `{}`, Status: 401},
			bad("nothing", `{}`, 422,
				`{"errors": [{"field": "head", "code": "missing_field"}, {"field": "base", "code": "missing_field"}, {"field": "title", "code": "missing_field"}]}`),
			bad("no title", `{"head": "b0", "base": "main"}`, 422, wrongField("title", "missing_field")),
			bad("blank title", `{"title": "  ", "head": "b0", "base": "main"}`, 422,
				`{"errors": [{"field": "title"}]}`),
			bad("no head", `{"title": "x", "base": "main"}`, 422, wrongField("head", "missing_field")),
			bad("no base", `{"title": "x", "head": "b0"}`, 422, wrongField("base", "missing_field")),
			bad("title of 257", `{"title": "`+long(257)+`", "head": "b0", "base": "main"}`, 422,
				`{"errors": [{"field": "title"}]}`),
			bad("body of 65,537", `{"title": "x", "body": "`+strings.Repeat("x",
				65_537)+`", "head": "b0", "base": "main"}`, 422, `{"errors": [{"field": "body"}]}`),
			bad("NUL in the title", `{"title": "a\u0000", "head": "b0", "base": "main"}`, 422,
				`{"errors": [{"field": "title"}]}`),
			bad("NUL in the body", `{"title": "a", "body": "\u0000", "head": "b0", "base": "main"}`, 422,
				`{"errors": [{"field": "body"}]}`),
			bad("NUL in the head", `{"title": "a", "head": "b0\u0000", "base": "main"}`, 422,
				`{"errors": [{"field": "head"}]}`),
			bad("NUL in the base", `{"title": "a", "head": "b0", "base": "main\u0000"}`, 422,
				`{"errors": [{"field": "base"}]}`),
			bad("wrong case", `{"Title": "x", "head": "b0", "base": "main"}`, 422,
				wrongField("title", "missing_field")),
			bad("malformed", `{"title": `, 400, `{"message": "Problems parsing JSON"}`),
			bad("no object", `["x"]`, 400, `{"message": "Body should be a JSON object"}`),
			bad("bad UTF-8", "{\"title\": \"\xff\", \"head\": \"b0\", \"base\": \"main\"}", 400,
				`{"message": "Problems parsing JSON"}`),
			bad("too large", `{"title": "x", "body": "`+strings.Repeat("x", 1<<20)+`"}`, 413, ""),
			invalid("none", "main", "head"), invalid("b0", "none", "base"),
			invalid("none", "neither", "head", "base"),
			invalid("refs/heads/none", "main", "head"), invalid("b0", "heads/none", "base"),
			invalid("b0", "alice:main", "base"),
			invalid("nobody:b0", "main", "head"), invalid("alice:none", "main", "head"),
			invalid("alice:", "main", "head"), invalid(":b0", "main", "head"),
			invalid("alice:b0:x", "main", "head"),
			invalid("eve:main", "main", "head"), invalid("sam:b0", "main", "head"),
			invalid("--help", "main", "head"), invalid("b0", "--upload-pack=x", "base"),
			invalid("b0~0", "main", "head"), invalid("b0^{commit}", "main", "head"),
			invalid("..", "main", "head"), invalid("HEAD", "main", "head"), invalid("@", "main", "head"),
			invalid(s.Tip(t, "alice", "alice/plot", "b0"), "main", "head"), invalid("b0 ", "main", "head"),
			invalid("B0", "main", "head"),
			bad("nothing new", `{"title": "x", "head": "main", "base": "main"}`, 422,
				`{"errors": [{"resource": "PullRequest", "field": "head", "code": "custom", "message": "No commits between main and main"}]}`),
			bad("no common history", `{"title": "x", "head": "lone", "base": "main"}`, 422,
				`{"errors": [{"resource": "PullRequest", "field": "base", "code": "custom", "message": "The main branch has no history in common with lone"}]}`),
			{Name: "an empty repository", Do: "POST /repos/eve/empty/pulls", As: "eve",
				Send: `{"title": "x", "head": "a", "base": "b"}`, Status: 422},
			bad("issue 0", `{"issue": 0, "head": "b0", "base": "main"}`, 422,
				`{"errors": [{"resource": "PullRequest", "field": "issue", "code": "invalid", "value": 0}]}`),
			bad("issue -1", `{"issue": -1, "head": "b0", "base": "main"}`, 422,
				`{"errors": [{"resource": "PullRequest", "field": "issue", "code": "invalid", "value": -1}]}`),
			bad("issue of none", `{"issue": 99, "head": "b0", "base": "main"}`, 422,
				wrongField("issue", "invalid")),
			bad("issue as text", `{"issue": "1", "head": "b0", "base": "main"}`, 422,
				wrongField("issue", "invalid")),
			{Name: "nothing was made", Do: "GET /repos/alice/plot/issues?state=all", Status: 200, Body: "[]"},

			// What is good.
			bad("title of 256", `{"title": "`+long(256)+`", "body": "`+strings.Repeat("x",
				65_536)+`", "head": "alice:b0", "base": "main", "unknown": []}`, 201,
				`{"number": 1, "head": {"label": "alice:b0", "ref": "b0"}, "base": {"label": "alice:main"}, "mergeable": true, "draft": false}`),
			bad("no body", `{"title": " x ", "body": "", "head": "ALICE:b1", "base": "main"}`, 201,
				`{"number": 2, "body": null}`),
			bad("the second", `{"title": "x", "head": "b0", "base": "main"}`, 422,
				`{"message": "Validation Failed", "errors": [{"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for alice:b0."}]}`),
			bad("the same head, another base", `{"title": "x", "head": "b0", "base": "b3"}`, 201,
				`{"number": 3}`),
			{Name: "file an issue", Do: "POST /repos/alice/plot/issues", As: "sam",
				Send: `{"title": "I", "body": "see"}`, Status: 201, Want: `{"number": 4}`},
			{Name: "label it", Do: "POST /repos/alice/plot/issues/4/labels", As: "will", Send: `["bug"]`,
				Status: 200},
			{Name: "comment", Do: "POST /repos/alice/plot/issues/4/comments", As: "will",
				Send: `{"body": "hm"}`, Status: 201},
			bad("make a pull request of it",
				`{"issue": 4, "head": "b2", "base": "main", "title": "dropped", "body": "too"}`, 201,
				`{"number": 4, "title": "I", "body": "see", "comments": 1, "labels": [{"name": "bug"}], "user": {"login": "sam"}, "mergeable": true}`),
			bad("make one of it again", `{"issue": 4, "head": "b3", "base": "main"}`, 422,
				`{"errors": [{"field": "issue", "code": "custom"}]}`),
			{Do: "GET /repos/alice/plot/issues/4", Status: 200,
				Want: `{"title": "I", "pull_request": {"url": "{base}/repos/alice/plot/pulls/4", "merged_at": null}}`},
			{Do: "GET /repos/alice/plot/issues/4/comments", Status: 200, Want: `[{"body": "hm"}]`},
			{Name: "file another", Do: "POST /repos/alice/plot/issues", As: "sam", Send: `{"title": "I"}`,
				Status: 201, Want: `{"number": 5}`},
			{Name: "close it", Do: "PATCH /repos/alice/plot/issues/5", As: "sam", Send: `{"state": "closed"}`,
				Status: 200},
			bad("make one of what is closed", `{"issue": 5, "head": "b3", "base": "main"}`, 422,
				`{"errors": [{"field": "issue", "code": "custom"}]}`),
		}
		s.Run(t, cases)
	})
}

// Each field of an edit with each type, and what an edit changes (decision 33).
func TestEdit(t *testing.T) {
	t.Parallel()
	const edit = "PATCH /repos/alice/plot/pulls/1"
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		lanes(t, s, 1)
		propose(t, s, "sam", "alice/plot", "b0", "main")
		for _, f := range []struct{ field, takes string }{{"title", "string"}, {"body", "string empty null"},
			{"state", "null"}} {
			for _, k := range kinds {
				if strings.Contains(" "+f.takes+" ", " "+k.kind+" ") {
					continue
				}
				s.Check(t, apitest.Case{Do: edit, As: "sam", Send: fmt.Sprintf(`{%q: %s}`, f.field, k.json),
					Status: 422, Want: `{"message": "Validation Failed", "errors": [{"resource": "PullRequest", "field": "` + f.field + `"}]}`})
			}
		}
		s.Run(t, []apitest.Case{
			{Name: "nothing was changed", Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"title": "About b0", "body": null, "state": "open"}`},
			{Name: "another state", Do: edit, As: "sam", Send: `{"state": "merged"}`, Status: 422,
				Want: wrongField("state", "invalid")},
			{Name: "blank title", Do: edit, As: "sam", Send: `{"title": " \t"}`, Status: 422},
			{Name: "long title", Do: edit, As: "sam", Send: `{"title": "` + strings.Repeat("x", 257) + `"}`,
				Status: 422},
			{Name: "long body", Do: edit, As: "sam", Send: `{"body": "` + strings.Repeat("x", 65_537) + `"}`,
				Status: 422},
			{Name: "one wrong of two", Do: edit, As: "sam", Send: `{"title": "new", "state": "x"}`,
				Status: 422},
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200, Want: `{"title": "About b0"}`},
			{Name: "not an object", Do: edit, As: "sam", Send: `"x"`, Status: 400},
			{Name: "malformed", Do: edit, As: "sam", Send: `{"title"`, Status: 400},
			{Name: "nothing", Do: edit, As: "sam", Send: `{}`, Status: 200, Want: `{"title": "About b0"}`},
			{Name: "all", Do: edit, As: "sam",
				Send: `{"title": "T", "body": "B **b**", "state": "closed", "unknown": 1}`, Status: 200,
				Want: `{"title": "T", "body": "B **b**", "state": "closed", "mergeable": "$any"}`},
			{Name: "by POST (decision 16)", Do: "POST /repos/alice/plot/pulls/1", As: "sam",
				Send: `{"state": "open", "body": null}`, Status: 200,
				Want: `{"title": "T", "body": null, "state": "open"}`},
			{Name: "of an issue", Do: "POST /repos/alice/plot/issues", As: "sam", Send: `{"title": "I"}`,
				Status: 201},
			{Do: "PATCH /repos/alice/plot/pulls/2", As: "sam", Send: `{"title": "x"}`, Status: 404},
			{Do: "GET /repos/alice/plot/pulls/2", Status: 404},
			{Do: "GET /repos/alice/plot/pulls/2/merge", Status: 404, Want: `{"message": "Not Found"}`},
		})
	})
}
