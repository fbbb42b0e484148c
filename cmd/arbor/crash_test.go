//go:build long

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// crash is a story: people write in every way, while faults befall the servers again and
// again. At its end the store is held against what they were told.
type crash struct {
	t      testing.TB
	engine db.Engine
	random *rand.Rand
	nodes  []*instance // of which the first has the store's tokens
	listen []string    // the nodes' addresses, which stay
	flags  []string    // of all nodes
	backup string      // a folder

	story   history
	stop    chan struct{}
	busy    sync.WaitGroup
	writers atomic.Int64 // so far, each with a name of its own
	plants  atomic.Int64 // ids that were used
	main    string       // the commit with which the repository began
	review  int          // the number of a pull request that stays open
	told    *heard       // of issues
}

// newCrash makes the world in which it happens, on nodes that do not run yet.
func newCrash(t testing.TB, engine db.Engine, nodes int, flags ...string) *crash {
	c := &crash{t: t, engine: engine, flags: append(flags, allowReceivers...), told: newHeard(t),
		random: seeded(t),
		backup: filepath.Join(t.TempDir(), "backup")}
	s := newInstance(t, engine)
	c.nodes = []*instance{s}
	for range nodes - 1 {
		other := &instance{t: t, data: s.data, database: s.database, env: s.env, log: &logBuffer{},
			tokens: s.tokens}
		c.nodes = append(c.nodes, other)
		t.Cleanup(func() {
			if other.server != nil {
				other.stop()
			}
		})
	}
	for range nodes {
		c.listen = append(c.listen, freePort(t))
	}
	s.user("alice", "bob")
	dir := gittest.Repository(t, 2, 5)
	gittest.Run(t, dir, "branch", "reviewed", "main")
	add(t, dir, "reviewed", "changes")
	c.main = gittest.Run(t, dir, "rev-parse", "main")
	s.repo("alice/garden", dir)
	s.repo("alice/small", dir)
	for i := range c.nodes {
		c.start(i)
	}
	w := c.newWriter("setup")
	status, answer := w.ask("alice", "POST", "/repos/alice/garden/pulls",
		`{"title": "Stays open", "head": "reviewed", "base": "main"}`)
	if status != 201 {
		t.Fatalf("the pull request: %d %v", status, answer)
	}
	c.review = int(answer["number"].(float64))
	status, answer = w.ask("alice", "POST", "/repos/alice/garden/hooks",
		`{"config": {"url": "`+c.told.URL+`", "content_type": "json"}, "events": ["issues"]}`)
	if status != 201 {
		t.Fatalf("the hook: %d %v", status, answer)
	}
	return c
}

func (c *crash) start(node int) {
	c.t.Helper()
	c.nodes[node].start(append(c.flags, "--listen", c.listen[node])...)
}

// begin lets writers of every kind work until end.
func (c *crash) begin() {
	c.stop = make(chan struct{})
	for kind, write := range kindsOfWork {
		w := c.newWriter(kind)
		c.busy.Go(func() {
			for !c.ended() {
				write(w)
			}
		})
	}
}

// end waits until each writer knows what became of its last work.
func (c *crash) end() {
	close(c.stop)
	c.busy.Wait()
}

func (c *crash) ended() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// recover lets people pause until the servers are well again. The errors that they logged until
// then are forgiven: the fault was not theirs.
func (c *crash) recover() {
	c.t.Helper()
	c.end()
	for node, s := range c.nodes {
		testkit.Eventually(c.t, func() bool {
			res, err := crashClient.Get("http://" + c.listen[node] + "/readyz")
			if err != nil {
				return false
			}
			res.Body.Close()
			return res.StatusCode == http.StatusOK
		}, "a server that is ready again")
		s.log.forget()
	}
	c.begin()
}

// fault is something that befalls the servers, and from which they recover.
type fault struct {
	name   string
	happen func(c *crash)
}

var (
	killed = fault{"a server is killed", func(c *crash) {
		node := c.random.IntN(len(c.nodes))
		c.nodes[node].kill()
		c.start(node)
	}}
	askedToStop = fault{"a server is told to stop", func(c *crash) {
		node := c.random.IntN(len(c.nodes))
		c.nodes[node].stop()
		c.start(node)
	}}
	paused = fault{"a server is stopped for a while", func(c *crash) {
		s, pause := c.nodes[c.random.IntN(len(c.nodes))], time.Second
		if kills() > 0 && c.random.IntN(10) == 0 {
			pause = time.Minute
		}
		if err := syscall.Kill(s.pid(), syscall.SIGSTOP); err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(pause)
		if err := syscall.Kill(s.pid(), syscall.SIGCONT); err != nil {
			c.t.Fatal(err)
		}
		if pause == time.Minute { // what waited in the server comes to the end of its time
			c.recover()
		}
	}}
	cut = fault{"PostgreSQL's connections are cut", func(c *crash) {
		dbtest.Cut(c.t, c.nodes[0].database)
		c.recover()
	}}
	restarted = fault{"PostgreSQL crashes, and starts again", func(c *crash) {
		dbtest.Crash(c.t, c.nodes[0].database)
		c.recover()
	}}
)

