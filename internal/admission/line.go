package admission

import (
	"slices"
	"time"

	"arbor/internal/errs"
)

// line is the state of one kind: its holders, and those that wait.
type line struct {
	name     string
	limits   []*limit
	one      bool          // all are one holder
	largest  int64         // upper bound of one process's cost; 0: its cage
	patience time.Duration // the longest wait (decision 66)
	shares   map[Holder]*share
	queue    []*share // of holders that wait; the first came first, or had its last turn first
	used     int64
	waiters  int
	refused  int64
	admitted int64
}

// share is the part of one holder in a kind, and its waiters. It is in line.shares while
// either is not empty.
type share struct {
	who     Holder
	held    int64
	waiting []*waiter // the first came first
}

type waiter struct {
	bytes int64
	more  bool          // its request holds a process and cannot go on without these
	ready chan struct{} // closed when it is granted
}

// Bounds of the waiters of a kind: of all callers without an account, and of each
// holder; and how many of a holder's are tried for one that fits.
const (
	maxWaiting       = 4096
	maxWaitingHolder = 256
	lookAhead        = 8
)

func newLine(name string, patience time.Duration, limits ...*limit) line {
	return line{name: name, patience: patience, limits: limits, shares: map[Holder]*share{}}
}

func (l *line) grant(s *share, bytes int64) {
	for _, limit := range l.limits {
		limit.add(s.who, bytes)
	}
	l.used += bytes
	s.held += bytes
	l.admitted++
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

func (l *line) free(who Holder) int64 {
	free := l.limits[0].free(who)
	for _, limit := range l.limits[1:] {
		free = min(free, limit.free(who))
	}
	return free
}

// fits reports whether a grant leaves enough to others. Everything free may go to a
// holder that holds nothing, to a request that could not go on otherwise, and to
// background work, which is all one holder.
func (l *line) fits(s *share, bytes int64, more bool) bool {
	free := l.free(s.who)
	return bytes <= free && (more || s.held == 0 || l.one || s.held+bytes <= free)
}

// fair reports whether a grant stays within the holder's fair share, or no other holder waits.
func (l *line) fair(s *share, bytes int64) bool {
	return s.held == 0 || l.waiters == len(s.waiting) || s.held+bytes <= l.fairShare(s)
}

func (l *line) fairShare(s *share) int64 { return l.limits[0].room(s.who) / int64(len(l.shares)) }

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
		l.last(s)
		close(w.ready)
	}
}

// next returns the next waiter that fits: one of a request that cannot continue otherwise, else of the
// holder that holds least. A large one lets smaller ones pass.
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

// join adds a waiter to a share, and leave removes it.
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

// last puts a share that still waits behind all others, so that holders of the same size
// take turns.
func (l *line) last(s *share) {
	if at := slices.Index(l.queue, s); at >= 0 {
		l.queue = append(slices.Delete(l.queue, at, at+1), s)
	}
}

// refuse is the error of a wait in vain: 429 for a holder that has its fair share, or
// that would fit if it held nothing; else 503.
func (l *line) refuse(s *share, bytes int64) error {
	l.refused++
	if s.held > 0 && (bytes <= l.free(s.who) || s.held+bytes > l.fairShare(s)) {
		return errs.New(errs.TooManyRequests,
			"too many concurrent requests; retry later")
	}
	return errs.New(errs.Unavailable, "the server is full at this moment; try again")
}
