package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"arbor/internal/admission"
	"arbor/internal/cache"
	"arbor/internal/errs"
	"arbor/internal/test/testkit"
)

// stuckWriter is the answer's writer of clients that do not read: writes wait until
// they do.
type stuckWriter struct {
	header http.Header
	stuck  *atomic.Int64 // how many write
	read   chan struct{} // closed when they read
}

func (w *stuckWriter) Header() http.Header { return w.header }

func (w *stuckWriter) WriteHeader(int) {}

func (w *stuckWriter) Write(b []byte) (int, error) {
	w.stuck.Add(1)
	defer w.stuck.Add(-1)
	<-w.read
	return len(b), nil
}

// A crowd that asks for large answers and does not read them holds no more memory than
// all requests may together. The others are told to come later.
func TestClientsThatDoNotReadHoldLittle(t *testing.T) {
	const size, budget, clients = 1 << 20, 64 << 20, 200
	text := strings.Repeat("x", size)
	items := []string{text, text, text}
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request) error{
		"a pooled buffer": func(w http.ResponseWriter, r *http.Request) error {
			return JSON(w, r, http.StatusOK, text)
		},
		"one that grows": func(w http.ResponseWriter, r *http.Request) error {
			return Answer(w, r, http.StatusOK, func(out *Output) error { return out.JSON(text) })
		},
		"a list that is sent in parts": func(w http.ResponseWriter, r *http.Request) error {
			return JSON(w, r, http.StatusOK, items)
		},
		"an answer that is kept": func(w http.ResponseWriter, r *http.Request) error {
			return NewAnswers(NewKept(8*size)).Serve(w, r, cache.Forever, "key",
				func(out *Output) error { return out.JSON(text) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := admission.NewGate(budget)
				var stuck, refused atomic.Int64
				read := make(chan struct{})
				var all sync.WaitGroup
				for n := range clients {
					all.Go(func() {
						ticket := gate.NewTicket(admission.Holder{Account: int64(n + 1)})
						defer ticket.Leave()
						r := httptest.NewRequest("GET", "/", nil)
						r = r.WithContext(admission.With(context.Background(), ticket))
						err := answer(&stuckWriter{http.Header{}, &stuck, read}, r)
						if errs.Is(err, errs.Unavailable) || errs.Is(err, errs.TooManyRequests) {
							refused.Add(1)
						} else if err != nil {
							t.Error(err)
						}
					})
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if n := stuck.Load(); n == 0 || n*size > budget || n+refused.Load() != clients {
					t.Errorf("%d answers of %d bytes wait for their clients, and %d were refused",
						n, size, refused.Load())
				}
				close(read)
				all.Wait()
				if held := gate.Usage()[admission.Work].Held; held != 0 {
					t.Errorf("%d bytes are held in the end", held)
				}
			})
		})
	}
}

// failingWriter is the answer's writer of an HTTP/2 stream that the client has reset:
// a write fails, and its bytes are sent a moment later.
type failingWriter struct {
	header http.Header
	bytes  []byte
}

func (w *failingWriter) Header() http.Header { return w.header }

func (w *failingWriter) WriteHeader(int) {}

func (w *failingWriter) Write(b []byte) (int, error) {
	w.bytes = b
	return 0, http.ErrHandlerTimeout
}

// The bytes of an answer whose writing failed may still be on their way. Nobody else's
// answer may be rendered into them.
func TestBufferOfAFailedWriteIsNotUsedAgain(t *testing.T) {
	for range 100 { // a pool gives what it likes
		failing := &failingWriter{header: http.Header{}}
		if JSON(failing, httptest.NewRequest("GET", "/", nil), http.StatusOK, "mine") == nil {
			t.Fatal("the write succeeded")
		}
		r := httptest.NewRequest("GET", "/", nil)
		testkit.NoError(t, JSON(httptest.NewRecorder(), r, http.StatusOK, "another's"))
		if string(failing.bytes) != `"mine"` {
			t.Fatalf("the client that went away gets %s", failing.bytes)
		}
	}
}

// A large answer that is worth keeping is held whole, rendered once, and has its ETag; a larger one is sent
// while it is rendered, with the same bytes.
func TestLargeAnswersThatAreKept(t *testing.T) {
	for size, want := range map[int]int{MaxHeld + 1: 1, 3 * MaxHeld: 1, 5 * MaxHeld: 2} {
		kept := NewAnswers(NewKept(16 * MaxHeld))
		rendered := 0
		for range 2 {
			w := httptest.NewRecorder()
			err := kept.Serve(w, httptest.NewRequest("GET", "/", nil), cache.Forever, "key",
				func(out *Output) error {
					rendered++
					out.ETag = `"mine"`
					out.Keep(4 * MaxHeld)
					for range size / 8 {
						if out.Buf = append(out.Buf, "12345678"...); out.Next() != nil {
							t.Error("it was refused")
						}
					}
					return nil
				})
			if err != nil || w.Body.String() != strings.Repeat("12345678", size/8) ||
				w.Header().Get("Etag") != `"mine"` {
				t.Errorf("%d bytes: %v, %d bytes with ETag %q", size, err, w.Body.Len(), w.Header().Get("Etag"))
			}
		}
		if rendered != want {
			t.Errorf("%d bytes were rendered %d times, want %d", size, rendered, want)
		}
	}
}
