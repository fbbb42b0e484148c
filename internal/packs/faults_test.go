package packs_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// garden makes a repository with a first commit.
func (p pair) garden(t *testing.T) {
	t.Helper()
	p.a.Check(t, apitest.Case{Do: "POST /user/repos", As: "alice", Send: `{"name": "garden", "auto_init": true}`,
		Status: 201})
}

func (p pair) count(t *testing.T, query string, args ...any) (n int64) {
	t.Helper()
	testkit.NoError(t, p.a.DB.Read(t.Context(), func(tx *db.Tx) error { return tx.QueryRow(query, args...).Scan(&n) }))
	return n
}

// objects lists the packs that lie in the depot.
func (p pair) objects(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(p.depot, "packs", "*", "*"))
	testkit.NoError(t, err)
	return found
}

// push pushes a file that does not compress to a branch of its own.
func push(t *testing.T, s *apitest.Server, branch string, kb int) (said string, err error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	remote := s.Remote(t, "alice", "alice/garden")
	gittest.Run(t, t.TempDir(), "clone", "-q", remote, dir)
	noise := make([]byte, kb<<10)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	testkit.NoError(t, os.WriteFile(filepath.Join(dir, branch), noise, 0o600))
	gittest.Run(t, dir, "add", ".")
	gittest.Run(t, dir, "commit", "-q", "-m", branch)
	_, stderr, err := gittest.Try(t, dir, nil, "push", "-q", remote, "HEAD:refs/heads/"+branch)
	return string(stderr), err
}

// mustPush is push that succeeds.
func mustPush(t *testing.T, s *apitest.Server, branch string, kb int) {
	t.Helper()
	if said, err := push(t, s, branch, kb); err != nil {
		t.Fatal(said)
	}
}

// An object that was written, and whose pack was not committed, is not there: written again, every node has it.
func TestPackThatWasNotCommitted(t *testing.T) {
	t.Parallel()
	p := newPair(t, db.SQLite)
	p.garden(t)
	dbtest.Exec(t, p.a.DB, `CREATE TRIGGER refuse BEFORE INSERT ON packs BEGIN SELECT RAISE(ABORT, 'refused'); END`)
	p.a.Log.AllowErrors()
	const blob = `{"content": "the same"}`
	p.a.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/blobs", As: "alice", Send: blob, Status: 500})
	dbtest.Exec(t, p.a.DB, `DROP TRIGGER refuse`)
	var made struct{ SHA string }
	p.a.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/blobs", As: "alice", Send: blob, Status: 201}).
		JSON(t, &made)
	p.b.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/blobs/" + made.SHA, As: "alice", Status: 200})
}

// Without the depot, what is on the disk is read, and small changes are made; the rest is 503 until it is back.
func TestDepotThatIsAway(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		mustPush(t, p.a, "large", 200)
		testkit.NoError(t, os.Rename(p.depot, p.depot+"-away"))
		p.a.Log.AllowErrors()
		p.b.Log.AllowErrors()
		p.a.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/large?ref=large", Status: 200})
		put(t, p.a, "small", "text")
		cold := p.b.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/README.md", Status: 503})
		if cold.Header.Get("Retry-After") == "" {
			t.Error("the 503 does not say when to try again")
		}
		if said, err := push(t, p.a, "other", 200); err == nil {
			t.Errorf("a large push was taken: %s", said)
		}
		testkit.NoError(t, os.Rename(p.depot+"-away", p.depot))
		p.b.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/small", Status: 200})
		if said, err := push(t, p.a, "other", 200); err != nil {
			t.Error(said)
		}
		p.b.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/other?ref=other", Status: 200})
	})
}

// A pack that is not what was put there comes into no folder, and is an error of the server, never a 404.
func TestDepotThatLies(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		mustPush(t, p.a, "large", 200)
		there := p.objects(t)
		if len(there) != 1 {
			t.Fatalf("%d packs are in the depot, want the large one", len(there))
		}
		whole, err := os.ReadFile(there[0])
		testkit.NoError(t, err)
		altered := append([]byte{}, whole...)
		altered[len(altered)/2] ^= 1
		p.b.Log.AllowErrors()
		read := apitest.Case{Do: "GET /repos/alice/garden/contents/large?ref=large", Status: 503}
		for _, lie := range [][]byte{altered, whole[:len(whole)-1], nil} {
			if lie == nil {
				testkit.NoError(t, os.Remove(there[0]))
			} else {
				testkit.NoError(t, os.WriteFile(there[0], lie, 0o600))
			}
			p.b.Check(t, read)
		}
		testkit.NoError(t, os.WriteFile(there[0], whole, 0o600))
		read.Status = 200
		p.b.Check(t, read)
	})
}

