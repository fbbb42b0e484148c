//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"arbor/internal/test/testkit"
)

// heard receives deliveries about new issues, while faults befall the servers.
type heard struct {
	*httptest.Server
	mu            sync.Mutex
	titles        []string          // of all deliveries, in their order
	names         map[string]string // of the delivery of a title
	first, second string            // the title of a delivery that was held, and the one behind it
	held, let     chan struct{}     // for hold
	problems      []string
}

func newHeard(t testing.TB) *heard {
	r := &heard{names: map[string]string{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *heard) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var payload struct {
		Action string
		Issue  struct{ Title string }
	}
	if err := json.NewDecoder(q.Body).Decode(&payload); err != nil {
		http.Error(w, "the body is cut", http.StatusBadRequest)
		return
	}
	if payload.Action != "opened" {
		return
	}
	r.mu.Lock()
	title, name := payload.Issue.Title, q.Header.Get("X-GitHub-Delivery")
	r.titles = append(r.titles, title)
	if before := r.names[title]; before != "" && before != name {
		r.problems = append(r.problems, fmt.Sprintf("issue %q was delivered as %s and as %s", title, before, name))
	}
	r.names[title] = name
	held, let := r.held, r.let
	r.held = nil
	r.mu.Unlock()
	if held != nil {
		close(held)
		<-let
	}
}

// hold keeps the next delivery from being answered until release is called.
func (r *heard) hold() (held <-chan struct{}, release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held, r.let = make(chan struct{}), make(chan struct{})
	return r.held, sync.OnceFunc(func() { close(r.let) })
}

// lacks returns one of some titles that did not arrive; "": all did.
func (r *heard) lacks(titles map[string]int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for title := range titles {
		if !slices.Contains(r.titles, title) {
			return title
		}
	}
	return ""
}

// checkTold demands that the receiver was told of each issue that is there, each time under the same name,
// and of no other. A hook that a killed server had is free after its lease, and one whose delivery failed
// rests, so it takes a while.
func (c *world) checkTold() {
	c.t.Helper()
	there := map[string]int{}
	for _, issue := range c.issues() {
		if issue["pull_request"] == nil {
			there[fmt.Sprint(issue["title"])]++
		}
	}
	testkit.Eventually(c.t, func() bool { return c.told.lacks(there) == "" },
		"somebody is told of each issue", func() string { return c.told.lacks(there) })
	testkit.Eventually(c.t, func() bool { return c.nodes[0].waiting() == 0 }, "no delivery waits")
	c.told.mu.Lock()
	defer c.told.mu.Unlock()
	c.told.problems = append(c.told.problems, c.told.inOrder()...)
	for _, title := range c.told.titles {
		if there[title] == 0 {
			c.t.Errorf("the receiver was told of issue %q, which is not there", title)
		}
	}
	for _, problem := range c.told.problems {
		c.t.Error(problem)
	}
	c.t.Logf("a receiver was told of %d issues in %d deliveries", len(c.told.names), len(c.told.titles))
}

// inOrder complains unless a delivery that was held came again, and only then the one behind it. A server that is
// killed before it notes that a delivery succeeded has it sent once more.
func (r *heard) inOrder() []string {
	var order []string
	for _, title := range r.titles {
		if title == r.first || title == r.second {
			order = append(order, title)
		}
	}
	behind := slices.Index(order, r.second)
	if r.first == "" || behind >= 2 && !slices.Contains(order[behind:], r.first) {
		return nil
	}
	return []string{fmt.Sprintf("a delivery was held, and these came: %q", order)}
}

// waiting counts the deliveries that a store is still to send.
func (s *instance) waiting() (n int) {
	s.t.Helper()
	s.read(&n, `SELECT COUNT(*) FROM hook_deliveries WHERE state = 0`)
	return n
}
