package web

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"

	"arbor/internal/errs"
)

// Handle calls h and writes the response to its error. Only Handle turns errors into a status and a body.
// The log line of the request, written by the caller of Handle, includes the error with its cause.
func Handle(w *Writer, r *http.Request, h Handler) {
	err := run(w, r, h)
	if err == nil {
		return
	}
	info := From(r.Context())
	// A write may fail before the context of the request ends.
	if w.gone || r.Context().Err() != nil && (errs.Is(err, errs.Canceled) || w.Started()) {
		err = errs.Wrap(errs.Canceled, "client closed the request", err)
	}
	info.Note = err
	if w.Started() {
		panic(http.ErrAbortHandler)
	}
	Fail(w, r, err)
}

// run turns a panic into an error, so that one bad request costs one answer.
func run(w *Writer, r *http.Request, h Handler) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler {
			panic(p)
		}
		err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}()
	return h(w, r)
}

// Status returns the HTTP status of a kind of error.
func Status(kind errs.Kind) int {
	switch kind {
	case errs.Malformed:
		return http.StatusBadRequest
	case errs.Unauthenticated:
		return http.StatusUnauthorized
	case errs.Forbidden, errs.RateLimited:
		return http.StatusForbidden
	case errs.NotFound:
		return http.StatusNotFound
	case errs.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case errs.NotAcceptable:
		return http.StatusNotAcceptable
	case errs.Conflict:
		return http.StatusConflict
	case errs.Gone:
		return http.StatusGone
	case errs.TooLarge:
		return http.StatusRequestEntityTooLarge
	case errs.UnsupportedMedia:
		return http.StatusUnsupportedMediaType
	case errs.Invalid:
		return http.StatusUnprocessableEntity
	case errs.TooManyRequests:
		return http.StatusTooManyRequests
	case errs.Unavailable, errs.Paused:
		return http.StatusServiceUnavailable
	case errs.NoRoom:
		return http.StatusInsufficientStorage
	case errs.Canceled:
		return 499
	default:
		return http.StatusInternalServerError
	}
}

// Fail answers err in the form of the route's group. Whatever is unknown is
// masked: its answer holds the request's id and nothing of the cause
// (decision 20).
func Fail(w http.ResponseWriter, r *http.Request, err error) {
	info := From(r.Context())
	var e *errs.Error
	if !errors.As(err, &e) || e.Kind == errs.Internal {
		e = errs.Newf(errs.Internal, "Server Error (request %s)", info.ID)
	}
	h := w.Header()
	for _, name := range [...]string{"Etag", "Last-Modified", "Link", "Location", "Content-Length"} {
		delete(h, name)
	}
	h.Set("X-Content-Type-Options", "nosniff")
	if e.Kind == errs.Unavailable || e.Kind == errs.Paused || e.Kind == errs.TooManyRequests {
		h.Set("Retry-After", "1")
	}
	if e.Kind == errs.NoRoom { // disk space is needed
		h.Set("Retry-After", "60")
	}
	if e.Wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(e.Wait, 10))
	}
	form := info.Form
	if form == nil {
		form = APIErrors
	}
	form(w, r, Status(e.Kind), e)
}
