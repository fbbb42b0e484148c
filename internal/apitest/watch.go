package apitest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"sync"
	"testing"

	"arbor/internal/apidoc/check"
	"arbor/internal/server"
	"arbor/internal/web"
)

// maxWatched is the size in bytes of the largest body that is held against the
// documentation.
const maxWatched = 1 << 20

// described makes every exchange of a test's server be held against the OpenAPI
// documents: what a handler asks for and answers must be described.
func described(t testing.TB) server.Watch {
	t.Helper()
	checker, err := check.Default()
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request, info *web.Info) (http.ResponseWriter, func()) {
		ww := &watched{ResponseWriter: w, info: info}
		e := &check.Exchange{Method: r.Method, Query: r.URL.RawQuery, Header: w.Header()}
		var sent bounded
		r.Body = &tee{r.Body, &sent}
		var asked sync.Map
		info.Asked = func(in, name string) {
			if _, again := asked.LoadOrStore([2]string{in, name}, true); again {
				return
			}
			if wrong := checker.Asked(e.Method, info.Pattern, in, name); wrong != "" {
				t.Errorf("%s %s: %s", e.Method, info.Pattern, wrong)
			}
		}
		return ww, func() {
			e.Pattern, e.Status, e.Sent, e.Body = info.Pattern, ww.status, sent.Bytes(), ww.body.Bytes()
			if ww.Header().Get("Content-Encoding") == "gzip" {
				e.Body = unzip(e.Body)
			}
			e.Cut = sent.cut || ww.body.cut || r.Context().Err() != nil // who hangs up is told but a part
			asked.Range(func(key, _ any) bool {
				if k := key.([2]string); k[0] == web.InBody {
					if e.Asked == nil {
						e.Asked = map[string]bool{}
					}
					e.Asked[k[1]] = true
				}
				return true
			})
			if e.Status == 0 {
				e.Status = http.StatusOK
			}
			if e.Status == 499 {
				return // in the log only: nobody reads it
			}
			for _, wrong := range checker.Exchange(e) {
				t.Errorf("%s %s?%s: %s", e.Method, info.Pattern, e.Query, wrong)
			}
		}
	}
}

// unzip gives the text of a compressed answer, as far as it came.
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
	info   *web.Info
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

// Unwrap lets http.ResponseController find the connection's own writer.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush sends off what was written; the server looks for it.
func (w *watched) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}
