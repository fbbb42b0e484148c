package repos_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// breaks are the ways in which a repository's folder breaks. Each moves it away first.
var breaks = map[string]func(t *testing.T, dir string) (mend func()){
	"missing": func(t *testing.T, dir string) func() {
		move(t, dir, dir+".away")
		return func() { move(t, dir+".away", dir) }
	},
	"a file in its place": func(t *testing.T, dir string) func() {
		move(t, dir, dir+".away")
		write(t, dir)
		return func() { move(t, dir, dir+".file"); move(t, dir+".away", dir) }
	},
	"unreadable": func(t *testing.T, dir string) func() {
		if os.Geteuid() == 0 {
			t.Skip("root reads every folder: run this test as another user")
		}
		if err := os.Chmod(dir, 0); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	},
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A repository whose folder is gone or cannot be read is a failure of the server, which its operator hears
// of, until the folder is back. Answered as empty or as not there, lost data would be noticed by users
// alone.
func TestBrokenFolder(t *testing.T) {
	t.Parallel()
	for name, broken := range breaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				s.Log.AllowErrors()
				testBroken(t, s, broken)
			})
		})
	}
}

func testBroken(t *testing.T, s *apitest.Server, broken func(*testing.T, string) func()) {
	dir, head := gardens(t, s)
	mend := broken(t, dir)
	testRequests(t, s, dir, head)
	testAlarm(t, s, mend)
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/commits", Status: 200})
	gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "", "alice/garden"), "clone")
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/pulls/1/merge", As: "alice", Send: `{}`, Status: 200})
}

// gardens creates three repositories. It returns the directory of alice/garden and a commit in it.
func gardens(t *testing.T, s *apitest.Server) (dir, head string) {
	s.User(t, "alice")
	s.User(t, "bob")
	garden := s.Repo(t, "alice/garden", false)
	s.Repo(t, "alice/empty", false)
	s.Repo(t, "alice/whole", false)
	put := func(name string) apitest.Case {
		return apitest.Case{Do: "PUT /repos/alice/" + name + "/contents/a", As: "alice",
			Send: `{"message":"m","content":"eA=="}`, Status: 201}
	}
	s.Run(t, []apitest.Case{put("garden"), put("whole"),
		{Do: "GET /repos/alice/garden/git/ref/heads/main", Status: 200, Keep: func(a *apitest.Answer) {
			head = regexp.MustCompile(`[0-9a-f]{40}`).FindString(string(a.Body))
		}}})
	s.Run(t, []apitest.Case{
		{Do: "POST /repos/alice/garden/git/refs", As: "alice",
			Send: `{"ref":"refs/heads/side","sha":"` + head + `"}`, Status: 201},
		{Do: "PUT /repos/alice/garden/contents/b", As: "alice",
			Send: `{"message":"m","content":"eA==","branch":"side"}`, Status: 201},
		{Do: "POST /repos/alice/garden/pulls", As: "alice",
			Send: `{"title":"p","head":"side","base":"main"}`, Status: 201},
		{Do: "POST /repos/alice/garden/issues", As: "alice",
			Send: `{"title":"i","body":"see ` + head + `"}`, Status: 201},
	})
	return s.Objects(t, garden.ID).Dir(), head
}

