package db

import (
	"context"
	"time"
)

// ByTurns calls turn, which does a part of some upkeep in a transaction or two, until there is no
// more to do or ctx is done. Four fifths of the time are left to others.
func ByTurns(ctx context.Context, turn func(context.Context) (more bool, err error)) error {
	for {
		start := time.Now()
		more, err := turn(ctx)
		if err != nil || !more {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(4 * time.Since(start)):
		}
	}
}

// Follow calls work at once, whenever rung holds a value, and from time to time for what other
// processes left, until ctx is done.
func Follow(ctx context.Context, rung <-chan struct{}, every time.Duration, work func(context.Context)) {
	poll := time.NewTicker(every)
	defer poll.Stop()
	for {
		work(ctx)
		select {
		case <-rung:
		case <-poll.C:
		case <-ctx.Done():
			return
		}
	}
}
