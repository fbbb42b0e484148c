package search

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"arbor/internal/db"
)

const (
	batch      = 100                    // texts that a transaction indexes at most
	smallBatch = 10                     // at least, and with the first of a pass: texts have up to 64 KiB
	longest    = 20 * time.Millisecond  // for which a transaction is to index
	gather     = 250 * time.Millisecond // after a change, for others to be indexed with it
	indexEvery = 2 * time.Second        // for what other processes change
)

// indexer synchronizes searches and the worker. Only the worker writes: a search that finds unindexed texts
// requests a pass, and waits for its end.
type indexer struct {
	changed chan struct{} // holds a value after a change
	asked   chan struct{} // holds a value while a search waits for a pass that has not begun
	waiting atomic.Int64  // searches that wait

	mu   sync.Mutex
	next *pass
}

// pass is the worker's indexing of all that was acknowledged before it began.
type pass struct {
	ended chan struct{}
	whole bool // it did so; to be read after ended
}

func newIndexer() indexer {
	return indexer{changed: make(chan struct{}, 1), asked: make(chan struct{}, 1), next: newPass()}
}

func newPass() *pass { return &pass{ended: make(chan struct{})} }

// Changed notifies the worker that a text was changed by a transaction that is
// committed. It does not wait.
func (x *indexer) Changed() { ring(x.changed) }

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// ask returns the next pass, which begins immediately.
func (x *indexer) ask() *pass {
	x.mu.Lock()
	defer x.mu.Unlock()
	ring(x.asked)
	return x.next
}

// begin begins the next pass.
func (x *indexer) begin() *pass {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.next
	x.next = newPass()
	return p
}

// Run indexes what changes, until ctx is done. It returns nil: what fails is
// logged and tried again.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(indexEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.asked:
		case <-tick.C:
		case <-s.changed:
			s.rest(ctx, gather)
		case <-ctx.Done():
			return nil
		}
		p := s.begin()
		// most of the writer's time is others'
		err := s.index(ctx, func(took time.Duration) { s.rest(ctx, 4*took) })
		p.whole = err == nil
		close(p.ended)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "texts could not be indexed", "error", err)
		}
	}
}

// rest sleeps unless a search waits for the worker.
func (s *Service) rest(ctx context.Context, d time.Duration) {
	if s.waiting.Load() > 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.asked:
		ring(s.asked) // for Run: the caller may need the pass after this one
	case <-ctx.Done():
	}
}

// Index indexes all that was acknowledged before the call.
func (s *Service) Index(ctx context.Context) error { return s.index(ctx, func(time.Duration) {}) }

// index is Index with a pause after each transaction, which receives its duration.
func (s *Service) index(ctx context.Context, pause func(took time.Duration)) error {
	for _, of := range queues() {
		most := smallBatch
		first, last, err := s.notes(ctx, of)
		for until := last; err == nil && first != 0 && first <= until; first, _, err = s.notes(ctx, of) {
			began := time.Now()
			var indexing time.Duration // without waiting and the commit
			err := s.db.Write(ctx, func(tx *db.Tx) error {
				began := time.Now()
				defer func() { indexing = time.Since(began) }()
				return of.index(tx, most)
			})
			if err != nil {
				return err
			}
			if most = min(2*most, batch); indexing > longest { // SQLite has one writer at a time
				most = max(most/4, smallBatch)
			}
			pause(time.Since(began))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) notes(ctx context.Context, of queue) (first, last int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		first, last, err = notes(tx, of.table)
		return err
	})
	return first, last, err
}

// indexed reports whether all that was acknowledged before the call is indexed of a queue.
// Where it is not, it waits for the worker, up to some time.
func (s *Service) indexed(ctx context.Context, of queue) (whole bool, err error) {
	first, _, err := s.notes(ctx, of)
	if err != nil || first == 0 {
		return err == nil, err
	}
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	p := s.ask()
	timer := time.NewTimer(s.Patience)
	defer timer.Stop()
	select {
	case <-p.ended:
		return p.whole, nil
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
