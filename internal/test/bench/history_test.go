//go:build long

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/gittest"
)

// history measures reading files and commits in a history of 2,000 commits on 1,000 files, one of which is
// touched once.
func (s *suite) history(b *testing.B) {
	a := s.start(b)
	a.create(b, "long")
	dir := gittest.Bare(b)
	var in bytes.Buffer
	_, _ = in.ReadFrom(gittest.History("refs/heads/main", 2000, 1000))
	text := strings.Replace(in.String(), "Commit 1000\n",
		"Commit 1000\nM 100644 inline once/only.txt\ndata 5\nonce\n\n", 1)
	gittest.Import(b, dir, strings.NewReader(text))
	gittest.Run(b, dir, "push", "-q", a.remote("long"), allBranches)
	head := gittest.Run(b, dir, "rev-parse", "main")
	path := func(rest string) string { return "/repos/alice/long" + rest }
	for name, rest := range map[string]string{
		"directory": "/contents/dir1", "commit": "/commits/" + head, "commits": "/commits",
	} {
		s.part(b, name+"/repeated", func(b *testing.B) { s.besideFloor(b, a, get(path(rest), ""), 0.3) })
		s.part(b, name+"/repeated-with-token", func(b *testing.B) {
			s.besideFloor(b, a, get(path(rest), a.token), 0.3)
		})
	}
	s.part(b, "path/first", func(b *testing.B) {
		s.logOfPath(b, a, path("/commits?path=once/only.txt"), head)
	})
}

// logOfPath compares the commits of one file, asked for in ever new words, with
// `git log` in the same repository with the same commit-graph.
func (s *suite) logOfPath(b *testing.B, a *arbor, path, head string) {
	repository := a.repository(b)
	for graph := filepath.Join(repository, "objects", "info",
		"commit-graph"); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(graph); err == nil {
			break
		}
		if b.Elapsed() > 30*time.Second {
			b.Fatal("the server has written no commit-graph")
		}
	}
	c, n := connect(b, a.url), 0
	byHTTP := func() float64 {
		n++
		ask := get(fmt.Sprintf("%s&n=%d", path, n), a.token)
		return timed(func() {
			if _, err := c.must(ask); err != nil {
				b.Fatal(err)
			}
		})
	}
	byProcess := func() float64 {
		cmd := exec.Command("git", "log", head, "--", "once/only.txt")
		cmd.Dir, cmd.Env = repository, append(gittest.Env(), "GIT_DIR="+repository)
		return timed(func() { drain(b, cmd) })
	}
	byHTTP()
	byProcess()
	ratio, http, process := pairs(101, byHTTP, byProcess)
	s.atMost(b, ratio, 1.5, "x-of-git-log", seconds(http, process))
}
