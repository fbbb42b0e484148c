package db

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// member is a caller of write, for one attempt.
type member struct {
	solo    bool          // not to share a transaction
	single  *single       // nil: a function, which it runs itself
	baton   chan struct{} // its turn has come
	outcome chan error    // of the commit that it waits for
	timer   *time.Timer   // ends the wait for its turn
	given   bool          // under writer.mu: the baton was given to it, or its statement was taken
}

// members are used again: nothing is in their channels, and their timers are
// stopped. A member that ends in another way than it should is not one of them.
var members = sync.Pool{New: func() any {
	m := &member{baton: make(chan struct{}, 1), outcome: make(chan error, 1), timer: time.NewTimer(maxWait)}
	m.timer.Stop()
	return m
}}

func newMember(solo bool, s *single) *member {
	m := members.Get().(*member)
	m.solo, m.single, m.given = solo, s, false
	return m
}

// free gives a member back that nobody else knows any more.
func (m *member) free() {
	m.single = nil
	members.Put(m)
}

// enter returns with the baton, or without it: then with an error, or because
// somebody else ran the member's statement, with what came of it.
func (w *writer) enter(ctx context.Context, m *member) (baton bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	w.mu.Lock()
	switch {
	case w.closed:
		w.mu.Unlock()
		return false, errClosed
	case !w.busy:
		w.busy = true
		w.mu.Unlock()
		return true, nil
	case len(w.queue) >= maxWaiting:
		w.mu.Unlock()
		return false, errOverload("too many wait to write")
	}
	w.queue = append(w.queue, m)
	w.mu.Unlock()

	m.timer.Reset(maxWait)
	defer m.timer.Stop()
	select {
	case <-m.baton:
		return true, nil
	case err := <-m.outcome:
		return false, err
	case <-ctx.Done():
		return false, w.leave(m, ctx.Err())
	case <-m.timer.C:
		return false, w.leave(m,
			errOverload("the turn to write did not come; is there a Write inside a Write?"))
	}
}

// leave gives up the wait for the baton, or passes it on when it came at the
// same moment. A statement that was taken is waited for.
func (w *writer) leave(m *member, reason error) error {
	w.mu.Lock()
	given := m.given
	if !given {
		for i, q := range w.queue {
			if q == m {
				w.queue = append(w.queue[:i], w.queue[i+1:]...)
				break
			}
		}
	}
	w.mu.Unlock()
	if !given {
		return reason
	}
	select {
	case <-m.baton:
		w.pass()
		return reason
	case err := <-m.outcome:
		return err
	}
}

// pass gives the baton to the next in the queue, after it has run the statements
// that wait there, and after a commit if the batch ends here.
func (w *writer) pass() {
	yielded := false
	w.mu.Lock()
	for w.begun && !w.solo && !w.full() {
		if len(w.queue) > 0 {
			if w.queue[0].single == nil {
				break
			}
			next := w.next()
			w.mu.Unlock()
			w.take(next)
			w.mu.Lock()
			continue
		}
		if yielded || len(w.done) >= w.crowd {
			break
		}
		yielded = true // those who came together lately are about to come again: let them
		w.mu.Unlock()
		runtime.Gosched()
		w.mu.Lock()
	}
	if w.begun && (len(w.queue) == 0 || w.full()) {
		w.mu.Unlock()
		w.commit()
		w.mu.Lock()
	}
	if len(w.queue) > 0 {
		w.next().baton <- struct{}{}
		w.mu.Unlock()
		return
	}
	w.busy = false
	if w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
	w.mu.Unlock()
}

// next takes the first of the queue, with writer.mu held.
func (w *writer) next() *member {
	m := w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	m.given = true
	return m
}
