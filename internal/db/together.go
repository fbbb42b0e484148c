package db

import (
	"context"
	"errors"
	"slices"
	"time"

	"arbor/internal/cache"
)

// group is functions that read together, see [DB.Together]. One goroutine, that of run, knows how they stand;
// the members tell it by events. Of the members one works at a time; when all of them wait for rows, those
// that ask the same statement are answered by one statement (merge.go), in a snapshot that begins then.
type group struct {
	db     *DB
	ctx    context.Context
	events chan event
	done   chan struct{} // closed when all have ended

	live    int            // members that have not ended
	working int            // that may work: one, but for those that were let go while it stands still
	paused  int            // that wait for somebody else
	inside  int            // transactions in the open snapshot
	ready   []*waiter      // may go on
	waiting []*waiter      // for rows
	still   bool           // who works stands still, perhaps for another member: nobody waits for it
	order   map[string]int // of statements, as they were met
}

type groupKey struct{}

// event is what a member tells.
type event struct {
	kind eventKind
	w    *waiter
}

type eventKind uint8

const (
	ended    eventKind = iota // the function has returned
	asks                      // waits for rows
	left                      // its transaction is over
	pauses                    // waits for somebody else
	proceeds                  // does so no longer
)

// waiter is a member that waits: until it may go on, or for rows, too.
type waiter struct {
	proceed chan struct{} // closed when it may go on
	in      *groupConn
	query   string
	args    []any
	rows    *keptRows
	err     error
}

// How long a member may stand still before the others are answered without it, and how long they wait for one
// that goes on just now.
const (
	standstill = time.Second
	soon       = time.Millisecond
)

// errApart says that a transaction cannot be read together with others: it is read by itself then.
var errApart = errors.New("db: this transaction reads alone")

// Together runs fn for the numbers below n, and returns when all have ended. What they read under the context
// that they get is read together: those that ask the same statement at the same step, with whatever
// arguments, are answered by one statement. So as many statements run for many as for one, as long as they do
// the same; each Read still sees one snapshot, which began after its call. fn runs in goroutines, of which
// one works at a time. A panic is passed on.
//
// Writes, and what else does not go together, run as always. So do those that n of 1 makes.
func (d *DB) Together(ctx context.Context, n int, fn func(ctx context.Context, i int)) {
	if n < 2 || ctx.Value(groupKey{}) != nil {
		for i := range n {
			fn(ctx, i)
		}
		return
	}
	g := &group{db: d, ctx: ctx, events: make(chan event), done: make(chan struct{}), live: n,
		order: map[string]int{}}
	inner := cache.WithPause(context.WithValue(ctx, groupKey{}, g), g.pause)
	failures := make([]any, n)
	for i := range n {
		w := &waiter{proceed: make(chan struct{})}
		g.ready = append(g.ready, w)
		go func() {
			<-w.proceed
			defer func() {
				failures[i] = recover()
				g.events <- event{kind: ended}
			}()
			fn(inner, i)
		}()
	}
	g.run()
	for _, f := range failures {
		if f != nil {
			panic(f)
		}
	}
}

// run answers the members until all have ended.
func (g *group) run() {
	for g.live > 0 {
		g.turn()
		switch {
		case len(g.waiting) > 0:
			g.snapshot()
		case g.live > 0:
			g.note(<-g.events)
		}
	}
	close(g.done)
	for g.dismiss(); len(g.ready) > 0; g.ready = g.ready[1:] { // what works behind a member that has ended
		close(g.ready[0].proceed)
	}
}

// dismiss has all that wait for rows read by themselves.
func (g *group) dismiss() {
	for _, w := range g.waiting {
		w.err, w.in.apart = errApart, true
	}
	g.ready, g.waiting = append(g.ready, g.waiting...), nil
}

func (g *group) note(e event) {
	switch e.kind {
	case ended:
		g.working--
		g.live--
	case asks:
		g.working--
		g.waiting = append(g.waiting, e.w)
		if _, met := g.order[e.w.query]; !met {
			g.order[e.w.query] = len(g.order)
		}
	case left:
		g.inside--
	case pauses:
		g.working--
		g.paused++
	case proceeds:
		g.paused--
		g.ready = append(g.ready, e.w)
	}
}

// turn lets members work, one after the other, until none may go on.
func (g *group) turn() {
	for {
		for len(g.ready) > 0 && (g.working <= 0 || g.still) {
			w := g.ready[0]
			g.ready = g.ready[1:]
			g.working++
			close(w.proceed)
		}
		wait := standstill
		if g.working <= 0 {
			if g.still = false; g.paused == 0 {
				return
			}
			wait = soon
		}
		timer := time.NewTimer(wait)
		select {
		case e := <-g.events:
			timer.Stop()
			g.note(e)
		case <-timer.C:
			if g.working <= 0 {
				return
			}
			if g.still = len(g.ready)+len(g.waiting) > 0; g.still && len(g.ready) == 0 {
				return
			}
		}
	}
}

