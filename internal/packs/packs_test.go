package packs_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/packs"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// pair is two nodes with disks of their own, one database and one depot.
type pair struct {
	a, b  *apitest.Server
	depot string         // the folder
	on    apitest.Option // of another node
}

func newPair(t *testing.T, engine db.Engine) pair {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "depot")
	testkit.NoError(t, os.Mkdir(dir, 0o700))
	depot := apitest.Depot(t, dbtest.URL(t, engine), dir)
	p := pair{apitest.Start(t, engine, depot), apitest.Start(t, engine, depot), dir, depot}
	p.a.Users(t, "alice", "bob")
	for _, login := range []string{"alice", "bob"} {
		p.b.SetToken(login, p.a.Token(t, login))
	}
	return p
}

func put(t *testing.T, s *apitest.Server, path, text string) {
	t.Helper()
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/" + path, As: "alice", Status: 201,
		Send: fmt.Sprintf(`{"message": "m", "content": %q}`, base64.StdEncoding.EncodeToString([]byte(text)))})
}

// After a restart of the machine, which may have lost bytes of a cache, a node trusts nothing in it.
func TestCacheAfterARestartOfTheMachine(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		mustPush(t, p.a, "large", 200)
		data := p.a.Dir
		damaged, err := filepath.Glob(filepath.Join(data, "repositories", "*", "1.git", "objects", "pack", "*.pack"))
		if err != nil || len(damaged) == 0 {
			t.Fatal(damaged, err)
		}
		for _, path := range damaged {
			testkit.NoError(t, os.Chmod(path, 0o600))
			info, err := os.Stat(path)
			testkit.NoError(t, err)
			testkit.NoError(t, os.WriteFile(path, make([]byte, info.Size()), 0o600)) // as a power failure leaves it
		}
		testkit.NoError(t, os.WriteFile(filepath.Join(data, "repositories", packs.BootFile), []byte("an earlier start"), 0o600))
		again := apitest.Start(t, engine, p.on, func(o *server.Options) { o.DataDir = data })
		testkit.NoError(t, again.Server.Forge().Packs.Start(t.Context()))
		again.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/large?ref=large", Status: 200})
	})
}

// What one node acknowledged, the other has at once: files, pushes, forks, objects without a ref; also after its disk
// was wiped while it ran.
func TestNodesWithoutASharedDisk(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.a.Check(t, apitest.Case{Do: "POST /user/repos", As: "alice", Send: `{"name": "garden", "auto_init": true}`,
			Status: 201})
		p.b.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/README.md", Status: 200})
		nodes := []*apitest.Server{p.a, p.b}
		for n := range 6 {
			writer, reader := nodes[n%2], nodes[1-n%2]
			put(t, writer, fmt.Sprintf("file-%d", n), fmt.Sprintf("text %d", n))
			reader.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/alice/garden/contents/file-%d", n), Status: 200})
			if n%3 == 2 {
				gittest.Wipe(t, reader.Dir)
				reader.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/trees/main", Status: 200})
			}
			var blob struct{ SHA string }
			writer.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/blobs", As: "alice", Status: 201,
				Send: fmt.Sprintf(`{"content": "blob %d"}`, n)}).JSON(t, &blob)
			reader.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/blobs/" + blob.SHA, As: "alice", Status: 200})
		}
		clone := filepath.Join(t.TempDir(), "clone")
		gittest.Run(t, t.TempDir(), "clone", "-q", p.b.Remote(t, "alice", "alice/garden"), clone)
		noise := make([]byte, 300<<10)
		for i := range noise {
			noise[i] = byte(i*i>>3 ^ i>>7)
		}
		testkit.NoError(t, os.WriteFile(filepath.Join(clone, "noise"), noise, 0o600))
		gittest.Run(t, clone, "add", "noise")
		gittest.Run(t, clone, "commit", "-q", "-m", "noise")
		gittest.Run(t, clone, "push", "-q", p.a.Remote(t, "alice", "alice/garden"), "HEAD:main")
		p.b.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/noise", Status: 200})
		p.b.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "bob", Status: 202})
		put(t, p.b, "later", "x")
		gittest.Wipe(t, p.b.Dir)
		for _, s := range nodes {
			again := filepath.Join(t.TempDir(), "again")
			gittest.Run(t, t.TempDir(), "clone", "-q", "--mirror", s.Remote(t, "bob", "bob/garden"), again)
			gittest.Run(t, again, "fsck", "--strict", "--full")
		}
	})
}

// A list of refs brings no packs to a node: they come from the database.
func TestRefsNeedNoPacks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		for _, protocol := range []string{"0", "2"} {
			refs := gittest.Run(t, t.TempDir(), "-c", "protocol.version="+protocol, "ls-remote",
				p.b.Remote(t, "alice", "alice/garden"))
			if !strings.Contains(refs, "refs/heads/main") {
				t.Errorf("by protocol %s the refs are %q", protocol, refs)
			}
		}
		if there, _ := filepath.Glob(filepath.Join(p.b.Dir, "repositories", "*", "*.git")); len(there) > 0 {
			t.Errorf("the node has %q", there)
		}
	})
}
