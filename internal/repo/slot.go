package repo

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// slots bound how many transfers go on at one time, so that a few slow clients
// leave room for everyone else: nobody gets one who holds as many as are free.
// Alone, a caller may thus hold half of them, a second one half of what is left,
// and the last go to callers who hold none. More wait.
type slots struct {
	patience time.Duration // after which who waits is told to come again

	mu      sync.Mutex
	free    int
	held    map[holder]int // of those who hold some
	waiting []*waiter      // the first came first
}

// holder is who is counted together: an account, with all its tokens, or the
// callers without one of a network.
type holder struct {
	account int64 // 0: none
	network netip.Prefix
}

type waiter struct {
	who   holder
	ready chan struct{} // closed when it has its slot
}

// patience is how long a request waits for a free slot.
const patience = 30 * time.Second

func newSlots(most int, patience time.Duration) *slots {
	return &slots{free: most, patience: patience, held: map[holder]int{}}
}

// holderOf is who makes the request.
func holderOf(r *http.Request, caller *account.Caller) holder {
	if caller != nil {
		return holder{account: caller.ID}
	}
	return holder{network: web.Network(r)}
}

// Transfer waits for a slot among fetches for a request that sends much, and
// returns what frees it. Error: 503.
func (s *Service) Transfer(r *http.Request, a *Access) (free func(), err error) {
	return s.fetches.take(r.Context(), holderOf(r, a.Caller))
}

// take waits for a slot and returns what frees it. Error: 503.
func (s *slots) take(ctx context.Context, who holder) (free func(), err error) {
	w := &waiter{who, make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, w)
	s.grant()
	s.mu.Unlock()
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	select {
	case <-w.ready:
		return func() { s.give(who) }, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = errs.New(errs.Unavailable, "too many transfers at this moment; try again")
	}
	s.abandon(w)
	return nil, err
}

// grant gives slots to those who wait and may have one. Its caller holds mu.
func (s *slots) grant() {
	s.waiting = slices.DeleteFunc(s.waiting, func(w *waiter) bool {
		if s.held[w.who] >= s.free {
			return false
		}
		s.free--
		s.held[w.who]++
		close(w.ready)
		return true
	})
}

func (s *slots) give(who holder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	if s.held[who]--; s.held[who] == 0 {
		delete(s.held, who)
	}
	s.grant()
}

// abandon ends the waiting of one who may have got a slot just now.
func (s *slots) abandon(w *waiter) {
	s.mu.Lock()
	at := slices.Index(s.waiting, w)
	if at >= 0 {
		s.waiting = slices.Delete(s.waiting, at, at+1)
	}
	s.mu.Unlock()
	if at < 0 {
		s.give(w.who)
	}
}
