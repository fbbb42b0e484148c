//go:build long

package packs_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/file"
	"arbor/internal/packs"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/bucket"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// inBucket are options of servers whose repositories lie in a bucket, with bundles from a megabyte.
func inBucket(t *testing.T, url, address string) apitest.Option {
	t.Helper()
	on := apitest.On(t, url)
	return func(o *server.Options) {
		on(o)
		canonical, err := depot.Canonical(address)
		testkit.NoError(t, err)
		o.Objects, o.BundleSize = canonical, 1<<20
	}
}

var bundleLine = regexp.MustCompile(`bundle\.default\.uri=(http.*?)[0-9a-f]{4}bundle\.default\.creationtoken=([0-9]+)`)

// offered asks for a bundle as git does; empty: there is none.
func offered(t *testing.T, s *apitest.Server, as, repository string) (address, token string) {
	t.Helper()
	advertises := func() bool {
		return strings.HasSuffix(greeting(t, s, as, repository, "git-upload-pack", 2), advertisesIt)
	}
	advertised := advertises()
	got := askGit(t, s, as, repository, bundleCommand+"0000")
	if got.Status != 200 {
		t.Fatalf("%s: %d %s", repository, got.Status, got.Body)
	}
	if advertised != advertises() { // it was made or withdrawn in the meantime
		return offered(t, s, as, repository)
	}
	found := bundleLine.FindStringSubmatch(string(got.Body))
	if advertised != (found != nil) || found == nil && string(got.Body) != "0000" {
		t.Fatalf("a bundle is advertised: %t, and the list is %q", advertised, got.Body)
	}
	if found == nil {
		return "", ""
	}
	return found[1], found[2]
}

// awaitBundle waits for another bundle than one with a token.
func awaitBundle(t *testing.T, s *apitest.Server, as, before string) (address, token string) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		address, token = offered(t, s, as, "alice/garden")
		return token != "" && token != before
	}, "a new bundle is offered")
	return address, token
}

// download gets an address as git does, without anything else.
func download(t *testing.T, address string) (*http.Response, []byte) {
	t.Helper()
	res, err := http.Get(address) //nolint:noctx // of a test
	testkit.NoError(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	testkit.NoError(t, err)
	return res, data
}

// heads lists the refs of a bundle.
func heads(t *testing.T, bundle []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.bundle")
	testkit.NoError(t, os.WriteFile(path, bundle, 0o600))
	return gittest.Run(t, t.TempDir(), "bundle", "list-heads", path)
}

// knowsBundles reports whether the machine's git asks for bundles.
func knowsBundles(t *testing.T) bool {
	t.Helper()
	out, err := exec.Command("git", "version").Output()
	testkit.NoError(t, err)
	var major, minor int
	_, err = fmt.Sscanf(string(out), "git version %d.%d", &major, &minor)
	testkit.NoError(t, err)
	return major > 2 || minor >= 40
}

// Clients get most of a large repository from the bucket, each what it may read now.
func TestBundlesFromBucket(t *testing.T) {
	service := bucket.Start(t)
	service.Setenv(t)
	for n, engine := range dbtest.Engines() {
		t.Run(engine.String(), func(t *testing.T) {
			url := dbtest.URL(t, engine)
			option := inBucket(t, url, service.Address(fmt.Sprint("bundles", n), ""))
			p := pair{a: apitest.Start(t, engine, option), b: apitest.Start(t, engine, option)}
			p.a.Users(t, "alice", "bob")
			p.b.SetToken("alice", p.a.Token(t, "alice"))
			p.garden(t)
			testOffer(t, p)
			testForce(t, p)
		})
	}
}

// testOffer follows a bundle from the first large push.
func testOffer(t *testing.T, p pair) {
	if address, _ := offered(t, p.a, "", "alice/garden"); address != "" {
		t.Error("a small repository has a bundle")
	}
	mustPush(t, p.a, "main", 2000)
	old := p.a.Tip(t, "alice", "alice/garden", "main")
	address, token := awaitBundle(t, p.a, "", "")
	for protocol := range 2 {
		if got := greeting(t, p.a, "", "alice/garden", "git-upload-pack", protocol); strings.Contains(got, "bundle-uri") {
			t.Errorf("protocol %d advertises bundles: %q", protocol, got)
		}
	}
	if got := greeting(t, p.a, "alice", "alice/garden", "git-receive-pack", 2); strings.Contains(got, "bundle-uri") {
		t.Errorf("a push is offered bundles: %q", got)
	}
	res, data := download(t, address)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "application/octet-stream" ||
		!strings.HasPrefix(res.Header.Get("Content-Disposition"), "attachment;") ||
		res.Header.Get("Content-Encoding") != "identity" {
		t.Errorf("the download: %s %v", res.Status, res.Header)
	}
	if got := heads(t, data); got != old+" refs/heads/main" {
		t.Errorf("the bundle has the refs %q, want main alone", got)
	}
	longer := strings.Replace(address, "X-Amz-Expires=300", "X-Amz-Expires=3000", 1)
	if res, _ := download(t, longer); res.StatusCode != 403 {
		t.Errorf("an address with another time: %s", res.Status)
	}
	mustPush(t, p.a, "other", 10)
	mustPush(t, p.a, "main", 10) // both nodes offer the old one, which leads to the new tip
	for _, s := range []*apitest.Server{p.a, p.b} {
		if _, got := offered(t, s, "", "alice/garden"); got != token {
			t.Errorf("after a small push the bundle is %q, want %q", got, token)
		}
	}
	for name, flags := range map[string][]string{
		"by hand":  {"clone", "--bundle-uri=" + address},
		"by offer": {"-c", "transfer.bundleURI=true", "clone"},
	} {
		clone := filepath.Join(t.TempDir(), "clone")
		_, said, err := gittest.Try(t, t.TempDir(), nil, append(flags, p.b.Remote(t, "", "alice/garden"), clone)...)
		testkit.NoError(t, err)
		gittest.Run(t, clone, "fsck", "--strict", "--full")
		came := gittest.Run(t, clone, "for-each-ref", "refs/bundles")
		if want := name == "by hand" || knowsBundles(t); want != strings.Contains(came, old) {
			t.Errorf("%s: the clone has of bundles %q: %s", name, came, said)
		}
	}
	// Who may not read the repository learns nothing of its bundle.
	p.a.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200})
	for as, status := range map[string]int{"": 401, "bob": 404} {
		if got := askGit(t, p.a, as, "alice/garden", bundleCommand+"0000"); got.Status != status {
			t.Errorf("%q asks for the bundle of a private repository: %d", as, got.Status)
		}
	}
	if _, got := offered(t, p.a, "alice", "alice/garden"); got != token {
		t.Errorf("the owner is offered %q, want %q", got, token)
	}
	// The next one is made when the packs are half as large again, and replaces it.
	mustPush(t, p.a, "main", 2000)
	address, token = awaitBundle(t, p.a, "alice", token)
	if _, data := download(t, address); !strings.HasPrefix(heads(t, data), p.a.Tip(t, "alice", "alice/garden", "main")) {
		t.Error("the new bundle has another tip")
	}
	mustPush(t, p.a, "main", 4000) // not a third one while the first is still there
	if p.a.Server.Forge().Packs.BundleDue(t.Context(), 1) {
		t.Error("another bundle is due within an hour")
	}
	p.sweep(t, 0)
	if n := p.count(t, `SELECT COUNT(*) FROM bundles`); n != 1 {
		t.Errorf("%d bundles, want the one that is offered", n)
	}
	mustPush(t, p.a, "main", 10)
	awaitBundle(t, p.a, "alice", token)
}

