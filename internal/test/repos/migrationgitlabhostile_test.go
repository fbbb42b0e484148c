package repos_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"arbor/internal/migration"
	"arbor/internal/test/apitest"
)

// A confidential issue of a private project comes into a private repository, and into no public one.
func TestConfidentialIssues(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		g := newGitLab(t)
		g.answers = map[string]string{
			"": `{"id":42,"path_with_namespace":"acme/tools/cli","visibility":"internal","default_branch":"main","created_at":"2020-01-01T00:00:00Z"}`,
			"/issues": `[{"iid":1,"title":"For all","state":"opened","created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-01T00:00:00Z"},
				{"iid":2,"title":"For few","confidential":true,"state":"opened","created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-01T00:00:00Z"}]`,
			"/issues/2/discussions": `[{"notes":[{"id":1,"body":"For few, too","created_at":"2020-01-01T00:00:00Z"}]}]`,
			"/merge_requests":       `[]`,
		}
		s.Ask(t, "alice", "POST /user/repos", `{"name":"open"}`, 201)
		for name, want := range map[string]string{"closed": `[{"title":"For few"},{"title":"For all"}]`, "open": `[{"title":"For all"}]`} {
			report := g.load(t, s, "alice/"+name)
			s.Run(t, []apitest.Case{
				{Do: "GET /repos/alice/" + name, As: "alice", Status: 200, Want: `{"private":` + strconv.FormatBool(name == "closed") + `}`},
				{Do: "GET /repos/alice/" + name + "/issues", As: "alice", Status: 200, Want: want},
			})
			if refused := strings.Contains(strings.Join(report.Problems, "\n"), "issue 2: it is confidential"); refused != (name == "open") {
				t.Errorf("%s: %q", name, report.Problems)
			}
		}
	})
}

// gitlabLies are answers of a server that lies.
var gitlabLies = map[string]string{
	"": `{"id":42,"path_with_namespace":"acme/tools/cli","description":null,"visibility":"private","default_branch":"no such",
		"topics":["a topic with spaces"],"created_at":"2999-01-01T00:00:00Z","namespace":{}}`,
	"/labels":     `[{"name":"bug","color":"red"},{"name":"BUG","color":"#ff0000"},{"name":"","color":""},{"name":"` + strings.Repeat("long", 50) + `"}]`,
	"/milestones": `[{"id":7,"title":"one","state":"active","created_at":"2020-01-01T00:00:00Z"},{"id":7,"title":"two"},{"id":-1,"title":"x","state":"ajar","due_date":"soon"}]`,
	"/issues": `[{"iid":3,"title":"","description":null,"state":"opened","author":null,"created_at":"2999-01-01T00:00:00Z","labels":["` + strings.Repeat("long", 50) + `"],"milestone":{"id":7}},
		{"iid":1,"title":"<script>alert(1)</script>","description":"!1 !99 #1#2 /uploads/` + secret + `/..%2F..%2Fetc [x](/uploads/zzz/a)","state":"closed","author":{"username":"../bob","name":"<b>"},"created_at":"2020-01-01T00:00:00Z"},
		{"iid":1,"title":"Again","state":"opened"},{"iid":0},{"iid":-5},{"iid":9223372036854775807}]`,
	"/issues/1/discussions": `[{"notes":[]},{"notes":null},{"notes":[{"id":0,"body":"no number"},{"id":10,"type":"DiffNote","body":"on a line of an issue","position":{"new_line":1}}]},
		{"notes":[{"id":10,"body":"twice"}]},{"notes":[{"id":12,"system":true,"body":"assigned to @` + strings.Repeat("x", 300) + `"}]},
		{"notes":[{"id":13,"system":true,"body":"mentioned in issue #77"},{"id":14,"system":true,"body":"changed title from **a** to nothing"}]}]`,
	"/issues/1/resource_state_events": `[{"id":1,"state":"merged"},{"id":2,"state":"unheard of"},{"id":3,"state":"closed","user":null,"created_at":"0001-01-01T00:00:00Z"}]`,
	"/issues/1/resource_label_events": `[{"id":1,"label":null,"action":"add"}]`,
	"/issues/1/award_emoji":           `[{"name":"heart","user":null},{"name":"heart","user":{"username":"bob"}},{"name":"heart","user":{"username":"bob"}}]`,
	"/merge_requests": `[{"iid":1,"title":"Its head is its base","state":"opened","source_branch":"main","target_branch":"main","source_project_id":42,"sha":"{head}"},
		{"iid":2,"title":"Nothing is there","state":"merged","source_branch":"","target_branch":"","sha":"nonsense","merge_commit_sha":"zzz"},
		{"iid":3,"title":"Open","state":"locked","source_branch":"topic","target_branch":"main","source_project_id":42,"sha":"{head}","created_at":"2020-01-01T00:00:00Z"}]`,
	"/merge_requests/3/discussions": `[{"notes":[{"id":30,"type":"DiffNote","body":"nowhere","position":{"head_sha":"{head}","new_path":"../secret","new_line":99999,"line_range":{"start":{"new_line":"x"}}}},
		{"id":31,"type":"DiffNote","body":"an image","position":{"position_type":"image","new_path":"a.png","head_sha":"{head}"}}]},
		{"notes":[{"id":32,"type":"DiffNote","body":"no commit","position":{"head_sha":"zzz","new_path":"file.txt","new_line":"2"}}]}]`,
	"/merge_requests/3/approvals": `{"approved_by":[{"user":null},{"user":{"username":"bob"}},{"user":{"username":"bob"}}]}`,
	"/releases":                   `[{"tag_name":"no-such-tag","released_at":"2999-01-01T00:00:00Z","assets":{"links":[{"id":1,"name":"x","url":"{url}/redirect"},{"id":2,"name":"y","url":"{url}/acme/tools/cli/-/redirect"},{"id":3,"name":"z","url":"file:///etc/passwd"}]}},{"tag_name":""}]`,
	"/protected_branches":         `[{"name":"main","push_access_levels":null},{},{"name":"main"}]`,
	"/hooks":                      `[{"id":"x","url":7},{"id":1,"url":"http://127.0.0.1/"}]`,
}