// snapshot answers those that wait for one statement, and all that their transactions ask after it.
func (g *group) snapshot() {
	chosen := g.choose(false)
	one, long, begun := true, false, false
	for _, w := range chosen {
		one, long = one && w.in.one, long || w.in.long
	}
	read := func(fn func(*Tx) error) error { return g.db.backend.read(g.ctx, fn, long) }
	if one {
		read = func(fn func(*Tx) error) error { return g.db.backend.readOne(g.ctx, fn) }
	}
	err := read(func(tx *Tx) error {
		if begun { // they read by themselves already
			return errApart
		}
		begun = true
		for {
			g.answer(tx, chosen)
			for chosen = nil; len(chosen) == 0; chosen = g.choose(true) {
				if g.turn(); g.inside <= 0 {
					return tx.failed
				}
				if !slices.ContainsFunc(g.waiting, func(w *waiter) bool { return w.in.inside }) {
					g.dismiss() // who is in the snapshot may wait for one of those
				}
			}
		}
	})
	if !begun {
		for _, w := range chosen {
			w.err = err
		}
		g.ready = append(g.ready, chosen...)
	}
}

// choose takes those that wait for the statement that was met before others, so that those who are behind
// catch up. inside chooses among those in the open snapshot.
func (g *group) choose(inside bool) (chosen []*waiter) {
	var first string
	for _, w := range g.waiting {
		if w.in.inside == inside && (first == "" || g.order[w.query] < g.order[first]) {
			first = w.query
		}
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(w *waiter) bool {
		if w.in.inside != inside || w.query != first {
			return false
		}
		chosen = append(chosen, w)
		return true
	})
	return chosen
}

// answer gives rows to those that wait for a statement.
func (g *group) answer(tx *Tx, chosen []*waiter) {
	for _, w := range chosen {
		if !w.in.inside {
			w.in.inside = true
			g.inside++
		}
	}
	if tx.failed == nil {
		if err := g.fetch(tx, chosen); err != nil {
			tx.fail(err)
		}
	}
	for _, w := range chosen {
		if w.rows == nil {
			w.err, w.in.apart = errApart, true
		}
	}
	g.ready = append(g.ready, chosen...)
}

// pause is what [cache.WithPause] wants: a member waits for somebody, who may be another member.
func (g *group) pause() (resume func()) {
	g.tell(event{kind: pauses})
	return func() {
		w := &waiter{proceed: make(chan struct{})}
		if g.tell(event{proceeds, w}) {
			<-w.proceed
		}
	}
}

// tell reports whether anybody hears it: what works behind a member may outlive the group.
func (g *group) tell(e event) bool {
	select {
	case g.events <- e:
		return true
	case <-g.done:
		return false
	}
}

// read runs fn as a transaction of a member, or alone where that cannot be.
func (g *group) read(ctx context.Context, fn func(*Tx) error, long, one bool,
	alone func(func(*Tx) error) error) error {
	c := &groupConn{g: g, long: long, one: one}
	err := func() error {
		defer func() {
			if c.inside {
				g.tell(event{kind: left})
			}
		}()
		tx := Tx{Now: g.db.Now(), ctx: ctx, caller: ctx, conn: c, shared: true}
		return tx.run(fn)
	}()
	if c.apart && ctx.Err() == nil {
		return alone(fn)
	}
	return err
}

// groupConn is the connection of a member's transaction.
type groupConn struct {
	g         *group
	long, one bool
	inside    bool // it is in the open snapshot
	apart     bool // it has to be read alone
}

func (c *groupConn) engine() Engine { return c.g.db.kind }

func (c *groupConn) exec(context.Context, string, []any) (int64, error) {
	c.apart = true
	return 0, errApart
}

func (c *groupConn) query(_ context.Context, query string, args []any) (cursor, error) {
	bound, err := boundArguments(args)
	if err != nil {
		return nil, err
	}
	w := &waiter{proceed: make(chan struct{}), in: c, query: query, args: bound}
	if !c.g.tell(event{asks, w}) {
		c.apart = true
		return nil, errApart
	}
	<-w.proceed
	if w.err != nil {
		return nil, w.err
	}
	return &keptCursor{rows: w.rows.list}, nil
}

func (c *groupConn) queryMany(context.Context, string, [][]any) (cursor, error) {
	c.apart = true
	return nil, errApart
}
