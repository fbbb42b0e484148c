package admission

import (
	"context"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"

	"arbor/internal/errs"
)

// Kind is the purpose of memory or, from Turn on, of a place.
type Kind uint8

// The kinds.
const (
	Work       Kind = iota // memory of this process: requests, bodies, renderings
	Child                  // a process of git that answers as fast as it can
	Stream                 // a process of git whose output waits for the client
	Push                   // a process of git that takes a push
	Background             // a process of git that works for no request
	Turn                   // a request that computes
	Search                 // a search in the database
	Scan                   // a search that walks histories or files
	Upload                 // an incoming push, release asset or attachment, onto the disk
	Handshake              // a client of SSH that the server shakes hands with
	Image                  // an image of another host that is fetched for a browser
	Depot                  // a file that is written to a depot
	kinds
)

// Parts of the budget, in 64ths. No kind can take the part of another one: clients
// always leave processes for background work, and slow clients (Stream, Push) leave
// some for short requests (Child).
const (
	workPart       = 22
	childPart      = 20 // processes of requests: git.Options.Memory
	backgroundPart = 20
)

// Holder is counted as one: an account with all its tokens, or all callers of a network
// without an account.
type Holder struct {
	Account int64        // 0: anonymous
	Network netip.Prefix // looked at only without an account; see NetworkOf
}

// Gate grants bytes of one budget, and places. It is safe for concurrent use.
//
// Granted bytes cannot be taken back: a slow client may hold them for long. So nobody
// gets everything, even alone: a holder gets more of a kind only as long as it holds no
// more than is left free (TestNobodyTakesEverything), and some room is kept for callers with an account
// (TestStrangersLeaveRoom), and of transfers some for those without one (TestAccountsLeaveRoom). While others wait,
// the one that holds least comes first (TestWhoHoldsLeastComesFirst); those that hold the same take turns
// (TestWaitersTakeTurns).
type Gate struct {
	mu    sync.Mutex
	lines [kinds]line
}

// Places.
const (
	maxUploads    = 64 // they bound the disk space of pushes that are not yet accepted (TestUploads)
	maxSearches   = 3  // so that the database has readers left for quick queries
	maxScans      = 2  // each keeps a processor busy for seconds (TestScansTakeTurns)
	maxHandshakes = 64 // which cost processor time that no account can be charged with (TestHandshakesLeaveRoom)
	maxImages     = 64 // each may wait half a minute for another host
	maxDepots     = 16 // so that a depot takes requests of readers (TestUploadsLeaveRoom in depot)
)

// turnsOf returns the number of requests that compute concurrently. Memory alone would admit thousands,
// each with a thousandth of the processors, and everyone would wait for seconds (TestTurns).
func turnsOf(processors int) int64 { return 32 * int64(processors) }

// NewGate returns a gate with a budget in bytes.
func NewGate(budget int64) *Gate {
	unit := budget / 64
	work, turns := workPart*unit, turnsOf(runtime.GOMAXPROCS(0))
	all, background := childPart*unit, backgroundPart*unit
	one, largest := all/8, all*3/8 // that a fetch and a push count for at most
	// Callers without an account have at most what four and a half fetches take: the largest push and a short
	// request of an account fit next to them (TestPushesPassStrangers). All processes fit the memory that there is
	// (TestProcessesFitMemory).
	children := &limit{most: all, cap: one * 9 / 2, open: one}
	// Short requests, which are many and small, leave room for the largest push or three fetches: else these would
	// never find enough at one time (TestFetchesPassShortRequests).
	short := &limit{most: all - largest, cap: 3 * one, open: one}
	// Stream and Push, which clients make slow, leave a quarter to short requests (TestKindsLeaveRoom); fetches
	// leave more, to small pushes (TestPushesPassFetches).
	clients := &limit{most: all * 3 / 4, open: one}
	stream := &limit{most: clients.most - one, cap: 3 * one, open: one}
	g := &Gate{lines: [kinds]line{
		Work:  newLine("work", time.Second, &limit{most: work, kept: work / 4}),
		Child: newLine("child", time.Second, short, children),
		// A fetch has a cage for the worst case of packing. It mostly takes far less, since
		// packs are sent as they are, so several must fit side by side. A push in git's largest
		// cage, a half, counts for less as well: it fits next to all fetches of strangers.
		Stream: newLine("stream", 10*time.Second, stream, clients, children).upTo(one),
		Push:   newLine("push", 10*time.Second, clients, children).upTo(largest),
		// Background work may need two large processes at once (a copy between repositories);
		// these leave a fifth to others (TestKindsLeaveRoom).
		Background: newLine("background", time.Minute, &limit{most: background}).upTo(background * 2 / 5),
		Turn:       newLine("turn", time.Second, &limit{most: turns, kept: turns / 4}),
		Search:     newLine("search", time.Second, &limit{most: maxSearches, kept: maxSearches / 3}),
		Scan:       newLine("scan", time.Second, &limit{most: maxScans, kept: maxScans / 2}),
		Upload:     newLine("upload", 10*time.Second, &limit{most: maxUploads}),
		Handshake:  newLine("handshake", 10*time.Second, &limit{most: maxHandshakes}),
		Image:      newLine("image", 10*time.Second, &limit{most: maxImages, kept: maxImages / 4}),
		Depot:      newLine("depot", 10*time.Second, &limit{most: maxDepots}),
	}}
	return g
}

