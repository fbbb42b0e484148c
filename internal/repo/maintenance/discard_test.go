package maintenance_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// bounded sets a user's quota in KiB and returns a function for its usage.
func bounded(t *testing.T, s *apitest.Server, login string, kb int64) (used func() int64) {
	t.Helper()
	edit := func(change func(*account.Quota)) int64 {
		_, _, u, err := s.Accounts.EditQuota(t.Context(), nil, account.User, login, change)
		testkit.NoError(t, err)
		return u.KB
	}
	edit(func(q *account.Quota) { q.KB = &kb })
	return func() int64 { return edit(func(*account.Quota) {}) }
}

// pushNoise pushes a branch with so many KiB that do not compress, and returns what git says.
func pushNoise(t *testing.T, s *apitest.Server, login, name, branch string, kb int) (said string, err error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	remote := s.Remote(t, login, name)
	gittest.Run(t, t.TempDir(), "clone", "-q", remote, dir)
	noise := make([]byte, kb<<10)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	testkit.NoError(t, os.WriteFile(filepath.Join(dir, "noise"), noise, 0o600))
	gittest.Run(t, dir, "add", "noise")
	gittest.Run(t, dir, "commit", "-q", "-m", "noise")
	_, stderr, err := gittest.Try(t, dir, nil, "push", "-q", remote, "+HEAD:refs/heads/"+branch)
	return string(stderr), err
}

// discardedDue creates the directories of deleted repositories due and has them removed.
func discardedDue(t *testing.T, s *apitest.Server) {
	t.Helper()
	// The server looks for them as well, now and then, and may be at it.
	for range 3 {
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`UPDATE discarded SET due_at = 0`)
		})
		if err == nil {
			err = s.Forge.Maintenance.Polling(t.Context())
		}
		testkit.NoError(t, err)
	}
}

// allDiscarded is discardedDue for folders that nobody needs: what the server reads of them on its own has an
// end.
func allDiscarded(t *testing.T, s *apitest.Server) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		discardedDue(t, s)
		left := 0
		err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT count(*) FROM discarded`).Scan(&left)
		})
		testkit.NoError(t, err)
		return left == 0
	}, "the folders of deleted repositories are gone")
}

// Commits brought into another repository by pull requests count for their author, even after the fork is
// deleted. Otherwise a quota could be evaded: fork, push, propose, delete, repeat.
func TestQuotaOfWhatForksBring(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		used := bounded(t, s, "bob", 200)
		s.Check(t, apitest.Case{Do: "POST /user/repos", As: "alice",
			Send: `{"name": "garden", "auto_init": true}`, Status: 201})
		var tip struct{ Object struct{ SHA string } }
		round := func(branch string) *apitest.Answer {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "bob", Status: 202})
			if said, err := pushNoise(t, s, "bob", "bob/garden", branch, 60); err != nil {
				t.Fatalf("a push within the quota: %s", said)
			}
			s.Check(t, apitest.Case{Do: "GET /repos/bob/garden/git/ref/heads/" + branch, Status: 200}).JSON(t,
				&tip)
			a := s.Do(t, apitest.Case{Do: "POST /repos/alice/garden/pulls", As: "bob",
				Send: `{"title": "noise", "head": "bob:` + branch + `", "base": "main"}`})
			s.Check(t, apitest.Case{Do: "DELETE /repos/bob/garden", As: "bob", Status: 204})
			allDiscarded(t, s)
			return a
		}
		for i, branch := range []string{"one", "two"} {
			if a := round(branch); a.Status != 201 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			if n := used(); n < int64(60*(i+1)) || n > int64(60*(i+1)+10) {
				t.Errorf("after %d pull requests of 60 KiB, %d count", i+1, n)
			}
		}
		if a := round("three"); a.Status != 403 ||
			!strings.Contains(string(a.Body), "may take at most 200 KiB") {
			t.Errorf("a pull request beyond the quota: %d %s", a.Status, a.Body)
		}
		if _, _, err := gittest.Try(t, s.Objects(t, 1).Dir(), nil, "cat-file", "-e",
			tip.Object.SHA); err == nil {
			t.Error("what was refused is in the base")
		}
		// A pull request whose author has no room for the new head is closed, and the push goes through,
		// however often the same commits come.
		s.User(t, "carol")
		spent := bounded(t, s, "carol", 20)
		bounded(t, s, "bob", 1000)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "bob", Status: 202})
		for i, kb := range []int{10, 40, 40} {
			if said, err := pushNoise(t, s, "bob", "bob/garden", "small", kb); err != nil {
				t.Fatal(said)
			}
			if i == 0 {
				s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/pulls", As: "carol",
					Send: `{"title": "small", "head": "bob:small", "base": "main"}`, Status: 201})
			}
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/pulls/3", Status: 200,
			Want: `{"state": "closed"}`})
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/pulls/3", As: "carol",
			Send: `{"state": "open"}`, Status: 403})
		if n := spent(); n < 10 || n > 20 {
			t.Errorf("%d of 20 KiB count for the author", n)
		}
	})
}

// The folder of a deleted repository counts until it is gone, which is soon, but not while
// somebody still reads it or a backup may need it.
func TestQuotaOfWhatIsDeleted(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "bob")
		used := bounded(t, s, "bob", 200)
		s.Check(t, apitest.Case{Do: "POST /user/repos", As: "bob",
			Send: `{"name": "garden", "auto_init": true}`, Status: 201})
		if said, err := pushNoise(t, s, "bob", "bob/garden", "noise", 120); err != nil {
			t.Fatal(said)
		}
		done, ok := s.Objects(t, 1).Use() // a fetch
		if !ok {
			t.Fatal("the folder is not there")
		}
		s.Check(t, apitest.Case{Do: "DELETE /repos/bob/garden", As: "bob", Status: 204})
		s.Check(t, apitest.Case{Do: "POST /user/repos", As: "bob",
			Send: `{"name": "garden", "auto_init": true}`, Status: 201})
		if said, err := pushNoise(t, s, "bob", "bob/garden", "noise", 120); err == nil ||
			!strings.Contains(said, "may take at most 200 KiB") {
			t.Fatalf("the deleted repository does not count: %v %s", err, said)
		}
		discardedDue(t, s)
		if n := used(); n < 120 {
			t.Errorf("%d KiB count while it is read", n)
		}
		done()
		err := repo.HoldFolders(t.Context(), s.DB, "", func(context.Context) (time.Time, error) {
			discardedDue(t, s)
			return time.Time{}, nil
		})
		if n := used(); err != nil || n < 120 {
			t.Errorf("%d KiB count while a backup runs: %v", n, err)
		}
		allDiscarded(t, s)
		if n := used(); n > 5 {
			t.Errorf("%d KiB count afterwards", n)
		}
		if left, _ := filepath.Glob(filepath.Join(s.Dir, "repositories", "*", "*1*.git")); len(left) != 0 {
			t.Errorf("left: %q", left)
		}
		if said, err := pushNoise(t, s, "bob", "bob/garden", "noise", 120); err != nil {
			t.Fatal(said)
		}
	})
}
