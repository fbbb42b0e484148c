//go:build long

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// hookReceiver takes deliveries of the event issues, and holds the first until it is told to let go.
type hookReceiver struct {
	*httptest.Server
	mu    sync.Mutex
	guids []string
	ended chan struct{}
}

func newHookReceiver(t *testing.T) *hookReceiver {
	r := &hookReceiver{ended: make(chan struct{})}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		if q.Header.Get("X-GitHub-Event") != "issues" {
			return
		}
		r.mu.Lock()
		r.guids = append(r.guids, q.Header.Get("X-GitHub-Delivery"))
		first := len(r.guids) == 1
		r.mu.Unlock()
		if first {
			select {
			case <-q.Context().Done():
			case <-r.ended:
			}
		}
	}))
	t.Cleanup(r.Close)
	t.Cleanup(func() { close(r.ended) })
	return r
}

func (r *hookReceiver) got() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.guids...)
}

// A server that is killed while a receiver holds a delivery sends it again, under the same name, and then
// what came behind it. What waits in a backup is not sent by the store that is made of it, as the first one
// sends it.
func TestKilledInADelivery(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		r := newHookReceiver(t)
		s := serving(t, engine, "--allow-hook-networks", "127.0.0.1")
		s.user("alice")
		s.repo("alice/garden", "")
		send := func(path, body string) {
			t.Helper()
			if res, text := s.do("alice", "POST", "/repos/alice/garden/"+path, nil,
				strings.NewReader(body)); res.StatusCode != 201 {
				t.Fatalf("%s: %d %s", path, res.StatusCode, text)
			}
		}
		send("hooks", `{"config": {"url": "`+r.URL+`"}, "events": ["issues"]}`)
		send("issues", `{"title": "first"}`)
		testkit.Eventually(t, func() bool { return len(r.got()) == 1 }, "a delivery")
		send("issues", `{"title": "second"}`)
		s.kill()
		backup := filepath.Join(t.TempDir(), "backup")
		s.arbor("backup", backup)
		again := newInstance(t, engine)
		again.arbor("restore", backup)
		if n := again.waiting(t); n != 0 {
			t.Errorf("the restored store would send %d deliveries of the one that was saved", n)
		}
		if n := s.waiting(t); n != 2 {
			t.Errorf("%d deliveries wait, want 2", n)
		}
		s.exec(`UPDATE hooks SET due_at = 0`) // what the killed server had leased is free
		s.start("--allow-hook-networks", "127.0.0.1")
		testkit.Eventually(t, func() bool {
			return len(r.got()) >= 3
		}, "three deliveries", func() string { return strings.Join(r.got(), " ") })
		if got := r.got(); len(got) != 3 || got[0] != got[1] || got[1] == got[2] {
			t.Errorf("these were delivered: %q", got)
		}
		testkit.Eventually(t, func() bool { return s.waiting(t) == 0 }, "no delivery waits")
		s.sound()
	})
}

// waiting counts the deliveries that a store is still to send.
func (s *instance) waiting(t *testing.T) (n int64) {
	t.Helper()
	d := s.open()
	defer d.Close()
	if err := d.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT COUNT(*) FROM hook_deliveries WHERE state = 0`).Scan(&n)
	}); err != nil {
		t.Fatal(err)
	}
	return n
}
