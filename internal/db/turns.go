package db

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// RunInSteps does background maintenance in small steps: it calls turn, which should take one or two transactions,
// until nothing is left to do or ctx is done. After each step it sleeps four times as long as the step took.
func RunInSteps(ctx context.Context, turn func(context.Context) (more bool, err error)) error {
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

// RunOnBell calls work at once, whenever a value arrives on rung, and at an interval to find work from other
// processes, until ctx is done.
func RunOnBell(ctx context.Context, rung <-chan struct{}, every time.Duration, work func(context.Context)) {
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

// Worker runs jobs of one kind side by side, as many as Begin lets it.
type Worker[J any] struct {
	Bell  string        // rings when a job is due
	Every time.Duration // interval of queries for jobs of other processes, which ring no bell here
	Due   func(*Tx) ([]J, error)
	Begin func(J) (ok, full bool) // reserves a slot for a job; full: no slot is free
	End   func(J)                 // releases the slot
	Run   func(context.Context, J)
	Fail  func(context.Context, error) // tells that Due failed
}

// Work runs the jobs of w that are due until ctx is done, and then waits for those that run.
func Work[J any](ctx context.Context, d *DB, w Worker[J]) {
	var runs sync.WaitGroup
	defer runs.Wait()
	RunOnBell(ctx, d.Bell(w.Bell), w.Every, func(ctx context.Context) {
		list, err := Get(ctx, d, func(tx *Tx) ([]J, error) { return w.Due(tx) })
		if err != nil && ctx.Err() == nil {
			w.Fail(ctx, err)
		}
		for _, j := range list {
			ok, full := w.Begin(j)
			if full {
				return // the bell rings when a running job ends
			}
			if ok {
				runs.Go(func() {
					defer d.Ring(w.Bell)
					defer w.End(j)
					w.Run(ctx, j)
				})
			}
		}
	})
}

// Upkeep calls work at once and from time to time until ctx is done. It returns nil: what fails is logged as
// message and tried again.
func Upkeep(ctx context.Context, log *slog.Logger, every time.Duration, message string,
	work func(context.Context) error) error {
	RunOnBell(ctx, nil, every, func(ctx context.Context) {
		if err := work(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, message, "error", err)
		}
	})
	return nil
}
