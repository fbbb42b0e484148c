//go:build long

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/server"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// maxStatements is how many statements a page of the demo may take with nothing in memory, and maxProcesses
// how many processes of git.
const (
	maxStatements = 40
	maxProcesses  = 1
)

// Each page of the demo takes at most forty statements and one process of git, with nothing in memory.
func TestDemoPagesAskLittle(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := fillDemo(t, engine)
		cookie := demoSession(t, d.at, "alice")
		for _, p := range demoPages {
			if p.name == "site-people" { // from here on
				cookie = demoSession(t, d.at, "root-gardener")
			}
			d.check(cookie, p.name, p.path)
		}
	})
}

// countedDemo is the demo's store, served in the test's process without workers.
type countedDemo struct {
	t    *testing.T
	git  *git.Git
	demo *demo
	s    *server.Server
	at   string
	mu   sync.Mutex
	ran  []string // statements
}

func fillDemo(t *testing.T, engine db.Engine) *countedDemo {
	t.Helper()
	c := &countedDemo{t: t, git: gittest.New(t, git.Options{})}
	dir := t.TempDir()
	d := dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: func(_ context.Context, q string) {
		if testkit.IsState(q) {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ran = append(c.ran, strings.Join(strings.Fields(q), " "))
	}})
	log := slog.New(slog.DiscardHandler)
	c.demo = &demo{store: &store{dir: dir, db: d, git: c.git}, log: log, out: io.Discard, tokens: map[string]string{},
		callers: map[string]*account.Caller{}}
	testkit.NoError(t, c.demo.fill(t.Context()))
	c.s = server.New(server.Options{DB: d, Git: c.git, DataDir: filepath.Clean(dir), Log: log})
	testkit.NoError(t, c.s.Settle(t.Context()))
	listener := httptest.NewServer(c.s)
	t.Cleanup(listener.Close)
	c.at = listener.URL
	return c
}

// check visits a page after somebody changed something, so that nothing is in memory. A visit that takes
// longer than a request relies on one moment asks some things twice, as on a busy machine; so one of twenty
// has to be well.
func (c *countedDemo) check(cookie, name, path string) {
	c.t.Helper()
	least, processes, most := []string{}, int64(1<<30), int64(maxProcesses)
	if name == "sync" { // compares branches of two repositories
		most = 2
	}
	// pooled processes start once
	for n := 0; n < 3 || n < 20 && (len(least) > maxStatements || processes > most); n++ {
		change, err := http.NewRequest("PATCH", c.at+"/repos/alice/greenhouse",
			strings.NewReader(fmt.Sprintf(`{"description": "%s %d"}`, name, n)))
		testkit.NoError(c.t, err)
		change.Header.Set("Authorization", "Bearer "+c.demo.tokens["alice"])
		c.do(change)
		// no worker does it, for which a search waits
		testkit.NoError(c.t, c.s.Forge().Searches.Index(c.t.Context()))
		visit, err := http.NewRequest("GET", c.at+path, nil)
		testkit.NoError(c.t, err)
		visit.Header.Set("Accept", "text/html")
		visit.AddCookie(&http.Cookie{Name: session.Cookie, Value: cookie})
		c.mu.Lock()
		c.ran = nil
		c.mu.Unlock()
		before := c.git.Started()
		c.do(visit)
		c.mu.Lock()
		if ran := c.ran; n == 0 || len(ran) < len(least) {
			least = ran
		}
		c.mu.Unlock()
		processes = min(processes, c.git.Started()-before)
	}
	if len(least) > maxStatements || processes > most {
		c.t.Errorf("%s (%s) takes %d statements and %d processes of git:\n\t%.20000s", name, path,
			len(least), processes, strings.Join(least, "\n\t"))
	}
	c.t.Logf("%s: %d statements, %d processes", name, len(least), processes)
}

func (c *countedDemo) do(r *http.Request) {
	c.t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(r) // which follows nothing
	testkit.NoError(c.t, err)
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 400 {
		c.t.Errorf("%s %s: %s %v %.300s", r.Method, r.URL, answer.Status, err, said)
	}
}
