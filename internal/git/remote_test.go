package git_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// backend serves the repositories below a folder with git's own program, and gives one of them as a remote.
func backend(t *testing.T, folder, name string) git.Remote {
	t.Helper()
	path := filepath.Join(strings.TrimSpace(gittest.Run(t, folder, "--exec-path")), "git-http-backend")
	if _, err := os.Stat(path); err != nil {
		t.Skip("git http-backend is not installed")
	}
	s := httptest.NewServer(&cgi.Handler{Path: path, Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1",
		"REMOTE_USER=somebody"}, InheritEnv: []string{"PATH"}})
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	testkit.NoError(t, err)
	// The name of the host leads where it is pinned to, and nowhere else.
	return git.Remote{Address: "http://source.invalid:" + u.Port() + "/" + name, Host: "source.invalid", Port: u.Port(),
		Pinned: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}
}

// A mirror gets what it lacks, and pushes what its target lacks.
func TestRemote(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	g := gittest.New(t, git.Options{})
	ours, release, err := g.Open(t.Context(), filepath.Join(t.TempDir(), "ours.git"))
	testkit.NoError(t, err)
	defer release()
	gittest.Run(t, folder, "init", "-q", "--bare", "-b", "main", "a.git")
	dir := filepath.Join(folder, "a.git")
	gittest.Run(t, dir, "config", "http.receivepack", "true")
	gittest.Import(t, dir, gittest.History("refs/heads/main", 3, 5))
	remote := backend(t, folder, "a.git")

	fetch := func(have []git.Ref) string {
		t.Helper()
		refs, err := g.ListRemote(t.Context(), remote, 10)
		testkit.NoError(t, err)
		if refs.Head != "refs/heads/main" || len(refs.Refs) != 1 {
			t.Fatalf("%+v", refs)
		}
		tip := refs.Refs["refs/heads/main"]
		q, _, err := ours.FetchRemote(t.Context(), remote, git.FetchOptions{Dir: t.TempDir(), Have: have,
			Want: []wire.Command{{Name: "refs/heads/main", Old: git.ZeroSHA, New: tip}}})
		testkit.NoError(t, err)
		testkit.NoError(t, q.Keep(t.Context()))
		return string(tip)
	}
	first := fetch(nil)
	gittest.Import(t, dir, gittest.History("refs/heads/main", 5, 5))
	second := fetch([]git.Ref{{Name: "refs/heads/main", SHA: git.SHA(first)}})
	if second == first {
		t.Fatal("the source did not change")
	}
	gittest.Run(t, ours.Dir(), "fsck", "--full")
	if got := gittest.Run(t, ours.Dir(), "rev-list", "--count", second); strings.TrimSpace(got) == "" {
		t.Error("the history is not there")
	}

	gittest.Run(t, dir, "update-ref", "refs/heads/old", second)
	refused, err := ours.PushRemote(t.Context(), remote, []git.Ref{
		{Name: "refs/heads/copy", SHA: git.SHA(first)}, {Name: "refs/heads/old"}})
	if err != nil || len(refused) > 0 {
		t.Errorf("%v, %v", refused, err)
	}
	refs, err := g.ListRemote(t.Context(), remote, 10)
	if err != nil || refs.Refs["refs/heads/copy"] != git.SHA(first) || refs.Refs["refs/heads/old"] != "" {
		t.Errorf("%v, %v", refs, err)
	}
	if _, err := g.ListRemote(t.Context(), remote, 1); err == nil {
		t.Error("any number of refs is read")
	}
	remote.Address += "x"
	if _, err := g.ListRemote(t.Context(), remote, 10); err == nil || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("a repository that is not there: %v", err)
	}
}

// A source without a service of git, from which each object is fetched as a file, has the bounds of a push, too.
func TestRemoteOfFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	gittest.Run(t, folder, "init", "-q", "--bare", "-b", "main", "a.git")
	dir := filepath.Join(folder, "a.git")
	packed := gittest.Repository(t, 8, 5)
	pack, _, err := gittest.Try(t, packed, strings.NewReader("main\n"), "pack-objects", "--revs", "--stdout", "-q")
	testkit.NoError(t, err)
	_, _, err = gittest.Try(t, dir, bytes.NewReader(pack), "unpack-objects", "-q")
	testkit.NoError(t, err)
	gittest.Run(t, dir, "update-ref", "refs/heads/main", gittest.Run(t, packed, "rev-parse", "main"))
	gittest.Run(t, dir, "update-server-info")
	tip := git.SHA(strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "main")))
	files := http.FileServer(http.Dir(folder))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/objects/") {
			time.Sleep(30 * time.Millisecond)
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	testkit.NoError(t, err)
	remote := git.Remote{Address: server.URL + "/a.git", Host: u.Hostname(), Port: u.Port()}
	full := remote
	full.Room = func() error { return errs.New(errs.NoRoom, "full") }
	for _, c := range []struct {
		name string
		from git.Remote
		most int64
		want errs.Kind
	}{{"all", remote, 1 << 20, 0}, {"too much", remote, 32 << 10, errs.TooLarge}, {"no room", full, 1 << 20, errs.NoRoom}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t, git.Options{MaxPackBytes: c.most})
			ours, release, err := g.Open(t.Context(), filepath.Join(t.TempDir(), "ours.git"))
			testkit.NoError(t, err)
			defer release()
			_, _, err = ours.FetchRemote(t.Context(), c.from, git.FetchOptions{Dir: t.TempDir(),
				Want: []wire.Command{{Name: "refs/heads/main", Old: git.ZeroSHA, New: tip}}})
			_, imported := g.MirrorRemote(t.Context(), c.from, t.TempDir(), 10)
			for _, err := range []error{err, imported} {
				if c.want == 0 && err != nil || c.want != 0 && !errs.Is(err, c.want) {
					t.Errorf("%v, want kind %v", err, c.want)
				}
			}
		})
	}
}

// A source that names an object which only we have, and nobody can see here, does not bring it to light.
func TestRemoteOfHiddenObjects(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	g := gittest.New(t, git.Options{})
	dir := filepath.Join(folder, "ours.git")
	gittest.Run(t, folder, "init", "-q", "--bare", "-b", "main", "ours.git")
	gittest.Import(t, dir, gittest.History("refs/heads/main", 2, 2))
	shown := git.SHA(strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "main")))
	gittest.Import(t, dir, gittest.History("refs/heads/secret", 4, 4))
	hidden := git.SHA(strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "secret")))
	ours, release, err := g.Open(t.Context(), dir)
	testkit.NoError(t, err)
	defer release()
	gittest.Run(t, folder, "init", "-q", "--bare", "-b", "main", "a.git")
	remote := backend(t, folder, "a.git")
	o := git.FetchOptions{Dir: t.TempDir(), Have: []git.Ref{{Name: "refs/heads/main", SHA: shown}},
		Want: []wire.Command{{Name: "refs/heads/x", Old: git.ZeroSHA, New: hidden}},
		Absent: func(_ context.Context, shas []git.SHA) (map[git.SHA]bool, error) {
			gone := map[git.SHA]bool{}
			for _, sha := range shas {
				gone[sha] = sha != shown
			}
			return gone, nil
		}}
	if _, _, err := ours.FetchRemote(t.Context(), remote, o); err == nil {
		t.Error("a hidden commit was fetched from a source that does not have it")
	}
}
