package ephemeral

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"arbor/internal/seed"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

const garden = `
users:
  - {login: alice, admin: true, tokens: [arb_alice]}
  - {login: bob, tokens: [arb_bobs]}
repos:
  - name: alice/garden
    collaborators: {bob: push}
    stars: [bob]
    files: {README.md: "# garden\n", beds/east: "peas\n"}
    branches:
      - {name: fence, files: {fence: "wood\n"}}
      - {name: roses, files: {roses: "red\n"}}
    milestones: [{title: Spring}]
    issues:
      - {title: Slugs, author: bob, labels: [bug], milestone: Spring, comments: [{body: Yes}], reactions: {heart: [bob]}}
      - {title: Dry}
    pulls:
      - {title: Fence, head: fence, body: "Fixes #2."}
      - {title: Roses, head: roses}
  - {name: bob/garden, fork: alice/garden}
  - {name: bob/empty, private: true}
plants:
  - {owner: alice, id: 1, name: Rowan}
`

// everything is what can be read of it, by address.
var everything = strings.Fields(`
	/users /user /user/repos /user/starred /repos/alice/garden /repos/alice/garden/collaborators /repos/alice/garden/forks /repos/alice/garden/stargazers
	/repos/alice/garden/branches /repos/alice/garden/tags /repos/alice/garden/git/matching-refs/ /repos/alice/garden/commits
	/repos/alice/garden/git/trees/main?recursive=1 /repos/alice/garden/contents/README.md /repos/alice/garden/commits/main/status
	/repos/alice/garden/labels /repos/alice/garden/milestones?state=all /repos/alice/garden/issues?state=all /repos/alice/garden/issues/comments
	/repos/alice/garden/issues/events /repos/alice/garden/issues/1/timeline /repos/alice/garden/issues/2/timeline
	/repos/alice/garden/pulls?state=all /repos/alice/garden/pulls/3 /repos/alice/garden/pulls/4 /repos/bob/garden /repos/bob/garden/branches
	/repos/bob/empty /search/issues?q=slugs /plants`)

// fixture is what a test serves: over real connections, with git beside it.
type fixture struct {
	*Server
	url, admin string
	log        *apitest.Log
	client     *http.Client
}

func start(t testing.TB, text string) *fixture {
	t.Helper()
	parsed, err := seed.Parse("seed.yaml", ".", []byte(text))
	testkit.NoError(t, err)
	log := &apitest.Log{}
	s, err := Start(t.Context(), Options{
		Seed: parsed, Dir: t.TempDir(), Server: server.Options{Log: slog.New(log), Graduated: true,
			SSH: server.SSHOptions{HostKeys: []gossh.Signer{testkit.Signer(t)}}},
	})
	testkit.NoError(t, err)
	f := &fixture{Server: s, log: log,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
	ctx, stop := context.WithCancel(context.Background())
	var ending sync.WaitGroup
	serve := func(what func(context.Context, net.Listener) error) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		testkit.NoError(t, err)
		ending.Go(func() {
			if err := what(ctx, l); err != nil {
				t.Errorf("the server stopped: %v", err)
			}
		})
		return "http://" + l.Addr().String()
	}
	f.url, f.admin = serve(s.Serve), serve(s.ServeAdmin)
	t.Cleanup(func() {
		f.client.CloseIdleConnections()
		stop()
		ending.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(s.o.Dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		for _, line := range log.Unexpected() {
			t.Errorf("the server logged %s", line)
		}
	})
	return f
}

// send sends a request as somebody, and gives what came back.
func (f *fixture) send(ctx context.Context, token, method, path, body string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, method, f.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	a, err := f.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return a.StatusCode, string(text), err
}

func (f *fixture) must(t testing.TB, method, path, body string) string {
	t.Helper()
	code, text, err := f.send(t.Context(), "arb_alice", method, path, body)
	if err != nil || code >= 300 {
		t.Fatalf("%s %s: %d %v %s", method, path, code, err, text)
	}
	return text
}

func (f *fixture) dump(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	for _, path := range everything {
		fmt.Fprintf(&b, "%s\n%s\n", path, f.must(t, "GET", path, ""))
	}
	return b.String()
}

// reset resets over HTTP, as a test in any language does.
func (f *fixture) reset(t testing.TB) {
	t.Helper()
	a, err := http.Post(f.admin+"/admin/reset", "", nil)
	testkit.NoError(t, err)
	defer a.Body.Close()
	if a.StatusCode != http.StatusNoContent {
		text, _ := io.ReadAll(a.Body)
		t.Fatalf("POST /admin/reset: %d %s", a.StatusCode, text)
	}
}

// seededSum is a sum of all that the lives are copies of.
func (f *fixture) seededSum(t testing.TB) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(f.seeded(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n%s", path, len(data), data)
		return err
	})
	testkit.NoError(t, err)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// same fails unless two dumps are the same.
func same(t testing.TB, what, got, want string) {
	t.Helper()
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s: %s\n%s\nnot\n%s", what, a[max(i-1, 0)], b[i], a[i])
		}
	}
	if len(a) != len(b) {
		t.Fatalf("%s: %d lines, not %d", what, len(b), len(a))
	}
}

// gitTry runs git; what it says is its own business.
func (f *fixture) gitTry(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, gittest.Env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("git %q: %w\n%s", args, err, out)
	}
	return nil
}
