//go:build long

package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// work is a kind of work that people do: a row of the killer's table (see killerops_test.go).
type work struct {
	kind    string
	group   string               // rows of a group are killed on one store; "": never killed step by step
	rounds  int                  // at how many steps it is killed, unless ARBOR_TEST_KILLS says so; 0 is 3
	every   bool                 // with ARBOR_TEST_KILLS it is killed at every step
	alone   bool                 // too much for a store on which all others work
	prepare func(w *writer) bool // what a piece needs, which is not killed; false: it failed
	do      func(w *writer)      // a piece; the story notes what the writer was told
	check   func(c *world)       // holds the store against the story
	// moment kills the server in the middle of a piece where it makes no system call.
	moment func(w *writer, kill func())
	dead   func(c *world) // what is looked at, or done, before the next server starts
}

// A server is killed at steps of each kind of work: before a call by which it writes, syncs, locks, names or
// removes a file, or says something to the database or the client. Each time the work happened, whole and
// seen by everything that shows it, or it did not; and it can be done again. In every second round somebody
// does other work at the same time. If this failed, there would be a moment at which the power must not go.
func TestKilled(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		groups := map[string][]*work{}
		for _, row := range table {
			groups[row.group] = append(groups[row.group], row)
		}
		delete(groups, "")
		for group, rows := range groups {
			t.Run(group, func(t *testing.T) {
				t.Parallel()
				c := newWorld(t, engine, 1)
				for i, row := range rows {
					c.killIn(row, rows[(i+1)%len(rows)])
				}
				c.nodes[0].stop()
				c.nodes[0].exec(`UPDATE hooks SET due_at = 0`) // the lease of the last server that was killed
				c.start(0)
				c.check()
			})
		}
	})
}

// never is a step that no work comes to.
const never = math.MaxInt32

// killIn kills the server at steps that are spread evenly over a piece of work, and right after it.
func (c *world) killIn(row, other *work) {
	c.t.Helper()
	w, beside, lost := c.newWriter(row), c.newWriter(other), len(c.story.lost())
	if row.moment != nil {
		for range 1 + kills()/10 {
			row.moment(w, c.nodes[0].kill)
			c.restarted(w, nil, "in the middle")
		}
	}
	calls, _ := c.killAt(w, nil, never)
	c.restarted(w, nil, "after the answer")
	rounds := row.rounds
	switch {
	case kills() > 0 && row.every && calls > 0:
		rounds = calls
	case kills() > 0 && calls > 0:
		rounds = min(kills(), calls)
	case kills() > 0:
		rounds = kills()
	case rounds == 0:
		rounds = 3
	}
	steps := map[string]bool{}
	for i := range rounds {
		with := beside
		if i%2 == 0 || row == other {
			with = nil
		}
		at := 1 + (i*calls+c.random.IntN(max(calls, 1)))/rounds
		count, last := c.killAt(w, with, at)
		steps[randomName.ReplaceAllString(last, "*")] = true
		c.restarted(w, with, fmt.Sprintf("before call %d of %d, %q", at, count, last))
	}
	c.t.Logf("%s: killed %d times within %d calls, %d answers were lost: %s", row.kind, rounds, calls,
		len(c.story.lost())-lost, strings.Join(slices.Sorted(maps.Keys(steps)), ", "))
}

// killAt kills the server before the N-th call that it makes for a piece of work, or after its answer. Where
// nothing can be traced, it does so after a while.
func (c *world) killAt(w, with *writer, n int) (calls int, last string) {
	c.t.Helper()
	s := c.nodes[0]
	for _, who := range []*writer{w, with} {
		if who != nil && who.row.prepare != nil && !who.row.prepare(who) {
			c.t.Fatalf("the preparation of %s failed", who.row.kind)
		}
	}
	trace := s.trace("killat", fmt.Sprint(s.pid()), fmt.Sprint(n))
	c.stop = make(chan struct{})
	gone, ended := make(chan struct{}), trace.ended
	if trace.err != nil {
		c.t.Log("killed at random moments: ", trace.err)
		ended = gone
		wait := time.Duration(c.random.IntN(100)) * time.Millisecond
		time.AfterFunc(wait, func() { _ = s.server.Process.Kill(); close(gone) })
	}
	go func() { <-ended; close(c.stop) }()
	if with != nil {
		c.busy.Go(func() { with.row.do(with) })
	}
	w.row.do(w)
	c.busy.Wait()
	select {
	case <-ended:
	case <-time.After(20 * time.Millisecond): // for what it does after the answer
		_ = s.server.Process.Kill()
		<-ended
	}
	<-c.stop
	s.wait()
	_, _ = fmt.Sscan(trace.last, &calls)
	_, last, _ = strings.Cut(trace.last, " ")
	return calls, last
}

