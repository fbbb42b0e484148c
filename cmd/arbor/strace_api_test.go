//go:build long

package main

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
)

// An object that the API says it has written survives a power cut: its pack,
// the index and their names are synced before the answer is sent (decision 45).
func TestObjectsAreDurableBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	needProgram(t, "strace", "whether objects are synced")
	trace := filepath.Join(t.TempDir(), "trace")
	s := newInstance(t, db.SQLite)
	s.wrapper = []string{"strace", "-f", "-y", "-s", "5000", "-o", trace,
		"-e", "trace=fsync,fdatasync,rename,renameat,renameat2,write,writev,sendto"}
	s.start()
	s.user("alice")
	s.do("alice", "POST", "/user/repos", http.Header{},
		strings.NewReader(`{"name": "garden", "auto_init": true}`))
	res, _ := s.do("alice", "POST", "/repos/alice/garden/git/blobs", http.Header{},
		strings.NewReader(`{"content": "durable"}`))
	if res.StatusCode != http.StatusCreated {
		t.Fatalf("status %d", res.StatusCode)
	}
	s.stop()
	calls := readTrace(t, trace)
	sha := filepath.Base(res.Header.Get("Location"))
	answer := slices.IndexFunc(calls, func(c call) bool {
		return c.name == "write" && strings.Contains(c.path, "socket:") && strings.Contains(c.text, sha)
	})
	if answer < 0 {
		t.Fatal("no answer in the trace")
	}
	kept := 0
	for _, c := range calls[:answer] {
		if !strings.HasPrefix(c.name, "rename") || filepath.Base(filepath.Dir(c.to)) != "pack" {
			continue
		}
		kept++
		if !slices.ContainsFunc(calls, func(d call) bool { return d.syncs(c.path) && d.ended < c.began }) {
			t.Errorf("%s was not synced before it got its name %s", c.path, c.to)
		}
		if !slices.ContainsFunc(calls, func(d call) bool {
			return d.syncs(filepath.Dir(c.to)) && d.began > c.ended && d.ended < calls[answer].began
		}) {
			t.Errorf("the name %s is not synced before the answer", c.to)
		}
	}
	if kept != 4 { // two packs with their indexes: the first commit, the blob
		t.Errorf("%d files moved into objects/pack", kept)
	}
}
