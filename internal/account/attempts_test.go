package account

import (
	"fmt"
	"net/netip"
	"testing"
)

// Who floods the site with made-up names or networks does not get more attempts at an account.
func TestAttemptsOutliveAFlood(t *testing.T) {
	t.Parallel()
	var a attempts
	address := func(n int) netip.Addr {
		return netip.AddrFrom4([4]byte{10 + byte(n>>16), byte(n >> 8), byte(n), 1})
	}
	for n := range attemptsOfAccount {
		if err := a.take("alice", address(n), 1); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 20_000 {
		if err := a.take(fmt.Sprint("made-up", n), address(n+1000), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.take("alice", address(999), 1); err == nil {
		t.Error("a flood made the attempts at an account forgotten")
	}
	for n, count := range a.count {
		if len(count) > maxAttemptKeys {
			t.Errorf("%d keys of kind %d", len(count), n)
		}
	}
	if err := a.take("alice", address(999), 1+attemptsWithin+1); err != nil {
		t.Errorf("later: %v", err)
	}
}
