package http1

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// small is the number of bytes of a body up to which it waits for its end, so
// that a short answer is one write and has its length.
const small = 4 << 10

// errOver is the error of a handler that goes on after it has returned.
var errOver = errors.New("http1: the handler has returned")

// response is the http.ResponseWriter of a plain request. It differs from that of
// net/http in this: informational answers (1xx) and trailers are left out, and
// nobody can hijack.
type response struct {
	conn    *conn
	request *http.Request
	cancel  context.CancelFunc // of the request's context

	header  http.Header
	status  int    // 0: not decided
	length  int64  // of the body as the handler gave it; -1: it did not
	written int64  // bytes of the body
	head    []byte // status and headers, without those of framing; empty once it was sent
	pending []byte // of the body, not sent
	sealed  bool   // the head is complete
	chunked bool
	close   bool // the connection ends with this answer
	typed   bool // the handler said what the body is
	over    bool // the handler has returned
	err     error
}

// Header is http.ResponseWriter's.
func (w *response) Header() http.Header { return w.header }

// WriteHeader is http.ResponseWriter's.
func (w *response) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("http1: WriteHeader with the status %d", status))
	}
	switch {
	case w.over || status < 200:
		return
	case w.status != 0:
		w.conn.server.logf("http1: second WriteHeader for %s %s", w.request.Method, w.request.URL.Path)
		return
	}
	w.status = status
	if given := w.header["Content-Length"]; len(given) > 0 && given[0] != "" {
		n, err := strconv.ParseInt(given[0], 10, 64)
		if err == nil && n >= 0 {
			w.length = n
		} else {
			w.conn.server.logf("http1: invalid Content-Length %q", given[0])
		}
	}
	w.begin()
}

// hasBody says that answers of the status may have a body (RFC 9110, 6.4.1).
func (w *response) hasBody() bool {
	return w.status != http.StatusNoContent && w.status != http.StatusNotModified
}

// Write is http.ResponseWriter's.
func (w *response) Write(p []byte) (int, error) {
	if w.over {
		return 0, errOver
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if !w.hasBody() {
		return 0, http.ErrBodyNotAllowed
	}
	if w.written += int64(len(p)); w.length >= 0 && w.written > w.length {
		return 0, http.ErrContentLength
	}
	if len(w.pending)+len(p) <= small {
		if w.pending == nil {
			w.pending = w.conn.body[:0]
		}
		w.pending = append(w.pending, p...)
		return len(p), w.err
	}
	if w.err == nil {
		w.seal(false, p)
		w.send(p, false)
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// WriteString is io.StringWriter's.
func (w *response) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// Flush is http.Flusher's.
func (w *response) Flush() { _ = w.FlushError() }

// FlushError sends what was written.
func (w *response) FlushError() error {
	if w.over {
		return errOver
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.err == nil {
		w.seal(false, nil)
		w.send(nil, false)
	}
	return w.err
}

// SetReadDeadline is http.ResponseController's. A plain request was read whole.
func (w *response) SetReadDeadline(time.Time) error { return nil }

// EnableFullDuplex is http.ResponseController's, and always so.
func (w *response) EnableFullDuplex() error { return nil }

// SetWriteDeadline is http.ResponseController's.
func (w *response) SetWriteDeadline(by time.Time) error {
	if w.over {
		return errOver
	}
	w.conn.writeBy = by
	return w.conn.rwc.SetWriteDeadline(by)
}

// finish ends the answer, and reports whether another may follow on the connection.
func (w *response) finish() bool {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.over = true
	if w.err == nil {
		w.seal(true, nil)
		w.send(nil, true)
	}
	if cap(w.pending) <= small {
		w.conn.body = w.pending[:0]
	}
	short := w.length >= 0 && w.written != w.length && w.hasBody() && w.request.Method != http.MethodHead
	return w.err == nil && !w.close && !short
}

// send writes what is pending, then p, as one chunk if the answer has chunks.
func (w *response) send(p []byte, last bool) {
	if w.request.Method == http.MethodHead {
		w.pending, p = w.pending[:0], nil
	}
	out, end := w.head, ""
	if n := len(w.pending) + len(p); w.chunked && n > 0 {
		out = append(strconv.AppendInt(out, int64(n), 16), "\r\n"...)
		end = "\r\n"
	}
	if w.chunked && last {
		end += "0\r\n\r\n"
	}
	out = append(out, w.pending...)
	w.pending = w.pending[:0]
	if len(p) > small {
		parts := net.Buffers{out, p, []byte(end)}
		_, w.err = parts.WriteTo(w.conn.rwc)
	} else if out = append(append(out, p...), end...); len(out) > 0 {
		_, w.err = w.conn.rwc.Write(out)
	}
	w.head = out[:0]
	if w.conn.head = w.head; cap(out) > maxPlain {
		w.conn.head = nil
	}
	if w.err != nil {
		w.cancel() // nobody listens
	}
}
