package ephemeral

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/seed"
	"arbor/internal/test/testkit"
)

// A test that runs after another must find the world as if that had never been,
// whatever it did: the same ids follow, too, and no cache remembers anything.
func TestResetUndoesEverything(t *testing.T) {
	t.Parallel()
	f := start(t, garden)
	want, sum := f.dump(t), f.seededSum(t)
	var made [2]string
	for round := range 2 {
		made[round] = f.must(t, "POST", "/repos/alice/garden/issues",
			`{"title": "New", "body": "#1", "labels": ["new"]}`)
		f.must(t, "PUT", "/repos/alice/garden/pulls/3/merge", `{}`)
		f.must(t, "PATCH", "/repos/alice/garden/issues/1", `{"state": "closed", "title": "Snails"}`)
		f.must(t, "PUT", "/repos/alice/garden/contents/new", `{"message": "m", "content": "eA=="}`)
		f.must(t, "DELETE", "/repos/alice/garden/git/refs/heads/roses", ``)
		f.must(t, "DELETE", "/repos/bob/empty", ``)
		f.must(t, "DELETE", "/plants/1", ``)
		f.must(t, "POST", "/user/repos", `{"name": "more", "auto_init": true}`)
		f.must(t, "PATCH", "/user", `{"name": "Somebody else"}`)
		f.must(t, "PATCH", "/repos/bob/garden", `{"name": "meadow"}`)
		if f.must(t, "GET", "/repos/alice/garden/issues?state=all", "") == "" {
			t.Fatal("no issues")
		}
		f.reset(t)
		same(t, fmt.Sprintf("after reset %d", round), f.dump(t), want)
	}
	cut := func(s string) string { before, _, _ := strings.Cut(s, `"created_at"`); return before }
	if a, b := cut(made[0]), cut(made[1]); a != b {
		t.Errorf("what is made after a reset differs:\n%s\n%s", a, b)
	}
	if f.seededSum(t) != sum {
		t.Error("the seeded store was written to: later resets lead elsewhere")
	}
}

// Nobody who works while a test resets sees the server stumble, and nothing of
// what they do is there once they have stopped and it is reset again.
func TestResetWhileOthersWork(t *testing.T) {
	t.Parallel()
	f := start(t, garden)
	want := f.dump(t)
	remote := strings.Replace(f.url, "http://", "http://bob:arb_bobs@", 1) + "/alice/garden.git"
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var clients sync.WaitGroup
	var done [3]atomic.Int64
	try := func(kind int, token, method, path, body string) {
		code, text, err := f.send(ctx, token, method, path, body)
		if ctx.Err() != nil {
			return
		}
		if err != nil || code >= 500 {
			t.Errorf("%s %s: %d %v %s", method, path, code, err, text)
		}
		if code < 300 {
			done[kind].Add(1)
		}
	}
	for n := range 3 {
		clients.Go(func() {
			for i := n; ctx.Err() == nil; i++ {
				try(0, "arb_bobs", "GET", everything[i%len(everything)], "")
			}
		})
		clients.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				try(1, "arb_alice", "POST", "/repos/alice/garden/issues",
					fmt.Sprintf(`{"title": "issue %d", "labels": ["l%d"]}`, i, n))
				try(1, "arb_alice", "PATCH", "/repos/alice/garden/issues/1", `{"state": "closed"}`)
				try(1, "arb_alice", "PUT", fmt.Sprintf("/repos/alice/garden/contents/f%d", n),
					`{"message": "m", "content": "eA=="}`)
				try(1, "arb_alice", "POST", "/plants", fmt.Sprintf(`{"id": %d, "name": "x"}`, i*10+n+5))
			}
		})
	}
	for n := range 2 {
		dir := t.TempDir()
		clients.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				// A clone and a push are several requests: a reset in between may
				// refuse the later ones, but breaks nothing.
				at := filepath.Join(dir, fmt.Sprint(i))
				if f.gitTry(ctx, dir, "clone", "-q", remote, at) != nil {
					continue
				}
				err := errors.Join(f.gitTry(ctx, at, "commit", "-q", "--allow-empty", "-m", "push"),
					f.gitTry(ctx, at, "push", "-q", "origin",
						fmt.Sprintf("HEAD:refs/heads/pushed%d-%d", n, i)))
				if err == nil {
					done[2].Add(1)
				}
			}
		})
	}
	resets := 0
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end) ||
		done[0].Load()*done[1].Load()*done[2].Load() == 0; resets++ {
		f.reset(t)
		time.Sleep(time.Duration(resets%20) * 10 * time.Millisecond)
	}
	stop()
	clients.Wait()
	f.reset(t)
	same(t, "at the end", f.dump(t), want)
	t.Logf("%d resets while %d reads, %d writes and %d pushes were done", resets, done[0].Load(),
		done[1].Load(), done[2].Load())
}

