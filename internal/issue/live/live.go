// Package live tells those who read an issue or pull request that something of it has changed, so that their
// pages load what is new.
//
//   - live.go: streams, their bounds, and the worker that looks for changes
//   - store.go: what of an issue counts as a change
//
// One worker of this process looks for all streams: while there are any, it asks once a second whether anybody has
// written to the database, as db.State says, and if so reads the marks of the issues that are being read. So what
// other nodes write counts, too, and a stream costs no query. A stream says only that there is a change. Whether
// its reader may still know that, its handler asks each time.
package live

import (
	"context"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// Bounds of streams.
const (
	MaxEach = 6               // of one person, or of a network's strangers
	Lasts   = 5 * time.Minute // then the browser opens another one

	beat     = time.Second // between two looks
	perQuery = 200         // issues whose marks one query reads
)

// Service knows the streams of this process.
type Service struct {
	db   *db.DB
	most int

	mu     sync.Mutex
	of     map[issue.ID]map[*Stream]bool
	each   map[any]int
	total  int
	opened chan struct{} // rung by the first stream
	ended  chan struct{} // closed by End
	over   bool
}

// New returns a Service of at most so many streams.
func New(d *db.DB, most int) *Service {
	return &Service{db: d, most: most, of: map[issue.ID]map[*Stream]bool{}, each: map[any]int{},
		opened: make(chan struct{}, 1), ended: make(chan struct{})}
}

// Stream hears of the changes of one issue.
type Stream struct {
	s      *Service
	of     issue.ID
	holder any
	mark   string      // that it heard of last
	said   chan string // room for the newest mark
}

// Open returns a stream of an issue for somebody who has seen it at a mark. Close it. Errors: 429 for a holder with
// MaxEach streams, 503 if there are too many, or the server stops.
func (s *Service) Open(holder any, of issue.ID, mark string) (*Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over || s.total >= s.most:
		return nil, errs.Wrap(errs.Unavailable, "The server takes on no more streams of events. Try again later.",
			admission.ErrRefused)
	case s.each[holder] >= MaxEach:
		return nil, errs.Newf(errs.TooManyRequests, "You have %d streams of events open, which is the limit.", MaxEach)
	}
	st := &Stream{s: s, of: of, holder: holder, mark: mark, said: make(chan string, 1)}
	if s.of[of] == nil {
		s.of[of] = map[*Stream]bool{}
	}
	s.of[of][st] = true
	s.each[holder]++
	s.total++
	select {
	case s.opened <- struct{}{}:
	default:
	}
	return st, nil
}

// Close ends the stream.
func (st *Stream) Close() {
	s := st.s
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of[st.of], st)
	if len(s.of[st.of]) == 0 {
		delete(s.of, st.of)
	}
	if s.each[st.holder]--; s.each[st.holder] == 0 {
		delete(s.each, st.holder)
	}
	s.total--
}

// Said receives the new mark when the issue has changed; empty: it is gone. Several changes may be one.
func (st *Stream) Said() <-chan string { return st.said }

// Ended is closed when the server stops.
func (st *Stream) Ended() <-chan struct{} { return st.s.ended }

// Count is how many streams are open.
func (s *Service) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// End ends all streams, and those that are opened later.
func (s *Service) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over = true
		close(s.ended)
	}
}

// Run looks for changes until ctx is done.
func (s *Service) Run(ctx context.Context) error {
	var last cache.State
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.opened: // its page may be older than the last look
			last = cache.Unknown
		case <-tick.C:
		}
		list := s.watched()
		if len(list) == 0 {
			continue
		}
		now := s.db.State(ctx)
		if now == last && now != cache.Unknown {
			continue
		}
		if s.look(ctx, list) == nil { // else once more
			last = now
		}
	}
}

// watched is the issues that are being read.
func (s *Service) watched() []issue.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]issue.ID, 0, len(s.of))
	for id := range s.of {
		list = append(list, id)
	}
	return list
}

// look reads the marks of issues, and tells their streams.
func (s *Service) look(ctx context.Context, list []issue.ID) error {
	for len(list) > 0 {
		part := list[:min(len(list), perQuery)]
		list = list[len(part):]
		marks, err := s.marks(ctx, part)
		if err != nil {
			return err
		}
		s.mu.Lock()
		for _, id := range part {
			for st := range s.of[id] {
				st.tell(marks[id])
			}
		}
		s.mu.Unlock()
	}
	return nil
}

// tell notes a mark for the stream's handler, instead of one that it has not taken yet. It is called with mu held.
func (st *Stream) tell(mark string) {
	if mark == st.mark {
		return
	}
	st.mark = mark
	select {
	case <-st.said:
	default:
	}
	st.said <- mark
}

// Mark is the present mark of the issue with a number, for its page, which reads it before all else: a stream from
// this mark on misses nothing. It is empty if there is none.
func (s *Service) Mark(ctx context.Context, a *repo.Access, number int64) (mark string, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (string, error) { return readMark(tx, a.ID, number) })
}

// Holds checks that the caller still sees the issue in the repository. Errors: 401, 403, 404.
func (s *Service) Holds(ctx context.Context, a *repo.Access, id issue.ID) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		now, err := a.Now(tx)
		if err == nil {
			err = now.MayRead(account.Pull)
		}
		if err != nil {
			return err
		}
		there, err := isIn(tx, id, a.ID)
		if err == nil && !there {
			err = errs.Absent()
		}
		return err
	})
}

func (s *Service) marks(ctx context.Context, list []issue.ID) (marks map[issue.ID]string, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[issue.ID]string, error) { return readMarks(tx, list) })
}
