package db

import (
	"context"
	"sync"
	"time"

	"arbor/internal/errs"
)

// shares bounds how many connections the writes of one holder have at a time. A write that waits in
// PostgreSQL for a row keeps its connection meanwhile: without a bound, one account's writes to one row take
// them all.
type shares struct {
	of   func(context.Context) any // Options.Holder; nil: no bound
	most int

	mu   sync.Mutex
	held map[any]*share // of those who write or wait for that
}

type share struct {
	slots chan struct{} // holds a value for each write that goes on
	users int           // under shares.mu: writes that go on or wait
}

// enter returns when the holder that ctx names may have one connection more. The caller calls leave once it
// does not need it any more; leave is never nil. Errors: ctx's, TooManyRequests.
func (s *shares) enter(ctx context.Context) (leave func(), err error) {
	var holder any
	if s.of != nil {
		holder = s.of(ctx)
	}
	if holder == nil {
		return func() {}, nil
	}
	s.mu.Lock()
	own := s.held[holder]
	if own == nil {
		own = &share{slots: make(chan struct{}, s.most)}
		s.held[holder] = own
	}
	own.users++
	s.mu.Unlock()
	forget := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(s.held, holder)
		}
	}
	leave = func() { <-own.slots; forget() }
	select {
	case own.slots <- struct{}{}:
		return leave, nil
	default:
	}
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case own.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = errs.New(errs.TooManyRequests,
			"too many of your changes wait for each other: send fewer at a time")
	}
	forget()
	return func() {}, err
}
