package repo_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/apitest"
	"arbor/internal/db"
	"arbor/internal/git/gittest"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// fetcher asks for what git asks first, with a handler whose slots are few.
type fetcher struct{ handler web.Handler }

// stalled is a body that says when it is first read, and then never goes on
// until its client leaves.
type stalled struct {
	reading chan<- struct{}
	left    <-chan struct{}
}

func (s stalled) Read([]byte) (int, error) {
	select {
	case s.reading <- struct{}{}:
	case <-s.left:
	}
	<-s.left
	return 0, io.ErrUnexpectedEOF
}

// fetch asks for alice/garden from an address, as a caller or as nobody.
func (f *fetcher) fetch(ctx context.Context, from string, caller *account.Caller, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/alice/garden.git/git-upload-pack", body)
	r.RemoteAddr = from
	r.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	r.Header.Set("Git-Protocol", "version=2")
	info := &web.Info{Form: web.PlainErrors}
	info.SetParam("owner", "alice")
	info.SetParam("repo", "garden.git")
	r = web.With(r.WithContext(account.WithCaller(ctx, caller)), info)
	w := httptest.NewRecorder()
	web.Handle(&web.Writer{ResponseWriter: w}, r, f.handler)
	return w
}

// lsRefs is what a client sends to learn the refs.
func lsRefs() io.Reader { return strings.NewReader("0014command=ls-refs\n00010000") }

// A few clients that read or send slowly must not keep everyone else from
// fetching: no account, and no network without one, gets more than it leaves to others.
func TestSharesOfSlots(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Import(t, s.Repo(t, "alice/garden", false), gittest.Repository(t, 1, 2))
	s.Repos.SetFetches(8, 100*time.Millisecond)
	f := &fetcher{s.Repos.WithGit(repo.Fetching, repo.NewAPI(s.Repos).UploadPack)}
	alice, again := &account.Caller{ID: 1, TokenID: 1}, &account.Caller{ID: 1, TokenID: 2}
	bob := &account.Caller{ID: 2, TokenID: 3}

	var clients sync.WaitGroup
	left := make(chan struct{})
	hold := func(from string, caller *account.Caller) {
		t.Helper()
		reading := make(chan struct{})
		clients.Go(func() { f.fetch(context.Background(), from, caller, stalled{reading, left}) })
		select {
		case <-reading:
		case <-time.After(time.Minute):
			t.Fatalf("%s holds no slot", from)
		}
	}
	want := func(from string, caller *account.Caller, status int) {
		t.Helper()
		w := f.fetch(t.Context(), from, caller, lsRefs())
		if w.Code != status || (w.Header().Get("Retry-After") != "") != (status == http.StatusServiceUnavailable) {
			t.Errorf("%s: %d %q, want %d", from, w.Code, w.Body, status)
		}
	}
	for range 4 {
		hold("192.0.2.1:1", nil)
	}
	want("192.0.2.1:2", nil, 503) // it holds as many as are free
	want("[::ffff:192.0.2.1]:3", nil, 503)
	want("192.0.2.2:1", nil, 200)
	want("192.0.2.1:4", alice, 200) // behind that address, but known
	hold("192.0.2.3:1", alice)
	hold("192.0.2.3:1", alice)
	want("192.0.2.4:1", again, 503) // another token, another address
	want("192.0.2.3:2", nil, 200)
	want("192.0.2.3:3", bob, 200)
	hold("[2001:db8::1]:1", nil)
	want("[2001:db8::ffff:2]:1", nil, 503)
	want("[2001:db8:0:1::1]:1", nil, 200)
	hold("192.0.2.3:4", bob)
	want("192.0.2.9:1", nil, 503) // all are taken
	close(left)
	clients.Wait()
	want("192.0.2.1:9", nil, 200)
	want("192.0.2.9:9", alice, 200)
	if free, callers := s.Repos.Fetches(); free != 8 || callers != 0 {
		t.Errorf("%d slots are free, %d callers remembered", free, callers)
	}
}

// Who waits for a slot and hangs up, or loses patience, leaves nothing behind;
// who waits and stays is served.
func TestWaitForSlot(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Import(t, s.Repo(t, "alice/garden", false), gittest.Repository(t, 1, 2))
	s.Repos.SetFetches(1, time.Minute)
	f := &fetcher{s.Repos.WithGit(repo.Fetching, repo.NewAPI(s.Repos).UploadPack)}
	reading, left := make(chan struct{}), make(chan struct{})
	var clients sync.WaitGroup
	clients.Go(func() { f.fetch(context.Background(), "192.0.2.1:1", nil, stalled{reading, left}) })
	<-reading
	hangsUp, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	f.fetch(hangsUp, "192.0.2.1:2", nil, lsRefs())
	f.fetch(hangsUp, "192.0.2.2:1", nil, lsRefs())
	if free, callers := s.Repos.Fetches(); free != 0 || callers != 1 {
		t.Errorf("%d slots are free, %d callers remembered, want the one who holds it", free, callers)
	}
	clients.Go(func() {
		if w := f.fetch(t.Context(), "192.0.2.2:2", nil, lsRefs()); w.Code != http.StatusOK {
			t.Errorf("who waited: %d %q", w.Code, w.Body)
		}
	})
	time.Sleep(20 * time.Millisecond)
	close(left)
	clients.Wait()
}
