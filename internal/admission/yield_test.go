package admission

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"arbor/internal/errs"
	"arbor/internal/test/testkit"
)

// full creates a gate whose places for strangers' fetches are taken by three networks. The ticket is that of
// the first,
// 192.0.2.0/24.
func full(t *testing.T) (*Gate, *Ticket) {
	t.Helper()
	g := NewGate(64 * unit)
	one := g.lines[Stream].largest
	ticket := g.NewTicket(network("192.0.2.1"))
	ctx := With(t.Context(), ticket)
	As(ctx, Stream)
	if _, err := g.Child(ctx, one); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"192.0.3.1", "192.0.4.1"} {
		hold(t, g, Stream, network(other), one)
	}
	return g, ticket
}

// A client that reads nothing loses its place when others want it: not before maxStall, soon after it, and
// not for those of its own network.
func TestStalledClientYields(t *testing.T) {
	cases := []struct {
		name   string
		waiter Holder
		from   time.Duration // when the waiter comes
		cut    time.Duration // when the client is cut; Grace and more: by its own slowness
	}{
		{"another network waits", network("198.51.100.1"), 0, maxStall},
		{"another network comes later", network("198.51.100.1"), 5500 * time.Millisecond, 6 * time.Second},
		{"its own network waits", network("192.0.2.9"), 0, Grace},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, ticket := full(t)
				ours, theirs := net.Pipe()
				defer theirs.Close()
				s := NewPacedStream(ticket, ours, func() { ours.Close() })
				go func() {
					time.Sleep(c.from)
					_, _ = g.take(t.Context(), Stream, c.waiter, unit, false)
				}()
				start := time.Now()
				_, err := s.Write(make([]byte, minRate/1000))
				if took := time.Since(start).Truncate(100 * time.Millisecond); !errs.Is(err,
					errs.Malformed) || took != c.cut {
					t.Errorf("the write ended after %v with %v, want %v", took, err, c.cut)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}

// A client that reads as slowly as the pace allows keeps its place, even while others wait.
func TestReadingClientKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, ticket := full(t)
		ours, theirs := net.Pipe()
		s := NewPacedStream(ticket, ours, func() { ours.Close() })
		go func() {
			for t.Context().Err() == nil {
				_, _ = g.take(t.Context(), Stream, network("198.51.100.1"), unit, false)
			}
		}()
		go func() {
			for b := make([]byte, chunk/2); ; time.Sleep(time.Second) {
				if _, err := theirs.Read(b); err != nil {
					break
				}
			}
		}()
		if _, err := s.Write(make([]byte, 20*chunk)); err != nil {
			t.Error(err)
		}
		theirs.Close()
		time.Sleep(2 * time.Second) // until the client has noticed
	})
}

// The same over HTTP, with a real connection: its client reads the beginning alone.
func TestStalledDownloadYields(t *testing.T) {
	t.Parallel()
	g, ticket := full(t)
	g.Patience(testkit.Patience)
	ended := make(chan time.Duration, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(With(r.Context(), ticket))
		w = Pace(w, r)
		start := time.Now()
		for b := make([]byte, 1<<20); ; start = time.Now() {
			if _, err := w.Write(b); err != nil {
				break
			}
		}
		ended <- time.Since(start)
	}))
	defer server.Close()
	resp, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = g.take(t.Context(), Stream, network("198.51.100.1"), unit, false) }()
	if took := <-ended; took < maxStall/2 || took > Grace-time.Second {
		t.Errorf("the stalled write ended after %v", took)
	}
}

// Networks that hold the same take turns, also those that always wait for more: a newcomer waits until each
// had one turn of a second, three of them at a time.
func TestWaitersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		one := g.lines[Stream].largest
		ask := func(who Holder) (granted chan time.Time) {
			granted = make(chan time.Time, 1)
			go func() {
				if n, err := g.take(t.Context(), Stream, who, one, false); err == nil {
					granted <- time.Now()
					time.Sleep(time.Second)
					g.give(Stream, who, n)
				}
			}()
			synctest.Wait()
			return granted
		}
		for range 9 {
			for n := range 6 {
				ask(network(fmt.Sprintf("192.0.%d.1", n)))
			}
		}
		began := time.Now()
		honest := ask(network("198.51.100.1"))
		time.Sleep(time.Minute)
		synctest.Wait()
		select {
		case at := <-honest:
			if waited := at.Sub(began); waited > 3*time.Second {
				t.Errorf("a newcomer waited %v", waited)
			}
		default:
			t.Error("a newcomer never had a turn")
		}
		empty(t, g)
	})
}
