package web

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"arbor/internal/admission"
	"arbor/internal/errs"
)

// Timely is a request's body until some time, after which reads fail. Other errors, but those
// that say more, become the client's.
func Timely(body io.Reader, until time.Time, late error) io.Reader { return timely{body, until, late} }

type timely struct {
	io.Reader
	until time.Time
	late  error
}

func (t timely) Read(b []byte) (int, error) {
	if !time.Now().Before(t.until) {
		return 0, t.late
	}
	n, err := t.Reader.Read(b)
	switch {
	case err == nil || err == io.EOF || errs.KindOf(err) != errs.Internal:
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errs.Wrap(errs.Malformed, "The request body does not have its announced length", err)
	default:
		err = errs.Wrap(errs.Malformed, "The request body cannot be read", err)
	}
	return n, err
}

// maxDrained is how many bytes of a rejected file are read, and maxDraining for how long, so that clients
// get the error and not a broken connection.
const (
	maxDrained  = 4 << 20
	maxDraining = 2 * time.Second
)

// Drain reads the rest of a refused body. The request holds no slot while it does, since the client may send
// slowly.
func Drain(w http.ResponseWriter, r *http.Request) {
	admission.As(r.Context(), admission.Push)
	body := Timely(r.Body, time.Now().Add(maxDraining), os.ErrDeadlineExceeded)
	over := make(chan struct{})
	timer := time.AfterFunc(maxDraining, func() { // ends a read that waits
		_ = http.NewResponseController(w).SetReadDeadline(time.Now())
		close(over)
	})
	_, _ = io.CopyN(io.Discard, body, maxDrained)
	if !timer.Stop() {
		<-over
	}
}