// A GitLab server that lies makes no repository unsound, and no import of it that is stopped does anything twice.
func TestImportOfAGitLabThatLies(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		inner := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("an inner address is asked for %s", r.URL)
		}))
		t.Cleanup(inner.Close)
		g := newGitLab(t)
		maps.Copy(g.answers, gitlabLies)
		g.redirects = map[string]string{"/acme/tools/cli/-/redirect": inner.URL, "/redirect": inner.URL}
		for run := range 3 { // the first is stopped, the third finds nothing new
			ctx, stop := context.WithCancel(t.Context())
			steps := 0
			report, err := migrations(s).Import(ctx, g.open(t.Context(), t, s, "alice/cli"), migration.ImportOptions{To: "alice/cli",
				Progress: func(string, int64, int64) {
					if steps++; run == 0 && steps == 8 {
						stop()
					}
				}})
			stop()
			if (err != nil) != (run == 0) {
				t.Fatalf("import %d: %v", run, err)
			}
			if got := brought(report); run == 2 && got != "" {
				t.Errorf("the third import brought %s", got)
			}
			sound(t, s)
		}
		long := strings.Repeat("long", 50)[:50]
		g.check(t, s, []apitest.Case{
			{Do: "GET /repos/alice/cli", As: "alice", Status: 200, Want: `{"private":true}`},
			{Do: "GET /repos/alice/cli/issues?state=all&direction=asc", As: "alice", Status: 200, Want: `[
				{"number":1,"title":"<script>alert(1)</script>"},
				{"number":3,"title":"(no title)","user":{"login":"ghost"},"labels":[{"name":"` + long + `"}],"milestone":{"number":7}},
				{"number":4,"title":"Its head is its base","state":"closed"},{"number":5,"state":"closed"},{"number":6,"title":"Open","state":"open"}]`},
			{Do: "GET /repos/alice/cli/issues/1/comments", As: "alice", Status: 200, Want: `[{"body":"on a line of an issue"}]`},
			{Do: "GET /repos/alice/cli/pulls/6/comments", As: "alice", Status: 200, Want: `[{"body":"nowhere","line":null},{"body":"an image","subject_type":"file"}]`},
			{Do: "GET /repos/alice/cli/pulls/6/reviews", As: "alice", Status: 200, Want: `[{"state":"COMMENTED"},{"state":"APPROVED"}]`},
			{Do: "GET /repos/alice/cli/releases", As: "alice", Status: 200, Want: `[{"tag_name":"no-such-tag","draft":true,"assets":[]}]`},
			{Do: "GET /repos/alice/cli/labels", As: "alice", Status: 200, Want: `[{"name":"bug","color":"ededed"},{"name":"` + long + `"}]`},
		})
	})
}
