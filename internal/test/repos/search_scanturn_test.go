package repos_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A search of files ends early when another network waits for its place, and says so. What it found is not
// kept: the next one is whole.
func TestScanEndsForOthers(t *testing.T) {
	t.Parallel()
	slow := filepath.Join(t.TempDir(), "slow")
	if err := os.WriteFile(slow, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waits := gittest.Wrapped(t, "ls-tree", "while [ -e "+slow+" ]; do sleep 0.05; done")
	s := apitest.Start(t, db.SQLite, func(o *server.Options) {
		proxies, err := admission.ParseProxies("127.0.0.0/8")
		if err != nil {
			t.Fatal(err)
		}
		o.Admission = admission.New(1<<30, proxies)
		o.Admission.Patience(testkit.Patience)
		o.Git = gittest.New(t, git.Options{Binary: waits})
	})
	s.User(t, "alice")
	dir := gittest.Bare(t)
	var files strings.Builder
	files.WriteString(gittest.CommitLine("main", 0, "x"))
	for n := range 30 { // more trees than are walked without a process
		files.WriteString(gittest.FileLines(fmt.Sprintf("d%d/f", n), "peas"))
	}
	gittest.Import(t, dir, strings.NewReader(files.String()+"done\n"))
	s.Import(t, s.Repo(t, "alice/garden", false), dir)
	search := func(from, word string) apitest.Case {
		return apitest.Case{Do: "GET /search/code?q=repo:alice/garden+" + word + "&per_page=1", Status: 200,
			Headers: map[string]string{"X-Forwarded-For": from}}
	}
	first, second := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(first)
		c := search("192.0.2.1", "peas")
		c.Want = `{"incomplete_results": true}`
		s.Check(t, c)
	}()
	testkit.Eventually(t, func() bool { return scans(s).Held == 1 }, "the first searches")
	go func() {
		defer close(second)
		c := search("198.51.100.1", "peas+filename:f")
		c.Want = `{"incomplete_results": false}`
		s.Check(t, c)
	}()
	<-first
	if err := os.Remove(slow); err != nil {
		t.Fatal(err)
	}
	<-second
	c := search("192.0.2.1", "peas")
	c.Want = `{"incomplete_results": false, "total_count": 30}`
	s.Check(t, c)
}

func scans(s *apitest.Server) (found admission.Usage) {
	for _, u := range s.Admitted.Usage() {
		if u.Kind == "scan" {
			found = u
		}
	}
	return found
}
