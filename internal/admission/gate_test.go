package admission

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"arbor/internal/errs"
)

// unit of a test's budget, in bytes: 22 of them are for Work, 20 for processes of
// requests and 20 for those of background work.
const unit = 1000

func network(s string) Holder { return Holder{Network: NetworkOf(netip.MustParseAddr(s))} }

func account(id int64) Holder { return Holder{Account: id} }

// hold takes bytes and keeps them.
func hold(t *testing.T, g *Gate, k Kind, who Holder, bytes int64) {
	t.Helper()
	if n, err := g.take(t.Context(), k, who, bytes, false); err != nil || n != bytes {
		t.Fatalf("%v asks for %d: %d, %v", who, bytes, n, err)
	}
}

// refused checks the error of a holder that asks in vain, and how long it waited.
func refused(t *testing.T, g *Gate, k Kind, who Holder, bytes int64, want errs.Kind, after time.Duration) {
	t.Helper()
	began := time.Now()
	n, err := g.take(t.Context(), k, who, bytes, false)
	if !errs.Is(err, want) || n != 0 || want == errs.Unavailable && !errors.Is(err, ErrRefused) {
		t.Errorf("%v asks for %d: %d, %v", who, bytes, n, err)
	}
	if took := time.Since(began); took != after {
		t.Errorf("%v was refused after %v, want %v", who, took, after)
	}
}

// A crowd of slow clients of some networks leaves room to every other network, and most
// to callers with an account.
func TestNobodyTakesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		first, second, third := network("192.0.2.1"), network("198.51.100.1"), network("2001:db8::1")
		for range 8 { // 22 units, 5.5 of which are kept: half of the rest
			hold(t, g, Work, first, unit)
		}
		refused(t, g, Work, first, unit, errs.TooManyRequests, time.Second)
		neighbour := network("192.0.2.255") // of the same /24
		refused(t, g, Work, neighbour, unit, errs.TooManyRequests, time.Second)
		for range 4 {
			hold(t, g, Work, second, unit)
		}
		refused(t, g, Work, second, unit, errs.TooManyRequests, time.Second)
		hold(t, g, Work, third, 4*unit)
		neighbour = network("2001:db8:0:ff::1") // of the same /56
		refused(t, g, Work, neighbour, unit/2, errs.TooManyRequests, time.Second)
		refused(t, g, Work, network("2001:db8:0:100::1"), unit, errs.Unavailable, time.Second)
		hold(t, g, Work, account(1), 3*unit)
		refused(t, g, Work, account(1), unit, errs.TooManyRequests, time.Second)
		hold(t, g, Work, account(2), 3*unit)
		refused(t, g, Work, account(3), unit, errs.Unavailable, time.Second)
		hold(t, g, Search, first, 1) // another kind has its own
	})
}

// When all requests have given back what they held, the gate is empty to the last byte.
func TestGiveBack(t *testing.T) {
	g := NewGate(64 * unit)
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for n := range int64(2000) {
				who, k := account(int64(i%3)), Kind(n%int64(kinds))
				if bytes, err := g.take(context.Background(), k, who, unit/4+n%7, n%2 == 0); err == nil {
					g.give(k, who, bytes)
				}
			}
		})
	}
	clients.Wait()
	empty(t, g)
}

// A client that hangs up in the moment in which it gets its bytes leaves nothing behind.
func TestGrantedTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		for range 100 {
			hold(t, g, Work, account(1), 20*unit)
			ctx, hangUp := context.WithCancel(t.Context())
			go func() {
				if n, err := g.take(ctx, Work, account(2), 3*unit, false); err == nil {
					g.give(Work, account(2), n)
				}
			}()
			synctest.Wait()
			hangUp()
			g.give(Work, account(1), 20*unit)
			synctest.Wait()
		}
		empty(t, g)
	})
}

// empty checks that nothing is held, and that no holder is remembered.
func empty(t *testing.T, g *Gate) {
	t.Helper()
	for k := range g.lines {
		l := &g.lines[k]
		if l.used != 0 || l.waiters != 0 || len(l.shares) != 0 {
			t.Errorf("%s: %d bytes, %d wait, %d holders are remembered",
				l.name, l.used, l.waiters, len(l.shares))
		}
		for _, limit := range l.limits {
			if limit.used != 0 || limit.strangers != 0 {
				t.Errorf("%s: %d bytes of a limit are used, %d by strangers", l.name, limit.used,
					limit.strangers)
			}
		}
	}
}

// The holder that holds least gets room first. A holder that floods the queue gains
// nothing by it.
func TestWhoHoldsLeastComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		greedy, modest := account(1), account(2)
		hold(t, g, Work, account(3), 20*unit)
		hold(t, g, Work, greedy, unit)
		hold(t, g, Work, account(4), unit)
		var mu sync.Mutex
		var order []Holder
		ask := func(who Holder) {
			go func() {
				if _, err := g.take(t.Context(), Work, who, 2*unit, false); err == nil {
					mu.Lock()
					order = append(order, who)
					mu.Unlock()
				}
			}()
			synctest.Wait()
		}
		for range 50 {
			ask(greedy)
		}
		ask(modest)
		g.give(Work, account(4), unit)
		synctest.Wait()
		g.give(Work, account(3), 2*unit)
		synctest.Wait()
		if len(order) < 1 || order[0] != modest {
			t.Errorf("room was given to %v", order)
		}
		time.Sleep(2 * time.Second)
	})
}