// Patience limits the wait of requests of every kind, instead of the limits of the kinds themselves.
// Call it before the gate is used.
func (g *Gate) Patience(longest time.Duration) {
	for k := range g.lines {
		g.lines[k].patience = longest
	}
}

// take waits for bytes and returns how many were granted. A process that requests more than the maximum
// gets the maximum, because its memory limit is about as large. more is true for a request that holds some and
// cannot go on without these: it does not wait for its share, nor behind requests that are about to begin, else
// requests could wait for each other until all of them fail (TestMoreForWhoCannotGoOn). Errors:
// TooManyRequests, Unavailable, ctx's.
func (g *Gate) take(ctx context.Context, k Kind, who Holder, bytes int64, more bool) (int64, error) {
	l := &g.lines[k]
	room := l.room(who)
	if bytes > room && k == Work {
		return 0, errs.Wrap(errs.Unavailable, "this takes more memory than the server has for a request", ErrRefused)
	}
	if bytes = min(bytes, room, l.largest); bytes <= 0 {
		return 0, nil
	}
	more = more || k == Background // which is all one holder
	g.mu.Lock()
	s := l.share(who)
	if l.waiters == 0 && l.fits(s, bytes, more) {
		l.grant(s, bytes)
		g.mu.Unlock()
		return bytes, nil
	}
	if len(s.waiting) >= maxWaiting {
		defer g.mu.Unlock()
		defer l.forget(s)
		return 0, l.refuse(s, bytes)
	}
	w := &waiter{bytes, more, make(chan struct{})}
	l.join(s, w)
	l.serve()
	g.mu.Unlock()
	if err := g.wait(ctx, l, s, w); err != nil {
		return 0, err
	}
	return bytes, nil
}

// wait waits until w is granted, for as long as the patience lasts.
func (g *Gate) wait(ctx context.Context, l *line, s *share, w *waiter) error {
	timer := time.NewTimer(l.patience)
	defer timer.Stop()
	var err error
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(s.waiting, w)
	switch {
	case at < 0 && err == nil:
		return nil // granted in the last moment
	case at < 0:
		g.release(l, s, w.bytes)
		return err
	case err == nil:
		err = l.refuse(s, w.bytes)
	}
	l.leave(s, at)
	l.forget(s)
	l.serve() // others may have waited behind this one
	return err
}

// give takes granted bytes back.
func (g *Gate) give(k Kind, who Holder, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &g.lines[k]
	if s := l.shares[who]; s != nil {
		g.release(l, s, bytes)
	}
}

// release is give with mu held. It serves all kinds, since they share limits.
func (g *Gate) release(l *line, s *share, bytes int64) {
	l.add(s, -bytes)
	l.forget(s)
	for k := range g.lines {
		g.lines[k].serve()
	}
}

// wanted reports whether others than who wait for something of the kind, or of one that shares it.
func (g *Gate) wanted(k Kind, who Holder) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if k == Stream || k == Push {
		return g.lines[Stream].wanted(who) || g.lines[Push].wanted(who)
	}
	return g.lines[k].wanted(who)
}

// Usage is the state of a kind, for operators.
type Usage struct {
	Kind     string
	Counted  bool // in requests, not in bytes
	Held     int64
	Most     int64
	Waiting  int64 // requests
	Refused  int64 // requests, since the start
	Admitted int64 // times that some of it was given, since the start
}

// Usage lists the kinds.
func (g *Gate) Usage() []Usage {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]Usage, kinds)
	for k := range g.lines {
		l := &g.lines[k]
		list[k] = Usage{l.name, Kind(k) >= Turn, l.used, l.limits[0].most, int64(l.waiters),
			l.refused, l.admitted}
	}
	return list
}
