package release

import (
	"errors"
	"io"
	"time"

	"arbor/internal/errs"
)

// timely reads a request's body until some time, after which there is an error. Other errors, but those
// that say more, become the client's.
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
