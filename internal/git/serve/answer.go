package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"arbor/internal/durable"
	"arbor/internal/errs"
)

// answer is what git upload-pack says to a request.
type answer struct {
	of      *Shared
	key     answerKey
	stop    context.CancelFunc // ends the process
	changed *sync.Cond         // broadcast when anything below changes

	file    *os.File // nil until the first write
	filed   int64    // bytes of the file
	alone   bool     // it did not fit: no more readers, and what follows is in piece
	piece   []byte
	written int64 // bytes in all; those of piece are the last
	ended   bool
	err     error // why it ended
	readers map[*reader]struct{}
	idle    time.Time // when the last reader left
}

// reader is a client that gets an answer.
type reader struct {
	at  int64 // bytes that it has read
	cut bool  // it kept others waiting, and gets no more
}

// Write takes what git says: into the file or, if that has no room, into memory once all readers have the piece
// before. Error: Canceled if no reader is left.
func (a *answer) Write(p []byte) (int, error) {
	s := a.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reserve(a, int64(len(p))) {
		s.mu.Unlock()
		err := a.store(p)
		s.mu.Lock()
		if err == nil {
			a.filed += int64(len(p))
			a.written = a.filed
			a.changed.Broadcast()
			return len(p), nil
		}
		s.bytes -= int64(len(p)) // the disk is full
	}
	a.alone = true
	s.close(a)
	a.awaitReaders()
	a.discard()
	if len(a.readers) == 0 {
		return 0, errs.New(errs.Canceled, "all clients went away")
	}
	a.piece = append(a.piece[:0], p...)
	a.written += int64(len(p))
	a.changed.Broadcast()
	return len(p), nil
}

// store appends to the file. Only the goroutine of the process calls it.
func (a *answer) store(p []byte) error {
	if a.file == nil {
		f, err := os.CreateTemp(a.of.dir, durable.Temporary)
		if err != nil {
			return err
		}
		if err := os.Remove(f.Name()); err != nil { // a server that is killed leaves nothing
			_ = f.Close()
			return err
		}
		a.file = f
	}
	_, err := a.file.WriteAt(p, a.filed)
	return err
}

// maxLag is how long a reader of an answer that does not fit may keep faster ones waiting: as long as a client may
// read nothing of a fetch while others wait for memory.
const maxLag = 3 * time.Second

// awaitReaders waits until all readers have all that was written. Those that keep others waiting for too long get no
// more.
func (a *answer) awaitReaders() {
	began := time.Now()
	wake := time.AfterFunc(a.of.lag, func() {
		a.of.mu.Lock()
		defer a.of.mu.Unlock()
		a.changed.Broadcast()
	})
	defer wake.Stop()
	for a.behind() {
		if time.Since(began) >= a.of.lag && a.cutLaggards() {
			return
		}
		a.changed.Wait()
	}
}

// cutLaggards ends the readers that are behind, if there are others.
func (a *answer) cutLaggards() (cut bool) {
	for r := range a.readers {
		cut = cut || r.at == a.written
	}
	if !cut {
		return false
	}
	for r := range a.readers {
		if r.at < a.written {
			r.cut = true
			delete(a.readers, r)
		}
	}
	return true
}

// behind reports that some reader has not read all that was written.
func (a *answer) behind() bool {
	for r := range a.readers {
		if r.at < a.written {
			return true
		}
	}
	return false
}

// copyTo copies the answer to a client while it is written. Errors: how the process ended, or Canceled.
func (a *answer) copyTo(ctx context.Context, me *reader, w io.Writer) error {
	wake := context.AfterFunc(ctx, func() {
		a.of.mu.Lock()
		defer a.of.mu.Unlock()
		a.changed.Broadcast()
	})
	defer wake()
	buf := make([]byte, 128<<10)
	for {
		n, err := a.next(ctx, me, buf)
		if n == 0 || err != nil {
			return err
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return clientGone(fmt.Errorf("git upload-pack: %w", err))
		}
	}
}

var errTooSlow = errors.New("the client read more slowly than others that share the answer")

// next reads more of the answer. It returns 0 and how the process ended, at the end.
func (a *answer) next(ctx context.Context, me *reader, buf []byte) (n int, err error) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	for me.at == a.written && !a.ended && ctx.Err() == nil && !me.cut {
		a.changed.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return 0, clientGone(ctx.Err())
	case me.cut:
		return 0, clientGone(errTooSlow)
	case me.at == a.written:
		return 0, a.err
	case me.at < a.filed:
		n = int(min(int64(len(buf)), a.filed-me.at))
		file := a.file
		a.of.mu.Unlock()
		_, err = file.ReadAt(buf[:n], me.at)
		a.of.mu.Lock()
		if me.cut { // the file may be closed
			return 0, clientGone(errTooSlow)
		}
	default:
		n = copy(buf, a.piece[int64(len(a.piece))-(a.written-me.at):])
	}
	me.at += int64(n)
	if a.alone {
		a.changed.Broadcast()
	}
	return n, err
}
