package db

import (
	"context"
	"sync/atomic"
	"time"
)

// The limits on callers that wait for a connection or for their turn to write. Beyond them the server is
// overloaded.
const (
	maxWait    = 30 * time.Second
	maxWaiting = 4096
)

// keepIdle is how long an unused connection, with its page cache and its prepared statements, stays open.
const keepIdle = time.Minute

// waiters counts those who wait for a connection of a pool.
type waiters atomic.Int32

func (w *waiters) number() int64 { return int64((*atomic.Int32)(w).Load()) }

// wait calls get, which returns a connection when one is free, and bounds for how long and with how many others
// the caller waits. Errors: ctx's, get's, errs.Unavailable.
func wait[C any](ctx context.Context, w *waiters, get func(context.Context) (C, error)) (c C, err error) {
	n := (*atomic.Int32)(w)
	if n.Add(1) > maxWaiting {
		n.Add(-1)
		return c, errOverload("too many wait for a connection")
	}
	defer n.Add(-1)
	bounded, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	c, err = get(bounded)
	switch {
	case err != nil && ctx.Err() != nil:
		return c, ctx.Err()
	case err != nil && bounded.Err() != nil:
		return c, errOverload("no connection became free; is there a Read inside a Read or Write?")
	}
	return c, err
}
