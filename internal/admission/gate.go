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

// Kind is what memory is asked for.
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
	Upload                 // a push that comes in, onto the disk; counted
	kinds
)

// Parts of the budget, in 64ths. What one cannot take is there for the others:
// whatever clients do, there are processes for background work, and whatever
// slow clients hold, there are some for who asks for something short.
const (
	workPart       = 22
	searchPart     = 2
	childPart      = 20 // processes of requests: git.Options.Memory
	backgroundPart = 20
)

// limit is something of which there is only so much.
type limit struct {
	most int64 // bytes
	kept int64 // of these, for who signed in
	used int64
}

// room is the most that a holder could ever get, and free what it could get now.
func (l *limit) room(who Holder) int64 {
	if who.Account == 0 {
		return l.most - l.kept
	}
	return l.most
}

func (l *limit) free(who Holder) int64 { return l.room(who) - l.used }

// Holder is who is counted together: an account, with all its tokens, or those
// of a network who have none.
type Holder struct {
	Account int64        // 0: nobody signed in
	Network netip.Prefix // looked at only without an account; see NetworkOf
}

// Gate grants bytes of one budget. It is safe for concurrent use.
//
// What was granted cannot be taken back: a slow client may hold it for long. So
// nobody takes everything, even alone: a holder gets more of a kind only while it
// would not hold more than is then free, and some room is kept for those who
// signed in. While others wait it gets no more than its fair share, and who holds
// least comes first.
type Gate struct {
	mu    sync.Mutex
	lines [kinds]line
}

// line is those who hold something of a kind or wait for it.
type line struct {
	name     string
	limits   []*limit
	one      bool          // all are one holder
	largest  int64         // what one process counts for at most; 0: its cage
	patience time.Duration // of who waits (decision 66)
	shares   map[Holder]*share
	queue    []*share // of those who wait; the first came first
	used     int64
	waiters  int
	refused  int64
}

// share is what a holder has of a kind, and what it waits for. It is in
// line.shares while it has something of either.
type share struct {
	who     Holder
	held    int64
	waiting []*waiter // the first came first
}

type waiter struct {
	bytes int64
	more  bool          // for a request that holds a process and cannot go on without
	ready chan struct{} // closed when it is granted
}

// Bounds of those who wait for a kind: of each holder, and of all without an
// account; and how many of a holder are looked at for one that fits.
const (
	maxWaiting       = 4096
	maxWaitingHolder = 256
	lookAhead        = 8
)

// maxUploads is how many pushes may come in at one time, fast or slow: that bounds
// how much of the disk those take that nobody has accepted yet.
const maxUploads = 64

// turnsOf is how many requests compute at one time. Memory alone would let
// thousands in, each of which would get a thousandth of the processors: those of
// one crowd would make everybody wait for seconds.
func turnsOf(processors int) int64 { return 32 * int64(processors) }

// NewGate makes a gate of a budget in bytes.
func NewGate(budget int64) *Gate {
	unit := budget / 64
	work := &limit{most: workPart * unit, kept: workPart * unit / 4}
	search := &limit{most: searchPart * unit, kept: searchPart * unit / 4}
	all := childPart * unit
	children := &limit{most: all, kept: all / 4}
	clients := &limit{most: all * 3 / 4} // what clients make slow or fast
	stream := &limit{most: all * 3 / 4, kept: all * 3 / 8}
	push := &limit{most: all * 5 / 8} // the largest, which is a half, and a small one beside it
	uploads := &limit{most: maxUploads}
	background := &limit{most: backgroundPart * unit}
	turns := turnsOf(runtime.GOMAXPROCS(0))
	turn := &limit{most: turns, kept: turns / 4}
	g := &Gate{lines: [kinds]line{
		Work:       newLine("work", time.Second, work),
		Search:     newLine("search", time.Second, search),
		Child:      newLine("child", time.Second, children),
		Stream:     newLine("stream", 10*time.Second, stream, clients, children),
		Push:       newLine("push", 10*time.Second, push, clients, children),
		Background: {name: "background", patience: time.Minute, limits: []*limit{background}, shares: map[Holder]*share{}, one: true},
		Turn:       newLine("turn", time.Second, turn),
		Upload:     newLine("upload", 10*time.Second, uploads),
	}}
	// A fetch is caged by the worst that packing may take, which is many times what
	// it takes where packs are sent as they are: some must go on side by side. Two
	// large processes of background work that need each other (a copy between
	// repositories) leave a fifth to others.
	g.lines[Stream].largest = all / 8
	g.lines[Background].largest = background.most * 2 / 5
	return g
}

func newLine(name string, patience time.Duration, limits ...*limit) line {
	return line{name: name, patience: patience, limits: limits, shares: map[Holder]*share{}}
}