// Whatever befalls a server while people write in every way it has: each thing that was
// acknowledged is there once, no number is skipped, and the store is whole. make crash does it N
// times, and longer.
func TestCrash(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		nodes, faults := 1, []fault{killed, paused, killed, askedToStop}
		if engine == db.PostgreSQL {
			nodes, faults = 2, []fault{killed, cut, killed, paused}
			if kills() > 0 { // it befalls all tests of the cluster
				faults = append(faults, restarted)
			}
		}
		c := newCrash(t, engine, nodes)
		c.begin()
		for round := range roundsOr(2) {
			time.Sleep(time.Duration(100+c.random.IntN(700)) * time.Millisecond)
			f := faults[round%len(faults)]
			t.Logf("round %d: %s", round, f.name)
			f.happen(c)
		}
		time.Sleep(time.Second)
		c.end()
		c.check()
	})
}

// A disk on which writing, syncing or renaming fails now and then loses nothing that was
// acknowledged. The errors are injected below the server, also into git's processes.
func TestCrashOnADiskThatFails(t *testing.T) {
	t.Parallel()
	needProgram(t, "strace", "what happens when a disk fails")
	c := newCrash(t, db.SQLite, 1)
	calls := []string{"fdatasync,fsync", "write", "pwrite64", "rename,renameat,renameat2"}
	codes := []syscall.Errno{syscall.EIO, syscall.ENOSPC}
	rounds := 2
	if kills() > 0 {
		rounds = kills()
	}
	for round := range rounds {
		c.nodes[0].stop()
		c.failing(calls[round%len(calls)], codes[round/len(calls)%2])
		c.nodes[0].log.forget()
		c.start(0)
	}
	c.check()
}

// failing lets people write for three seconds while some of the calls fail, then kills the server.
func (c *crash) failing(calls string, code syscall.Errno) {
	s := c.nodes[0]
	each := 5 + c.random.IntN(20)
	c.t.Logf("each %dth of %s fails with %s", each, calls, unix.ErrnoName(code))
	work := func() {
		c.begin()
		time.Sleep(3 * time.Second)
		s.kill()
		c.end()
	}
	if calls == "write" { // of which most are to sockets
		c.start(0)
		failed := ""
		ended := s.follow("what happens when write(2) fails", func(last string) { failed = last },
			"failwrite", fmt.Sprint(s.pid()), fmt.Sprint(each), fmt.Sprint(int(code)), s.data)
		work()
		<-ended
		c.t.Log(failed)
		return
	}
	s.wrapper = []string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + calls,
		"-e", fmt.Sprintf("inject=%s:error=%s:when=%d+%d", calls, unix.ErrnoName(code),
			5+c.random.IntN(20), each)}
	if err := s.tryStart(append(c.flags, "--listen", c.listen[0])...); err == nil {
		work()
	}
	s.wrapper = nil
}

// history is what the writers were told.
type history struct {
	mu    sync.Mutex
	deeds []deed
}

// deed is one piece of work, and what its writer was told of it.
type deed struct {
	kind, key string
	told      outcome
	ended     time.Time
}

type outcome string

const (
	acknowledged outcome = "acknowledged"
	refused      outcome = "refused"
	unknown      outcome = "unknown" // it may have happened
)

// outcomeOf is what a status tells; 0 is a connection that broke.
func outcomeOf(status int) outcome {
	switch {
	case status >= 200 && status < 300:
		return acknowledged
	case status >= 400 && status < 500:
		return refused
	}
	return unknown
}

func (h *history) add(kind, key string, told outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deeds = append(h.deeds, deed{kind, key, told, time.Now()})
}

// of lists the deeds of a kind, in the order of their ends.
func (h *history) of(kind string) (list []deed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.deeds {
		if d.kind == kind {
			list = append(list, d)
		}
	}
	return list
}

// report is a line for the test's log: how much of each kind there was.
func (h *history) report() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	count := map[string]map[outcome]int{}
	for _, d := range h.deeds {
		if count[d.kind] == nil {
			count[d.kind] = map[outcome]int{}
		}
		count[d.kind][d.told]++
	}
	var b strings.Builder
	for kind, n := range count {
		fmt.Fprintf(&b, "%s %d/%d/%d  ", kind, n[acknowledged], n[refused], n[unknown])
	}
	return "acknowledged/refused/unknown: " + b.String()
}
