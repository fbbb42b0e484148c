package repos_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"arbor/internal/migration"
	"arbor/internal/migration/gitlab"
	"arbor/internal/migration/remote"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// gitlabServer answers as a GitLab server with one project, acme/tools/cli, whose id is 42. Git is real.
type gitlabServer struct {
	url     string
	answers map[string]string // by the path below /api/v4/projects/42
	files   map[string]string // by the escaped path
	fill    *strings.Replacer

	redirects map[string]string
}

const secret = "0123456789abcdef0123456789abcdef" // of a file

// newGitLab starts the server. Its repository has the branches main and topic, and heads of five merge requests.
func newGitLab(t *testing.T) *gitlabServer {
	t.Helper()
	folder := t.TempDir()
	backend := filepath.Join(gittest.Run(t, folder, "--exec-path"), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("git http-backend is not installed")
	}
	bare := filepath.Join(folder, "acme", "tools", "cli.git")
	testkit.NoError(t, os.MkdirAll(filepath.Dir(bare), 0o700))
	gittest.Run(t, folder, "init", "-q", "--bare", bare)
	work := filepath.Join(t.TempDir(), "work")
	gittest.Run(t, folder, "clone", "-q", bare, work)
	sum := sha256.Sum256([]byte("large"))
	large := hex.EncodeToString(sum[:])
	gittest.WriteFile(t, work, ".gitattributes", "*.bin filter=lfs\n")
	gittest.WriteFile(t, work, "large.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:"+large+"\nsize 5\n")
	gittest.Run(t, work, "add", ".")
	base, _, _ := gittest.CommitFile(t, work, "file.txt", "one\ntwo\n")
	gittest.Run(t, work, "checkout", "-q", "-b", "topic")
	head, _, _ := gittest.CommitFile(t, work, "file.txt", "one\ntwo\nthree\n")
	gittest.Run(t, work, "push", "-q", "origin", "main", "topic", "HEAD:refs/tags/v1")
	for iid := 1; iid <= 5; iid++ {
		gittest.Run(t, work, "push", "-q", "origin", "HEAD:refs/merge-requests/"+strconv.Itoa(iid)+"/head")
	}
	g := &gitlabServer{answers: map[string]string{}}
	git := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"PATH"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		below, isProject := strings.CutPrefix(path, "/api/v4/projects/42")
		switch {
		case path == "/api/v4/projects/acme%2Ftools%2Fcli":
			below, isProject = "", true
		case path == "/api/v4/version" && r.Header.Get("Private-Token") == "":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"message":"401 Unauthorized"}`)
			return
		case strings.HasSuffix(path, "/info/lfs/objects/batch"):
			fmt.Fprintf(w, `{"objects":[{"oid":%q,"size":5,"actions":{"download":{"href":"%s/large"}}}]}`, large, g.url)
			return
		case strings.HasPrefix(path, "/acme/tools/cli.git/"):
			git.ServeHTTP(w, r)
			return
		}
		if to := g.redirects[path]; to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		if text, ok := g.files[path]; ok {
			fmt.Fprint(w, text)
			return
		}
		answer, ok := g.answers[below]
		if page, _ := strconv.Atoi(r.URL.Query().Get("page")); page > 1 {
			answer, ok = g.answers[below+" page "+strconv.Itoa(page)]
		}
		if !isProject || !ok {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"404 Not Found"}`)
			return
		}
		if _, more := g.answers[below+" page 2"]; more && r.URL.Query().Get("page") == "" {
			w.Header().Set("Link", `<https://gitlab.invalid/api/v4`+below+`?page=2>; rel="next", <https://gitlab.invalid/>; rel="first"`)
		}
		fmt.Fprint(w, g.fill.Replace(answer))
	}))
	t.Cleanup(server.Close)
	g.url = server.URL
	g.fill = strings.NewReplacer("{base}", base, "{head}", head, "{url}", g.url,
		"{host}", strings.ReplaceAll(strings.TrimPrefix(g.url, "http://"), ":", "-"))
	g.files = map[string]string{"/large": "large"}
	return g
}

