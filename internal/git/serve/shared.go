package serve

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"arbor/internal/cache"
	"arbor/internal/git"
)

// Shared lets clients that send the same request for the same refs share one answer, such as the jobs of a
// build that clone one commit. One git process packs, and each client reads its output at its own speed. An
// answer is an unlinked temporary file, which is kept for a short time after its last reader.
//
// An answer that does not fit takes no more readers. The rest of the output goes to its readers through
// memory, piece by piece, at the speed of the slowest; one that keeps others waiting for too long is cut off.
type Shared struct {
	dir   string       // of the files
	limit int64        // of bytes of all files
	room  func() error // fails while the disk has too little room for files; nil: it has room
	keep  time.Duration
	lag   time.Duration

	mu      sync.Mutex // guards all below, and the answers
	bytes   int64      // of all files, with what is about to be written
	answers map[answerKey]*answer
	waiting map[answerKey]*waiting
	joined  int64 // requests that found an answer
	begun   int64 // and those that did not
}

// Bounds of what is kept without readers: the time after the last one, and the number of answers.
const (
	keepShared = 10 * time.Second
	maxShared  = 256
)

// NewShared returns a Shared whose files, in the folder dir, take at most limit bytes, and do not grow while room fails.
func NewShared(dir string, limit int64, room func() error) *Shared {
	return &Shared{dir: dir, limit: limit, room: room, keep: keepShared, lag: maxLag, answers: map[answerKey]*answer{},
		waiting: map[answerKey]*waiting{}}
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

// upload answers the last request of a fetch as the function upload does, from an answer that clients share.
func (s *Shared) upload(ctx context.Context, r *git.Repository, request []byte, generation int64, o Request) error {
	me := &reader{}
	admit := func(ctx context.Context) (func(), error) { return r.Admit(ctx, "upload-pack") }
	a, err := s.join(ctx, keyOf(r, o.Protocol, generation, request), me, admit, func(a *answer, release func()) {
		var work context.Context
		work, a.stop = context.WithCancel(context.WithoutCancel(ctx))
		go func() {
			defer release()
			own := o
			own.Out = a
			whole, err := upload(work, r, request, own, true)
			s.end(a, whole, err)
		}()
	})
	if err != nil {
		return err
	}
	defer s.leave(a, me)
	return a.copyTo(ctx, me, o.Out)
}

// join adds a reader to the answer for a key. If there is none, each request waits until its own client is admitted; the
// first one begins the answer, and the others stop waiting and join it. So nobody waits for the share of somebody else.
func (s *Shared) join(ctx context.Context, key answerKey, me *reader,
	admit func(context.Context) (release func(), err error), begin func(a *answer, release func()),
) (*answer, error) {
	for {
		s.mu.Lock()
		if a := s.answers[key]; a != nil {
			s.joined++
			a.readers[me] = struct{}{}
			s.mu.Unlock()
			return a, nil
		}
		w := s.waiting[key]
		if w == nil {
			w = &waiting{begun: make(chan struct{})}
			s.waiting[key] = w
		}
		w.requests++
		s.mu.Unlock()

		release, err := w.admit(ctx, admit)

		s.mu.Lock()
		if w.requests--; w.requests == 0 && s.waiting[key] == w {
			delete(s.waiting, key)
		}
		if err == nil && s.answers[key] == nil {
			a := &answer{of: s, key: key, changed: sync.NewCond(&s.mu), readers: map[*reader]struct{}{me: {}}}
			s.answers[key] = a
			s.begun++
			if w := s.waiting[key]; w != nil {
				delete(s.waiting, key)
				close(w.begun)
			}
			begin(a, release)
			s.mu.Unlock()
			return a, nil
		}
		s.mu.Unlock()
		if err == nil {
			release()
		} else if ctx.Err() != nil || !w.isOver() {
			return nil, err
		}
	}
}

// waiting are requests for one answer that nobody has begun.
type waiting struct {
	begun    chan struct{} // closed when one of them has
	requests int           // guarded by Shared.mu
}

// admit calls admit with a context that ends when the answer has begun.
func (w *waiting) admit(
	ctx context.Context, admit func(context.Context) (func(), error),
) (release func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-w.begun:
			cancel()
		case <-ctx.Done():
		}
	}()
	return admit(ctx)
}

func (w *waiting) isOver() bool {
	select {
	case <-w.begun:
		return true
	default:
		return false
	}
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
	if s.answers[a.key] != a || !a.ended {
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

// end notes how the process has ended. What it wrote is kept only if it succeeded.
func (s *Shared) end(a *answer, whole bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.ended, a.err = true, err
	if !whole || err != nil || a.alone {
		s.close(a)
	}
	if len(a.readers) == 0 {
		s.drop(a)
	}
	a.changed.Broadcast()
}

// reserve makes room for more bytes of an answer's file, and reports whether there is any.
func (s *Shared) reserve(a *answer, n int64) bool {
	if a.alone || s.room != nil && s.room() != nil {
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