// restarted starts a killed server again, which must have what it acknowledged, and do the same work.
func (c *world) restarted(w, with *writer, when string) {
	c.t.Helper()
	if database := c.nodes[0].database; database != "" {
		dbtest.Deserted(c.t, database)
	}
	if w.row.dead != nil {
		w.row.dead(c)
	}
	c.start(0)
	c.stop = make(chan struct{})
	w.row.check(c)
	if with != nil {
		with.row.check(c)
	}
	before := len(c.story.all())
	if w.row.prepare == nil || w.row.prepare(w) {
		w.row.do(w)
	}
	after := c.story.all()[before:]
	for _, d := range after {
		if d.told != acknowledged && d.kind != movedPush { // which may meet the transfer
			c.t.Errorf("%s %q was %s by the next server", d.kind, d.key, d.told)
		}
	}
	if len(after) == 0 {
		c.t.Errorf("the next server could not do it")
	}
	w.row.check(c)
	if c.t.Failed() {
		c.t.Fatalf("%s: the server was killed %s", w.row.kind, when)
	}
}

// tracing is a program that follows a server until its end.
type tracing struct {
	err   error
	ended chan struct{}
	last  string // what it said last, once it has ended
}

// trace starts a tracer, see tracers. Where nothing can be traced, err says why.
func (s *instance) trace(program string, args ...string) *tracing {
	s.t.Helper()
	r := &tracing{ended: make(chan struct{})}
	cmd := exec.Command(program, args...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.err = err
	} else {
		lines := bufio.NewReader(out)
		if first, _ := lines.ReadString('\n'); first != "ready\n" {
			cmd.Wait()
			r.err = fmt.Errorf("%s: %q", program, first)
		} else {
			go func() {
				defer close(r.ended)
				rest, _ := io.ReadAll(lines)
				r.last = strings.TrimSpace(string(rest))
				cmd.Wait()
			}()
		}
	}
	if r.err != nil && os.Getenv("ARBOR_TEST_STRICT") == "1" {
		s.t.Fatal(r.err)
	}
	return r
}

// sweep does what is left to the sweep that comes in six hours, at once. Nothing of killed servers is left
// then.
func (c *world) sweep() {
	c.t.Helper()
	s := c.nodes[0]
	s.exec(`UPDATE reserved_repos SET at = 0`)
	s.exec(`UPDATE backups SET due_at = 0`) // of a backup that died
	c.ageCopies()
	s.sweep() // sets directories aside
	s.sweep()
	for _, left := range []string{"incoming-*", "mirror-*", "packing-*", "replaced-*", ".tmp-*", "tmp_*", "*.lock"} {
		if found := s.find(left); len(found) > 0 {
			c.t.Errorf("%q stay", found)
		}
	}
	c.start(0)
	repos := 0
	s.read(&repos, `SELECT COUNT(*) FROM repos`)
	var there []string
	testkit.Eventually(c.t, func() bool {
		s.exec(`UPDATE discarded SET due_at = 0`) // also those that were put off
		there = glob(c.t, filepath.Join(s.data, "repositories", "*", "*"))
		return len(there) == repos
	}, "as many directories as repositories", func() string { return fmt.Sprint(repos, there) })
	s.quiet()
}

// kills is how often each kind of work is killed: what ARBOR_TEST_KILLS says, as make kills does, or 0,
// which is a few times.
func kills() int {
	n, _ := strconv.Atoi(os.Getenv("ARBOR_TEST_KILLS"))
	return n
}

// seeded is a source of random numbers whose seed is in the test's log.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// randomName is what no two rounds have in common in the name of a file.
var randomName = regexp.MustCompile(`\d{5,}|[0-9a-f]{32,}| [0-9a-f]{2}(/|$)|\d+/data`)

// read reads one value from the server's database.
func (s *instance) read(to any, query string) {
	s.t.Helper()
	d := s.open()
	defer d.Close()
	err := d.Read(s.t.Context(), func(tx *db.Tx) error { return tx.QueryRow(query).Scan(to) })
	testkit.NoError(s.t, err)
}
