package repos_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/migration"
	"arbor/internal/migration/gitea"
	"arbor/internal/migration/remote"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// lyingGitea are answers of a server that speaks Gitea's API and lies, by the paths below its repository. {head} and
// {base} are commits that are there.
var lyingGitea = map[string]string{
	"": `{"full_name":"acme/tool","default_branch":"main","has_issues":true,"has_pull_requests":true,
		"allow_merge_commits":true,"owner":{"login":"acme"},"created_at":"2999-01-01T00:00:00Z"}`,
	"/topics": `{"topics":["a topic with spaces", "good"]}`,
	"/labels": `[{"name":"bug","color":"red"},{"name":"BUG","color":"ff0000"},{"name":"","color":""}]`,
	"/milestones": `[{"id":7,"title":"one","state":"open","created_at":"2020-01-01T00:00:00Z"},
		{"id":7,"title":"two","state":"open","created_at":"2020-01-01T00:00:00Z"},{"id":-1,"title":"x","state":"ajar"}]`,
	"/issues": `[
		{"number":4,"title":"Its branch is gone","state":"closed","user":{"login":"bob"},"is_locked":true,"pull_request":{},
			"created_at":"2020-01-04T00:00:00Z","updated_at":"2020-01-06T00:00:00Z","closed_at":"2020-01-05T00:00:00Z"},
		{"number":3,"title":"A pull request","state":"open","user":{"login":"ghost"},"pull_request":{},"created_at":"2020-01-03T00:00:00Z"},
		{"number":2,"title":"","body":null,"state":"open","user":null,"created_at":"2999-01-01T00:00:00Z","labels":[{"name":"unlisted","color":"00ff00"}],"milestone":{"id":99}},
		{"number":1,"title":"First","body":"Hello @bob, see http://gitea.example/attachments/00000000-0000-4000-8000-000000000001","state":"closed",
			"user":{"login":"bob","full_name":"Bob Stone","email":"alice@example.com"},"created_at":"2020-01-01T00:00:00Z","pin_order":1,
			"assets":[{"uuid":"00000000-0000-4000-8000-000000000001","name":"a.png","size":4},{"uuid":"/../../etc","name":"b"}]},
		{"number":1,"title":"First again","state":"open","user":{"login":"bob"},"created_at":"2020-01-01T00:00:00Z"},
		{"number":0,"title":"Nothing","state":"open"}]`,
	"/issues/1/timeline": `[{"id":1,"type":"close","user":{"login":"bob"},"created_at":"2020-01-02T00:00:00Z"},
		{"id":1,"type":"reopen","user":null,"created_at":"0001-01-01T00:00:00Z"},{"id":2,"type":"unheard of"},
		{"id":3,"type":"pull_ref","ref_issue":{"number":3,"repository":{"full_name":"other/tool"}}},
		{"id":4,"type":"issue_ref","ref_issue":{"number":88,"repository":{"full_name":"acme/tool"}}},
		{"id":5,"type":"commit_ref","ref_commit_sha":"nonsense"},{"id":6,"type":"label","body":"1"}]`,
	"/issues/1/reactions": `[{"user":{"login":"bob"},"content":"heart"},{"user":null,"content":"eyes"},
		{"user":{"login":"bob"},"content":"custom"}]`,
	"/issues/comments": `[{"id":10,"body":"A comment","user":{"login":"bob"},"issue_url":"http://x/issues/1","created_at":"2020-01-02T00:00:00Z"},
		{"id":11,"body":"","user":null,"pull_request_url":"http://x/pulls/3"},
		{"id":12,"body":"of nothing","issue_url":"http://x/issues/500"}]`,
	"/issues/4/timeline": `[{"id":50,"type":"label","body":"1","user":{"login":"bob"},"label":{"name":"bug","color":"ff0000"},"created_at":"2020-01-04T00:00:00Z"},
		{"id":51,"type":"change_title","old_title":"a","new_title":"b","created_at":"2020-01-04T01:00:00Z"},
		{"id":52,"type":"lock","body":"Too heated","created_at":"2020-01-04T02:00:00Z"},
		{"id":53,"type":"close","user":{"login":"bob"},"created_at":"2020-01-05T00:00:00Z"}]`,
	"/pulls/4": `{"base":{"ref":"main","sha":"{head}"},"head":{"label":"gone","ref":"refs/pull/4/head","sha":"{base}","repo":{"full_name":"acme/tool"}},
		"merge_base":"{base}"}`,
	"/pulls/4/reviews": `[]`,
	"/pulls/3": `{"base":{"ref":"main","sha":"{base}"},"head":{"label":"topic","ref":"topic","sha":"{head}","repo":{"full_name":"acme/tool"}},
		"merge_base":"{base}","review_comments":-5}`,
	"/pulls/3/reviews": `[{"id":20,"state":"APPROVED","user":{"login":"bob"},"commit_id":"{head}","comments_count":2,"submitted_at":"2020-01-04T00:00:00Z"},
		{"id":21,"state":"PENDING","comments_count":3},{"id":22,"state":"COMMENT","commit_id":"zzz","submitted_at":"2020-01-04T00:00:00Z"}]`,
	"/pulls/3/reviews/20/comments": `[{"id":31,"body":"second","user":null,"path":"topic.txt","position":1,"created_at":"2020-01-05T00:00:00Z"},
		{"id":30,"body":"first","user":{"login":"bob"},"resolver":{"login":"ghost"},"path":"topic.txt","position":1,"created_at":"2020-01-04T00:00:00Z"},
		{"id":33,"body":"left","path":"topic.txt","original_position":1,"created_at":"2020-01-06T00:00:00Z"},
		{"id":32,"body":"nowhere","path":"../secret","position":99999,"created_at":"2020-01-05T00:00:00Z"}]`,
	"/releases": `[{"id":40,"tag_name":"no-such-tag","assets":[{"id":1,"uuid":"00000000-0000-4000-8000-000000000002","name":"x","size":-4},
		{"id":2,"name":"y"}]}]`,
	"/branch_protections": `[{"rule_name":"main","required_approvals":99,"push_whitelist_usernames":["nobody"],"enable_push":true,"enable_push_whitelist":true},{}]`,
	"/tag_protections":    `[{"name_pattern":"v*"}]`,
	"/hooks":              `[{"id":1,"config":{"url":"http://127.0.0.1/"}}]`,
}