// A request that came before a reset ends as it began, and the reset does not
// wait for it.
func TestResetDoesNotWait(t *testing.T) {
	t.Parallel()
	f := start(t, garden)
	body, more := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), "POST", f.url+"/repos/alice/garden/issues", body)
	testkit.NoError(t, err)
	r.Header.Set("Authorization", "Bearer arb_alice")
	answers := make(chan *http.Response, 1)
	go func() {
		a, err := f.client.Do(r)
		if err != nil {
			t.Error(err)
		}
		answers <- a
	}()
	if _, err := more.Write([]byte(`{"title": `)); err != nil { // the server is reading it
		t.Fatal(err)
	}
	f.reset(t)
	f.reset(t)
	if _, err := more.Write([]byte(`"late"}`)); err != nil {
		t.Fatal(err)
	}
	more.Close()
	if a := <-answers; a == nil || a.StatusCode != http.StatusCreated {
		t.Fatalf("the request that waited: %v", a)
	}
	if text := f.must(t, "GET", "/repos/alice/garden/issues?state=all", ""); strings.Contains(text, "late") {
		t.Errorf("what began before the reset is there after it: %s", text)
	}
}

// Thousands of tests reset thousands of times: nothing may pile up.
func TestResetsLeaveNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: what a process holds is looked up in Linux's /proc")
	}
	f := start(t, garden)
	held := func() (files, maps int) { // of lives that are over
		list, err := os.ReadDir("/proc/self/fd")
		testkit.NoError(t, err)
		for _, e := range list {
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil &&
				strings.HasPrefix(to, f.dir) && strings.HasSuffix(to, " (deleted)") {
				files++
			}
		}
		text, err := os.ReadFile("/proc/self/maps")
		testkit.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, f.dir) && strings.HasSuffix(line, " (deleted)\n") {
				maps++
			}
		}
		return files, maps
	}
	round := func() {
		f.must(t, "GET", "/repos/alice/garden/issues", "")
		f.must(t, "PUT", "/repos/alice/garden/contents/new", `{"message": "m", "content": "eA=="}`)
		f.must(t, "GET", "/repos/alice/garden/commits", "")
		testkit.NoError(t, f.Reset(t.Context()))
		f.ending.Wait()
	}
	for range 20 {
		round()
	}
	if files, maps := held(); files > 0 || maps > 0 {
		t.Errorf("after 20 resets %d files and %d mappings of what was removed are held", files, maps)
	}
	// seeded, lock, the present life and the next
	if list, err := os.ReadDir(f.dir); err != nil || len(list) > 4 {
		t.Errorf("the folder holds %v: %v", list, err)
	}
}

// What is killed cannot clean up: the next server does, and touches nothing of
// those that live.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begin := func() *Server {
		s, err := Start(t.Context(), Options{Dir: dir})
		testkit.NoError(t, err)
		return s
	}
	living := begin()
	left := filepath.Join(dir, prefix+"left")
	testkit.NoError(t, os.MkdirAll(filepath.Join(left, "1", "repositories"), 0o700))
	testkit.NoError(t, os.WriteFile(filepath.Join(left, lockFile), nil, 0o600))
	other := filepath.Join(dir, prefix+"foreign") // without a lock: not ours, or not yet
	testkit.NoError(t, os.Mkdir(other, 0o700))
	next := begin()
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a killed server left is still there: %v", err)
	}
	for _, s := range []*Server{living, next} {
		if err := s.Reset(t.Context()); err != nil {
			t.Errorf("a server that lives: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Reset(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("a reset after the end: %v", err)
		}
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 || list[0].Name() != prefix+"foreign" {
		t.Errorf("left: %v", list)
	}
}

// A seed that is wrong leaves nothing behind.
func TestWrongSeed(t *testing.T) {
	t.Parallel()
	parsed, err := seed.Parse("seed.yaml", ".",
		[]byte("users: [{login: alice}]\nrepos: [{name: alice/a, import: nowhere}]"))
	testkit.NoError(t, err)
	dir := t.TempDir()
	_, err = Start(t.Context(), Options{Seed: parsed, Dir: dir})
	if e := new(seed.Error); !errors.As(err, &e) {
		t.Errorf("the error is %v", err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("left: %v", list)
	}
}

// The address of operators says what it can and cannot do, and no page that
// somebody happens to read resets what they are testing.
func TestAdmin(t *testing.T) {
	t.Parallel()
	f := start(t, garden)
	for _, c := range []struct {
		method, path string
		header       http.Header
		status       int
	}{
		{"POST", "/admin/reset", nil, 204},
		{"GET", "/admin/reset", nil, 405},
		{"POST", "/admin/reset", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"POST", "/admin/reset", http.Header{"Origin": {"http://elsewhere.example"}}, 403},
		{"POST", "//rebound.example/admin/reset", nil, 421},
		{"GET", "/metrics", nil, 200},
		{"GET", "/", nil, 404},
	} {
		address := "http://localhost" + c.path
		if strings.HasPrefix(c.path, "//") { // as a page does whose name leads here now
			address = "http:" + c.path
		}
		r := httptest.NewRequest(c.method, address, nil)
		for name := range c.header {
			r.Header[name] = c.header[name]
		}
		w := httptest.NewRecorder()
		f.Admin().ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s %s %v: %d, not %d: %s", c.method, c.path, c.header, w.Code, c.status, w.Body)
		}
	}
}

// BenchmarkReset is what a test pays for a clean world; `make bench` has its bound.
func BenchmarkReset(b *testing.B) {
	f := start(b, garden)
	for b.Loop() {
		testkit.NoError(b, f.Reset(b.Context()))
	}
}