// open reads the project for an import into a repository.
func (g *gitlabServer) open(ctx context.Context, t *testing.T, s *apitest.Server, to string) *gitlab.Source {
	t.Helper()
	o := remote.Options{Token: "secret", Git: s.Git, Dir: t.TempDir(), Progress: func(string, int64, int64) {}}
	place, err := gitlab.Find(ctx, g.url+"/acme/tools/cli/-/issues", o)
	testkit.NoError(t, err)
	if place == nil || place.Group || place.Name() != "acme/tools-cli" {
		t.Fatalf("the place is %+v", place)
	}
	known, err := migrations(s).Numbers(ctx, to)
	testkit.NoError(t, err)
	source, err := place.Open(ctx, o, known)
	testkit.NoError(t, err)
	t.Cleanup(func() { testkit.NoError(t, source.Close()) })
	return source
}

// load imports the project, and returns the report without an error.
func (g *gitlabServer) load(t *testing.T, s *apitest.Server, to string) *migration.Report {
	t.Helper()
	report, err := migrations(s).Import(t.Context(), g.open(t.Context(), t, s, to),
		migration.ImportOptions{To: to, Progress: func(string, int64, int64) {}})
	testkit.NoError(t, err)
	sound(t, s)
	return report
}

// check runs cases that expect what the server knows.
func (g *gitlabServer) check(t *testing.T, s *apitest.Server, cases []apitest.Case) {
	t.Helper()
	for n := range cases {
		cases[n].Want = g.fill.Replace(cases[n].Want)
	}
	s.Run(t, cases)
}

