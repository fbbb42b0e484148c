package admission

import (
	"errors"
	"io"
	"net/http"
	"os"
	"syscall"
	"time"

	"arbor/internal/errs"
)

// A client must send and read minRate bytes a second, except for pauses of Grace in
// all. Only the time in which the server waits for the client counts.
const (
	minRate = 8 << 10
	Grace   = 10 * time.Second
)

// Pace wraps a request and its answer, so that a slower client loses its connection. It
// is for all routes. The http.Server must have no ReadTimeout, which would end the
// contexts of requests that take long, and an answer that is read at a steady rate may take longer than any
// WriteTimeout.
//
// A deadline of HTTP/1 counts only while something is read or written, and also when net/http itself reads the
// rest of a body or sends the rest of an answer. Those of HTTP/2's streams are timers that end the stream whenever
// they fire, so they are removed behind each read and each write.
func Pace(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	p := &paced{ResponseWriter: w, control: http.NewResponseController(w), request: r,
		reading: Grace, writing: Grace, http2: r.ProtoMajor >= 2}
	if p.http2 {
		p.writeUntil(time.Time{}) // instead of http.Server's WriteTimeout
	}
	if r.Body == nil || r.Body == http.NoBody {
		return p
	}
	if !p.http2 {
		p.readUntil(time.Now().Add(Grace)) // if no handler reads the body, net/http does
	}
	p.body, r.Body = r.Body, p
	return p
}

// paced is the answer's writer and the request's body. Like a handler, it reads in one
// goroutine at a time and writes in one.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
	request *http.Request
	body    io.ReadCloser
	reading time.Duration // how long the server still waits for the body
	writing time.Duration // and for the client to read the answer
	http2   bool
}

// A writer without a connection has no deadlines, and needs none.
func (p *paced) readUntil(t time.Time)  { _ = p.control.SetReadDeadline(t) }
func (p *paced) writeUntil(t time.Time) { _ = p.control.SetWriteDeadline(t) }

// Read reads the body. Errors of the connection become the client's errors. The deadline
// is removed at the end of the body: net/http reads on to notice that the client hangs up.
func (p *paced) Read(b []byte) (int, error) {
	start := time.Now()
	p.readUntil(start.Add(p.reading))
	n, err := p.body.Read(b)
	spend(&p.reading, time.Since(start), n)
	if p.http2 || err == io.EOF {
		p.readUntil(time.Time{})
	}
	switch {
	case err == nil || err == io.EOF:
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = errs.Wrap(errs.Malformed, "The request body came too slowly", err)
	case errors.Is(err, syscall.ECONNRESET) || p.http2 && p.request.Context().Err() != nil:
		err = errs.Wrap(errs.Canceled, "client closed the request", err)
	case p.http2: // the types of HTTP/2's errors are net/http's alone
		err = errs.Wrap(errs.Malformed, "The request body does not have its announced length", err)
	}
	return n, err
}

// Close closes the body.
func (p *paced) Close() error { return p.body.Close() }

// Write sends a part of the answer.
func (p *paced) Write(b []byte) (int, error) { return p.send(b, p.ResponseWriter.Write) }

// FlushError sends what was written; http.ResponseController looks for it.
func (p *paced) FlushError() error {
	_, err := p.send(nil, func([]byte) (int, error) { return 0, p.control.Flush() })
	return err
}

// Flush is http.Flusher's.
func (p *paced) Flush() { _ = p.FlushError() }

// WriteHeader begins the answer, which net/http may send when the handler has returned: possibly long after the
// deadline of its request.
func (p *paced) WriteHeader(status int) {
	if !p.http2 {
		p.writeUntil(time.Now().Add(p.writing))
	}
	p.ResponseWriter.WriteHeader(status)
}

// send writes to the client by write.
func (p *paced) send(b []byte, write func([]byte) (int, error)) (int, error) {
	ctx := p.request.Context()
	ticket, cut := From(ctx), func() { p.writeUntil(time.Now()) }
	return paceWrites(ticket, &p.writing, b, cut, func(b []byte, limit time.Duration) (n int, err error) {
		p.writeUntil(time.Now().Add(limit))
		err = ticket.Send(ctx, func() (err error) {
			n, err = write(b)
			return err
		})
		if p.http2 {
			p.writeUntil(time.Time{})
		}
		return n, err
	})
}

// Unwrap returns the connection's own writer, for http.ResponseController.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// chunk is how many bytes are written under one deadline, so that large answers have
// early deadlines, too.
const chunk = 64 << 10

// paceWrites writes b to a client in chunks, each within what is left of the time for waiting and the time that
// the chunk may take. cut ends a write from another goroutine (Ticket.watch).
func paceWrites(t *Ticket, left *time.Duration, b []byte, cut func(),
	write func(b []byte, limit time.Duration) (int, error)) (written int, err error) {
	for first := true; err == nil && (first || len(b) > 0); first = false {
		n, start, done := min(len(b), chunk), time.Now(), t.watch(cut)
		n, err = write(b[:n], *left+time.Duration(n)*time.Second/minRate)
		done()
		spend(left, time.Since(start), n)
		written += n
		b = b[n:]
	}
	return written, err
}

// spend takes a wait for n bytes out of the time that the client has left.
func spend(left *time.Duration, waited time.Duration, n int) {
	*left = min(Grace, *left-waited+time.Duration(n)*time.Second/minRate)
}
