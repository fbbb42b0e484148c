package ssh

import "sync"

// turn is that of one client that shakes hands: a place of admission.Handshake, since the processor time that this
// costs cannot be charged to an account. The client has it while the server works for it, and not while the
// server waits for the client, whose connection counts as silent then (admission.Conns).
type turn struct {
	ask func() (leave func(), err error) // waits for the place

	mu    sync.Mutex
	leave func() // nil while the client does not have it
	over  bool   // the handshake has ended
}

// take waits for the turn, unless the handshake has ended. Errors: those of admission.Slot.
func (t *turn) take() error {
	t.mu.Lock()
	over := t.over
	t.mu.Unlock()
	if over {
		return nil
	}
	leave, err := t.ask()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		leave()
	} else {
		t.leave = leave
	}
	return nil
}

// give releases the client's turn, if it has one.
func (t *turn) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.leave != nil {
		t.leave()
		t.leave = nil
	}
}

// end is give when the handshake has ended.
func (t *turn) end() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.give()
}
