package repos_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// lineage pushes a history of 2,000 commits on 1,000 files, one of which is touched once, and returns its
// directory and head.
func lineage(b *testing.B, s *apitest.Server) (dir, head string) {
	b.Helper()
	s.User(b, "alice")
	r := s.Repo(b, "alice/long", false)
	source := gittest.Bare(b)
	var in bytes.Buffer
	_, _ = in.ReadFrom(gittest.History("refs/heads/main", 2000, 1000))
	text := strings.TrimSuffix(in.String(), "done\n")
	text = strings.Replace(text, "Commit 1000\n",
		"Commit 1000\nM 100644 inline once/only.txt\ndata 5\nonce\n\n", 1)
	gittest.Import(b, source, strings.NewReader(text+"done\n"))
	s.Import(b, r, source)
	dir = s.Objects(b, r.ID).Dir()
	if err := s.Objects(b, r.ID).WriteGraph(b.Context()); err != nil {
		b.Fatal(err)
	}
	return dir, gittest.Run(b, source, "rev-parse", "main")
}

// BenchmarkReads measures what reading costs again and again: the handlers with
// all middleware, without the network.
func BenchmarkReads(b *testing.B) {
	s := apitest.Start(b, db.SQLite)
	_, head := lineage(b, s)
	for name, path := range map[string]string{
		"directory": "/contents/dir1", "directory-by-sha": "/contents/dir1?ref=" + head,
		"file": "/contents/dir1/file1.txt", "commit": "/commits/" + head, "commit-by-name": "/commits/main",
		"commits": "/commits?per_page=30", "git-commit": "/git/commits/" + head, "branches": "/branches",
		"compare": "/compare/main...main",
	} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/repos/alice/long"+path, nil)
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				s.Server.ServeHTTP(w, r.Clone(r.Context()))
				if w.Code != http.StatusOK {
					b.Fatalf("%s: %d %s", path, w.Code, w.Body)
				}
			}
		})
	}
}

// BenchmarkFirstReads measures reads that nobody made before: each has another
// query, which takes no part in what is read.
func BenchmarkFirstReads(b *testing.B) {
	s := apitest.Start(b, db.SQLite)
	dir, head := lineage(b, s)
	for name, path := range map[string]string{
		"directory": "/contents/dir1?", "commit": "/commits/" + head + "?", "commits": "/commits?",
		"once": "/commits?path=once/only.txt&", "compare": "/compare/main...main?",
	} {
		b.Run(name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n++
				w := httptest.NewRecorder()
				s.Server.ServeHTTP(w, httptest.NewRequest(http.MethodGet,
					fmt.Sprintf("/repos/alice/long%sn=%d-%d", path, n, time.Now().UnixNano()), nil))
				if w.Code != http.StatusOK {
					b.Fatalf("%s: %d %s", path, w.Code, w.Body)
				}
			}
		})
	}
	b.Run("git-log-once", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("git", "log", "main", "--", "once/only.txt")
			cmd.Dir, cmd.Env, cmd.Stdout = dir, append(gittest.Env(), "GIT_DIR="+dir), io.Discard
			cmd.Args[2] = head
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
