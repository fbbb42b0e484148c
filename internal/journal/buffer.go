package journal

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	delay       = 100 * time.Millisecond // between a line and its write, at most
	enough      = 64 << 10               // bytes that are written without waiting
	maxBuffered = 1 << 20                // bytes of lines that wait for the reader; others are dropped
	lastWait    = time.Second            // time that Close leaves a reader that is stuck
)

// Dropped is the message of the line that counts lines which a stuck reader has cost.
const Dropped = "log lines were dropped because nobody read the log"

// Buffer writes the lines of a log together, a tenth of a second after the first of them. Requests do not wait
// for its writer: while that is stuck, lines are dropped, and the next line says how many. A process
// that is killed loses the lines of the last tenth of a second. Safe for concurrent use.
type Buffer struct {
	w   io.Writer
	log slog.Handler // writes to the buffer

	some, much chan struct{} // a line waits; enough bytes wait
	stop, done chan struct{}
	close      sync.Once

	mu      sync.Mutex
	waiting []byte
	dropped int  // lines since waiting was taken the last time
	closed  bool // lines are written when they are logged
}

// NewBuffer returns a log of the form open (Text or JSON) whose lines go to w through a buffer, and the
// buffer. Close it before the process ends.
func NewBuffer(
	w io.Writer, open func(io.Writer, slog.Leveler) slog.Handler, least slog.Leveler,
) (slog.Handler, *Buffer) {
	b := &Buffer{w: w, some: make(chan struct{}, 1), much: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{})}
	b.log = open(b, least)
	go b.run()
	return b.log, b
}

// Write takes one line. It always succeeds.
func (b *Buffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return b.w.Write(line)
	case b.dropped > 0 || len(b.waiting)+len(line) > maxBuffered:
		b.dropped++
		return len(line), nil
	}
	b.waiting = append(b.waiting, line...)
	signal(b.some)
	if len(b.waiting) >= enough {
		signal(b.much)
	}
	return len(line), nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run writes lines until the buffer is closed.
func (b *Buffer) run() {
	defer close(b.done)
	var lines []byte
	for {
		stopping := b.wait()
		lines = b.take(lines, stopping)
		switch {
		case len(lines) > 0:
			_, _ = b.w.Write(lines) // a log that cannot be written has nobody to tell
		case stopping:
			return
		}
	}
}

// wait returns when lines are to be written, and reports whether the buffer is being closed.
func (b *Buffer) wait() (stopping bool) {
	select {
	case <-b.some:
	case <-b.stop:
		return true
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.much:
	case <-b.stop:
		return true
	}
	return false
}

// take returns the lines that wait, and reuses the memory of the ones before. If none wait and the buffer is being
// closed, it is closed from then on.
func (b *Buffer) take(before []byte, stopping bool) []byte {
	if cap(before) > 2*enough {
		before = nil
	}
	b.mu.Lock()
	lines, dropped := b.waiting, b.dropped
	b.waiting, b.dropped = before[:0], 0
	b.closed = stopping && len(lines) == 0
	b.mu.Unlock()
	if dropped > 0 {
		r := slog.NewRecord(time.Now(), slog.LevelWarn, Dropped, 0)
		r.AddAttrs(slog.Int("lines", dropped))
		_ = b.log.Handle(context.Background(), r)
	}
	return lines
}

// Close writes the lines that wait. Later lines are written when they are logged. A reader that is stuck holds it up
// for a second.
func (b *Buffer) Close() {
	b.close.Do(func() { close(b.stop) })
	select {
	case <-b.done:
	case <-time.After(lastWait):
	}
}