// testRequests sends requests while the directory of alice/garden is broken.
func testRequests(t *testing.T, s *apitest.Server, dir, head string) {
	for _, do := range []string{
		"GET /repos/alice/garden/commits", "GET /repos/alice/garden/contents/a",
		"GET /repos/alice/garden/contents", "GET /repos/alice/garden/git/trees/" + head,
		"GET /repos/alice/garden/git/blobs/" + head, "GET /repos/alice/garden/commits/" + head,
		"GET /repos/alice/garden/compare/main...side", "GET /repos/alice/garden/pulls/1/files",
		"GET /repos/alice/garden/readme",
	} {
		s.Check(t, apitest.Case{Do: do, As: "alice", Status: 500})
	}
	for do, send := range map[string]string{
		"PUT /repos/alice/garden/contents/c":    `{"message":"m","content":"eA=="}`,
		"POST /repos/alice/garden/git/blobs":    `{"content":"x"}`,
		"PUT /repos/alice/garden/pulls/1/merge": `{}`,
	} {
		s.Check(t, apitest.Case{Do: do, As: "alice", Send: send, Status: 500})
	}
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "bob", Send: `{}`, Status: 500})
	work := gittest.Repository(t, 1, 1)
	for _, args := range [][]string{
		{"-c", "protocol.version=0", "clone", s.Remote(t, "", "alice/garden"), "v0"},
		{"-c", "protocol.version=1", "clone", s.Remote(t, "", "alice/garden"), "v1"},
		{"-c", "protocol.version=2", "clone", s.Remote(t, "", "alice/garden"), "v2"},
		{"--git-dir", work, "push", s.Remote(t, "alice", "alice/garden"), "main:refs/heads/pushed"},
	} {
		if _, said, err := gittest.Try(t, t.TempDir(), nil, args...); err == nil ||
			!strings.Contains(string(said), "500") {
			t.Errorf("git %q: %v\n%s", args, err, said)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "objects", "pack")); err == nil {
		t.Error("a request made a folder in place of the lost one")
	}

	// What needs no objects goes on, here and in other repositories.
	s.Run(t, []apitest.Case{
		{Do: "GET /repos/alice/garden", Status: 200}, {Do: "GET /repos/alice/garden/branches", Status: 200},
		{Do: "GET /repos/alice/garden/issues/2", As: "alice", Status: 200,
			Headers: map[string]string{"Accept": "application/vnd.github.full+json"}},
		{Do: "GET /repos/alice/empty/commits", Status: 409},
		{Do: "GET /repos/alice/whole/commits", Status: 200},
		{Do: "GET /search/code?q=x+user:alice", As: "alice", Status: 200},
	})

	if text := s.Log.Text(); !strings.Contains(text, "ERROR the folder of a repository is ") ||
		!strings.Contains(text, dir) {
		t.Errorf("no line of the log names %s:\n%s", dir, text)
	}
}

func testAlarm(t *testing.T, s *apitest.Server, mend func()) {
	untilAlarm(t, s, true)
	if got := metric(t, s); got != "1" {
		t.Errorf("the metrics count %q broken repositories", got)
	}
	mend()
	untilAlarm(t, s, false)
	if got := metric(t, s); got != "0" {
		t.Errorf("afterwards the metrics count %q broken repositories", got)
	}
}

func untilAlarm(t *testing.T, s *apitest.Server, is bool) {
	t.Helper()
	var last string
	testkit.Eventually(t, func() bool {
		a := s.Do(t, apitest.Case{Do: "GET /readyz"})
		last = string(a.Body)
		return a.Status == 200 && strings.HasPrefix(last, "ok\n") && strings.Contains(last, "alarm") == is
	}, "the alarm of /readyz", func() string { return last })
}

var brokenMetric = regexp.MustCompile(`(?m)^arbor_repositories_broken (\d+)$`)

func metric(t *testing.T, s *apitest.Server) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.Server.Admin().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
	found := brokenMetric.FindStringSubmatch(w.Body.String())
	if found == nil {
		return ""
	}
	return found[1]
}

// Where no folder of a repository is there at all, the disk is not: another node may have it.
func TestNoFolders(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Log.AllowErrors()
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		put := apitest.Case{Do: "PUT /repos/alice/garden/contents/a", As: "alice",
			Send: `{"message":"m","content":"eA=="}`, Status: 201}
		s.Check(t, put)
		move(t, s.Repos.Dir(), s.Repos.Dir()+".away")
		if err := os.Mkdir(s.Repos.Dir(), 0o700); err != nil {
			t.Fatal(err)
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/commits", Status: 500})
		testkit.Eventually(t, func() bool {
			return s.Do(t, apitest.Case{Do: "GET /readyz"}).Status == 503
		}, "GET /readyz is 503")
		// A repository that is given up ends the alarm.
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden", As: "alice", Status: 204})
		untilAlarm(t, s, false)
	})
}
