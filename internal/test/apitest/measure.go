package apitest

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"testing"

	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// Measured is what an answer took.
type Measured struct {
	Status    int
	Header    http.Header
	Sent      int64 // bytes of the body
	Allocated int64 // bytes, while it was made
	Held      int64 // peak bytes of memory in use while it was sent, above the use before
}

// EachAlone is Each, one engine after the other and without other tests: for those
// that measure memory.
func EachAlone(t *testing.T, fn func(t *testing.T, s *Server), options ...Option) {
	t.Helper()
	for _, engine := range dbtest.Engines() {
		t.Run(engine.String(), func(t *testing.T) { fn(t, Start(t, engine, options...)) })
	}
}

// Measure sends a request in this process, discards the answer, and counts
// what it took. The exchange is not watched, for that keeps bodies. The test runs alone, see EachAlone, and
// the server's own work that earlier requests left is done first.
func (s *Server) Measure(t testing.TB, path, as, accept string) Measured {
	t.Helper()
	testkit.NoError(t, s.Server.Settle(t.Context()))
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = s.Address
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	if as != "" {
		r.Header.Set("Authorization", "Bearer "+s.Token(t, as))
	}
	w := &discard{header: http.Header{}}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as in a server, see dbtest
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s.Server.ServeHTTP(w, r)
	runtime.ReadMemStats(&after)
	if w.status/100 != 2 {
		t.Fatalf("GET %s: status %d: %s", path, w.status, w.first.Bytes())
	}
	return Measured{Status: w.status, Header: w.header, Sent: w.sent,
		Allocated: int64(after.TotalAlloc - before.TotalAlloc),
		Held:      w.held - int64(before.HeapAlloc)}
}

// discard counts a body and keeps its beginning.
type discard struct {
	header http.Header
	status int
	sent   int64
	first  bytes.Buffer
	held   int64 // bytes of the heap, at most
	next   int64 // where that is looked at again
}

func (d *discard) Header() http.Header { return d.header }

func (d *discard) WriteHeader(status int) {
	if d.status == 0 {
		d.status = status
	}
}

func (d *discard) Write(p []byte) (int, error) {
	d.WriteHeader(http.StatusOK)
	if d.sent >= d.next {
		d.next = d.sent + 16<<20
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		d.held = max(d.held, int64(now.HeapAlloc))
	}
	d.sent += int64(len(p))
	if d.first.Len() < 1<<10 {
		d.first.Write(p[:min(len(p), 1<<10)])
	}
	return len(p), nil
}
