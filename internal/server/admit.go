package server

import (
	"errors"
	"io"
	"net/http"
	"os"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/route"
	"arbor/internal/web"
)

// admit reads the whole body and admits the request. The body is read after authentication and before the
// repository is looked up, so that access is checked after a slow body has arrived. The handler reports
// errors in the body itself, after those of the repository and of access (decision 51). Errors: 413, 429,
// 503; 400 for a body that arrives too slowly.
func (s *Server) admit(
	w http.ResponseWriter, r *http.Request, caller *account.Caller, to *route.Route,
) error {
	ticket := admission.From(r.Context())
	if caller != nil {
		ticket.SignIn(int64(caller.ID))
	}
	if (r.ContentLength != 0 || to.Unpack != nil) && !to.Streams {
		body, err := s.readBody(w, r, ticket, to)
		if err != nil {
			if r.ProtoMajor < 2 { // with HTTP/2 it would affect the connection's other requests
				w.Header().Set("Connection", "close")
			}
			return err
		}
		r.Body = body
	}
	return ticket.Enter(r.Context())
}

// readBody reads and decompresses the body.
func (s *Server) readBody(
	w http.ResponseWriter, r *http.Request, ticket *admission.Ticket, to *route.Route,
) (*web.Body, error) {
	limit, size := to.Limit, r.ContentLength
	if limit == 0 {
		limit = web.MaxJSON
	}
	if size > limit && to.Unpack == nil { // git's handlers count unpacked bytes
		return nil, errs.Newf(errs.TooLarge, "The request body is larger than %d bytes", limit)
	}
	from := io.Reader(r.Body)
	if to.Unpack != nil {
		var err error
		if from, err = to.Unpack(r); err != nil {
			return bodyError(nil, err)
		}
		from, size = io.LimitReader(from, limit+1), -1 // git's own limit; the handler reports it
	} else if size < 0 { // the body cannot be longer than its Content-Length
		from = http.MaxBytesReader(w, r.Body, limit)
	}
	data, refused, err := ticket.ReadAll(r.Context(), from, size)
	if refused {
		return nil, err
	}
	return bodyError(data, err)
}

// bodyError returns a partial body for the handler to report, or an error if the client was too slow or has
// gone.
func bodyError(data []byte, err error) (*web.Body, error) {
	if errors.Is(err, os.ErrDeadlineExceeded) || errs.Is(err, errs.Canceled) {
		return nil, err
	}
	return &web.Body{Data: data, Err: err}, nil
}