// take waits for bytes and returns how many were granted. A process for which there
// could never be enough gets what there could be: its cage is about as large.
// Errors: TooManyRequests, Unavailable, ctx's.
func (g *Gate) take(ctx context.Context, k Kind, who Holder, bytes int64, more bool) (int64, error) {
	l := &g.lines[k]
	for _, limit := range l.limits {
		if room := limit.room(who); bytes > room {
			if k == Work {
				return 0, errs.New(errs.Unavailable, "this takes more memory than the server has for a request")
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
	l.serve() // who waits may have been behind this one
	return err
}

// give takes back what take has granted.
func (g *Gate) give(k Kind, who Holder, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &g.lines[k]
	if s := l.shares[who]; s != nil {
		g.release(l, s, bytes)
	}
}

// release is give, as all below with mu held. What is given back may be what the
// other kinds wait for.
func (g *Gate) release(l *line, s *share, bytes int64) {
	for _, limit := range l.limits {
		limit.used -= bytes
	}
	l.used -= bytes
	s.held -= bytes
	l.forget(s)
	for k := range g.lines {
		g.lines[k].serve()
	}
}

func (l *line) grant(s *share, bytes int64) {
	for _, limit := range l.limits {
		limit.used += bytes
	}
	l.used += bytes
	s.held += bytes
}

// share finds or makes the share of a holder.
func (l *line) share(who Holder) *share {
	s := l.shares[who]
	if s == nil {
		s = &share{who: who}
		l.shares[who] = s
	}
	return s
}

// forget drops a share in which nothing is.
func (l *line) forget(s *share) {
	if s.held == 0 && len(s.waiting) == 0 {
		delete(l.shares, s.who)
	}
}

func (l *line) free(who Holder) int64 {
	free := l.limits[0].free(who)
	for _, limit := range l.limits[1:] {
		free = min(free, limit.free(who))
	}
	return free
}

// fits reports whether a grant leaves enough to others. Who holds nothing gets
// whatever is free, and so does a request that could not go on, and background
// work, which is all one holder's.
func (l *line) fits(s *share, bytes int64, more bool) bool {
	free := l.free(s.who)
	return bytes <= free && (more || s.held == 0 || l.one || s.held+bytes <= free)
}

// fair reports whether a grant stays within the holder's fair share, or whether
// nobody else waits.
func (l *line) fair(s *share, bytes int64) bool {
	return s.held == 0 || l.waiters == len(s.waiting) || s.held+bytes <= l.fairShare()
}

func (l *line) fairShare() int64 { return l.limits[0].most / int64(len(l.shares)) }

// serve grants what fits to those who wait.
func (l *line) serve() {
	for l.waiters > 0 {
		s, at := l.next()
		if s == nil {
			return
		}
		w := s.waiting[at]
		l.grant(s, w.bytes)
		l.leave(s, at)
		close(w.ready)
	}
}

// next is who comes next and fits: a request that cannot go on, else of who holds
// least. A large one lets smaller ones pass, for as long as its patience lasts.
func (l *line) next() (best *share, at int) {
	for _, s := range l.queue {
		for i, w := range s.waiting[:min(len(s.waiting), lookAhead)] {
			if !l.fits(s, w.bytes, w.more) || !w.more && !l.fair(s, w.bytes) {
				continue
			}
			if w.more {
				return s, i
			}
			if best == nil || s.held < best.held {
				best, at = s, i
			}
			break
		}
	}
	return best, at
}

// join begins the waiting of one, and leave ends it.
func (l *line) join(s *share, w *waiter) {
	if len(s.waiting) == 0 {
		l.queue = append(l.queue, s)
	}
	if w.more {
		s.waiting = slices.Insert(s.waiting, 0, w)
	} else {
		s.waiting = append(s.waiting, w)
	}
	l.waiters++
}

func (l *line) leave(s *share, at int) {
	s.waiting = slices.Delete(s.waiting, at, at+1)
	l.waiters--
	if len(s.waiting) == 0 {
		at := slices.Index(l.queue, s)
		l.queue = slices.Delete(l.queue, at, at+1)
	}
}

// refuse is the error of who waited in vain: 429 for who holds its fair share, or
// could go on if it held nothing; else 503.
func (l *line) refuse(s *share, bytes int64) error {
	l.refused++
	if s.held > 0 && (bytes <= l.free(s.who) || s.held+bytes > l.fairShare()) {
		return errs.New(errs.TooManyRequests, "you use as much of the server as you may at this moment; try again")
	}
	return errs.New(errs.Unavailable, "the server is full at this moment; try again")
}

// Usage is what the gate says of a kind to operators.
type Usage struct {
	Kind    string
	Counted bool // in requests, not in bytes
	Held    int64
	Most    int64
	Waiting int64 // requests
	Refused int64 // requests, since the start
}

// Usage lists the kinds.
func (g *Gate) Usage() []Usage {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]Usage, kinds)
	for k := range g.lines {
		l := &g.lines[k]
		list[k] = Usage{l.name, Kind(k) >= Turn, l.used, l.limits[0].most, int64(l.waiters), l.refused}
	}
	return list
}
