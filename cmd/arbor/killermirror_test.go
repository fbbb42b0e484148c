//go:build long

package main

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// mirrorSource is the address of a repository on a server of git's own, which lives while Arbor's is killed.
func (c *world) mirrorSource() string {
	if c.mirrored != "" {
		return c.mirrored
	}
	c.upstream = filepath.Join(c.t.TempDir(), "upstream.git")
	gittest.Run(c.t, "", "clone", "-q", "--bare", c.source, c.upstream)
	program := filepath.Join(strings.TrimSpace(gittest.Run(c.t, "", "--exec-path")), "git-http-backend")
	var handler http.Handler = &cgi.Handler{Path: program, InheritEnv: []string{"PATH"},
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(c.upstream), "GIT_HTTP_EXPORT_ALL=1"}}
	if _, err := os.Stat(program); err != nil { // the older protocol, of files
		handler = http.FileServer(http.Dir(filepath.Dir(c.upstream)))
	}
	s := httptest.NewServer(handler)
	c.t.Cleanup(s.Close)
	c.mirrored = s.URL + "/upstream.git"
	return c.mirrored
}

// setUpMirror makes a repository a mirror, once.
func setUpMirror(w *writer) bool {
	if w.c.mirrored != "" {
		return true
	}
	w.c.nodes[0].repo("alice/copy", "")
	status, _ := w.ask("alice", "PUT", "/repos/alice/copy/mirror", `{"remote_url": "`+w.c.mirrorSource()+`"}`)
	return status == http.StatusCreated
}

// followSource adds a commit to the source of the mirror, and waits until the mirror has it.
func followSource(w *writer) {
	key := w.next()
	sha := string(add(w.c.t, w.c.upstream, "main", key))
	gittest.Run(w.c.t, w.c.upstream, "update-server-info")
	w.c.nodes[0].exec(`UPDATE mirrors SET wanted = wanted + 1, due_at = 0`)
	told := unknown
	for told == unknown && !w.c.ended() {
		status, branch := w.ask("alice", "GET", "/repos/alice/copy/branches/main", "")
		commit, _ := branch["commit"].(map[string]any)
		if status == http.StatusOK && commit["sha"] == sha {
			told = acknowledged
		}
	}
	w.note("mirrored", key, told)
}

// checkMirrored demands that the mirror has a state of its source, whole, with all that people saw there.
func checkMirrored(c *world) {
	c.t.Helper()
	if c.mirrored == "" {
		return
	}
	dir := filepath.Join(c.t.TempDir(), "mirrored.git")
	gittest.Run(c.t, "", "clone", "-q", "--mirror", c.nodes[0].remote("alice", "alice/copy"), dir)
	gittest.Run(c.t, dir, "fsck", "--strict", "--full")
	there := map[string]int{}
	if tip := refs(c.t, c.nodes[0].remote("alice", "alice/copy"))["refs/heads/main"]; tip != "" {
		for subject := range strings.Lines(gittest.Run(c.t, c.upstream, "log", "--format=%s", tip)) {
			there[strings.TrimSpace(subject)]++
		}
	}
	c.checkOnce("mirrored", c.story.of("mirrored"), there)
}

// ageCopies makes what mirrors and imports were downloading look old enough for the sweep.
func (c *world) ageCopies() {
	old := time.Now().Add(-48 * time.Hour)
	for _, dir := range glob(c.t, filepath.Join(c.nodes[0].data, "repositories", "mirror-*")) {
		testkit.NoError(c.t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chtimes(path, old, old))
		}))
	}
}

// endLease lets the next server run the mirror of one that was killed.
func endLease(c *world) {
	c.nodes[0].exec(`UPDATE mirrors SET due_at = 0`)
}