// testForce pushes another history, and purges what there was.
func testForce(t *testing.T, p pair) {
	p.sweep(t, 0)
	address, token := offered(t, p.a, "alice", "alice/garden")
	dir := filepath.Join(t.TempDir(), "other")
	gittest.Run(t, t.TempDir(), "init", "-q", dir)
	gittest.Run(t, dir, "commit", "-q", "--allow-empty", "-m", "another history")
	gittest.Run(t, dir, "push", "-q", "--force", p.a.Remote(t, "alice", "alice/garden"), "HEAD:refs/heads/main")
	for _, s := range []*apitest.Server{p.a, p.b} {
		if _, got := offered(t, s, "alice", "alice/garden"); got != "" {
			t.Error("history that was pushed away by force is offered")
		}
	}
	testkit.Eventually(t, func() bool { return p.count(t, `SELECT COUNT(*) FROM bundles WHERE gone_at IS NOT NULL`) == 1 },
		"the bundle is withdrawn")
	if res, _ := download(t, address); res.StatusCode != 200 {
		t.Errorf("who was just given the address: %s", res.Status)
	}
	p.a.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden/git/refs/heads/other", As: "alice", Status: 204})
	testkit.NoError(t, p.purge(t))
	if res, _ := download(t, address); res.StatusCode != 404 || p.count(t, `SELECT COUNT(*) FROM bundles`) != 0 {
		t.Errorf("after a purge the bundle %s is there: %s", token, res.Status)
	}
}

