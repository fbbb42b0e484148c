package admission

import (
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"arbor/internal/errs"
)

// crowd has each of some holders ask again and again for what a holder may get.
func crowd(t *testing.T, g *Gate, k Kind, bytes int64, who func(n int) Holder) {
	for n := range 50 {
		for range 10 {
			go g.take(t.Context(), k, who(n), bytes, false)
		}
	}
	synctest.Wait()
}

func strangers(n int) Holder { return network(fmt.Sprintf("10.0.%d.1", n)) }

// Fetches and reads of strangers, however many and from however many networks, leave room for a push with
// git's largest process, and for the short requests of an account next to it.
func TestPushesPassStrangers(t *testing.T) {
	for _, first := range []Kind{Stream, Child} {
		synctest.Test(t, func(t *testing.T) {
			g := NewGate(64 * unit)
			crowd(t, g, first, unit, strangers)
			crowd(t, g, Stream+Child-first, unit, strangers)
			began := time.Now()
			if _, err := g.take(t.Context(), Push, account(1), childPart*unit/2, false); err != nil {
				t.Errorf("the largest push: %v", err)
			}
			hold(t, g, Child, account(2), unit)
			if waited := time.Since(began); waited != 0 {
				t.Errorf("they waited %v", waited)
			}
			time.Sleep(time.Minute)
		})
	}
}

// Fetches by accounts leave room for a small push as well.
func TestPushesPassFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		crowd(t, g, Stream, unit/2, strangers)
		crowd(t, g, Stream, unit/2, func(n int) Holder { return account(int64(n + 100)) })
		began := time.Now()
		hold(t, g, Push, account(1), 2*unit)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("it waited %v", waited)
		}
		time.Sleep(time.Minute)
	})
}

// Short requests, however many, leave room for the fetches of accounts.
func TestFetchesPassShortRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		one := g.lines[Stream].largest
		crowd(t, g, Child, unit/2, func(n int) Holder { return account(int64(n + 100)) })
		crowd(t, g, Child, unit/2, strangers)
		began := time.Now()
		hold(t, g, Stream, account(1), one)
		hold(t, g, Stream, account(2), one)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("they waited %v", waited)
		}
		time.Sleep(time.Minute)
	})
}

// A client that reads nothing of a fetch loses its place also when a push wants it.
func TestStalledFetchYieldsToPush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, ticket := full(t)
		hold(t, g, Push, account(1), g.lines[Push].largest)
		ours, theirs := net.Pipe()
		defer theirs.Close()
		s := NewPacedStream(ticket, ours, func() { ours.Close() })
		go func() { _, _ = g.take(t.Context(), Push, account(2), unit, false) }()
		start := time.Now()
		_, err := s.Write(make([]byte, minRate/1000))
		took := time.Since(start).Truncate(100 * time.Millisecond)
		if !errs.Is(err, errs.Malformed) || took != maxStall {
			t.Errorf("the write ended after %v with %v", took, err)
		}
		time.Sleep(time.Minute)
	})
}