// Packs that pile up are combined by one node, and both go on finding everything, also with an empty disk.
func TestPacksAreCombined(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		const writes = 40
		var blobs []string
		for n := range writes {
			var blob struct{ SHA string }
			p.a.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/blobs", As: "alice", Status: 201,
				Send: fmt.Sprintf(`{"content": "blob %d"}`, n)}).JSON(t, &blob)
			blobs = append(blobs, blob.SHA)
		}
		p.b.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/blobs/" + blobs[0], As: "alice", Status: 200})
		testkit.Eventually(t, func() bool {
			return p.count(t, `SELECT COUNT(*) FROM packs`) < writes/2
		}, "packs are combined")
		if p.count(t, `SELECT COUNT(*) FROM pack_files WHERE gone_at IS NOT NULL`) == 0 {
			t.Error("no pack is marked as gone")
		}
		gittest.Wipe(t, p.a.Dir)
		for _, s := range []*apitest.Server{p.a, p.b} {
			for _, sha := range blobs {
				s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/blobs/" + sha, As: "alice", Status: 200})
			}
		}
		// Files that nobody names go after their time.
		dbtest.Exec(t, p.a.DB, `UPDATE pack_files SET gone_at = 1 WHERE gone_at IS NOT NULL`)
		testkit.NoError(t, p.a.Forge.Packs.SweepShard(t.Context(), 1, 0))
		if n := p.count(t, `SELECT COUNT(*) FROM pack_files WHERE gone_at IS NOT NULL`); n != 0 {
			t.Errorf("%d files stay", n)
		}
		p.b.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/blobs/" + blobs[writes-1], As: "alice", Status: 200})
	})
}

// A fork has its parent's files, also after the parent is deleted; without the fork they go.
func TestFilesOfForks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		mustPush(t, p.a, "large", 200)
		p.b.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "bob", Status: 202})
		if n := len(p.objects(t)); n != 1 {
			t.Errorf("the fork made %d objects of one", n)
		}
		remove := func(name, as string, left int) {
			t.Helper()
			p.a.Check(t, apitest.Case{Do: "DELETE /repos/" + name, As: as, Status: 204})
			p.forgotten(t, int64(left))
			dbtest.Exec(t, p.a.DB, `UPDATE pack_files SET gone_at = 1 WHERE gone_at IS NOT NULL`)
			testkit.NoError(t, p.a.Forge.Packs.SweepShard(t.Context(), 1, 0))
			if n := len(p.objects(t)); n != left {
				t.Errorf("without %s there are %d objects, want %d", name, n, left)
			}
		}
		remove("alice/garden", "alice", 1)
		gittest.Wipe(t, p.b.Dir)
		p.b.Check(t, apitest.Case{Do: "GET /repos/bob/garden/contents/large?ref=large", Status: 200})
		remove("bob/garden", "bob", 0)
		for _, s := range []*apitest.Server{p.a, p.b} {
			testkit.Eventually(t, func() bool { // a reader of before may still hold it
				testkit.NoError(t, s.Server.Forge().Packs.Tidy(t.Context()))
				left, _ := filepath.Glob(filepath.Join(s.Dir, "repositories", "*", "*.git"))
				return len(left) == 0
			}, "nothing is left on a node's disk")
		}
	})
}

// The cache keeps to its size, and what was removed comes back.
func TestCacheKeepsToItsSize(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		mustPush(t, p.a, "large", 200)
		for _, login := range []string{"alice", "bob"} {
			p.a.Check(t, apitest.Case{Do: "POST /user/repos", As: login, Send: `{"name": "other", "auto_init": true}`,
				Status: 201})
		}
		server := p.a.Server.Forge().Packs
		server.Size = 100 << 10
		p.a.Check(t, apitest.Case{Do: "GET /repos/alice/other/contents/README.md", Status: 200})
		testkit.Eventually(t, func() bool {
			testkit.NoError(t, server.Tidy(t.Context()))
			there, err := filepath.Glob(filepath.Join(p.a.Dir, "repositories", "*", "1.git"))
			return err == nil && len(there) == 0
		}, "the large repository is not on the disk")
		p.a.Log.AllowErrors()
		p.a.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/large?ref=large", Status: 503}) // larger than all
		server.Size = 400 << 10
		for range 4 {
			p.a.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/large?ref=large", Status: 200})
			gittest.Wipe(t, p.a.Dir)
		}
		p.a.Check(t, apitest.Case{Do: "GET /repos/bob/other/contents/README.md", Status: 200})
	})
}

// What an upload left that was not committed is removed when it is old; what has a row is not.
func TestUploadsWithoutARow(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		mustPush(t, p.a, "large", 200)
		left := filepath.Join(p.depot, "packs", "ab", "ab000000000000000000000000000000")
		testkit.NoError(t, os.MkdirAll(filepath.Dir(left), 0o700))
		testkit.NoError(t, os.WriteFile(left, []byte("x"), 0o600))
		for shard := range int64(repo.Shards) {
			testkit.NoError(t, p.b.Forge.Packs.SweepShard(t.Context(), shard, 0))
		}
		if n := len(p.objects(t)); n != 1 {
			t.Errorf("%d objects are left, want 1", n)
		}
		gittest.Wipe(t, p.a.Dir)
		p.a.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/large?ref=large", Status: 200})
	})
}

// tip returns what a branch names, by the API.
func tip(t *testing.T, s *apitest.Server, branch string) string {
	t.Helper()
	var ref struct{ Object struct{ SHA string } }
	a := s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/ref/heads/" + branch, As: "alice", Status: 200})
	testkit.NoError(t, json.Unmarshal(a.Body, &ref))
	return ref.Object.SHA
}