// Bundles do not move with packs: they are made again in the new place. Where clients cannot reach the bucket, there
// are none.
func TestBundlesOfMovedStore(t *testing.T) {
	service := bucket.Start(t)
	service.Setenv(t)
	url := dbtest.URL(t, db.SQLite)
	first := service.Address("first", "")
	p := pair{a: apitest.Start(t, db.SQLite, inBucket(t, url, first))}
	p.a.Users(t, "alice")
	p.garden(t)
	mustPush(t, p.a, "main", 2000)
	awaitBundle(t, p.a, "", "")
	second, err := depot.Canonical(service.Address("second", "redirect=false"))
	testkit.NoError(t, err)
	_, err = p.a.Forge.Files.Move(t.Context(), file.MoveOptions{To: second, Progress: func(int64, int64) {},
		Problem: func(line string) { t.Error(line) }})
	testkit.NoError(t, err)
	moved, err := p.a.Forge.Packs.Move(t.Context(), packs.MoveOptions{Progress: func(int64, int64) {},
		Problem: func(line string) { t.Error(line) }})
	if err != nil || moved.Packs == 0 || p.count(t, `SELECT COUNT(*) FROM bundles`) != 0 {
		t.Errorf("moved %+v, %v, and %d bundles are left", moved, err, p.count(t, `SELECT COUNT(*) FROM bundles`))
	}
	testkit.NoError(t, p.a.Forge.Files.LeaveEmpty(t.Context()))
	if left, _ := filepath.Glob(service.File("first/packs/*/*")); len(left) != 0 {
		t.Errorf("in the first place is left %v", left)
	}
	b := apitest.Start(t, db.SQLite, inBucket(t, url, second))
	if got := greeting(t, b, "", "alice/garden", "git-upload-pack", 2); strings.Contains(got, "bundle-uri") {
		t.Errorf("with redirect=false bundles are offered: %q", got)
	}
	if b.Server.Forge().Packs.BundleDue(t.Context(), 1) {
		t.Error("with redirect=false a bundle is due")
	}
}

// A move reads back what it put into a bucket before the copy in the data folder may go.
func TestMoveIntoABucketThatAlters(t *testing.T) {
	service := bucket.Start(t)
	service.Setenv(t)
	var alters atomic.Bool
	proxy := service.Proxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/packs/") {
			alters.Store(true) // what follows reads something else
		}
		return false
	}, func(res *http.Response) error {
		if alters.Load() && res.Request.Method == http.MethodGet && strings.Contains(res.Request.URL.Path, "/packs/") {
			body, err := io.ReadAll(res.Body)
			if err != nil {
				return err
			}
			body[len(body)/2] ^= 1
			res.Body = io.NopCloser(bytes.NewReader(body))
		}
		return nil
	})
	url := dbtest.URL(t, db.SQLite)
	p := pair{a: apitest.Start(t, db.SQLite, apitest.On(t, url))}
	p.a.Users(t, "alice")
	p.garden(t)
	mustPush(t, p.a, "large", 200)
	address, err := depot.Canonical(proxy.Address("alters", ""))
	testkit.NoError(t, err)
	_, err = p.a.Forge.Files.Move(t.Context(), file.MoveOptions{To: address, Progress: func(int64, int64) {},
		Problem: func(line string) { t.Error(line) }})
	testkit.NoError(t, err)
	var problems []string
	moved, err := p.a.Forge.Packs.Move(t.Context(), packs.MoveOptions{Progress: func(int64, int64) {},
		Problem: func(line string) { problems = append(problems, line) }})
	if err != nil || moved.Left != 1 || len(problems) != 1 || !alters.Load() {
		t.Errorf("moved %+v with %q, %v", moved, problems, err)
	}
	if n := p.count(t, `SELECT COUNT(*) FROM repos WHERE packs > 0`); n != 0 {
		t.Error("the repository moved into a bucket that alters it")
	}
	p.a.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/large?ref=large", Status: 200})
}

// A bundle that cannot be made leaves nothing in the bucket, keeps nobody from packing, and is tried again an hour
// later.
func TestBundleThatFails(t *testing.T) {
	service := bucket.Start(t)
	service.Setenv(t)
	p := pair{a: apitest.Start(t, db.SQLite, inBucket(t, dbtest.URL(t, db.SQLite), service.Address("fails", "")))}
	p.a.Users(t, "alice")
	p.garden(t)
	dbtest.Exec(t, p.a.DB, `CREATE TRIGGER refuse BEFORE UPDATE OF made_at ON bundles
		BEGIN SELECT RAISE(ABORT, 'refused'); END`)
	mustPush(t, p.a, "main", 2000)
	testkit.Eventually(t, func() bool {
		return p.count(t, `SELECT COUNT(*) FROM bundles WHERE made_at IS NULL AND gone_at IS NOT NULL`) == 1 &&
			p.count(t, `SELECT COUNT(*) FROM packings`) == 0
	}, "the bundle is put off, and the packing is not")
	there, err := filepath.Glob(service.File("fails/packs/*/*"))
	if err != nil || len(there) != 1 {
		t.Errorf("in the bucket are %v, want one pack: %v", there, err)
	}
	if p.a.Server.Forge().Packs.BundleDue(t.Context(), 1) {
		t.Error("the bundle is due again at once")
	}
	dbtest.Exec(t, p.a.DB, `DROP TRIGGER refuse`)
	p.sweep(t, 0)
	mustPush(t, p.a, "main", 10)
	awaitBundle(t, p.a, "", "")
}
