package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// shop is a store with a release to which files are uploaded.
type shop struct {
	*instance
	release int64
}

// newShop starts a server whose files go to an address.
func newShop(t testing.TB, engine db.Engine, address string, env ...string) *shop {
	t.Helper()
	s := &shop{instance: newInstance(t, engine)}
	s.env = append(s.env, env...)
	s.user("alice")
	s.repo("alice/garden", "")
	s.start("--objects", address)
	res, text := s.do("alice", "POST", "/repos/alice/garden/releases", nil,
		strings.NewReader(`{"tag_name": "v1", "draft": true}`))
	var made struct{ ID int64 }
	if res.StatusCode != 201 || json.Unmarshal([]byte(text), &made) != nil {
		t.Fatalf("no release: %d %s", res.StatusCode, text)
	}
	s.release = made.ID
	return s
}

// upload adds an asset, and returns its id; 0: nobody acknowledged it.
func (s *shop) upload(node *instance, name, content string) int64 {
	status, text := node.tryDo("POST", fmt.Sprintf("/repos/alice/garden/releases/%d/assets?name=%s", s.release, name), content)
	var made struct{ ID int64 }
	if status != 201 || json.Unmarshal([]byte(text), &made) != nil {
		return 0
	}
	return made.ID
}

// download reads an asset. A redirect is followed.
func (s *shop) download(node *instance, id int64) (status int, content string) {
	s.t.Helper()
	header := http.Header{"Accept": {"application/octet-stream"}}
	res, text := node.do("alice", "GET", fmt.Sprintf("/repos/alice/garden/releases/assets/%d", id), header, nil)
	if res.StatusCode != http.StatusFound {
		return res.StatusCode, text
	}
	away := &instance{t: s.t, url: res.Header.Get("Location")}
	res, text = away.do("", "GET", "", nil, nil)
	return res.StatusCode, text
}

// lying counts the files below a folder of files.
func lying(t testing.TB, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "files"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		if os.IsNotExist(err) {
			return nil
		}
		return err
	})
	testkit.NoError(t, err)
	return n
}

// Files go to another folder, are backed up from there, and come back by a move; a server that is told another place
// does not start.
func TestObjectsInFolder(t *testing.T) {
	t.Parallel()
	away := t.TempDir()
	s := newShop(t, db.SQLite, "file://"+away)
	id := s.upload(s.instance, "seeds.txt", "seeds")
	if status, text := s.download(s.instance, id); status != 200 || text != "seeds" {
		t.Fatalf("the asset is %d %q", status, text)
	}
	if lying(t, away) != 1 || lying(t, s.data) != 0 {
		t.Errorf("%d files lie in the other folder, %d in the data folder", lying(t, away), lying(t, s.data))
	}
	if out := s.arbor("objects", "verify", "--deep"); !strings.Contains(out, "1 files\neverything holds") {
		t.Errorf("verify says %s", out)
	}
	s.arbor("doctor")
	s.do("alice", "POST", "/user/repos", nil, strings.NewReader(`{"name": "orchard", "auto_init": true}`)) // a small pack, in the database
	work := filepath.Join(t.TempDir(), "orchard")
	gittest.Run(t, t.TempDir(), "clone", "-q", s.remote("alice", "alice/orchard"), work)
	noise := make([]byte, 200_000)
	rand.Read(noise)
	testkit.NoError(t, os.WriteFile(filepath.Join(work, "large"), noise, 0o600))
	gittest.Run(t, work, "add", ".")
	gittest.Run(t, work, "commit", "-q", "-m", "large")
	gittest.Run(t, work, "push", "-q", s.remote("alice", "alice/orchard"), "HEAD")
	if found, _ := filepath.Glob(filepath.Join(away, "packs", "*", "*")); len(found) != 1 {
		t.Errorf("the packs of the folder are %v, want a large one", found)
	}
	saved := filepath.Join(t.TempDir(), "backup")
	s.arbor("backup", saved)
	s.stop()
	for _, flags := range [][]string{nil, {"--objects", "file://" + t.TempDir()}} {
		if said := s.refused(flags...); !strings.Contains(said, "the files of this store are in file://"+away) ||
			strings.Count(said, "\n") != 1 {
			t.Errorf("with %v the server says %s", flags, said)
		}
	}
	to := s.restored(saved, id)
	clone := filepath.Join(t.TempDir(), "clone")
	gittest.Run(t, t.TempDir(), "clone", "-q", "--mirror", to.remote("alice", "alice/orchard"), clone)
	gittest.Run(t, clone, "fsck", "--strict", "--full")
	if got, want := gittest.Run(t, clone, "rev-parse", "HEAD"), gittest.Run(t, work, "rev-parse", "HEAD"); got != want {
		t.Errorf("the restored repository is at %s, want %s", got, want)
	}
	if out := s.arbor("objects", "move", "--to", "data"); !strings.Contains(out, "moved 1 files") {
		t.Errorf("the move says %s", out)
	}
	s.start()
	if status, text := s.download(s.instance, id); status != 200 || text != "seeds" || lying(t, s.data) != 1 {
		t.Errorf("after the move back the asset is %d %q", status, text)
	}
	s.sound()
}

// restored holds that a restored store has its files in its data folder.
func (s *shop) restored(saved string, id int64) *instance {
	s.t.Helper()
	to := newInstance(s.t, db.SQLite)
	to.arbor("restore", saved)
	to.tokens = s.tokens
	to.start()
	if status, text := s.download(to, id); status != 200 || text != "seeds" || lying(s.t, to.data) != 1 {
		s.t.Errorf("the restored asset is %d %q", status, text)
	}
	to.sound()
	return to
}

// Files of a store move to a folder while its servers run, once they were told.
func TestObjectsMove(t *testing.T) {
	t.Parallel()
	s := newShop(t, db.SQLite, "")
	id := s.upload(s.instance, "seeds.txt", "seeds")
	away := "file://" + t.TempDir()
	if status, said := s.exits("objects", "move", "--to", away); status != 1 || !strings.Contains(said, "restart them") {
		t.Errorf("with a server that does not know the place: %d %s", status, said)
	}
	s.stop()
	s.start("--objects", away)
	if status, said := s.exits("objects", "move", "--to", away); status != 0 || !strings.Contains(said, "all files and repositories are there") {
		t.Errorf("the move: %d %s", status, said)
	}
	if status, text := s.download(s.instance, id); status != 200 || text != "seeds" || lying(t, s.data) != 0 {
		t.Errorf("after the move the asset is %d %q", status, text)
	}
	s.sound()
}
