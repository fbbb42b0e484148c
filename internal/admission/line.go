package admission

import (
	"errors"
	"math"
	"slices"
	"time"

	"arbor/internal/errs"
)

// limit is a bounded resource.
type limit struct {
	most      int64 // bytes or places
	kept      int64 // of these, reserved for callers with an account
	cap       int64 // the most that callers without an account use together; 0: most
	open      int64 // and what others leave to these
	used      int64
	strangers int64 // used by callers without an account
}

// free is the most that a holder could get now.
func (l *limit) free(who Holder) int64 {
	if who.Account != 0 {
		return l.most - l.used - max(l.open-l.strangers, 0)
	}
	free := l.most - l.kept - l.used
	if l.cap > 0 {
		free = min(free, l.cap-l.strangers)
	}
	return free
}

// room is the most that a holder could ever get. It needs no lock.
func (l *limit) room(who Holder) int64 {
	unused := limit{most: l.most, kept: l.kept, cap: l.cap, open: l.open}
	return unused.free(who)
}

// line is the state of one kind: its holders, and those that wait. Gate.mu guards it.
type line struct {
	name     string
	limits   []*limit
	largest  int64         // upper bound of one process's cost
	patience time.Duration // the longest wait (decision 66)
	shares   map[Holder]*share
	used     int64
	waiters  int
	turns    uint64 // how often a share was put behind all others
	refused  int64
	admitted int64
}

// share is the part of one holder in a kind, and its waiters. It is in line.shares while
// either is not empty.
type share struct {
	who     Holder
	held    int64
	waiting []*waiter // those that cannot go on otherwise first; the first came first
	turn    uint64    // since when it waits, or when it had its last turn
}

type waiter struct {
	bytes int64
	more  bool          // its request holds a process and cannot go on without these
	ready chan struct{} // closed when it is granted
}

// Bounds of each holder's waiters of a kind (TestQueueIsBounded), and how many of them are tried for one that fits
// (TestSmallBackgroundWorkPasses).
const (
	maxWaiting = 256
	lookAhead  = 8
)

func newLine(name string, patience time.Duration, limits ...*limit) line {
	return line{name: name, patience: patience, limits: limits, largest: math.MaxInt64, shares: map[Holder]*share{}}
}

func (l line) upTo(largest int64) line {
	l.largest = largest
	return l
}

func (l *line) room(who Holder) int64 {
	room := int64(math.MaxInt64)
	for _, limit := range l.limits {
		room = min(room, limit.room(who))
	}
	return room
}

func (l *line) free(who Holder) int64 {
	free := int64(math.MaxInt64)
	for _, limit := range l.limits {
		free = min(free, limit.free(who))
	}
	return free
}

// fits reports whether a grant leaves enough to others. Everything free may go to a
// holder that holds nothing, and to a request that could not go on otherwise.
func (l *line) fits(s *share, bytes int64, more bool) bool {
	free := l.free(s.who)
	return bytes <= free && (more || s.held == 0 || s.held+bytes <= free)
}

func (l *line) grant(s *share, bytes int64) {
	l.add(s, bytes)
	l.admitted++
}

// add counts bytes that a holder gets or returns.
func (l *line) add(s *share, bytes int64) {
	for _, limit := range l.limits {
		limit.used += bytes
		if s.who.Account == 0 {
			limit.strangers += bytes
		}
	}
	l.used += bytes
	s.held += bytes
}

// share returns the share of a holder, and creates it if needed.
func (l *line) share(who Holder) *share {
	s := l.shares[who]
	if s == nil {
		s = &share{who: who}
		l.shares[who] = s
	}
	return s
}

// forget drops a share that is empty.
func (l *line) forget(s *share) {
	if s.held == 0 && len(s.waiting) == 0 {
		delete(l.shares, s.who)
	}
}

// serve grants waiters their bytes, as long as one fits.
func (l *line) serve() {
	for l.waiters > 0 {
		s, at := l.next()
		if s == nil {
			return
		}
		w := s.waiting[at]
		l.grant(s, w.bytes)
		l.leave(s, at)
		l.toEnd(s)
		close(w.ready)
	}
}

// next returns the next waiter that fits: one of a request that cannot continue otherwise, else of the
// holder that holds least. A large one lets smaller ones pass.
func (l *line) next() (best *share, at int) {
	for _, s := range l.shares {
		for i, w := range s.waiting[:min(len(s.waiting), lookAhead)] {
			if !l.fits(s, w.bytes, w.more) {
				continue
			}
			if w.more {
				return s, i
			}
			if best == nil || s.held < best.held || s.held == best.held && s.turn < best.turn {
				best, at = s, i
			}
			break
		}
	}
	return best, at
}

// toEnd has a share take its turn behind all others that hold the same.
func (l *line) toEnd(s *share) {
	l.turns++
	s.turn = l.turns
}

// join adds a waiter to a share, and leave removes it.
func (l *line) join(s *share, w *waiter) {
	if len(s.waiting) == 0 {
		l.toEnd(s)
	}
	at := len(s.waiting)
	if w.more {
		at = 0
		for at < len(s.waiting) && s.waiting[at].more {
			at++
		}
	}
	s.waiting = slices.Insert(s.waiting, at, w)
	l.waiters++
}

func (l *line) leave(s *share, at int) {
	s.waiting = slices.Delete(s.waiting, at, at+1)
	l.waiters--
}

// wanted reports whether others than who wait.
func (l *line) wanted(who Holder) bool {
	waiting := l.waiters
	if s := l.shares[who]; s != nil {
		waiting -= len(s.waiting)
	}
	return waiting > 0
}

// ErrRefused is the cause of the 503 of a request that is refused for what it would take. The server works as it
// should, so such a request is not logged as an error.
var ErrRefused = errors.New("admission: refused")

// refuse is the error of a wait in vain: 429 for a holder that could have it if it held nothing, else 503.
func (l *line) refuse(s *share, bytes int64) error {
	l.refused++
	if s.held > 0 && bytes <= l.free(s.who)+s.held {
		return errs.New(errs.TooManyRequests, "too many concurrent requests; retry later")
	}
	return errs.Wrap(errs.Unavailable, "the server is full at this moment; try again", ErrRefused)
}
