package repo

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// slots bound how many transfers go on at one time: in all, and of one holder,
// so that a few slow clients leave room for everyone else. More wait.
type slots struct {
	all      chan struct{}
	share    int           // of one holder
	patience time.Duration // after which who waits is told to come again

	mu    sync.Mutex
	parts map[holder]*part // of those who hold one or wait
}

// holder is who shares a part of the slots: an account, with all its tokens, or
// the callers without one of a network.
type holder struct {
	account int64 // 0: none
	network netip.Prefix
}

type part struct {
	taken chan struct{}
	users int // who hold or wait
}

// patience is how long a request waits for a free slot.
const patience = 30 * time.Second

// newSlots gives each holder at most a quarter of the slots.
func newSlots(most int, patience time.Duration) *slots {
	return &slots{all: make(chan struct{}, most), share: max(1, most/4), patience: patience, parts: map[holder]*part{}}
}

// holderOf is who makes the request.
func holderOf(r *http.Request, caller *account.Caller) holder {
	if caller != nil {
		return holder{account: caller.ID}
	}
	return holder{network: web.Network(r)}
}

// take waits for a slot and returns what frees it. Who waits for its own share
// is in nobody's way. Error: 503.
func (s *slots) take(ctx context.Context, who holder) (free func(), err error) {
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	p := s.join(who)
	if err := wait(ctx, p.taken, timer.C); err != nil {
		s.leave(who, p)
		return nil, err
	}
	if err := wait(ctx, s.all, timer.C); err != nil {
		<-p.taken
		s.leave(who, p)
		return nil, err
	}
	return func() {
		<-s.all
		<-p.taken
		s.leave(who, p)
	}, nil
}

func (s *slots) join(who holder) *part {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parts[who]
	if p == nil {
		p = &part{taken: make(chan struct{}, s.share)}
		s.parts[who] = p
	}
	p.users++
	return p
}

func (s *slots) leave(who holder, p *part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(s.parts, who)
	}
}

// wait puts a token into slots before ctx or the time ends.
func wait(ctx context.Context, slots chan<- struct{}, end <-chan time.Time) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-end:
		return errs.New(errs.Unavailable, "too many transfers at this moment; try again")
	}
}
