// Package admission decides which requests the server takes on at one time, so
// that nobody can stop it for others. Each bound names the test that shows what it is for; package test/load attacks
// the whole.
//
//   - gate.go: one budget of bytes, divided by kinds of use and shared fairly by
//     accounts and networks (decision 66)
//   - line.go: one kind of use: its bounds, its holders, and whose turn it is
//   - ticket.go: what one request holds; it travels in the request's context, and
//     bodies, answers, searches and processes of git are asked for with it
//   - pace.go: clients that send or read too slowly lose their connection
//   - stream.go: the same for conversations, as over SSH
//   - yield.go: they lose it earlier while others wait for the process that they hold;
//     searches of histories and files end earlier while others wait for their place
//   - conns.go: how many connections a network may have open, and which silent one gives
//     way to others
//   - proxy.go: where a request comes from, behind proxies that are trusted
//   - machine.go: how much memory there is
//
// A request goes this way. Its connection is counted (Conns). It gets a ticket
// for the network that it comes from (Control.NewTicket), which becomes the
// account's once its credentials are known (Ticket.SignIn). Its body is read
// whole while memory is taken for what has come (Ticket.ReadAll), and only then
// it enters (Ticket.Enter). All else that it needs it asks for with Memory, Hold,
// Slot and Control.Child, and gives back.
//
// A request that holds something may wait for more. That never becomes a deadlock,
// since every wait of a request is short: it ends in a 429 or 503.
package admission

// Control is the whole layer.
type Control struct {
	*Gate
	*Conns
	Proxies
	memory int64
}

// DefaultMemory is the memory of a server without a size of its own, in bytes.
const DefaultMemory = 2 << 30

// budget is the part of a server's memory that requests share: three quarters. The
// server keeps caches and connections in the rest.
func budget(memory int64) int64 { return memory / 4 * 3 }

// New returns the layer for a server that may use memory bytes, including
// its git processes.
func New(memory int64, proxies Proxies) *Control {
	return &Control{
		Gate:    NewGate(budget(memory)),
		Conns:   NewConns(MaxConns(memory), proxies),
		Proxies: proxies,
		memory:  memory,
	}
}

// Streams is how many streams of events may be open: an eighth of all connections.
func (c *Control) Streams() int { return MaxConns(c.memory) / 8 }

// GitMemory is the part of git's processes for requests, in bytes, for
// git.Options.Memory. Processes of background work have a part of their own.
func (c *Control) GitMemory() int64 { return budget(c.memory) / 64 * childPart }

// GoLimit is Go's part, in bytes, for debug.SetMemoryLimit: all but the parts of git's
// processes.
func (c *Control) GoLimit() int64 {
	return c.memory - budget(c.memory)/64*(childPart+backgroundPart)
}
