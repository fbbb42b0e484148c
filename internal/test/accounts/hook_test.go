package accounts_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/hook/outgoing"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// loopback allows webhooks to the receivers of tests.
func loopback(o *server.Options) { o.HookNetworks = outgoing.Loopback() }

// each runs fn on a server of each engine whose hooks may lead to this machine.
func each(t *testing.T, fn func(t *testing.T, s *apitest.Server)) {
	t.Helper()
	apitest.Each(t, fn, loopback)
}

// sent is a delivery as it arrived.
type sent struct {
	Event  string
	Header http.Header
	Body   []byte
	JSON   map[string]any
}

func (s *sent) name() string {
	if action, ok := s.JSON["action"].(string); ok {
		return s.Event + "." + action
	}
	return s.Event
}

// receiver takes deliveries.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []*sent
	more   chan struct{}
	answer func(w http.ResponseWriter, r *http.Request, s *sent) // nil: 200
}

func receive(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, s *sent)) *receiver {
	t.Helper()
	r := &receiver{more: make(chan struct{}, 1), answer: answer}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	s := &sent{Event: q.Header.Get("X-GitHub-Event"), Header: q.Header, Body: body}
	_ = json.Unmarshal(body, &s.JSON)
	if r.answer != nil {
		r.answer(w, q, s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, s)
	select {
	case r.more <- struct{}{}:
	default:
	}
}

// all are the deliveries so far.
func (r *receiver) all() []*sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*sent{}, r.got...)
}

// wait waits for so many deliveries in all.
func (r *receiver) wait(t testing.TB, n int) []*sent {
	t.Helper()
	timeout := time.After(testkit.Patience)
	for {
		if got := r.all(); len(got) >= n {
			return got
		}
		select {
		case <-r.more:
		case <-timeout:
			t.Fatalf("%d deliveries came, want %d: %s", len(r.all()), n, r.names())
		}
	}
}

func (r *receiver) names() string {
	var list []string
	for _, s := range r.all() {
		list = append(list, s.name())
	}
	return strings.Join(list, " ")
}

// expect waits for deliveries of these names, in this order, and forgets them.
func (r *receiver) expect(t testing.TB, names string) []*sent {
	t.Helper()
	n := len(strings.Fields(names))
	got := r.wait(t, n)
	if have := r.names(); have != names {
		t.Fatalf("hooks were told %q, want %q", have, names)
	}
	r.forget()
	return got
}

// forget forgets the deliveries so far.
func (r *receiver) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = nil
}

// hookOn creates a webhook as a user and waits for its ping.
func hookOn(t testing.TB, s *apitest.Server, place, as string, r *receiver, events string) int64 {
	t.Helper()
	var made struct{ ID int64 }
	s.Check(t, apitest.Case{Do: "POST " + place + "/hooks", As: as, Status: 201, Send: fmt.Sprintf(
		`{"name": "web", "config": {"url": "%s/hook", "content_type": "json", "secret": "peas"}, "events": %s}`, r.URL, events)}).
		JSON(t, &made)
	r.expect(t, "ping")
	return made.ID
}

// told sends a request and waits for the webhook events that it causes.
func told(t *testing.T, s *apitest.Server, r *receiver, c apitest.Case, names string) []*sent {
	t.Helper()
	if c.Status == 0 {
		c.Status = 200
	}
	s.Check(t, c)
	return r.expect(t, names)
}
