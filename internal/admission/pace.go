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
// contexts of requests that take long.
func Pace(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	p := &paced{ResponseWriter: w, request: r, writing: Grace, timers: r.ProtoMajor >= 2}
	if p.timers {
		p.writeUntil(time.Time{}) // Server.WriteTimeout would end requests that take long
		if r.Body != nil && r.Body != http.NoBody {
			p.body, p.reading = r.Body, Grace
			r.Body = p
		}
		return p
	}
	if r.Body != nil && r.Body != http.NoBody {
		p.body, p.reading = r.Body, Grace
		p.readUntil(time.Now().Add(Grace)) // if no handler reads the body, net/http does
		r.Body = p
	}
	return p
}

// paced is the answer's writer and the request's body. Like a handler, it reads in one
// goroutine at a time and writes in one.
//
// A deadline of a connection counts only while something is read or written, so one that
// has passed does no harm until the next is set. Those of HTTP/2's streams are timers that
// end the stream whenever they fire. So they are set for each read and each write alone.
type paced struct {
	http.ResponseWriter
	request  *http.Request
	body     io.ReadCloser
	reading  time.Duration // how long the server still waits for the body
	writing  time.Duration // and for the client to read the answer
	readSet  time.Time     // the deadline that is set for reading
	writeSet time.Time     // and for writing
	ended    bool          // the body was read to its end
	timers   bool          // deadlines are HTTP/2's
}

// spend takes a wait for n bytes out of the time that the client has left.
func spend(left *time.Duration, waited time.Duration, n int) {
	*left = min(Grace, *left-waited+time.Duration(n)*time.Second/minRate)
}

// Read reads the body. Errors of the connection become the client's errors. The deadline
// is removed at the end of the body: net/http reads on to notice that the client hangs up.
func (p *paced) Read(b []byte) (int, error) {
	if p.ended {
		return p.body.Read(b)
	}
	start := time.Now()
	if until := start.Add(p.reading); apart(until, p.readSet) {
		p.readUntil(until)
	}
	n, err := p.body.Read(b)
	spend(&p.reading, time.Since(start), n)
	if p.timers || err == io.EOF {
		p.readUntil(time.Time{})
	}
	switch {
	case err == nil:
	case err == io.EOF:
		p.ended = true
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = errs.Wrap(errs.Malformed, "The request body came too slowly", err)
	case errors.Is(err, syscall.ECONNRESET):
		err = errs.Wrap(errs.Canceled, "client closed the request", err)
	case p.timers && p.request.Context().Err() != nil:
		err = errs.Wrap(errs.Canceled, "client closed the request", err)
	case p.timers: // the types of HTTP/2's errors are net/http's alone
		err = errs.Wrap(errs.Malformed, "The request body does not have its announced length", err)
	}
	return n, err
}

// Close closes the body.
func (p *paced) Close() error { return p.body.Close() }

func (p *paced) readUntil(t time.Time) {
	// A writer without a connection has no deadlines, and needs none.
	_ = http.NewResponseController(p.ResponseWriter).SetReadDeadline(t)
	p.readSet = t
}

func (p *paced) writeUntil(t time.Time) {
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(t)
	p.writeSet = t
}

// cutWrite ends the write that waits for the client, from another goroutine.
func (p *paced) cutWrite() {
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now())
}

// apart reports whether two deadlines differ enough for a new one to be set.
func apart(a, b time.Time) bool {
	d := a.Sub(b)
	return d < -time.Second || d > time.Second
}

// chunk is how many bytes are written under one deadline, so that large answers have
// early deadlines, too.
const chunk = 64 << 10

// Write writes in chunks. Each chunk has its own deadline.
func (p *paced) Write(b []byte) (written int, err error) {
	for first := true; err == nil && (first || len(b) > 0); first = false {
		n := min(len(b), chunk)
		err = p.within(n, func() error {
			return From(p.request.Context()).Send(p.request.Context(), func() (err error) {
				n, err = p.ResponseWriter.Write(b[:n])
				return err
			})
		})
		written += n
		b = b[n:]
	}
	return written, err
}

// FlushError sends what was written; http.ResponseController looks for it.
func (p *paced) FlushError() error {
	return p.within(0, http.NewResponseController(p.ResponseWriter).Flush)
}

// Flush is http.Flusher's.
func (p *paced) Flush() { _ = p.FlushError() }

// WriteHeader starts the response, possibly long after the deadline of its request.
func (p *paced) WriteHeader(status int) {
	if p.timers { // sends nothing yet
		p.ResponseWriter.WriteHeader(status)
		return
	}
	_ = p.within(0, func() error { p.ResponseWriter.WriteHeader(status); return nil })
}

// within calls send, which writes n bytes to the client, with a deadline. It keeps a deadline that is about
// right.
func (p *paced) within(n int, send func() error) error {
	start := time.Now()
	until := start.Add(p.writing + time.Duration(n)*time.Second/minRate)
	if apart(until, p.writeSet) {
		p.writeUntil(until)
	}
	done := From(p.request.Context()).watch(p.cutWrite)
	err := send()
	done()
	spend(&p.writing, time.Since(start), n)
	if p.timers {
		p.writeUntil(time.Time{})
	}
	return err
}

// Unwrap returns the connection's own writer, for http.ResponseController.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }
