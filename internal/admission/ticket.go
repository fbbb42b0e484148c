package admission

import (
	"context"
	"io"
	"sync/atomic"
	"time"
)

// Ticket counts what a request holds. It is in the request's context, and used to request more.
type Ticket struct {
	gate *Gate
	who  Holder
	kind atomic.Uint32 // of processes: Child, Stream or Push
	held atomic.Int32  // processes
	cost atomic.Int64
	turn atomic.Int64 // 1 while the request computes
	base atomic.Int64 // granted by Enter and Hold, and taken back by Leave
	body int64        // granted by ReadAll, and taken back by Leave
}

// NewTicket returns the ticket of a request; it holds nothing yet.
func (g *Gate) NewTicket(from Holder) *Ticket {
	t := &Ticket{gate: g, who: from}
	t.kind.Store(uint32(Child))
	return t
}

// SignIn names the account of the request. It is called before anything is taken.
func (t *Ticket) SignIn(account int64) { t.who = Holder{Account: account} }

// Cost is how many bytes were granted so far, including those that were given back; 0
// without a ticket.
func (t *Ticket) Cost() int64 {
	if t == nil {
		return 0
	}
	return t.cost.Load()
}

func (t *Ticket) take(ctx context.Context, k Kind, bytes int64) (int64, error) {
	isProcess := Child <= k && k < Turn
	granted, err := t.gate.take(ctx, k, t.who, bytes, isProcess && t.held.Load() > 0)
	if err == nil {
		t.cost.Add(granted)
	}
	return granted, err
}

// perRequest is the memory of every request, in bytes: its goroutine, buffers, rows and a
// small answer. perBody is how many more copies of a body are in memory while it is
// decoded and stored.
const (
	perRequest = 64 << 10
	perBody    = 3
)

// Enter admits the request, after its body was read. Call Leave afterwards.
func (t *Ticket) Enter(ctx context.Context) (err error) {
	n, err := t.take(ctx, Work, perRequest+perBody*t.body)
	if t.base.Store(n); err != nil {
		return err
	}
	return t.compute(ctx, false)
}

// compute takes a turn. again is true for a request that had one before.
func (t *Ticket) compute(ctx context.Context, again bool) error {
	n, err := t.gate.take(ctx, Turn, t.who, 1, again)
	t.turn.Add(n)
	return err
}

// pause releases the turn, and reports whether there was one.
func (t *Ticket) pause() bool {
	n := t.turn.Swap(0)
	if n > 0 {
		t.gate.give(Turn, t.who, n)
	}
	return n > 0
}

// quick is how long a write to a client may take while its request keeps its turn.
const quick = 50 * time.Millisecond

// Send runs a write to the client. If that takes long, the turn passes to another request, so that a slow
// client does not delay requests that compute.
func (t *Ticket) Send(ctx context.Context, write func() error) error {
	if t == nil || t.turn.Load() == 0 {
		return write()
	}
	var paused atomic.Bool
	slow := time.AfterFunc(quick, func() { paused.Store(t.pause()) })
	err := write()
	if !slow.Stop() && paused.Load() && err == nil {
		err = t.compute(ctx, true)
	}
	return err
}

// Leave releases all that Enter, ReadAll and Hold took. It may be called without them.
func (t *Ticket) Leave() {
	t.pause()
	if n := t.base.Swap(0) + t.body; n > 0 {
		t.gate.give(Work, t.who, n)
	}
	t.body = 0
}

// firstRead is how many bytes of a body are read without asking: the connection counts
// for as much.
const firstRead = 4 << 10

// ReadAll reads a whole body. It reserves memory as bytes arrive, never for announced ones; size is the
// announced length, or -1. refused distinguishes an error of the gate from one of the body, whose beginning
// is returned.
func (t *Ticket) ReadAll(
	ctx context.Context, body io.Reader, size int64,
) (data []byte, refused bool, err error) {
	next := int64(firstRead)
	if size >= 0 {
		next = min(next, size+1) // with room for the end
	}
	data = make([]byte, 0, next)
	for {
		got, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+got]
		if err == io.EOF {
			return data, false, nil
		}
		if err != nil {
			return data, false, err
		}
		if len(data) < cap(data) {
			continue
		}
		next := max(2*int64(cap(data)), perRequest)
		if size >= int64(len(data)) {
			next = min(next, size+1)
		}
		n, err := t.take(ctx, Work, next-t.body)
		if t.body += n; err != nil {
			return nil, true, err
		}
		data = append(make([]byte, 0, next), data...)
	}
}

type ticketKey struct{}

// With returns a context that carries t.
func With(ctx context.Context, t *Ticket) context.Context {
	return context.WithValue(ctx, ticketKey{}, t)
}

// From returns the ticket that ctx carries, nil if there is none.
func From(ctx context.Context) *Ticket {
	t, _ := ctx.Value(ticketKey{}).(*Ticket)
	return t
}

// HolderOf returns the [Holder] of the request that ctx belongs to, nil without one.
func HolderOf(ctx context.Context) any {
	if t := From(ctx); t != nil {
		return t.who
	}
	return nil
}

func nothing() {}

// Memory reserves bytes of this process's memory for the request of ctx, before they are allocated. It
// waits at most a second. The caller calls release once when the bytes are no longer used. Work without a
// ticket is admitted immediately. Errors: TooManyRequests if the caller's own share is used up, Unavailable
// if the server is full, those of ctx. release is never nil.
func Memory(ctx context.Context, bytes int64) (release func(), err error) {
	t := From(ctx)
	if t == nil {
		return nothing, ctx.Err()
	}
	return t.ask(ctx, Work, bytes)
}

// Hold is Memory for bytes that the request needs until it has been answered: its answer,
// which a slow client may read for minutes. Each request has room for a small one. It is
// called in the goroutine of the request.
func Hold(ctx context.Context, bytes int64) error {
	t := From(ctx)
	if t == nil || bytes <= perRequest {
		return ctx.Err()
	}
	n, err := t.take(ctx, Work, bytes)
	t.base.Add(n)
	return err
}

// Slot is Memory for a place: of Search, Scan, Upload, Handshake, Image or Depot. It waits for the last four at most
// ten seconds.
func Slot(ctx context.Context, k Kind) (release func(), err error) {
	t := From(ctx)
	if t == nil {
		return nothing, ctx.Err()
	}
	return t.ask(ctx, k, 1)
}

func (t *Ticket) ask(ctx context.Context, k Kind, bytes int64) (release func(), err error) {
	n, err := t.take(ctx, k, bytes)
	if err != nil {
		return nothing, err
	}
	return func() { t.gate.give(k, t.who, n) }, nil
}

// As sets the kind of git processes that the request starts afterwards: Stream or Push; the default is
// Child. Such a process may wait for its client, and the request for the process, so the request returns
// its turn.
func As(ctx context.Context, k Kind) {
	if t := From(ctx); t != nil {
		t.kind.Store(uint32(k))
		t.pause()
	}
}

// Child is git.Options.Admit: it reserves the memory of a git process. Without a ticket it is background
// work, which waits for a minute and is retried later.
func (g *Gate) Child(ctx context.Context, bytes int64) (release func(), err error) {
	t := From(ctx)
	if t == nil {
		return (&Ticket{gate: g}).ask(ctx, Background, bytes)
	}
	give, err := t.ask(ctx, Kind(t.kind.Load()), bytes)
	if err != nil {
		return give, err
	}
	t.held.Add(1)
	return func() {
		t.held.Add(-1)
		give()
	}, nil
}