// Requests wait for a short time, transfers longer (decision 66). A client that hangs up
// leaves the queue.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		for k, after := range map[Kind]time.Duration{
			Work:       time.Second,
			Stream:     10 * time.Second,
			Background: time.Minute,
		} {
			full := g.lines[k].free(account(1)) / unit
			who := func(id int64) Holder { return account(id) }
			kind := errs.Unavailable
			if k == Background { // all of it is one holder's
				who, kind = func(int64) Holder { return Holder{} }, errs.TooManyRequests
			}
			for id := range full {
				hold(t, g, k, who(id+1), unit)
			}
			other := who(100)
			refused(t, g, k, other, unit, kind, after)
			ctx, hangUp := context.WithTimeout(t.Context(), time.Millisecond)
			defer hangUp()
			if _, err := g.take(ctx, k, other, unit, false); err != context.DeadlineExceeded {
				t.Errorf("a client that hung up: %v", err)
			}
			for id := range full {
				g.give(k, who(id+1), unit)
			}
		}
		empty(t, g)
	})
}

// A request that holds a process may need one more to go on. It does not wait for its
// account's share, nor behind requests that are about to begin: else requests could wait
// for each other until all of them fail.
func TestMoreForWhoCannotGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(64*unit/3*4, nil)
		var tickets []context.Context
		for range 4 {
			ticket := c.NewTicket(Holder{})
			ticket.SignIn(1)
			ctx := With(t.Context(), ticket)
			if _, err := c.Child(ctx, unit); err != nil {
				t.Fatal(err)
			}
			tickets = append(tickets, ctx)
		}
		for _, ctx := range tickets {
			if _, err := c.Child(ctx, unit); err != nil {
				t.Errorf("a second process of a request: %v", err)
			}
		}
		refused(t, c.Gate, Child, account(1), unit, errs.TooManyRequests, time.Second)
		hold(t, c.Gate, Child, account(2), 3*unit/2)
		for range 2 * lookAhead { // these begin, and wait already
			go c.Gate.take(t.Context(), Child, account(1), unit, false)
			go c.Gate.take(t.Context(), Child, account(3), unit, false)
		}
		synctest.Wait()
		third := make(chan error, 1)
		go func() {
			_, err := c.Child(tickets[0], unit)
			third <- err
		}()
		synctest.Wait()
		c.Gate.give(Child, account(2), 3*unit/2)
		if err := <-third; err != nil {
			t.Errorf("a third process of a request, behind requests that begin: %v", err)
		}
		time.Sleep(time.Minute)
	})
}

// Slow clients leave processes for short requests, and all clients together leave some
// for background work.
func TestKindsLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		for id := range int64(40) {
			for _, k := range []Kind{Stream, Push} {
				go g.take(t.Context(), k, account(id), unit, false)
			}
		}
		time.Sleep(time.Minute)
		hold(t, g, Child, account(100), 4*unit)
		if n, err := g.take(t.Context(), Background, Holder{}, 10*unit, false); n != 8*unit || err != nil {
			t.Errorf("git's largest process counts for %d, %v", n, err)
		}
		hold(t, g, Background, Holder{}, 8*unit) // one that works with it
		hold(t, g, Background, Holder{}, 4*unit) // and others beside them
	})
}

// However many fetches, pushes and short requests of one account, or of some, go on, everybody else fetches at
// once: of the others each, and who has no account.
func TestAccountsLeaveRoom(t *testing.T) {
	for _, used := range [][]Kind{{Stream, Push}, {Stream}, {Child}, {Child, Stream, Push}} {
		for accounts := range int64(9) {
			synctest.Test(t, func(t *testing.T) {
				g := NewGate(64 * unit)
				for id := range accounts {
					for range 100 {
						for _, k := range used {
							go g.take(t.Context(), k, account(id+1), unit, false)
						}
					}
				}
				synctest.Wait()
				hold(t, g, Stream, network("192.0.2.1"), unit)
				hold(t, g, Stream, network("198.51.100.1"), unit)
				reads := int64(unit / 2)
				if len(used) == 1 && used[0] == Child { // there is more left in all
					reads = 2 * unit
				}
				hold(t, g, Child, network("203.0.113.1"), reads)
				if accounts < 2 {
					hold(t, g, Stream, account(100), unit)
					hold(t, g, Stream, account(101), unit)
				}
				time.Sleep(time.Minute)
			})
		}
	}
}

