//go:build long

package main

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// fault is something that befalls the servers, and from which they recover.
type fault struct {
	name   string
	happen func(c *world)
}

var (
	killed = fault{"a server is killed", func(c *world) {
		node := c.random.IntN(len(c.nodes))
		c.nodes[node].kill()
		c.start(node)
	}}
	askedToStop = fault{"a server is told to stop", func(c *world) {
		node := c.random.IntN(len(c.nodes))
		c.nodes[node].stop()
		c.start(node)
	}}
	paused = fault{"a server is stopped for a while", func(c *world) {
		s, pause := c.nodes[c.random.IntN(len(c.nodes))], time.Second
		if kills() > 0 && c.random.IntN(10) == 0 {
			pause = time.Minute
		}
		testkit.NoError(c.t, syscall.Kill(s.pid(), syscall.SIGSTOP))
		time.Sleep(pause)
		testkit.NoError(c.t, syscall.Kill(s.pid(), syscall.SIGCONT))
		if pause == time.Minute { // what waited in the server comes to the end of its time
			c.recover()
		}
	}}
	cut = fault{"PostgreSQL's connections are cut", func(c *world) {
		dbtest.Cut(c.t, c.nodes[0].database)
		c.recover()
	}}
	restarted = fault{"PostgreSQL crashes, and starts again", func(c *world) {
		dbtest.Crash(c.t, c.nodes[0].database)
		c.recover()
	}}
)

// recover lets people pause until the servers are well again. The errors that they logged until then are
// forgiven: the fault was not theirs.
func (c *world) recover() {
	c.t.Helper()
	c.end()
	for node, s := range c.nodes {
		last := ""
		testkit.Eventually(c.t, func() bool {
			res, err := writerClient.Get("http://" + c.listen[node] + "/readyz")
			if err != nil {
				return false
			}
			res.Body.Close()
			last = res.Header.Get("X-Request-Id")
			return res.StatusCode == http.StatusOK
		}, "a server that is ready again")
		testkit.Eventually(c.t, func() bool { return strings.Contains(s.log.String(), last) }, "the log until now")
		s.log.forget()
	}
	c.begin()
}

// Any fault may befall a server while people do every kind of work: each thing that was acknowledged is there
// once, no number is skipped, and the store is whole. make crash does it N times.
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
		c := newWorld(t, engine, nodes)
		c.begin()
		for round := range max(4, kills()) {
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

// A disk on which writing, syncing or renaming fails now and then loses nothing that was acknowledged. The
// calls of the server fail, and those of git's processes.
func TestCrashOnADiskThatFails(t *testing.T) {
	t.Parallel()
	c := newWorld(t, db.SQLite, 1)
	s := c.nodes[0]
	calls := []string{"fdatasync,fsync", "write", "pwrite64", "rename"}
	codes := []syscall.Errno{syscall.EIO, syscall.ENOSPC}
	for round := range max(2, kills()) {
		failing, code := calls[round%len(calls)], codes[round/len(calls)%2]
		each := 5 + c.random.IntN(20)
		trace := s.trace("failcall", fmt.Sprint(s.pid()), failing, fmt.Sprint(each), fmt.Sprint(int(code)), s.data)
		if trace.err != nil {
			t.Skip("NOT TESTED: what happens when a disk fails: ", trace.err)
		}
		c.begin()
		time.Sleep(3 * time.Second)
		s.kill()
		c.end()
		<-trace.ended
		t.Logf("each %dth of %s failed with %s: %s", each, failing, unix.ErrnoName(code), trace.last)
		s.log.forget()
		c.start(0)
	}
	c.check()
}
