//go:build long

package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Faults of the bucket.
const (
	noFault = iota
	refuses
	slow
	truncates
	alters
	throttles
	resets
	misses
	manyFaults
)

// bucketFaults are their names.
var bucketFaults = [manyFaults]disturbance{noFault: "bucket without a fault", refuses: "bucket refuses",
	slow: "bucket is slow", truncates: "bucket truncates", alters: "bucket alters", throttles: "bucket throttles",
	resets: "bucket breaks off", misses: "bucket misses objects"}

// disturbance is something that happens to the store.
type disturbance string

const (
	nodeKills disturbance = "nodes killed"
	diskWipes disturbance = "disks wiped"
	pauses    disturbance = "nodes suspended"
	clocks    disturbance = "clocks set off by 30 s"
	crashes   disturbance = "PostgreSQL crashed"
	failovers disturbance = "PostgreSQL failed over"
)

// isPack reports whether a request is about a pack in the bucket.
func isPack(r *http.Request) bool { return strings.Contains(r.URL.Path, "/packs/") }

// answer is a fault of the bucket before it is asked.
func (c *chaos) answer(w http.ResponseWriter, r *http.Request) bool {
	switch c.fault.Load() {
	case refuses:
		w.WriteHeader(http.StatusInternalServerError)
		return true
	case throttles:
		if rand.IntN(5) == 0 {
			w.WriteHeader([]int{http.StatusServiceUnavailable, http.StatusTooManyRequests}[rand.IntN(2)])
			fmt.Fprint(w, `<Error><Code>SlowDown</Code></Error>`)
			return true
		}
	case misses:
		if r.Method == http.MethodGet && isPack(r) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `<Error><Code>NoSuchKey</Code></Error>`)
			return true
		}
	case slow:
		time.Sleep(500 * time.Millisecond)
	}
	return false
}

// alter is a fault of what the bucket answers.
func (c *chaos) alter(res *http.Response) error {
	if res.StatusCode/100 != 2 {
		return nil
	}
	if res.Request.Method == http.MethodPut && isPack(res.Request) {
		c.puts.Store(path.Base(res.Request.URL.Path), true)
	}
	fault := c.fault.Load()
	if fault == resets && rand.IntN(2) == 0 {
		return io.ErrUnexpectedEOF // also of a PUT that the bucket has taken
	}
	if res.Request.Method != http.MethodGet {
		return nil
	}
	body := func(in io.Reader) {
		res.Body = struct {
			io.Reader
			io.Closer
		}{in, res.Body}
	}
	switch fault {
	case truncates, resets:
		body(io.LimitReader(res.Body, max(0, res.ContentLength/2)))
	case alters:
		body(&altered{res.Body})
	}
	return nil
}

// altered flips a bit of each piece that is read.
type altered struct{ in io.Reader }

func (a *altered) Read(p []byte) (int, error) {
	n, err := a.in.Read(p)
	if n > 0 {
		p[n/2] ^= 1
	}
	return n, err
}

// torment disturbs the nodes, PostgreSQL and the bucket. Each kind comes up at least once in a short run, too.
func (c *chaos) torment(rounds int) {
	turns := []func(*chaosNode){c.failover, c.crash, c.crash, c.setClock, c.setClock, c.pause, c.pause, c.pause,
		c.wipe, c.wipe, c.wipe, c.wipe}
	for range 4 {
		turns = append(turns, func(n *chaosNode) { c.restart(n, false) }, func(n *chaosNode) { c.restart(n, true) })
	}
	for n := range rounds {
		if n%len(turns) == 0 {
			rand.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
		}
		c.round.Store(int64(n))
		fault := rand.IntN(manyFaults)
		c.disturbs[bucketFaults[fault]]++
		c.fault.Store(int64(fault))
		turns[n%len(turns)](c.nodes[c.any()])
		time.Sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond)
		c.fault.Store(noFault)
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
	}
}

// restart kills a node and starts it again, without its disk or with it.
func (c *chaos) restart(node *chaosNode, wiped bool) {
	c.mustRun(node)
	node.kill()
	c.disturbs[nodeKills]++
	if wiped {
		c.wipe(node)
	}
	c.fault.Store(noFault) // a node does not start with the bucket of another store, which an altered answer looks like
	setOffset(c.t, node.clock, 0)
	node.start(node.flags...)
	node.at.Store(node.url)
}

// mustRun holds that a node has not ended by itself.
func (c *chaos) mustRun(node *chaosNode) {
	select {
	case err := <-node.ended:
		node.server = nil
		lines := strings.Split(node.log.String(), "\n")
		c.t.Fatalf("a node ended by itself: %v\n%s", err, strings.Join(lines[max(0, len(lines)-200):], "\n"))
	default:
	}
}

// wipe removes all repositories from a node's disk, while it runs or not.
func (c *chaos) wipe(node *chaosNode) {
	c.disturbs[diskWipes]++
	gittest.Wipe(c.t, node.data)
}

// pause suspends a node, now and then for long.
func (c *chaos) pause(node *chaosNode) {
	c.disturbs[pauses]++
	long := 300 * time.Millisecond
	if c.disturbs[pauses]%20 == 0 {
		long = 15 * time.Second
	}
	c.mustRun(node)
	testkit.NoError(c.t, syscall.Kill(node.pid(), syscall.SIGSTOP))
	time.Sleep(long)
	testkit.NoError(c.t, syscall.Kill(node.pid(), syscall.SIGCONT))
}

// crash ends PostgreSQL, which starts again.
func (c *chaos) crash(*chaosNode) {
	c.disturbs[crashes]++
	c.database.Crash([]syscall.Signal{syscall.SIGQUIT, syscall.SIGKILL}[rand.IntN(2)])
}

func (c *chaos) failover(*chaosNode) {
	c.disturbs[failovers]++
	c.database.Failover()
}

// setClock sets the clock of a node off until it is started again.
func (c *chaos) setClock(node *chaosNode) {
	if !canBend {
		return
	}
	c.disturbs[clocks]++
	setOffset(c.t, node.clock, []int64{-30, 30}[rand.IntN(2)])
}

// clockVariable names the file by which a test sets the clock of a program.
const clockVariable = "ARBOR_TEST_CLOCK"

// newClock makes such a file.
func newClock(t testing.TB) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "clock"))
	testkit.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	setOffset(t, f, 0)
	return f
}

// setOffset has a clock be off by some seconds.
func setOffset(t testing.TB, clock *os.File, seconds int64) {
	t.Helper()
	_, err := clock.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(seconds)), 0)
	testkit.NoError(t, err)
}
