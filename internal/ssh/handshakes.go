package ssh

import (
	"net/netip"
	"sync"
	"time"

	"arbor/internal/admission"
)

// Clients that have not signed in cost processor time and memory that nobody can be charged
// for. So few of them shake hands at one time, and those of one network leave room for others.
const (
	maxHandshakes        = 64
	maxNetworkHandshakes = 16
)

// handshakes are the turns of clients that shake hands.
type handshakes struct {
	all chan struct{}

	mu sync.Mutex
	of map[netip.Prefix]*network
}

// network has clients that shake hands, or wait for their turn.
type network struct {
	turns   chan struct{}
	clients int
}

func newHandshakes() *handshakes {
	return &handshakes{all: make(chan struct{}, maxHandshakes), of: map[netip.Prefix]*network{}}
}

// enter waits for a client's turn, as long as a handshake may take; false when it did not come.
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
