package admission

import (
	"context"
	"sync/atomic"
	"time"
)

// A client that keeps a git process waiting may stall for maxStall while others wait for such a process.
// Then it is disconnected, so that a few clients that do not read do not block everyone until their Grace
// ends. Two stalls time out before a waiter does (TestStalledClientYields, TestStalledFetchYieldsToPush).
const (
	maxStall   = 3 * time.Second
	stallCheck = time.Second
)

// watch watches a wait for the client, which the caller ends by done. It calls cut, once,
// when the wait has lasted for maxStall or longer while others want the process of git
// that the request holds. A nil ticket is not watched.
func (t *Ticket) watch(cut func()) (done func()) {
	if t == nil || t.held.Load() == 0 {
		return nothing
	}
	return t.whenWanted(maxStall, stallCheck, Kind(t.kind.Load()), cut)
}

// A search of histories or files runs for at least scanShare. Then it ends early if others wait for its
// slot: several of them get a turn before a waiter times out (TestScansTakeTurns).
const (
	scanShare = 100 * time.Millisecond
	scanCheck = 20 * time.Millisecond
)

// YieldScan calls cut, once, when the request of ctx has searched for scanShare or longer
// while others want its slot of Scan. The caller ends that by done.
func YieldScan(ctx context.Context, cut func()) (done func()) {
	t := From(ctx)
	if t == nil {
		return nothing
	}
	return t.whenWanted(scanShare, scanCheck, Scan, cut)
}

// whenWanted calls cut, once, as soon as others want what the request holds of a kind: not
// before first, and looked for at intervals of every. The caller ends that by done.
func (t *Ticket) whenWanted(first, every time.Duration, k Kind, cut func()) (done func()) {
	var over atomic.Bool
	var check func()
	check = func() {
		switch {
		case over.Load():
		case t.gate.wanted(k, t.who):
			cut()
		default:
			time.AfterFunc(every, check)
		}
	}
	timer := time.AfterFunc(first, check)
	return func() {
		over.Store(true)
		timer.Stop()
	}
}
