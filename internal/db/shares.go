package db

import (
	"context"
	"sync"
	"time"

	"arbor/internal/errs"
)

// shares bounds how many connections writes have at a time: all of them together, and those of one holder. A
// write that waits in PostgreSQL for a row keeps its connection. Without the first bound, writers of one
// repository keep everybody from reading; without the second, one account's writers keep others from writing.
type shares struct {
	of   func(context.Context) any // Options.Holder; nil: only the bound on all
	all  chan struct{}             // holds a value for each write that goes on
	most int                       // of one holder

	mu   sync.Mutex
	held map[any]*share // of those who write or wait for that
}

type share struct {
	slots chan struct{} // holds a value for each write that goes on
	users int           // under shares.mu: writes that go on or wait
}

// enter returns when a write for the holder that ctx names may have a connection. The caller calls leave
// when it no longer needs it. Errors: ctx's, TooManyRequests, Unavailable; then leave is nil.
func (s *shares) enter(ctx context.Context) (leave func(), err error) {
	own, forget := s.share(ctx)
	if own != nil {
		late := errs.New(errs.TooManyRequests,
			"too many of your changes wait for each other: send fewer at a time")
		if err := takeSlot(ctx, own.slots, late); err != nil {
			forget()
			return nil, err
		}
	}
	if err = takeSlot(ctx, s.all, errOverload("too many wait to write")); err == nil {
		return func() { <-s.all; s.leave(own, forget) }, nil
	}
	s.leave(own, forget)
	return nil, err
}

func (s *shares) leave(own *share, forget func()) {
	if own != nil {
		<-own.slots
		forget()
	}
}

// share returns the share of the holder in ctx, and creates it if needed. It is nil without a holder.
func (s *shares) share(ctx context.Context) (own *share, forget func()) {
	var holder any
	if s.of != nil {
		holder = s.of(ctx)
	}
	if holder == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own = s.held[holder]
	if own == nil {
		own = &share{slots: make(chan struct{}, s.most)}
		s.held[holder] = own
	}
	own.users++
	return own, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(s.held, holder)
		}
	}
}

// takeSlot waits until slots has room, for maxWait at most. Errors: ctx's, late.
func takeSlot(ctx context.Context, slots chan struct{}, late error) error {
	select {
	case slots <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return late
	}
}
