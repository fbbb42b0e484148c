// Package web is Arbor's HTTP kit: what every handler needs and none should
// write again.
//
//   - handler.go: handlers that return errors, and the one adapter that answers them
//   - info.go: what the server knows about a request: id, addresses, media types
//   - media.go: the Accept header and its two dialects (decisions 1-6)
//   - decode.go: JSON bodies with exact keys and exact integers (decisions 16-19, 51)
//   - page.go: page, per_page and Link (decision 23)
//   - answer.go: JSON answers, ETag and 304 (decision 27)
//   - errors.go: the three forms of an error body (decisions 15, 48, 53)
//   - output.go: an answer while it is rendered; a large one streams
//   - answers.go: rendered answers, kept within a bounded memory
//   - network.go: whom a limit counts together when nobody signed in
//
// It knows nothing of accounts, repositories or SQL.
package web

import (
	"errors"
	"net/http"
)

// Handler answers a request, or returns why it cannot. A handler that has
// begun to write its answer and then fails returns the error all the same: the
// adapter breaks the connection, so that the client sees a torn answer as torn.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Writer counts what a handler writes; the log line and the adapter need it.
// It passes flushing and deadlines on through Unwrap.
type Writer struct {
	http.ResponseWriter
	Status int   // 0 until the header is written
	Bytes  int64 // of the body
	gone   bool  // the client took no more
}

// WriteHeader notes the status and passes it on.
func (w *Writer) WriteHeader(status int) {
	if w.Status == 0 && status >= 200 {
		w.Status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes and passes them on.
func (w *Writer) Write(p []byte) (int, error) {
	if w.Status == 0 {
		w.Status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.Bytes += int64(n)
	w.gone = w.gone || err != nil && !errors.Is(err, http.ErrContentLength) && !errors.Is(err, http.ErrBodyNotAllowed)
	return n, err
}

// Unwrap allows http.ResponseController to find the connection's own writer.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Started reports whether the answer's header has been sent.
func (w *Writer) Started() bool { return w.Status != 0 }
