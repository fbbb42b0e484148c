//go:build long

package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// own returns a node of the store with a new data folder of its own.
func (s *instance) own() *instance {
	s.t.Helper()
	data := filepath.Join(s.t.TempDir(), "data")
	testkit.NoError(s.t, os.MkdirAll(data, 0o700))
	o := s.in(data)
	o.log = &logBuffer{}
	s.t.Cleanup(o.finish)
	return o
}

// Three nodes with data folders of their own make a store at the same moment, and all of them serve it with the same
// keys.
func TestNodesMakeAStoreAtOnce(t *testing.T) {
	t.Parallel()
	away := t.TempDir()
	first := newInstance(t, db.PostgreSQL)
	testkit.NoError(t, os.MkdirAll(first.data, 0o700))
	nodes := []*instance{first, first.own(), first.own()}
	var starts sync.WaitGroup
	for _, node := range nodes {
		starts.Go(func() {
			if err := node.tryStart("--objects", "file://"+away, "--ssh-listen", "127.0.0.1:0"); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	if t.Failed() {
		return
	}
	first.user("alice")
	first.ok("alice", "POST /user/repos", `{"name": "garden", "auto_init": true}`)
	for _, node := range nodes {
		node.tokens = first.tokens
		node.ok("alice", "GET /repos/alice/garden/contents/README.md", "")
	}
	for _, name := range []string{"lfs/key", "mirrors/key", "ssh/ssh_host_ed25519_key",
		"signing/web-flow.key"} {
		want, err := os.ReadFile(filepath.Join(away, "keys", name))
		testkit.NoError(t, err)
		for n, node := range nodes {
			if got, err := os.ReadFile(filepath.Join(node.data, name)); err != nil || string(got) != string(want) {
				t.Errorf("node %d has another %s (%v)", n, name, err)
			}
		}
	}
}

// A node of its own does not start with other keys than the store's, nor while a repository lies in another data folder.
func TestNodeThatIsRefused(t *testing.T) {
	t.Parallel()
	away := t.TempDir()
	s := newInstance(t, db.PostgreSQL)
	s.user("alice")
	s.repo("alice/garden", "") // without a depot: it lies in the data folder
	s.start("--objects", "file://"+away)
	node := s.own()
	if said := node.refused("--objects", "file://"+away); !strings.Contains(said, "belongs to the data folder") {
		t.Errorf("with a repository elsewhere it says %s", said)
	}
	s.arbor("objects", "move", "--to", "file://"+away)
	testkit.NoError(t, os.MkdirAll(filepath.Join(node.data, "lfs"), 0o700))
	testkit.NoError(t, os.WriteFile(filepath.Join(node.data, "lfs", "key"), []byte(strings.Repeat("x", 32)), 0o600))
	if said := node.refused("--objects", "file://"+away); !strings.Contains(said, "the keys of this node differ from those") ||
		strings.Count(said, "\n") != 1 {
		t.Errorf("with another key it says %s", said)
	}
	testkit.NoError(t, os.RemoveAll(filepath.Join(node.data, "lfs")))
	node.start("--objects", "file://"+away)
	node.tokens = s.tokens
	node.ok("alice", "GET /repos/alice/garden", "")
}
