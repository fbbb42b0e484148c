package db

import (
	"context"
	"log/slog"
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

// Upkeep calls work at once and from time to time until ctx is done. It returns nil: what fails is logged as
// message and tried again.
func Upkeep(ctx context.Context, log *slog.Logger, every time.Duration, message string,
	work func(context.Context) error) error {
	Follow(ctx, nil, every, func(ctx context.Context) {
		if err := work(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, message, "error", err)
		}
	})
	return nil
}
