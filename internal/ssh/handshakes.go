package ssh

import (
	"errors"
	"net/netip"
	"sync"
	"time"

	"arbor/internal/admission"
)

// Handshakes of anonymous clients cost processor time that cannot be charged to an account. So only few run
// concurrently, and those of one network leave room for others.
const (
	maxHandshakes        = 64
	maxNetworkHandshakes = 16
)

// handshakes are the turns of clients for which the server works.
type handshakes struct {
	all chan struct{}

	mu sync.Mutex
	of map[netip.Prefix]*network
}

// network holds the clients that have a turn, and those that wait for one.
type network struct {
	turns   chan struct{}
	clients int
}

func newHandshakes() *handshakes {
	return &handshakes{all: make(chan struct{}, maxHandshakes), of: map[netip.Prefix]*network{}}
}

// enter waits for a client's turn, at most as long as a handshake may take, and reports whether it came.
func (h *handshakes) enter(from netip.Addr) (leave func(), ok bool) {
	key := admission.NetworkOf(from)
	h.mu.Lock()
	n := h.of[key]
	if n == nil {
		n = &network{turns: make(chan struct{}, maxNetworkHandshakes)}
		h.of[key] = n
	}
	n.clients++
	h.mu.Unlock()
	forget := func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if n.clients--; n.clients == 0 {
			delete(h.of, key)
		}
	}
	timeout := time.NewTimer(handshakeTime)
	defer timeout.Stop()
	select {
	case n.turns <- struct{}{}:
	case <-timeout.C:
		forget()
		return nil, false
	}
	select {
	case h.all <- struct{}{}:
	case <-timeout.C:
		<-n.turns
		forget()
		return nil, false
	}
	return func() { <-h.all; <-n.turns; forget() }, true
}

// turn is that of one client. The client has it while the server works for it, and not while the
// server waits for the client, whose connection counts as silent then (admission.Conns).
type turn struct {
	all  *handshakes
	from netip.Addr

	mu    sync.Mutex
	leave func() // nil while the client does not have it
	over  bool   // the handshake has ended
}

var errNoTurn = errors.New("ssh: too many clients shake hands")

// take waits for the turn, unless the handshake has ended. Error: errNoTurn.
func (t *turn) take() error {
	t.mu.Lock()
	over := t.over
	t.mu.Unlock()
	if over {
		return nil
	}
	leave, ok := t.all.enter(t.from)
	if !ok {
		return errNoTurn
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
