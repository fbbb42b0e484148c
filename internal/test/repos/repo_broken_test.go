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
		testkit.NoError(t, os.Chmod(dir, 0))
		return func() {
			testkit.NoError(t, os.Chmod(dir, 0o700))
		}
	},
}

func move(t *testing.T, from, to string) {
	t.Helper()
	testkit.NoError(t, os.Rename(from, to))
}

func write(t *testing.T, path string) {
	t.Helper()
	testkit.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
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
	refs := apitest.Case{Do: "GET /repos/alice/garden/git/matching-refs/", Status: 200}
	refs.Body = string(s.Check(t, refs).Body)
	mend := broken(t, dir)
	testRequests(t, s, dir, head)
	testAlarm(t, s, mend)
	s.Check(t, refs) // nothing that was refused moved one
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/commits", Status: 200})
	gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "", "alice/garden"), "clone")
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/pulls/1/merge", As: "alice", Send: `{}`, Status: 200})
}

// gardens creates three repositories. It returns the directory of alice/garden and a commit in it.
func gardens(t *testing.T, s *apitest.Server) (dir, head string) {
	s.Users(t, "alice", "bob")
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
	for _, c := range []struct{ do, send string }{
		{"GET commits", ""}, {"GET commits/main", ""}, {"GET commits/" + head, ""}, {"GET commits/" + head[:8], ""},
		{"GET commits/" + head + "/status", ""}, {"GET contents", ""}, {"GET contents/a", ""}, {"GET readme", ""},
		{"GET git/trees/main", ""}, {"GET git/trees/" + head + "?recursive=1", ""}, {"GET git/blobs/" + head, ""},
		{"GET git/commits/" + head, ""}, {"GET branches/main", ""}, {"GET compare/main...side", ""},
		{"GET contributors", ""}, {"GET pulls/1/files", ""},
		{"PUT contents/c", `{"message":"m","content":"eA=="}`},
		{"POST git/blobs", `{"content":"x"}`},
		{"POST git/trees", `{"tree":[{"path":"x","mode":"100644","content":"x"}]}`},
		{"POST git/commits", `{"message":"x","tree":"` + head + `"}`},
		{"POST git/refs", `{"ref":"refs/heads/new","sha":"` + head + `"}`},
		{"PATCH git/refs/heads/side", `{"sha":"` + head + `"}`},
		{"POST merges", `{"base":"main","head":"side"}`},
		{"POST pulls", `{"title":"x","base":"side","head":"main"}`},
		{"PUT pulls/1/merge", `{}`},
		{"POST statuses/" + head, `{"state":"success"}`},
		{"POST forks", `{}`},
	} {
		as := "alice"
		if c.do == "POST forks" {
			as = "bob"
		}
		a := s.Check(t, apitest.Case{Do: strings.Replace(c.do, " ", " /repos/alice/garden/", 1), As: as,
			Send: c.send, Status: 500})
		if strings.Contains(string(a.Body), filepath.Dir(dir)) {
			t.Errorf("%s tells where the folder is: %s", c.do, a.Body)
		}
	}
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
		testkit.NoError(t, os.Mkdir(s.Repos.Dir(), 0o700))
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/commits", Status: 500})
		testkit.Eventually(t, func() bool {
			return s.Do(t, apitest.Case{Do: "GET /readyz"}).Status == 503
		}, "GET /readyz is 503")
		// A repository that is given up ends the alarm.
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden", As: "alice", Status: 204})
		untilAlarm(t, s, false)
	})
}
