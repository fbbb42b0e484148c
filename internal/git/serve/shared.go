package serve

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"arbor/internal/cache"
	"arbor/internal/durable"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// Shared lets clients that send the same request for the same refs share one answer, such as the jobs of a
// build that clone one commit. One git process packs, and each client reads its output at its own speed. An
// answer is an unlinked temporary file, which is kept for a short time after its last reader.
//
// An answer that does not fit takes no more readers. The rest of the output goes to its readers through
// memory, piece by piece, at the speed of the slowest.
type Shared struct {
	dir   string // of the files
	limit int64  // of bytes of all files
	keep  time.Duration

	mu      sync.Mutex // guards all below, and the answers
	bytes   int64      // of all files, with what is about to be written
	answers map[answerKey]*answer
	joined  int64 // requests that found an answer
	begun   int64 // and those that did not
}

// Bounds of what is kept without readers: the time after the last one, and the number of answers.
const (
	keepShared = 10 * time.Second
	maxShared  = 256
)

// NewShared returns a Shared whose files, in the folder dir, take at most limit bytes.
func NewShared(dir string, limit int64) *Shared {
	return &Shared{dir: dir, limit: limit, keep: keepShared, answers: map[answerKey]*answer{}}
}

// Caches counts the answers, and the requests that found one or did not.
func (s *Shared) Caches() []cache.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []cache.Stats{{Name: "fetches", Entries: int64(len(s.answers)), Held: s.bytes, Most: s.limit,
		Hits: s.joined, Misses: s.begun}}
}

// answerKey is a digest of all that an answer depends on.
type answerKey [sha256.Size]byte

// keyOf returns the key of a request. A purge gives the repository another folder, so it is never answered with
// what was packed before.
func keyOf(r *git.Repository, protocol int, generation int64, request []byte) answerKey {
	h := sha256.New()
	fmt.Fprintf(h, "%q %d %d\n", r.Dir(), protocol, generation)
	h.Write(request)
	return answerKey(h.Sum(nil))
}

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
	idle    time.Time // since when there are no readers
}

// reader is a client that gets an answer.
type reader struct{ at int64 }

// upload answers the last request of a fetch as the function upload does, from an answer that clients share.
func (s *Shared) upload(ctx context.Context, r *git.Repository, request []byte, generation int64, o Request) error {
	me := &reader{}
	a := s.join(keyOf(r, o.Protocol, generation, request), me, func(a *answer) {
		var work context.Context
		work, a.stop = context.WithCancel(context.WithoutCancel(ctx))
		go func() {
			alone := o
			alone.Out = a
			s.end(a, upload(work, r, request, alone))
		}()
	})
	defer s.leave(a, me)
	return a.copyTo(ctx, me, o.Out)
}

// join adds a reader to the answer for a key. If there is none, start begins one.
func (s *Shared) join(key answerKey, me *reader, start func(*answer)) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.answers[key]
	if a == nil {
		a = &answer{of: s, key: key, changed: sync.NewCond(&s.mu), readers: map[*reader]struct{}{}}
		s.answers[key] = a
		s.begun++
		start(a)
	} else {
		s.joined++
	}
	a.readers[me] = struct{}{}
	return a
}

// leave takes a reader from an answer. Without readers a process ends, and a whole answer is kept for a while.
func (s *Shared) leave(a *answer, me *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(a.readers, me)
	a.changed.Broadcast()
	if len(a.readers) > 0 {
		return
	}
	if s.answers[a.key] != a || !a.ended || a.err != nil {
		s.drop(a)
		return
	}
	a.idle = time.Now()
	if len(s.answers) > maxShared {
		s.dropIdle()
	}
	time.AfterFunc(s.keep, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(a.readers) == 0 && time.Since(a.idle) >= s.keep {
			s.drop(a)
		}
	})
}

// drop forgets an answer that has no readers, and ends its process. It may be called again.
func (s *Shared) drop(a *answer) {
	s.close(a)
	a.stop()
	if a.ended {
		a.discard()
	}
}

// discard removes the file, which nobody reads or writes any more.
func (a *answer) discard() {
	if a.file != nil {
		_ = a.file.Close()
		a.of.bytes -= a.filed
		a.file = nil
	}
}

// close keeps other readers from an answer.
func (s *Shared) close(a *answer) {
	if s.answers[a.key] == a {
		delete(s.answers, a.key)
	}
}

// dropIdle drops the answer that has been without readers for the longest time. It reports whether there was one.
func (s *Shared) dropIdle() bool {
	var oldest *answer
	for _, a := range s.answers {
		if len(a.readers) == 0 && a.ended && (oldest == nil || a.idle.Before(oldest.idle)) {
			oldest = a
		}
	}
	if oldest != nil {
		s.drop(oldest)
	}
	return oldest != nil
}

// end notes how the process has ended.
func (s *Shared) end(a *answer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.ended, a.err = true, err
	if err != nil || a.alone {
		s.close(a)
	}
	if len(a.readers) == 0 {
		s.drop(a)
	}
	a.changed.Broadcast()
}

// Write takes what git says: into the file or, if that has no room, into memory once all readers have the piece
// before. Error: Canceled when there are no readers any more.
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
	for a.behind() {
		a.changed.Wait()
	}
	a.discard()
	if len(a.readers) == 0 {
		return 0, errs.New(errs.Canceled, "all clients went away")
	}
	a.piece = append(a.piece[:0], p...)
	a.written += int64(len(p))
	a.changed.Broadcast()
	return len(p), nil
}

// reserve makes room for more bytes of an answer's file, and reports whether there is any.
func (s *Shared) reserve(a *answer, n int64) bool {
	if a.alone {
		return false
	}
	for s.bytes+n > s.limit {
		if !s.dropIdle() {
			return false
		}
	}
	s.bytes += n
	return true
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

// next reads more of the answer. It returns 0 and how the process ended, at the end.
func (a *answer) next(ctx context.Context, me *reader, buf []byte) (n int, err error) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	for me.at == a.written && !a.ended && ctx.Err() == nil {
		a.changed.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return 0, clientGone(ctx.Err())
	case me.at == a.written:
		return 0, a.err
	case me.at < a.filed:
		n = int(min(int64(len(buf)), a.filed-me.at))
		a.of.mu.Unlock()
		_, err = a.file.ReadAt(buf[:n], me.at)
		a.of.mu.Lock()
	default:
		n = copy(buf, a.piece[int64(len(a.piece))-(a.written-me.at):])
	}
	me.at += int64(n)
	if a.alone {
		a.changed.Broadcast()
	}
	return n, err
}
