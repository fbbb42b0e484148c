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

// Kind is the purpose of memory.
type Kind uint8

// The kinds.
const (
	Work       Kind = iota // memory of this process: requests, bodies, renderings
	Search                 // a search, which keeps a reader of the database busy
	Child                  // a process of git that answers as fast as it can
	Stream                 // a process of git whose output waits for the client
	Push                   // a process of git that takes a push
	Background             // a process of git that works for no request
	Turn                   // a request that computes; counted, not measured in bytes
	Upload                 // an incoming push, onto the disk; counted
	Asset                  // an incoming release asset, onto the disk; counted
	Scan                   // a search that walks histories or files; counted
	kinds
)

// Parts of the budget, in 64ths. No kind can take the part of another one: clients
// always leave processes for background work, and slow clients (Stream, Push) leave
// some for short requests (Child).
const (
	workPart       = 22
	searchPart     = 2
	childPart      = 20 // processes of requests: git.Options.Memory
	backgroundPart = 20
)

// Holder is counted as one: an account with all its tokens, or all callers of a network
// without an account.
type Holder struct {
	Account int64        // 0: anonymous
	Network netip.Prefix // looked at only without an account; see NetworkOf
}

// Gate grants bytes of one budget. It is safe for concurrent use.
//
// Granted bytes cannot be taken back: a slow client may hold them for long. So nobody
// gets everything, even alone: a holder gets more of a kind only as long as it holds no
// more than is left free, and some room is kept for callers with an account, and of
// transfers some for those without one. While others wait, a holder gets no more than
// its fair share, and the one that holds least comes first; those that hold the same take turns.
type Gate struct {
	mu    sync.Mutex
	lines [kinds]line
}

// maxUploads is the number of concurrent incoming pushes, fast or slow. It limits the disk space of pushes
// that are not yet accepted.
const maxUploads = 64

// maxAssets is the same of files of releases, which pushes never wait for.
const maxAssets = maxUploads / 4

// maxScans is how many searches of histories and files go on at a time; one caller has one.
const maxScans = 2

// turnsOf returns the number of requests that compute concurrently. Memory alone would admit thousands,
// each with a thousandth of the processors, and everyone would wait for seconds.
func turnsOf(processors int) int64 { return 32 * int64(processors) }

// NewGate returns a gate with a budget in bytes.
func NewGate(budget int64) *Gate {
	unit := budget / 64
	work := &limit{most: workPart * unit, kept: workPart * unit / 4}
	search := &limit{most: searchPart * unit, kept: searchPart * unit / 4}
	all := childPart * unit
	one, largest := all/8, all*3/8 // that a fetch and a push count for at most
	// Callers without an account have at most what four and a half fetches take: the largest push and a short
	// request of an account fit next to them.
	children := &limit{most: all, cap: one * 9 / 2, open: one}
	// Short requests, which are many and small, leave room for the largest push or three fetches: else these would
	// never find enough at one time.
	short := &limit{most: all - largest, cap: 3 * one, open: one}
	// Stream and Push, which clients make slow, leave a quarter; fetches leave more, to small pushes.
	clients := &limit{most: all * 3 / 4, open: one}
	stream := &limit{most: clients.most - one, cap: 3 * one, open: one}
	push := &limit{most: all * 5 / 8}
	uploads := &limit{most: maxUploads}
	background := &limit{most: backgroundPart * unit}
	turns := turnsOf(runtime.GOMAXPROCS(0))
	turn := &limit{most: turns, kept: turns / 4}
	g := &Gate{lines: [kinds]line{
		Work:       newLine("work", time.Second, work),
		Search:     newLine("search", time.Second, search),
		Child:      newLine("child", time.Second, short, children),
		Stream:     newLine("stream", 10*time.Second, stream, clients, children),
		Push:       newLine("push", 10*time.Second, push, clients, children),
		Background: newLine("background", time.Minute, background),
		Turn:       newLine("turn", time.Second, turn),
		Upload:     newLine("upload", 10*time.Second, uploads),
		Asset:      newLine("asset", 10*time.Second, &limit{most: maxAssets}),
		Scan:       newLine("scan", time.Second, &limit{most: maxScans, kept: maxScans / 2}),
	}}
	g.lines[Background].one = true
	// A fetch has a cage for the worst case of packing. It mostly takes far less, since
	// packs are sent as they are, so several must fit side by side. A push in git's largest
	// cage, a half, counts for less as well: it fits next to all fetches of strangers.
	// Background work may need two large processes at once (a copy between repositories);
	// these leave a fifth to others.
	g.lines[Stream].largest = one
	g.lines[Push].largest = largest
	g.lines[Background].largest = background.most * 2 / 5
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
// gets the maximum, because its memory limit is about as large. Errors: TooManyRequests, Unavailable,
// ctx's.
func (g *Gate) take(ctx context.Context, k Kind, who Holder, bytes int64, more bool) (int64, error) {
	l := &g.lines[k]
	for _, limit := range l.limits {
		if room := limit.room(who); bytes > room {
			if k == Work {
				return 0, errs.New(errs.Unavailable,
					"this takes more memory than the server has for a request")
			}
			bytes = room
		}
	}
	if l.largest > 0 {
		bytes = min(bytes, l.largest)
	}
	if bytes <= 0 {
		return 0, nil
	}
	g.mu.Lock()
	s := l.share(who)
	if l.waiters == 0 && l.fits(s, bytes, more) {
		l.grant(s, bytes)
		g.mu.Unlock()
		return bytes, nil
	}
	if len(s.waiting) >= maxWaitingHolder || who.Account == 0 && l.waiters >= maxWaiting {
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

// release is give with mu held, as all functions below. It serves all kinds, since they
// share limits.
func (g *Gate) release(l *line, s *share, bytes int64) {
	for _, limit := range l.limits {
		limit.add(s.who, -bytes)
	}
	l.used -= bytes
	s.held -= bytes
	l.forget(s)
	for k := range g.lines {
		g.lines[k].serve()
	}
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
