package apitest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/graphql/schema"
	"arbor/internal/server"
	"arbor/internal/test/answer"
	"arbor/internal/test/openapi"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// maxWatched is the size in bytes of the largest body that is held against the
// documentation.
const maxWatched = 1 << 20

// watcher holds every exchange of a test's server against the OpenAPI documents: what a
// handler asks for and answers must be described. Answers of GraphQL are held against its schema.
type watcher struct {
	t       testing.TB
	next    http.Handler
	checker *openapi.Checker
	heard   atomic.Pointer[func(method, pattern, in, name string)] // nil: no observer
	schema  atomic.Pointer[ast.Schema]                             // nil: Arbor's own
}

func newWatcher(t testing.TB, next *server.Server) *watcher {
	t.Helper()
	checker, err := openapi.Default(next.Rights())
	testkit.NoError(t, err)
	return &watcher{t: t, next: next, checker: checker}
}

// ServeHTTP serves a request, and looks at it and its answer.
func (h *watcher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kept := &watched{ResponseWriter: w}
	e := &openapi.Exchange{Method: r.Method, Query: r.URL.RawQuery, Header: w.Header()}
	var sent bounded
	var asked sync.Map
	r = web.With(r, &web.Info{Asked: func(in, name string) {
		if _, again := asked.LoadOrStore([2]string{in, name}, true); !again {
			h.asked(r, in, name)
		}
	}})
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &tee{r.Body, &sent}
	}
	defer func() {
		e.Pattern, e.Status, e.Sent, e.Body = r.Pattern, kept.status, sent.Bytes(), kept.body.Bytes()
		if kept.Header().Get("Content-Encoding") == "gzip" {
			e.Body = unzip(e.Body)
		}
		e.Cut = sent.cut || kept.body.cut || r.Context().Err() != nil // a client that hung up got a part
		if e.Status == 0 {
			e.Status = http.StatusOK
		}
		asked.Range(func(key, _ any) bool {
			if k := key.([2]string); k[0] == web.InBody {
				if e.Asked == nil {
					e.Asked = map[string]bool{}
				}
				e.Asked[k[1]] = true
			}
			return true
		})
		if e.Status == 499 {
			return // in the log only: nobody reads it
		}
		for _, wrong := range h.checker.Exchange(e) {
			h.t.Errorf("%s %s?%s: %s", e.Method, e.Pattern, e.Query, wrong)
		}
		if strings.HasSuffix(e.Pattern, "/graphql") && e.Status == http.StatusOK && !e.Cut {
			h.graphql(e)
		}
	}()
	h.next.ServeHTTP(kept, r)
}

// ownSchema is Arbor's, which is a part of GitHub's.
var ownSchema = sync.OnceValue(schema.Load)

// graphql holds an answer against the schema and what was asked.
func (h *watcher) graphql(e *openapi.Exchange) {
	s := h.schema.Load()
	if s == nil {
		s = ownSchema()
	}
	for _, wrong := range answer.Check(s, e.Sent, e.Body) {
		h.t.Errorf("GraphQL, asked %.2000s: %s", e.Sent, wrong)
	}
}

// Against holds answers of GraphQL against another schema from now on.
func (s *Server) Against(schema *ast.Schema) {
	if h, ok := s.Handler.(*watcher); ok {
		h.schema.Store(schema)
	}
}

// asked is called when the handler of a request reads a parameter or a field.
func (h *watcher) asked(r *http.Request, in, name string) {
	if wrong := h.checker.Asked(r.Method, r.Pattern, in, name); wrong != "" {
		h.t.Errorf("%s %s: %s", r.Method, r.Pattern, wrong)
	}
	if heard := h.heard.Load(); heard != nil {
		(*heard)(r.Method, r.Pattern, in, name)
	}
}

// OnAsked calls fn from now on for each parameter of the query and each field of the body
// that a handler looks for. fn may be called by several
// goroutines at a time. In benchmarks it is not called.
func (s *Server) OnAsked(fn func(method, pattern, in, name string)) {
	if h, ok := s.Handler.(*watcher); ok {
		h.heard.Store(&fn)
	}
}

// unzip returns the text of a compressed answer, up to where it ends.
func unzip(body []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(z)
	return text
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	bytes.Buffer
	cut bool
}

func (b *bounded) keep(p []byte) {
	if b.Len()+len(p) > maxWatched {
		b.cut = true
		return
	}
	b.Write(p)
}

// tee keeps what is read of a body.
type tee struct {
	io.ReadCloser
	kept *bounded
}

func (b *tee) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.kept.keep(p[:n])
	return n, err
}

// watched keeps an answer. What git is sent is not kept, and passes through.
type watched struct {
	http.ResponseWriter
	status int
	body   bounded
}

func (w *watched) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(p []byte) (int, error) {
	w.body.keep(p)
	n, err := w.ResponseWriter.Write(p)
	if err != nil {
		w.body.cut = true
	}
	return n, err
}

// Unwrap allows http.ResponseController to find the connection's own writer.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush sends off what was written; the server looks for it.
func (w *watched) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}
