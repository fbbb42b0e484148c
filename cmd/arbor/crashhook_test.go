//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"arbor/internal/test/testkit"
)

// allowReceivers lets hooks lead to receivers of tests.
var allowReceivers = []string{"--allow-hook-networks", "127.0.0.0/8"}

// heard receives what hooks are told of issues, while faults befall the servers.
type heard struct {
	*httptest.Server
	mu     sync.Mutex
	titles map[string]int
}

// newHeard begins to receive what hooks are told.
func newHeard(t testing.TB) *heard {
	r := &heard{titles: map[string]int{}}
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
	defer r.mu.Unlock()
	r.titles[payload.Issue.Title]++
}

// lacks gives one of some titles that did not arrive; empty: all did.
func (r *heard) lacks(titles map[string]int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for title := range titles {
		if r.titles[title] == 0 {
			return title
		}
	}
	return ""
}

// checkTold demands that the receiver is told of each issue that is there at least once, and of no other. A
// hook that a killed server had is free after its lease, and one whose delivery failed rests, so it takes a
// while.
func (c *crash) checkTold(issues []map[string]any) {
	c.t.Helper()
	there := map[string]int{}
	for _, issue := range issues {
		if issue["pull_request"] == nil {
			there[fmt.Sprint(issue["title"])]++
		}
	}
	testkit.Eventually(c.t, func() bool { return c.told.lacks(there) == "" },
		"somebody is told of each issue", func() string { return c.told.lacks(there) })
	for _, d := range c.story.of("issue") {
		if d.told == acknowledged && there[d.key] == 0 {
			c.t.Errorf("issue %q was acknowledged and is no issue", d.key)
		}
	}
	c.told.mu.Lock()
	defer c.told.mu.Unlock()
	again := 0
	for title, n := range c.told.titles {
		if there[title] == 0 {
			c.t.Errorf("the receiver was told of issue %q, which is not there", title)
		}
		again += n - 1
	}
	c.t.Logf("a receiver was told of %d issues, %d times more than once", len(c.told.titles), again)
}
