package admission

import (
	"io"
	"sync/atomic"
	"time"

	"arbor/internal/errs"
)

// MaxPause is how long a client may be silent: git counts and packs objects before it sends the first byte.
const MaxPause = 10 * time.Minute

// PacedStream paces a conversation that has no requests, as Pace does for those that have. Like them it is
// read in one goroutine at a time and written in one.
type PacedStream struct {
	rw      io.ReadWriter
	ticket  *Ticket
	hangUp  func()
	reading time.Duration // how long the server still waits for the client to send
	writing time.Duration // and to read
	pause   atomic.Int64  // of the next read; 0: none
	slow    atomic.Bool
	ended   atomic.Bool
	written atomic.Int64
}

// NewPacedStream paces rw in the name of ticket. A client that is too slow has its connection ended by
// hangUp, so that a read or write that waits fails.
func NewPacedStream(ticket *Ticket, rw io.ReadWriter, hangUp func()) *PacedStream {
	return &PacedStream{rw: rw, ticket: ticket, hangUp: hangUp, reading: Grace, writing: Grace}
}

// Pause sets how long the client may take before the next byte that is read.
func (s *PacedStream) Pause(d time.Duration) { s.pause.Store(int64(d)) }

// End ends the pace: what still waits for the client, if anything, does so without hanging up.
func (s *PacedStream) End() { s.ended.Store(true) }

// Written is how many bytes were written.
func (s *PacedStream) Written() int64 { return s.written.Load() }

// Read reads what the client sends. Error: Malformed if it came too slowly.
func (s *PacedStream) Read(b []byte) (int, error) {
	pause := time.Duration(s.pause.Swap(0))
	if pause > 0 {
		s.reading = Grace
	}
	start := time.Now()
	n, err := s.within(max(pause, s.reading), s.rw.Read, b)
	if pause == 0 {
		spend(&s.reading, time.Since(start), n)
	}
	return n, err
}

// Write writes in chunks, each with its own deadline. Errors: Malformed for a client that is too slow,
// Canceled for one that has disconnected.
func (s *PacedStream) Write(b []byte) (int, error) {
	n, err := paceWrites(s.ticket, &s.writing, b, s.cut, func(b []byte, limit time.Duration) (int, error) {
		return s.within(limit, s.rw.Write, b)
	})
	s.written.Add(int64(n))
	if err != nil && !s.slow.Load() {
		err = errs.Wrap(errs.Canceled, "the client went away", err)
	}
	return n, err
}

// cut hangs up, unless the pace has ended.
func (s *PacedStream) cut() {
	if s.ended.Load() || s.slow.Swap(true) {
		return
	}
	s.hangUp()
}

func (s *PacedStream) within(limit time.Duration, do func([]byte) (int, error), b []byte) (int, error) {
	timer := time.AfterFunc(limit, s.cut)
	n, err := do(b)
	timer.Stop()
	if err != nil && s.slow.Load() {
		err = errs.Wrap(errs.Malformed, "the client was too slow", err)
	}
	return n, err
}
