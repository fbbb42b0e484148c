package db

import (
	"context"
	"sync"
)

// moments runs one query for concurrent callers. A caller gets the result only of a query that began
// after its call: a caller that arrives during a query waits for the next one, which the first of these
// runs.
type moments struct {
	ask func(ctx context.Context, m *moment) error // about the topics that m.numbers has

	mu      sync.Mutex
	running bool
	next    *round // the callers that came while a query runs
}

// round is a question and those who share it. Its topics include the empty one, of
// those who ask for the state alone.
type round struct {
	moment
	err   error
	start chan struct{} // closed when its first caller may run it
	done  chan struct{} // closed when the moment and err are there
}

func newMoments(ask func(context.Context, *moment) error) *moments {
	return &moments{ask: ask}
}

// get returns a moment queried after the call. It is shared, so callers must not modify it.
func (g *moments) get(ctx context.Context, topic string) (moment, error) {
	if err := ctx.Err(); err != nil {
		return moment{}, err
	}
	g.mu.Lock()
	if !g.running {
		g.running = true
		g.mu.Unlock()
		r := &round{moment: newMoment(topic)}
		g.run(ctx, r)
		return r.moment, r.err
	}
	r := g.next
	first := r == nil
	if first {
		r = &round{moment: newMoment(topic), start: make(chan struct{}), done: make(chan struct{})}
		g.next = r
	}
	r.numbers[topic] = 0
	g.mu.Unlock()
	if first {
		<-r.start // soon, and others rely on it: ctx is not looked at
		g.run(ctx, r)
		return r.moment, r.err
	}
	select {
	case <-r.done:
		return r.moment, r.err
	case <-ctx.Done():
		return moment{}, ctx.Err()
	}
}

// run asks a round's question and lets the next round begin. If others
// share the answer, the caller's hanging up does not stop it.
func (g *moments) run(ctx context.Context, r *round) {
	defer g.finish(r)
	if r.done != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), maxWait)
		defer cancel()
	}
	r.err = g.ask(ctx, &r.moment)
}

func (g *moments) finish(r *round) {
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