// A server that lies makes no repository unsound: what cannot be is left out or put right, with a line in the report. An
// address that it gives makes nobody here the author of a text.
func TestImportOfAGiteaThatLies(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Email(t, "alice", "alice@example.com")
		s.Ask(t, "alice", "PUT /repos/garden/plot/contents/topic.txt",
			`{"message":"Add","content":"b25lCg==","branch":"main"}`, 201)
		base := s.Tip(t, "alice", "garden/plot", "main")
		s.Ask(t, "alice", "POST /repos/garden/plot/git/refs", fmt.Sprintf(`{"ref":"refs/heads/topic","sha":%q}`, base), 201)
		s.Ask(t, "alice", "PUT /repos/garden/plot/contents/topic.txt",
			fmt.Sprintf(`{"message":"Change","content":"dHdvCg==","branch":"topic","sha":%q}`, "5626abf0f72e58d7a153368ba57db4c673c0e171"), 200)
		for n := range 3 { // so that refs/pull/4/head is there
			s.Ask(t, "alice", "POST /repos/garden/plot/issues", fmt.Sprintf(`{"title":"%d"}`, n), 201)
		}
		s.Ask(t, "alice", "POST /repos/garden/plot/pulls", `{"title":"A","head":"topic","base":"main"}`, 201)
		fill := strings.NewReplacer("{base}", base, "{head}", s.Tip(t, "alice", "garden/plot", "topic"))
		from := lying(t, s, fill)
		into := migration.ImportOptions{To: "alice/tool", Progress: func(string, int64, int64) {}}
		for run := range 3 { // the first is stopped, the third finds nothing new
			ctx, stop := context.WithCancel(t.Context())
			steps := 0
			into.Progress = func(string, int64, int64) {
				if steps++; run == 0 && steps == 8 {
					stop()
				}
			}
			source, err := gitea.Open(t.Context(), from+"/acme/tool", remote.Options{Git: s.Git, Dir: t.TempDir(),
				Progress: func(string, int64, int64) {}})
			testkit.NoError(t, err)
			report, err := migrations(s).Import(ctx, source, into)
			stop()
			if (err != nil) != (run == 0) {
				t.Fatalf("import %d: %v", run, err)
			}
			testkit.NoError(t, source.Close())
			for k, c := range report.Counts {
				if run == 2 && c.New+c.Changed > 0 {
					t.Errorf("the third import brought %d new and %d changed %s", c.New, c.Changed, k)
				}
			}
			if len(report.Matched) > 0 {
				t.Errorf("people here became authors: %v", report.Matched)
			}
			sound(t, s)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/tool/issues?state=all&direction=asc", As: "alice", Status: 200, Want: `[
				{"number":1,"title":"First","state":"closed","user":{"type":"Mannequin"}},
				{"number":2,"title":"(no title)","user":{"login":"ghost"},"labels":[{"name":"unlisted"}],"milestone":null},
				{"number":3,"title":"A pull request","user":{"login":"ghost"}},{"number":4}]`},
			{Do: "GET /repos/alice/tool/issues/1/reactions", As: "alice", Status: 200, Headers: reactionsPreview,
				Want: `[{"content":"heart","user":{"type":"Mannequin"}}]`},
			{Do: "GET /repos/alice/tool/issues/comments", As: "alice", Status: 200, Want: `[{"body":"A comment"},{"body":""}]`},
			{Do: "GET /repos/alice/tool/pulls/3/comments", As: "alice", Status: 200, Want: `[
				{"body":"first","line":1,"position":2,"side":"RIGHT"},{"body":"second","user":{"login":"ghost"}},
				{"body":"nowhere","line":null,"position":null},{"body":"left","line":1,"position":1,"side":"LEFT"}]`},
			{Do: "GET /repos/alice/tool/pulls/4", As: "alice", Status: 200, Want: fill.Replace(`{"state":"closed","merged":false,
				"commits":1,"changed_files":1,"additions":1,"deletions":1,"locked":true,"active_lock_reason":"too heated",
				"closed_at":"2020-01-05T00:00:00Z","head":{"ref":"gone","sha":"{head}"},"base":{"sha":"{base}"}}`)},
			{Do: "GET /repos/alice/tool/issues/4/events", As: "alice", Status: 200, Want: `[
				{"event":"labeled","label":{"name":"bug"}},{"event":"renamed","rename":{"from":"a","to":"b"}},
				{"event":"locked"},{"event":"closed","actor":{"type":"Mannequin"}}]`},
			{Do: "GET /repos/alice/tool/milestones", As: "alice", Status: 200, Want: `[{"number":7,"title":"one"}]`},
			{Do: "GET /repos/alice/tool/labels", As: "alice", Status: 200, Want: `[{"name":"bug","color":"ededed"},{"name":"unlisted"}]`},
			{Do: "GET /repos/alice/tool/releases", As: "alice", Status: 200, Want: `[{"tag_name":"no-such-tag","draft":true,"assets":[]}]`},
			{Do: "GET /repos/alice/tool/branches/main/protection", As: "alice", Status: 200},
		})
	})
}

// reactionsPreview are the headers with which answers have reactions.
var reactionsPreview = map[string]string{"Accept": "application/vnd.github.squirrel-girl-preview+json"}

// lying starts the server, whose Git is a repository of s.
func lying(t *testing.T, s *apitest.Server, fill *strings.Replacer) string {
	t.Helper()
	to, err := url.Parse(s.URL)
	testkit.NoError(t, err)
	token := s.Token(t, "alice")
	gitPath := regexp.MustCompile(`^/acme/tool\.git/`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gitPath.MatchString(r.URL.Path) {
			(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
				p.SetURL(to)
				p.Out.URL.Path = to.Path + "/garden/plot.git/" + strings.TrimPrefix(r.URL.Path, "/acme/tool.git/")
				p.Out.SetBasicAuth("alice", token)
			}}).ServeHTTP(w, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/attachments/") {
			fmt.Fprint(w, "data")
			return
		}
		path := strings.TrimPrefix(r.URL.Path, "/api/v1/repos/acme/tool")
		answer, ok := lyingGitea[path]
		switch {
		case !ok && strings.HasSuffix(path, "/timeline"), !ok && strings.HasSuffix(path, "/reactions"):
			answer = "[]"
		case !ok:
			w.WriteHeader(http.StatusNotFound)
			answer = `{"message":"Not Found"}`
		case r.URL.Query().Get("page") == "2":
			answer = "null"
		}
		fmt.Fprint(w, fill.Replace(answer))
	}))
	t.Cleanup(server.Close)
	return server.URL
}