// What networks without an account ask for, however many they are, leaves room for accounts, and for what other
// networks ask for.
func TestStrangersLeaveRoom(t *testing.T) {
	for k, c := range map[Kind]struct {
		each     int64
		accounts int64 // that get as much
		strange  Kind  // of which a stranger gets some
	}{
		Work: {unit, 3, Child}, Turn: {1, 3, Child}, Search: {1, 1, Child}, Scan: {1, 1, Child},
		Stream: {unit, 5, Child}, // the rest is for pushes
		Child:  {unit, 3, Stream},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := NewGate(64 * unit)
			crowd(t, g, k, c.each, strangers)
			began := time.Now()
			for id := range c.accounts {
				hold(t, g, k, account(id+1), c.each)
			}
			hold(t, g, c.strange, network("198.51.100.1"), unit/2)
			if waited := time.Since(began); waited != 0 {
				t.Errorf("%s: they waited %v", g.lines[k].name, waited)
			}
			time.Sleep(time.Minute)
		})
	}
}

// However many clients of one network shake hands, one of another network begins at once.
func TestHandshakesLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		for range 2 * maxHandshakes {
			go g.take(t.Context(), Handshake, network("192.0.2.1"), 1, false)
		}
		synctest.Wait()
		began := time.Now()
		hold(t, g, Handshake, network("198.51.100.1"), 1)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("it waited %v", waited)
		}
		time.Sleep(time.Minute)
	})
}

// Git's processes of all requests together fit the memory that they have, whatever these are, and what one of them
// gives back another one gets.
func TestProcessesFitMemory(t *testing.T) {
	for _, order := range [][]Kind{{Child, Stream, Push}, {Push, Stream, Child}, {Stream, Push, Child}} {
		synctest.Test(t, func(t *testing.T) {
			g := NewGate(64 * unit)
			accounts := func(n int) Holder { return account(int64(n + 1)) }
			for _, k := range order {
				crowd(t, g, k, unit/2, accounts)
				crowd(t, g, k, unit/2, strangers)
			}
			held := func() (sum int64) {
				for _, k := range order {
					sum += g.lines[k].used
				}
				return sum
			}
			if n := held(); n < childPart*unit*9/10 || n > childPart*unit {
				t.Errorf("%v: %d bytes are held of %d", order, n, childPart*unit)
			}
			time.Sleep(time.Minute)
			g.mu.Lock()
			for k := range g.lines {
				g.lines[k].patience = time.Hour
			}
			g.mu.Unlock()
			for _, k := range []Kind{Child, Stream, Push} {
				go g.take(t.Context(), k, account(1000+int64(k)), unit*2, false)
			}
			synctest.Wait()
			for _, k := range order {
				for _, s := range slices.Collect(maps.Values(g.lines[k].shares)) {
					if s.held > 0 && s.who.Account < 1000 {
						g.give(k, s.who, s.held)
					}
				}
			}
			synctest.Wait()
			if n := held(); n != 3*2*unit {
				t.Errorf("%v: those that waited hold %d bytes", order, n)
			}
		})
	}
}

// Small background work that fits does not wait behind a large one that does not.
func TestSmallBackgroundWorkPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		hold(t, g, Background, Holder{}, 8*unit)
		hold(t, g, Background, Holder{}, 8*unit)
		large := make(chan error, 1)
		go func() {
			_, err := g.take(t.Context(), Background, Holder{}, 8*unit, false)
			large <- err
		}()
		synctest.Wait()
		for range 20 {
			hold(t, g, Background, Holder{}, unit)
			g.give(Background, Holder{}, unit)
		}
		g.give(Background, Holder{}, 8*unit)
		if err := <-large; err != nil {
			t.Error(err)
		}
	})
}

// A small request behind large ones that do not fit gets its bytes when one of these hangs up.
func TestLargeOnesLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		hold(t, g, Background, Holder{}, 8*unit)
		hold(t, g, Background, Holder{}, 8*unit)
		ctx, hangUp := context.WithCancel(t.Context())
		for range lookAhead {
			go g.take(ctx, Background, Holder{}, 8*unit, false)
			synctest.Wait()
		}
		began, small := time.Now(), make(chan error, 1)
		go func() {
			_, err := g.take(t.Context(), Background, Holder{}, unit, false)
			small <- err
		}()
		synctest.Wait()
		hangUp()
		if err := <-small; err != nil || time.Since(began) > 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// The number of waiters is bounded, so that a crowd does not fill the memory.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		hold(t, g, Work, account(1), 22*unit)
		for range maxWaiting {
			go g.take(t.Context(), Work, account(2), unit, false)
		}
		synctest.Wait()
		refused(t, g, Work, account(2), unit, errs.Unavailable, 0)
		time.Sleep(2 * time.Second)
		g.give(Work, account(1), 22*unit)
		synctest.Wait()
		empty(t, g)
	})
}

func BenchmarkUncontended(b *testing.B) {
	c := New(1<<30, nil)
	b.ReportAllocs()
	for b.Loop() {
		ticket := c.NewTicket(network("192.0.2.1"))
		if err := ticket.Enter(b.Context()); err != nil {
			b.Fatal(err)
		}
		ticket.Leave()
	}
}
