// Package admission decides which requests the server takes on at one time, so
// that nobody can stop it for others.
//
//   - gate.go: one budget of bytes, divided by kinds of use and shared fairly by
//     accounts and networks (decision 66)
//   - ticket.go: what one request holds; it travels in the request's context, and
//     bodies, answers, searches and processes of git are asked for with it
//   - pace.go: clients that send or read too slowly lose their connection
//   - conns.go: how many connections a network may have open
//   - proxy.go: where a request comes from, behind proxies that are trusted
//   - machine.go: how much memory there is
//
// A request goes this way. Its connection is counted (Conns). It gets a ticket
// for the network that it comes from (Control.NewTicket), which becomes the
// account's once its credentials are known (Ticket.SignIn). Its body is read
// whole while memory is taken for what has come (Ticket.ReadAll), and only then
// it enters (Ticket.Enter). Whatever else it needs is asked for with Memory,
// SearchSlot and Control.Child, and given back.
//
// Who holds something may wait for more. That never becomes a deadlock, since
// every wait of a request is short: it ends in a 429 or 503.
package admission

// Control is the whole layer.
type Control struct {
	*Gate
	*Conns
	Proxies
	memory int64
}

// DefaultMemory is that of servers that nobody gave a size, in bytes.
const DefaultMemory = 2 << 30

// New makes the layer for a server that may use so many bytes of memory, its
// processes of git included. Three quarters of them are the budget of requests;
// the rest is for what the server keeps anyway.
func New(memory int64, proxies Proxies) *Control {
	return &Control{Gate: NewGate(memory / 4 * 3), Conns: NewConns(MaxConns(memory), proxies), Proxies: proxies, memory: memory}
}

// GitMemory is the part that processes of git for requests have, in bytes, for
// git.Options.Memory. Those of background work have theirs beside it.
func (c *Control) GitMemory() int64 { return c.memory / 4 * 3 / 64 * childPart }

// GoLimit is the part that is Go's, in bytes, for debug.SetMemoryLimit: all that is
// not for processes of git.
func (c *Control) GoLimit() int64 {
	return c.memory - c.memory/4*3/64*(childPart+backgroundPart)
}
