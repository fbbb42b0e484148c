package packs_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/packs"
	"arbor/internal/repo"
	"arbor/internal/repo/purge"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// bundleKey is a key of a bundle, of which each digit makes another.
func bundleKey(digit int) string { return strings.Repeat(fmt.Sprint(digit), 32) }

// addBundle puts a bundle of alice/garden into the depot, with a row. made and gone are times or NULL.
func (p pair) addBundle(t *testing.T, digit int, made, gone string) {
	t.Helper()
	key := bundleKey(digit)
	path := filepath.Join(p.depot, "packs", key[:2], key)
	testkit.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.NoError(t, os.WriteFile(path, []byte("bundle"), 0o600))
	dbtest.Exec(t, p.a.DB, `INSERT INTO bundles (key_name, repo_id, purges, depot_id, tip, size, sha256, packed, made_at,
		gone_at) SELECT $1, id, purges, (SELECT MAX(id) FROM depots), '', 6, '', 0, `+made+`, `+gone+` FROM repos
		WHERE name = 'garden'`, key)
}

// hasBundle reports whether the file and the row of a bundle are there.
func (p pair) hasBundle(t *testing.T, digit int) (file, row bool) {
	t.Helper()
	key := bundleKey(digit)
	_, err := os.Stat(filepath.Join(p.depot, "packs", key[:2], key))
	return err == nil, p.count(t, `SELECT COUNT(*) FROM bundles WHERE key_name = $1`, key) == 1
}

// lease keeps the servers of a test from packing alice/garden, as if another node did so.
func (p pair) lease(t *testing.T) {
	t.Helper()
	dbtest.Exec(t, p.a.DB, `INSERT INTO packings (repo_id, due_at) SELECT id, $1 FROM repos WHERE name = 'garden'
		ON CONFLICT (repo_id) DO UPDATE SET due_at = EXCLUDED.due_at`, time.Now().Add(365*24*time.Hour).UnixMicro())
}

// purge purges alice/garden of what no ref leads to, as a command does beside the server.
func (p pair) purge(t *testing.T) error {
	t.Helper()
	return p.purgeObject(t, "")
}

// purgeObject purges alice/garden of an object.
func (p pair) purgeObject(t *testing.T, sha string) error {
	t.Helper()
	g, err := git.New(t.Context(), git.Options{PackGrace: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	defer g.Close()
	repos := forge.New(p.a.DB, g, slog.New(slog.DiscardHandler), p.a.Dir).Repos
	found, err := repos.Find(t.Context(), &account.Caller{SiteAdmin: true}, "alice", "garden")
	if err == nil {
		_, err = purge.New(p.a.DB, g, repos).Purge(t.Context(), &found.Access, purge.Options{Object: sha})
	}
	return err
}

func (p pair) sweep(t *testing.T, grace time.Duration) {
	t.Helper()
	for shard := range int64(repo.Shards) {
		testkit.NoError(t, p.a.Forge.Packs.SweepShard(t.Context(), shard, grace))
	}
}

// The sweep removes bundles that are withdrawn, and those whose upload broke off. It keeps one that is offered, and one
// that is on its way, and finds out that one is lost.
func TestSweepOfBundles(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		p.lease(t)
		p.addBundle(t, 1, "1", "NULL")
		p.addBundle(t, 2, "1", "1")
		p.addBundle(t, 3, "NULL", "NULL")
		p.addBundle(t, 4, "1", "NULL")
		p.addBundle(t, 5, "1", "NULL")
		p.addBundle(t, 6, "1", "NULL")
		dbtest.Exec(t, p.a.DB, `UPDATE bundles SET size = 7 WHERE key_name = $1`, bundleKey(5))
		dbtest.Exec(t, p.a.DB, `DELETE FROM bundles WHERE key_name = $1`, bundleKey(6))
		testkit.NoError(t, os.Remove(filepath.Join(p.depot, "packs", "44", bundleKey(4))))
		has := func(when string, want map[int]bool) {
			t.Helper()
			for digit, stays := range want {
				if file, row := p.hasBundle(t, digit); file != stays || row != stays {
					t.Errorf("%s: the file of bundle %d is there: %t, its row: %t", when, digit, file, row)
				}
			}
		}
		p.sweep(t, time.Hour)
		if n := p.count(t, `SELECT COUNT(*) FROM bundles WHERE gone_at > 1`); n != 2 {
			t.Errorf("%d bundles are withdrawn, want the two that are lost", n)
		}
		has("after an hour", map[int]bool{1: true, 2: false, 3: true})
		p.sweep(t, 0)
		has("without grace", map[int]bool{1: true, 3: true, 4: false, 5: false, 6: false})
		dbtest.Exec(t, p.a.DB, `DELETE FROM packings`) // whoever uploaded it is dead
		p.sweep(t, 0)
		p.sweep(t, 0)
		has("after the death of who uploaded it", map[int]bool{3: false})
		p.a.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden", As: "alice", Status: 204})
		testkit.Eventually(t, func() bool { return p.count(t, `SELECT COUNT(*) FROM repos`) == 0 },
			"the repository is deleted")
		p.sweep(t, 0)
		has("after the repository", map[int]bool{1: false})
	})
}

