package db

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// member is a caller of write, for one attempt.
type member struct {
	solo    bool          // not to share a transaction
	baton   chan struct{} // its turn has come
	outcome chan error    // of the commit that it waits for
	timer   *time.Timer   // ends the wait for its turn
	given   bool          // under writer.mu: the baton was given to it
}

// members are used again: nothing is in their channels, and their timers are
// stopped. A member that ends in another way than it should is not one of them.
var members = sync.Pool{New: func() any {
	m := &member{baton: make(chan struct{}, 1), outcome: make(chan error, 1), timer: time.NewTimer(maxWait)}
	m.timer.Stop()
	return m
}}

func newMember(solo bool) *member {
	m := members.Get().(*member)
	m.solo, m.given = solo, false
	return m
}

// free recycles a member that has no other references.
func (m *member) free() {
	members.Put(m)
}

// enter returns when the member has the baton. Errors: ctx's, errs.Unavailable.
func (w *writer) enter(ctx context.Context, m *member) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	switch {
	case w.closed:
		w.mu.Unlock()
		return errClosed
	case !w.busy:
		w.busy = true
		w.mu.Unlock()
		return nil
	case len(w.queue) >= maxWaiting:
		w.mu.Unlock()
		return errOverload("too many wait to write")
	}
	w.queue = append(w.queue, m)
	w.mu.Unlock()

	m.timer.Reset(maxWait)
	defer m.timer.Stop()
	select {
	case <-m.baton:
		return nil
	case <-ctx.Done():
		return w.leave(m, ctx.Err())
	case <-m.timer.C:
		return w.leave(m, errOverload("the turn to write did not come; is there a Write inside a Write?"))
	}
}

// leave removes the member from the queue. If it has just received the baton, leave passes it on.
func (w *writer) leave(m *member, reason error) error {
	w.mu.Lock()
	given := m.given
	if !given {
		at := slices.Index(w.queue, m)
		w.queue = slices.Delete(w.queue, at, at+1)
	}
	w.mu.Unlock()
	if given {
		<-m.baton
		w.pass()
	}
	return reason
}

// pass hands the baton to the next member of the queue. It commits first if the batch ends here.
func (w *writer) pass() {
	w.mu.Lock()
	if w.begun && !w.solo && !w.full() && len(w.queue) == 0 && len(w.done) < w.crowd {
		w.mu.Unlock()
		runtime.Gosched() // those who came together last time are about to come again: let them
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
