package main

import (
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A group of GitLab becomes an organization with a repository for each project, also of groups below it, and a team for
// each level of access.
func TestImportOfAGroup(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	backend := filepath.Join(gittest.Run(t, folder, "--exec-path"), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("git http-backend is not installed")
	}
	project := filepath.Join(folder, "acme", "tools", "cli.git")
	testkit.NoError(t, os.MkdirAll(filepath.Dir(project), 0o700))
	gittest.Run(t, folder, "clone", "-q", "--bare", gittest.Repository(t, 2, 1), project)
	gittest.Run(t, folder, "init", "-q", "--bare", filepath.Join(folder, "acme", "secret.git"))
	gittest.Run(t, folder, "clone", "-q", "--bare", gittest.Repository(t, 1, 1), filepath.Join(folder, "acme", "tools", "cli.wiki.git"))
	git := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"PATH"}}
	answers := map[string]string{
		"groups/acme":                   `{"name":"Acme Works","full_path":"acme"}`,
		"groups/acme/projects":          `[{"path_with_namespace":"acme/tools/cli"},{"path_with_namespace":"acme/secret"}]`,
		"groups/acme/descendant_groups": `[{"full_path":"acme/tools"}]`,
		"groups/acme/members":           `[{"username":"olive","access_level":50}]`,
		"groups/acme%2Ftools/members":   `[{"username":"mary","access_level":30}]`,
		"projects/acme%2Ftools%2Fcli":   `{"id":42,"path_with_namespace":"acme/tools/cli","visibility":"public","wiki_access_level":"private","default_branch":"main","created_at":"2020-01-01T00:00:00Z"}`,
		"projects/acme%2Fsecret":        `{"id":43,"path_with_namespace":"acme/secret","visibility":"private","created_at":"2020-01-01T00:00:00Z"}`,
		"projects/42/issues":            `[{"iid":3,"title":"Third","state":"opened","author":{"username":"mary"},"created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-01T00:00:00Z"}]`,
		"projects/42/merge_requests":    `[]`,
		"projects/42/wikis":             `[{"slug":"home"}]`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, api := strings.CutPrefix(r.URL.EscapedPath(), "/api/v4/")
		switch answer, ok := answers[path]; {
		case !api:
			git.ServeHTTP(w, r)
		case path == "version":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"message":"401 Unauthorized"}`)
		case !ok || r.Header.Get("Private-Token") != "secret":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"404 Not Found"}`)
		default:
			fmt.Fprint(w, answer)
		}
	}))
	t.Cleanup(server.Close)
	s := newInstance(t, db.SQLite)
	s.makeTables()
	s.user("nora", "mary", "eve")
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		testkit.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	token, people := file("token", "secret\n"), file("people", "olive nora\nmary mary\n")
	for run := range 2 {
		got := s.arbor("import", server.URL+"/acme", "--to", "works", "--token-file", token, "--as", people)
		for _, want := range []string{"imported into works/tools-cli:", "imported into works/tools-cli.wiki: " + []string{"1", "0"}[run] + " refs", "works: 2 repositories, 1 teams",
			[]string{"issues           1 new", "issues           0 new"}[run]} {
			if !strings.Contains(got, want) {
				t.Errorf("run %d: the import prints\n%s\nwant %q", run, got, want)
			}
		}
	}
	s.start()
	for as, want := range map[string]int{"mary": 200, "eve": 404} { // the wiki is for members
		if a, text := s.do(as, "GET", "/api/v3/repos/works/tools-cli.wiki/contents", nil, nil); a.StatusCode != want {
			t.Errorf("%s gets %d for the wiki, want %d: %s", as, a.StatusCode, want, text)
		}
		if a, text := s.do(as, "GET", "/api/v3/repos/works/secret", nil, nil); a.StatusCode != 404 {
			t.Errorf("%s sees the project of another group: %d %s", as, a.StatusCode, text)
		}
	}
	got := s.arbor("import", server.URL+"/acme/tools/cli/-/issues", "--to", "nora/cli", "--token-file", token)
	if !strings.Contains(got, "imported into nora/cli") {
		t.Errorf("the import of a project prints\n%s", got)
	}
	if got, err := s.tells("import", server.URL+"/acme/none", "--token-file", token); err == nil || !strings.Contains(got, `no project or group "acme/none"`) {
		t.Errorf("the import of nothing prints %s", got)
	}
}