// A bundle is no leftover; one that is lost is reported, and is no damage.
func TestVerifyKnowsBundles(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		p.lease(t)
		for digit := range 4 {
			p.addBundle(t, digit, map[bool]string{true: "1", false: "NULL"}[digit < 3], "NULL")
		}
		dbtest.Exec(t, p.a.DB, `UPDATE bundles SET size = 7 WHERE key_name = $1`, bundleKey(1))
		testkit.NoError(t, os.Remove(filepath.Join(p.depot, "packs", "22", bundleKey(2))))
		var said []string
		_, err := p.a.Forge.Packs.Verify(t.Context(), packs.Verification{Progress: func(int64, int64) {},
			Problem: func(_ []repo.ID, problem string) { t.Error(problem) }, Left: func(key string) { t.Error(key) },
			Bundle: func(problem string) { said = append(said, problem) }})
		testkit.NoError(t, err)
		if text := strings.Join(said, "\n"); len(said) != 2 || !strings.Contains(text, bundleKey(1)+", a bundle, is not") ||
			!strings.Contains(text, bundleKey(2)+", a bundle, is missing") {
			t.Errorf("verify says:\n%s", text)
		}
	})
}

// A purge ends when no bundle with what was purged is in the depot: neither one from before, nor one that was on its
// way.
func TestPurgeRemovesBundles(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		mustPush(t, p.a, "secret", 100)
		p.a.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden/git/refs/heads/secret", As: "alice", Status: 204})
		p.lease(t)
		p.addBundle(t, 1, "1", "NULL")
		p.addBundle(t, 2, "1", "1")
		p.addBundle(t, 3, "NULL", "NULL")
		ended := make(chan error, 1)
		go func() { ended <- p.purge(t) }()
		testkit.Eventually(t, func() bool { return p.count(t, `SELECT purges FROM repos`) > 0 },
			"the repository has another folder")
		select {
		case err := <-ended:
			t.Errorf("the purge ended while a bundle was on its way: %v", err)
		case <-time.After(300 * time.Millisecond):
		}
		dbtest.Exec(t, p.a.DB, `UPDATE packings SET due_at = 0`)
		testkit.NoError(t, <-ended)
		for _, digit := range []int{1, 2, 3} {
			if file, row := p.hasBundle(t, digit); file || row {
				t.Errorf("the file of bundle %d is there: %t, its row: %t", digit, file, row)
			}
		}
	})
}

// askGit sends a request of protocol 2.
func askGit(t *testing.T, s *apitest.Server, as, repository, body string) *apitest.Answer {
	t.Helper()
	return s.Do(t, apitest.Case{Do: "POST /" + repository + ".git/git-upload-pack", As: as, Send: body,
		Headers: map[string]string{"Git-Protocol": "version=2", "Content-Type": "application/x-git-upload-pack-request"}})
}

// greeting is what a fetch or push is greeted with.
func greeting(t *testing.T, s *apitest.Server, as, repository, service string, protocol int) string {
	t.Helper()
	a := s.Do(t, apitest.Case{Do: "GET /" + repository + ".git/info/refs?service=" + service, As: as,
		Headers: map[string]string{"Git-Protocol": fmt.Sprint("version=", protocol)}})
	if a.Status != 200 {
		return fmt.Sprint("status ", a.Status)
	}
	return string(a.Body)
}

const (
	bundleCommand = "0010agent=git/2\n0017object-format=sha1\n0017command=bundle-uri\n0001"
	advertisesIt  = "000fbundle-uri\n0000"
)

// A folder gives out no addresses, so nothing is offered and nothing made. A client that asks all the same gets an
// empty list, as from git.
func TestFolderHasNoBundles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "depot")
	testkit.NoError(t, os.Mkdir(dir, 0o700))
	a := apitest.Start(t, db.SQLite, apitest.Depot(t, dbtest.URL(t, db.SQLite), dir),
		func(o *server.Options) { o.BundleSize = 1 })
	a.Users(t, "alice")
	p := pair{a: a, depot: dir}
	p.garden(t)
	p.addBundle(t, 1, "1", "NULL")
	if got := greeting(t, a, "", "alice/garden", "git-upload-pack", 2); strings.Contains(got, "bundle") {
		t.Errorf("the server offers bundles: %q", got)
	}
	for body, want := range map[string]string{bundleCommand + "0000": "0000", bundleCommand + "0008x=y\n0000": ""} {
		got := askGit(t, a, "", "alice/garden", body)
		if want != "" && (got.Status != 200 || string(got.Body) != want) || want == "" && got.Status != 400 {
			t.Errorf("%q: %d %q", body, got.Status, got.Body)
		}
	}
	a.Server.Forge().Packs.MakeBundle(t.Context(), 1)
	if n := p.count(t, `SELECT COUNT(*) FROM bundles WHERE gone_at IS NULL`); n != 0 {
		t.Errorf("%d bundles are offered, or are being made", n)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	gittest.Run(t, t.TempDir(), "-c", "transfer.bundleURI=true", "clone", "-q", a.Remote(t, "", "alice/garden"), clone)
}
