//go:build long

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// leak is a secret that was pushed to alice/garden, reviewed there and replaced.
type leak struct {
	text         string
	commit, blob string
}

// leaked makes it on a server that runs.
func leaked(t *testing.T, s *instance) leak {
	t.Helper()
	s.user("alice", "bob")
	s.ok("alice", "POST /user/repos", `{"name": "garden", "auto_init": true}`)
	dir := filepath.Join(t.TempDir(), "clone")
	gittest.Run(t, t.TempDir(), "clone", "-q", s.remote("alice", "alice/garden"), dir)
	l := leak{text: "the key is " + rand.Text()}
	gittest.Run(t, dir, "checkout", "-q", "-b", "topic")
	testkit.NoError(t, os.WriteFile(filepath.Join(dir, "key"), []byte(strings.Repeat(l.text+"\n", 20)),
		0o600))
	gittest.Run(t, dir, "add", ".")
	gittest.Run(t, dir, "commit", "-q", "-m", "Add a key")
	l.commit = gittest.Run(t, dir, "rev-parse", "HEAD")
	l.blob = gittest.Run(t, dir, "rev-parse", "HEAD:key")
	gittest.Run(t, dir, "push", "-q", "origin", "topic")
	s.ok("alice", "POST /repos/alice/garden/pulls", `{"title": "A key", "head": "topic", "base": "main"}`)
	for range 3 {
		s.ok("bob", "POST /repos/alice/garden/pulls/1/comments",
			`{"body": "A key?", "commit_id": "`+l.commit+`", "path": "key", "line": 15, "side": "RIGHT"}`)
	}
	gittest.Run(t, dir, "checkout", "-q", "-B", "topic", "origin/main")
	gittest.Run(t, dir, "commit", "-q", "--allow-empty", "-m", "No key")
	gittest.Run(t, dir, "push", "-q", "--force", "origin", "topic")
	return l
}

// ok sends a request that must succeed.
func (s *instance) ok(login, do, body string) {
	s.t.Helper()
	method, path, _ := strings.Cut(do, " ")
	if res, text := s.do(login, method, path, nil, strings.NewReader(body)); res.StatusCode >= 300 {
		s.t.Fatalf("%s: %d %s", do, res.StatusCode, text)
	}
}

// holders lists the files below the data folder with the text of the secret, or an index
// with its objects.
func (l leak) holders(t *testing.T, s *instance) (list []string) {
	t.Helper()
	blob, _ := hex.DecodeString(l.blob)
	commit, _ := hex.DecodeString(l.commit)
	err := filepath.WalkDir(s.data, func(path string, d fs.DirEntry, err error) error {
		var text []byte
		if err == nil && !d.IsDir() {
			text, err = os.ReadFile(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone meanwhile
		}
		for _, trace := range [][]byte{[]byte(l.text), blob, commit} {
			if bytes.Contains(text, trace) {
				list = append(list, path)
				break
			}
		}
		return err
	})
	testkit.NoError(t, err)
	return list
}

// A secret leaves each file of the store, the database's log and its free pages included,
// while two servers work on it and have just shown it. The report names who else has it.
func TestPurgeClearsTheDisk(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := serving(t, engine)
		l := leaked(t, s)
		other := s.beside()
		s.arbor("backup", filepath.Join(t.TempDir(), "nightly"))
		for _, node := range []*instance{s, other} {
			for _, path := range []string{"/repos/alice/garden/pulls/1/comments",
				"/repos/alice/garden/git/blobs/" + l.blob} {
				if res, text := node.do("alice", "GET", path, nil, nil); res.StatusCode != 200 ||
					!strings.Contains(path, "blobs") && !strings.Contains(text, l.text) {
					t.Fatalf("%s: %d %s", path, res.StatusCode, text)
				}
			}
		}
		s.ok("bob", "POST /user/repos", `{"name": "shed"}`)
		s.arbor("repo", "delete", "bob/shed", "--yes")
		if len(l.holders(t, s)) == 0 {
			t.Fatal("no file held it before")
		}
		said := s.arbor("repo", "purge", "--yes", "alice/garden", "--commit", l.commit)
		for _, want := range []string{"alice/garden: purged 4 objects, with commit " + l.commit,
			"the diff of 3 review comments", "see arbor repo deleted",
			"backups that may still hold it:", "/nightly", "replace it"} {
			if !strings.Contains(said, want) {
				t.Errorf("it did not say %q, but\n%s", want, said)
			}
		}
		if list := l.holders(t, s); len(list) > 0 {
			t.Errorf("it is still in %q", list)
		}
		for _, node := range []*instance{s, other} {
			res, _ := node.do("alice", "GET", "/repos/alice/garden/git/blobs/"+l.blob, nil, nil)
			if res.StatusCode != 404 {
				t.Errorf("a node still shows it: %d", res.StatusCode)
			}
			_, text := node.do("alice", "GET", "/repos/alice/garden/pulls/1/comments", nil, nil)
			if strings.Contains(text, l.text) || !strings.Contains(text, "A key?") {
				t.Errorf("comments: %s", text)
			}
		}
		if status, said := s.exits("repo", "purge", "--yes", "alice/garden", "--commit", l.commit); status != 1 ||
			!strings.Contains(said, "not found") {
			t.Errorf("again: %d %s", status, said)
		}
		head := gittest.Run(t, t.TempDir(), "ls-remote", s.remote("alice", "alice/garden"), "topic")[:40]
		if status, said := s.exits("repo", "purge", "--yes", "alice/garden", "--commit", head); status != 1 ||
			!strings.Contains(said, "branch topic leads to commit") {
			t.Errorf("refused: %d %s", status, said)
		}
		if status, said := s.exits("repo", "purge", "--yes", "alice/garden"); status != 2 {
			t.Errorf("without saying what: %d %s", status, said)
		}
		s.sound()
		again := filepath.Join(t.TempDir(), "again")
		s.arbor("backup", again)
		restored(t, s, again, engine)
	})
}

// A purge that is killed leaves a store in which everything holds, and is said again.
func TestKilledPurge(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := serving(t, engine)
		l := leaked(t, s)
		kills := 0
		for after := 20 * time.Millisecond; after < time.Minute; after = after * 7 / 4 {
			if s.killedAfter(after, "repo", "purge", "--yes", "alice/garden", "--commit", l.commit) {
				break
			}
			kills++
			s.sound()
			res, text := s.do("alice", "GET", "/repos/alice/garden/contents/README.md?ref=topic", nil, nil)
			if res.StatusCode != 200 {
				t.Fatalf("after a kill: %d %s", res.StatusCode, text)
			}
			s.exec("UPDATE purges SET due_at = 0") // not to wait a minute for its lease
		}
		if kills < 3 {
			t.Errorf("it was killed %d times only", kills)
		}
		if list := l.holders(t, s); len(list) > 0 {
			t.Errorf("it is still in %q", list)
		}
		s.sound()
	})
}
