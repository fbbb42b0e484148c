package repos_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Who found a repository while it was public reads no ref that moved after it was
// hidden, however long the request waits in between.
func TestRefsOfWhatWasHiddenMeanwhile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		const put = "PUT /repos/alice/garden/contents/f"
		s.Ask(t, "alice", put, `{"message": "shown", "content": ""}`, 201)
		repos := s.Server.Forge().Repos
		stranger, err := repos.Find(t.Context(), nil, "alice", "garden")
		testkit.NoError(t, err)
		owner, err := repos.Find(t.Context(), &account.Caller{ID: stranger.OwnerID, Login: "alice"},
			"alice", "garden")
		testkit.NoError(t, err)
		s.Run(t, []apitest.Case{
			{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200},
			{Do: "PUT /repos/alice/garden/contents/secret", As: "alice",
				Send: `{"message": "secret", "content": ""}`, Status: 201},
		})
		read := func(a *repo.Access) [3]error {
			_, all := repos.Refs(t.Context(), a)
			_, exact := repos.Ref(t.Context(), a, "refs/heads/main")
			_, named := repos.Resolve(t.Context(), a, "main")
			return [3]error{all, exact, named}
		}
		strangerReads := func(when string) {
			for n, err := range read(&stranger.Access) {
				if !errs.Is(err, errs.NotFound) {
					t.Errorf("way %d of reading refs %s: a stranger gets %v", n, when, err)
				}
			}
		}
		strangerReads("before the owner")
		if got := read(&owner.Access); got != [3]error{} {
			t.Errorf("the owner gets %v", got)
		}
		strangerReads("after the owner")
	})
}

// A push fails, since its objects cannot be copied to where a pull request needs them:
// what it brought stays, and nobody finds it.
func TestObjectsOfAPushThatFails(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Import(t, s.Repo(t, "alice/plot", false), gittest.Repository(t, 3, 3))
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/forks", As: "bob", Status: 202})
		dir := filepath.Join(t.TempDir(), "clone")
		gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "alice", "alice/plot"), dir)
		gittest.Run(t, dir, "checkout", "-q", "-b", "topic")
		gittest.CommitFile(t, dir, "first", "1")
		gittest.Run(t, dir, "push", "-q", "origin", "topic")
		s.Check(t, apitest.Case{Do: "POST /repos/bob/plot/pulls", As: "bob",
			Send: `{"title": "x", "base": "main", "head": "alice:topic"}`, Status: 201})
		fork, err := s.Repos.Find(t.Context(), nil, "bob", "plot")
		testkit.NoError(t, err)

		s.Log.AllowErrors()
		shard := filepath.Dir(s.Objects(t, fork.ID).Dir())
		testkit.NoError(t, os.Rename(shard, shard+".away"))
		testkit.NoError(t, os.WriteFile(shard, nil, 0o600))
		sha, _, _ := gittest.CommitFile(t, dir, "second", "2")
		if _, _, err := gittest.Try(t, dir, nil, "push", "-q", "origin", "topic"); err == nil {
			t.Fatal("the push succeeds")
		}
		testkit.NoError(t, os.Remove(shard))
		testkit.NoError(t, os.Rename(shard+".away", shard))
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/git/commits/" + sha, Status: 404})
		gittest.Run(t, dir, "push", "-q", "origin", "topic")
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/git/commits/" + sha, Status: 200})
	})
}

// What keeps a repository that was found does not keep the address of the request, which
// may have 64 KB.
func TestFoundKeepsNoAddress(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	gone := make(chan struct{})
	find := func() {
		bytes := []byte("/alice/garden?" + strings.Repeat("x", 60<<10))
		runtime.AddCleanup(&bytes[0], func(gone chan struct{}) { close(gone) }, gone)
		address := unsafe.String(&bytes[0], len(bytes))
		if _, err := s.Repos.Find(t.Context(), nil, address[1:6], address[7:13]); err != nil {
			t.Fatal(err)
		}
	}
	find()
	for end := time.Now().Add(testkit.Patience); time.Now().Before(end); runtime.GC() {
		select {
		case <-gone:
			if kept := s.Repos.Caches()[1]; kept.Name != "repositories" || kept.Entries == 0 {
				t.Errorf("nothing that was found is kept: %+v", kept)
			}
			return
		case <-time.After(time.Millisecond):
		}
	}
	t.Error("the address is kept")
}
