package ratelimit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// A crowd of networks is counted together, so that it does not fill the memory.
func TestCrowdIsCountedTogether(t *testing.T) {
	l := New(10, time.Now)
	for i := range maxCounted + 500 {
		network := netip.MustParsePrefix(fmt.Sprintf("2001:db8:%x:%x::/64", 1+i>>16, i&0xffff))
		l.state(l.network(network), 1)
	}
	if n := len(l.used); n > maxCounted+10 {
		t.Errorf("%d networks are remembered, want at most about %d", n, maxCounted)
	}
}

// A window ends after an hour. A clock that is set back makes no window longer.
func TestWindow(t *testing.T) {
	now := time.Now()
	l := New(2, func() time.Time { return now })
	use := func(want int64) {
		t.Helper()
		if left, _ := l.state("alice", 1); left != want {
			t.Errorf("a request leaves %d, want %d", left, want)
		}
	}
	use(1)
	use(0)
	use(-1)
	now = now.Add(window)
	use(1)
	now = now.Add(-2 * window)
	use(1)
	if _, ends := l.state("alice", 0); ends.Sub(now) > window {
		t.Errorf("the window ends %s later", ends.Sub(now))
	}
}
