package ratelimit

import (
	"fmt"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// node is a node's limiter, whose clock a test sets.
type node struct {
	*Limiter
	t   *testing.T
	now time.Time
}

func newNode(t *testing.T, d *db.DB, limit int64, start time.Time) *node {
	n := &node{t: t, now: start}
	n.Limiter = New(Options{Limit: limit, Now: func() time.Time { return n.now }, DB: d,
		Log:    slog.New(slog.DiscardHandler),
		Others: func() int { return 1 }})
	return n
}

// use sends requests of a caller; want is what is left after the last one, -1 if it is refused.
func (n *node) use(key string, requests int, want int64) {
	n.t.Helper()
	var left int64
	for range requests {
		left, _ = n.state(key, 1)
	}
	if left != want {
		n.t.Errorf("%d requests of %s leave %d, want %d", requests, key, left, want)
	}
}

func (n *node) share() {
	n.t.Helper()
	testkit.NoError(n.t, n.Share(n.t.Context()))
}

// A crowd of networks is counted together, so that it does not fill the memory.
func TestCrowdIsCountedTogether(t *testing.T) {
	l := New(Options{Limit: 10, Now: time.Now})
	for i := range maxCounted + 500 {
		network := netip.MustParsePrefix(fmt.Sprintf("2001:db8:%x:%x::/64", 1+i>>16, i&0xffff))
		l.state(l.network(network), 1)
	}
	if n := len(l.used); n > maxCounted+10 {
		t.Errorf("%d networks are remembered, want at most about %d", n, maxCounted)
	}
}

// A clock that is set back makes no window longer.
func TestWindowOfAClockThatIsSetBack(t *testing.T) {
	n := newNode(t, nil, 2, time.Now())
	n.use("alice", 3, -1)
	n.now = n.now.Add(-time.Hour)
	n.use("alice", 1, 1)
	if _, ends := n.state("alice", 0); ends.Sub(n.now) > window {
		t.Errorf("the window ends %s later", ends.Sub(n.now))
	}
}

// Two nodes know of each other's requests once they have shared them.
func TestNodesShareCounts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d, start := dbtest.Open(t, engine), time.Now().Truncate(time.Second)
		a, b := newNode(t, d, 100, start), newNode(t, d, 100, start)
		a.use("alice", 60, 40)
		a.share()
		b.use("alice", 10, 90)
		b.use("bob", 1, 99)
		b.share()
		b.use("alice", 1, 29)
		a.use("alice", 1, 39) // it has not asked since
		a.share()
		a.use("alice", 1, 28)
		a.use("bob", 1, 99)
		a.share()
		b.share()
		a.share() // has nothing to tell of alice: it learns of her with her next request
		b.use("alice", 27, 0)
		b.use("alice", 1, -1)
		b.share()
		a.use("alice", 1, 27)
		a.share()
		a.use("alice", 1, -1)
		a.use("bob", 1, 97)
	})
}

// Nodes that began their windows at different times end them together, and what was used in
// a window that has ended is forgotten everywhere.
func TestNodesShareAWindow(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d, start := dbtest.Open(t, engine), time.Now().Truncate(time.Second)
		a, b := newNode(t, d, 10, start), newNode(t, d, 10, start.Add(20*time.Minute))
		a.use("alice", 4, 6)
		a.share()
		b.use("alice", 3, 7)
		b.share() // learns when the window ends
		if _, ends := b.state("alice", 0); !ends.Equal(start.Add(time.Hour)) {
			t.Errorf("the window ends at %s, want %s", ends, start.Add(time.Hour))
		}
		b.share()
		b.use("alice", 1, 2)
		a.now, b.now = start.Add(time.Hour+2*time.Second), start.Add(time.Hour+2*time.Second)
		a.use("alice", 1, 9)
		b.use("alice", 1, 9)
		a.share()
		b.share()
		b.use("alice", 1, 7)
		var rows int64
		if err := d.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT count(*) FROM rate_counts`).Scan(&rows)
		}); err != nil || rows != 1 {
			t.Errorf("%d rows, %v", rows, err)
		}
	})
}

// Of a crowd those who used most are sent first.
func TestTheBusiestAreSharedFirst(t *testing.T) {
	t.Parallel()
	d, start := dbtest.Open(t, db.SQLite), time.Now().Truncate(time.Second)
	a, b := newNode(t, d, 1000, start), newNode(t, d, 1000, start)
	for i := range 2 * maxSent {
		a.use(fmt.Sprint("crowd", i), 1, 999)
	}
	a.use("busy", 900, 100)
	a.share()
	b.use("busy", 1, 999)
	b.share()
	b.use("busy", 1, 98)
	for a.share(); ; a.share() {
		if _, unsent := a.unsent(); len(unsent) == 0 {
			break
		}
	}
}