// gitlabProject are answers about a project, in the shapes of GitLab's documentation.
var gitlabProject = map[string]string{
	"": `{"id":42,"path_with_namespace":"acme/tools/cli","description":"A\ntool","visibility":"public","default_branch":"main",
		"topics":["cli","Machine Learning","CLI","日本"],"issues_access_level":"enabled","merge_requests_access_level":"enabled","releases_access_level":"enabled",
		"wiki_access_level":"enabled","merge_method":"ff","squash_option":"default_off","created_at":"2020-01-01T00:00:00.000Z",
		"last_activity_at":"2020-03-01T00:00:00.000Z","namespace":{"kind":"group","full_path":"acme/tools"},
		"only_allow_merge_if_all_discussions_are_resolved":true}`,
	"/labels":     `[{"id":1,"name":"type::bug","color":"#FF0000","description":"Broken"}]`,
	"/milestones": `[{"id":70,"iid":1,"title":"1.0","description":"See !1","state":"closed","due_date":"2020-02-01","created_at":"2020-01-01T00:00:00Z","updated_at":"2020-02-02T00:00:00Z"}]`,
	"/issues": `[{"iid":1,"title":"First","description":"See !1, acme/tools/cli!3, other/cli!1 and #5. ` + "`!1`" + `\n\n![shot](/uploads/` + secret + `/shot.png){width=10}\n{url}/acme/tools/cli/-/merge_requests/2/diffs","state":"closed",
		"author":{"username":"ann","name":"Ann <b>Stone</b>"},"assignees":[{"username":"bob"}],"labels":["type::bug"],"milestone":{"id":70,"title":"1.0"},
		"discussion_locked":true,"created_at":"2020-01-02T00:00:00Z","updated_at":"2020-01-05T00:00:00Z","closed_at":"2020-01-04T00:00:00Z","closed_by":{"username":"bob"}},
		{"iid":2,"title":"Secret","state":"opened","confidential":true,"created_at":"2020-01-02T00:00:00Z","updated_at":"2020-01-02T00:00:00Z"}]`,
	"/issues page 2": `[{"iid":5,"title":"Fifth","state":"opened","author":{"username":"ghost"},"due_date":"2020-05-05","created_at":"2020-01-03T00:00:00Z","updated_at":"2020-01-03T00:00:00Z"}]`,
	"/issues/1/discussions": `[{"id":"a","individual_note":true,"notes":[{"id":100,"type":null,"body":"A comment about !3","author":{"username":"bob"},"system":false,"created_at":"2020-01-02T01:00:00Z","updated_at":"2020-01-02T01:00:00Z"}]},
		{"id":"b","notes":[{"id":101,"body":"internal","internal":true,"author":{"username":"bob"},"created_at":"2020-01-02T02:00:00Z"}]},
		{"id":"c","notes":[{"id":102,"body":"changed title from **Fi{-s-}t** to **Fi{+rs+}t**","system":true,"author":{"username":"ann"},"created_at":"2020-01-02T03:00:00Z"}]},
		{"id":"d","notes":[{"id":103,"body":"assigned to @bob and unassigned @ann","system":true,"author":{"username":"ann"},"created_at":"2020-01-02T04:00:00Z"}]},
		{"id":"e","notes":[{"id":104,"body":"mentioned in merge request !1","system":true,"author":{"username":"ann"},"created_at":"2020-01-02T05:00:00Z"}]},
		{"id":"f","notes":[{"id":105,"body":"locked the discussion in this issue","system":true,"author":{"username":"ann"},"created_at":"2020-01-02T06:00:00Z"}]}]`,
	"/issues/1/notes/100/award_emoji":     `[{"id":1,"name":"rocket","user":{"username":"ann"},"created_at":"2020-01-02T02:00:00Z"}]`,
	"/issues/1/award_emoji":               `[{"id":2,"name":"thumbsup","user":{"username":"bob"},"created_at":"2020-01-02T02:00:00Z"},{"id":3,"name":"parrot","user":{"username":"bob"}}]`,
	"/issues/1/resource_label_events":     `[{"id":1,"user":{"username":"ann"},"created_at":"2020-01-02T00:30:00Z","label":{"name":"type::bug","color":"#FF0000"},"action":"add"}]`,
	"/issues/1/resource_milestone_events": `[{"id":1,"user":{"username":"ann"},"created_at":"2020-01-02T00:40:00Z","milestone":{"title":"1.0"},"action":"add"}]`,
	"/issues/1/resource_state_events":     `[{"id":1,"user":{"username":"bob"},"created_at":"2020-01-04T00:00:00Z","state":"closed"}]`,
	"/merge_requests": `[{"iid":1,"title":"Draft: Add a line","description":"Closes #1","state":"opened","draft":true,"author":{"username":"ann"},
		"source_branch":"topic","target_branch":"main","source_project_id":42,"target_project_id":42,"sha":"{head}","reviewers":[{"username":"bob"}],"created_at":"2020-01-03T00:00:00Z","updated_at":"2020-01-03T00:00:00Z"},
		{"iid":2,"title":"From a fork","state":"opened","author":{"username":"bob"},"source_branch":"patch","target_branch":"main","source_project_id":99,"sha":"{head}","created_at":"2020-01-04T00:00:00Z","updated_at":"2020-01-04T00:00:00Z"},
		{"iid":3,"title":"Merged","state":"merged","author":{"username":"bob"},"source_branch":"gone","target_branch":"main","source_project_id":42,"sha":"{head}","merge_commit_sha":"{head}",
		"merged_at":"2020-01-06T00:00:00Z","merge_user":{"username":"ann"},"created_at":"2020-01-05T00:00:00Z","updated_at":"2020-01-06T00:00:00Z"}]`,
	"/merge_requests/1": `{"iid":1,"title":"Draft: Add a line","description":"Closes #1","state":"opened","draft":true,"author":{"username":"ann"},
		"source_branch":"topic","target_branch":"main","source_project_id":42,"sha":"{head}","reviewers":[{"username":"bob"}],"created_at":"2020-01-03T00:00:00Z","updated_at":"2020-01-03T00:00:00Z",
		"diff_refs":{"base_sha":"{base}","head_sha":"{head}","start_sha":"{base}"}}`,
	"/merge_requests/2": `{"iid":2,"title":"From a fork","state":"opened","author":{"username":"bob"},"source_branch":"patch","target_branch":"main","source_project_id":99,"sha":"{head}","created_at":"2020-01-04T00:00:00Z","updated_at":"2020-01-04T00:00:00Z"}`,
	"/merge_requests/3": `{"iid":3,"title":"Merged","state":"merged","author":{"username":"bob"},"source_branch":"gone","target_branch":"main","source_project_id":42,"sha":"{head}","merge_commit_sha":"{head}",
		"merged_at":"2020-01-06T00:00:00Z","merge_user":{"username":"ann"},"created_at":"2020-01-05T00:00:00Z","updated_at":"2020-01-06T00:00:00Z","diff_refs":{"base_sha":"{base}","head_sha":"{head}","start_sha":"{base}"}}`,
	"/merge_requests/1/discussions": `[{"id":"x","individual_note":false,"notes":[
		{"id":200,"type":"DiffNote","body":"Why?","author":{"username":"bob"},"resolvable":true,"resolved":true,"resolved_by":{"username":"ann"},"resolved_at":"2020-01-03T03:00:00Z","created_at":"2020-01-03T01:00:00Z","updated_at":"2020-01-03T01:00:00Z",
			"position":{"base_sha":"{base}","start_sha":"{base}","head_sha":"{head}","old_path":"file.txt","new_path":"file.txt","position_type":"text","old_line":null,"new_line":3,
				"line_range":{"start":{"line_code":"x_1_2","type":"new","old_line":"2","new_line":2},"end":{"type":"new","old_line":null,"new_line":3}}}},
		{"id":201,"type":"DiffNote","body":"Because\n` + "```" + `suggestion:-0+0\nfour\n` + "```" + `","author":{"username":"ann"},"created_at":"2020-01-03T02:00:00Z","updated_at":"2020-01-03T02:00:00Z","position":{"head_sha":"{head}","new_path":"file.txt","position_type":"text","new_line":3}}]},
		{"id":"y","notes":[{"id":202,"body":"approved this merge request","system":true,"author":{"username":"bob"},"created_at":"2020-01-03T04:00:00Z"}]},
		{"id":"z","notes":[{"id":205,"body":"closed","system":true,"author":{"username":"bob"},"created_at":"2020-01-03T04:10:00Z"},{"id":206,"body":"reopened","system":true,"author":{"username":"bob"},"created_at":"2020-01-03T04:20:00Z"},
		{"id":203,"type":"DiscussionNote","body":"Good","author":{"username":"bob"},"created_at":"2020-01-03T05:00:00Z","updated_at":"2020-01-03T05:00:00Z"}]},
		{"id":"w","notes":[{"id":204,"body":"requested review from @bob","system":true,"author":{"username":"ann"},"created_at":"2020-01-03T00:10:00Z"}]}]`,
	"/merge_requests/1/approvals":             `{"approved_by":[{"user":{"username":"bob"}}]}`,
	"/merge_requests/1/notes/200/award_emoji": `[{"name":"eyes","user":{"username":"ann"},"created_at":"2020-01-03T02:00:00Z"}]`,
	"/merge_requests/3/resource_state_events": `[{"id":2,"user":{"username":"ann"},"created_at":"2020-01-06T00:00:00Z","state":"merged"}]`,
	"/releases": `[{"tag_name":"v1","name":"One","description":"With !3","author":{"username":"ann"},"created_at":"2020-02-01T00:00:00Z","released_at":"2020-02-01T00:00:00Z","commit":{"id":"{head}"},
		"assets":{"count":3,"links":[{"id":1,"name":"tool.tar","url":"{url}/api/v4/projects/42/packages/generic/tool/1/tool.tar"},{"id":2,"name":"else [where]","url":"https://example.com/a"},
			{"id":3,"name":"of others","url":"{url}/api/v4/projects/43/packages/generic/tool/1/tool.tar"}]}}]`,
	"/protected_branches": `[{"name":"main","push_access_levels":[{"access_level":40}],"merge_access_levels":[{"access_level":30}],"allow_force_push":false}]`,
	"/protected_tags":     `[{"name":"v*"}]`,
	"/hooks":              `[{"id":1,"url":"https://example.com/hook","push_events":true,"enable_ssl_verification":true}]`,
	"/wikis":              `[{"slug":"home"}]`,
}

