package db

import (
	"context"
	"sync"
)

// generations lets callers that ask at the same time share one query. A caller
// is answered only by a query that began after its call: a caller that comes while a
// query runs waits for the next one, whose first caller runs it.
type generations struct {
	query func(ctx context.Context, into map[string]int64) error

	mu      sync.Mutex
	running bool
	next    *round // the callers that came while a query runs
}

// round is a query and those who share it.
type round struct {
	numbers map[string]int64
	err     error
	start   chan struct{} // closed when its first caller may run it
	done    chan struct{} // closed when numbers and err are there
}

func newGenerations(query func(context.Context, map[string]int64) error) *generations {
	return &generations{query: query}
}

func (g *generations) get(ctx context.Context, topic string) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	g.mu.Lock()
	if !g.running {
		g.running = true
		g.mu.Unlock()
		r := &round{numbers: map[string]int64{topic: 0}}
		g.run(ctx, r)
		return r.numbers[topic], r.err
	}
	r := g.next
	first := r == nil
	if first {
		r = &round{numbers: make(map[string]int64), start: make(chan struct{}), done: make(chan struct{})}
		g.next = r
	}
	r.numbers[topic] = 0
	g.mu.Unlock()
	if first {
		<-r.start // soon, and others rely on it: ctx is not looked at
		g.run(ctx, r)
		return r.numbers[topic], r.err
	}
	select {
	case <-r.done:
		return r.numbers[topic], r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// run asks for a round's numbers and lets the next round begin. If others
// share the answer, the caller's hanging up does not stop it.
func (g *generations) run(ctx context.Context, r *round) {
	defer g.finish(r)
	if r.done != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), maxWait)
		defer cancel()
	}
	r.err = g.query(ctx, r.numbers)
}

func (g *generations) finish(r *round) {
	if r.done != nil {
		close(r.done)
	}
	g.mu.Lock()
	next := g.next
	g.next = nil
	g.running = next != nil
	g.mu.Unlock()
	if next != nil {
		close(next.start)
	}
}