// A project of GitLab comes with its history. Issues keep their numbers, merge requests get those behind them, and later
// imports remember which.
func TestImportOfGitLab(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		g := newGitLab(t)
		maps.Copy(g.answers, gitlabProject)
		g.files["/api/v4/projects/42/packages/generic/tool/1/tool.tar"] = "tar"
		g.files["/api/v4/projects/99"] = `{"id":99,"path_with_namespace":"stealth/cli","visibility":"private","namespace":{"kind":"group","full_path":"stealth"}}`
		g.files["/api/v4/projects/43/packages/generic/tool/1/tool.tar"] = "a secret of others"
		g.files["/api/v4/projects/42/uploads/"+secret+"/shot.png"] = "png"
		report := g.load(t, s, "alice/cli")
		for k, c := range report.Counts {
			if c.Failed > 0 && k != migration.Hooks {
				t.Errorf("%d %s did not come", c.Failed, k)
			}
		}
		if report.Counts[migration.LFSObjects].New != 1 || report.Counts[migration.Attachments].New != 1 || report.Counts[migration.Threads].New != 1 {
			t.Errorf("the files and conversations are %+v", report.Counts)
		}
		problems := strings.Join(report.Problems, "\n")
		for _, want := range []string{"issue 2, which is confidential", "1 internal comments", `the topic "日本"`, "maintainers may push", "the wiki, a repository of its own",
			`tags "v*"`, "webhook https://example.com/hook"} {
			if !strings.Contains(problems, want) {
				t.Errorf("the report does not say %q: %s", want, problems)
			}
		}
		if strings.Contains(problems, "Secret") {
			t.Errorf("the report shows a confidential issue: %s", problems)
		}
		key := "aerukz4jvpg66ajdivtytk6n54"
		g.check(t, s, []apitest.Case{
			{Do: "GET /repos/alice/cli", As: "alice", Status: 200, Want: `{"private":false,"description":"A tool","topics":["cli","machine-learning"],
				"allow_merge_commit":false,"allow_rebase_merge":true,"allow_squash_merge":true}`},
			{Do: "GET /repos/alice/cli/issues?state=all&direction=asc", As: "alice", Status: 200, Want: `[
				{"number":1,"title":"First","state":"closed","locked":true,"user":{"login":"ann[{host}]"},"labels":[{"name":"type::bug","color":"ff0000"}],"milestone":{"number":70,"due_on":"2020-02-01T00:00:00Z"},
					"assignee":{"login":"bob[{host}]"},"closed_at":"2020-01-04T00:00:00Z"},
				{"number":5,"title":"Fifth","body":"*Due: 2020-05-05*","user":{"login":"ghost"}},
				{"number":6,"title":"Add a line","draft":true,"body":"Closes #1\n\n*Former number: ` + "`!1`" + `*"},
				{"number":7,"title":"From a fork"},{"number":8,"title":"Merged"}]`},
			{Do: "GET /repos/alice/cli/issues/1", As: "alice", Status: 200, Want: `{"closed_by":{"login":"bob[{host}]"},
				"body":"See #6, #8, other/cli!1 and #5. ` + "`!1`" + `\n\n![shot](/alice/cli/attachments/` + key + `)\n#7"}`},
			{Do: "GET /repos/alice/cli/issues/1/comments", As: "alice", Status: 200, Want: `[{"body":"A comment about #8","user":{"login":"bob[{host}]"}}]`},
			{Do: "GET /repos/alice/cli/issues/1/timeline", As: "alice", Status: 200, Want: `[{"event":"labeled"},{"event":"milestoned"},{"event":"commented"},
				{"event":"renamed","rename":{"from":"Fist","to":"First"}},{"event":"assigned","assignee":{"login":"bob[{host}]"}},{"event":"unassigned","assignee":{"login":"ann[{host}]"}},
				{"event":"cross-referenced","source":{"issue":{"number":6}}},{"event":"locked"},{"event":"closed","actor":{"login":"bob[{host}]"}}]`},
			{Do: "GET /repos/alice/cli/issues/1/reactions", As: "alice", Status: 200, Headers: reactionsPreview, Want: `[{"content":"+1"}]`},
			{Do: "GET /repos/alice/cli/pulls/6", As: "alice", Status: 200, Want: `{"state":"open","head":{"ref":"topic","sha":"{head}"},"base":{"ref":"main","sha":"{base}"},"commits":1,"additions":1}`},
			{Do: "GET /repos/alice/cli/pulls/6/reviews", As: "alice", Status: 200, Want: `[{"state":"COMMENTED","user":{"login":"bob[{host}]"}},{"state":"COMMENTED","user":{"login":"ann[{host}]"}},
				{"state":"APPROVED","user":{"login":"bob[{host}]"},"submitted_at":"2020-01-03T04:00:00Z"}]`},
			{Do: "GET /repos/alice/cli/pulls/6/comments", As: "alice", Status: 200, Want: `[{"body":"Why?","path":"file.txt","line":3,"start_line":2,"side":"RIGHT","position":3},{"body":"Because\n` + "```" + `suggestion\nfour\n` + "```" + `"}]`},
			{Do: "GET /repos/alice/cli/issues/6/events", As: "alice", Status: 200, Want: `[{"event":"review_requested","requested_reviewer":{"login":"bob[{host}]"}},{"event":"closed"},{"event":"reopened"}]`},
			{Do: "GET /repos/alice/cli/pulls/7", As: "alice", Status: 200, Want: `{"state":"open","head":{"ref":"bob/patch"}}`},
			{Do: "GET /repos/alice/cli/pulls/8", As: "alice", Status: 200, Want: `{"merged":true,"merged_at":"2020-01-06T00:00:00Z","merged_by":{"login":"ann[{host}]"},"merge_commit_sha":"{head}"}`},
			{Do: "GET /repos/alice/cli/milestones?state=all", As: "alice", Status: 200, Want: `[{"number":70,"state":"closed","closed_at":"2020-02-02T00:00:00Z","description":"See #6"}]`},
			{Do: "GET /repos/alice/cli/releases", As: "alice", Status: 200, Want: `[{"tag_name":"v1","draft":false,"body":"With #8\n\n- [else \\[where\\]](<https://example.com/a>)\n- [of others](<{url}/api/v4/projects/43/packages/generic/tool/1/tool.tar>)",
				"assets":[{"name":"tool.tar","size":3}]}]`},
			{Do: "GET /repos/alice/cli/branches/main/protection", As: "alice", Status: 200, Want: `{"required_pull_request_reviews":{"required_approving_review_count":0},
				"allow_force_pushes":{"enabled":false},"required_conversation_resolution":{"enabled":true}}`},
		})
		if report := g.load(t, s, "alice/cli"); brought(report) != "" {
			t.Errorf("the second import brought %s", brought(report))
		}
		// The number of the new issue is that of !1 here; !4 is new, and refers to the issue.
		g.answers["/issues page 3"] = `[{"iid":6,"title":"Sixth","state":"opened","created_at":"2020-04-01T00:00:00Z","updated_at":"2020-04-01T00:00:00Z"}]`
		g.answers["/issues page 2"] = strings.TrimSuffix(g.answers["/issues page 2"], "]") + "," + strings.TrimPrefix(g.answers["/issues page 3"], "[")
		g.answers["/merge_requests"] = strings.TrimSuffix(g.answers["/merge_requests"], "]") + `,{"iid":4,"title":"Fourth","description":"Closes #6","state":"closed","source_branch":"other","target_branch":"main",
			"source_project_id":0,"sha":"{head}","diff_refs":{"base_sha":"{base}"},"created_at":"2020-04-02T00:00:00Z","updated_at":"2020-04-02T00:00:00Z"}]`
		if got := brought(g.load(t, s, "alice/cli")); got != "2 new and 0 changed issues" {
			t.Errorf("the third import brought %s", got)
		}
		g.check(t, s, []apitest.Case{
			{Do: "GET /repos/alice/cli/issues/9", As: "alice", Status: 200, Want: `{"title":"Fourth","body":"Closes #10\n\n*Former number: ` + "`!4`" + `*","pull_request":{}}`},
			{Do: "GET /repos/alice/cli/issues/10", As: "alice", Status: 200, Want: `{"title":"Sixth","body":"*Former number: ` + "`#6`" + `*"}`},
		})
		if got := brought(g.load(t, s, "alice/cli")); got != "" {
			t.Errorf("the fourth import brought %s", got)
		}
		// A repository that takes the name of a renamed one has no part in its numbers.
		id := s.Access(t, "alice", "alice/cli").ID
		s.Ask(t, "alice", "PATCH /repos/alice/cli", `{"name":"renamed"}`, 200)
		s.Repo(t, "alice/cli", false)
		known, err := migrations(s).NumbersOf(t.Context(), id)
		testkit.NoError(t, err)
		if known.Of["!4"] != 9 || known.Next != 11 {
			t.Errorf("the numbers of a renamed repository are %+v", known)
		}
	})
}

// brought says what came and what changed.
func brought(r *migration.Report) (text string) {
	for _, k := range migration.Kinds {
		if c := r.Counts[k]; c != nil && c.New+c.Changed > 0 {
			text += fmt.Sprintf("%d new and %d changed %s", c.New, c.Changed, k)
		}
	}
	return text
}
