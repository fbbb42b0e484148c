package plant

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// API answers the routes of the plant store. Its errors have the form Errors.
type API struct {
	plants  *Service
	buffers sync.Pool // of *[]byte, each at most maxPooled
}

// NewAPI returns the HTTP interface of a plant store.
func NewAPI(s *Service) *API {
	return &API{plants: s, buffers: sync.Pool{New: func() any { return new([]byte) }}}
}

// maxPooled is the size in bytes of the largest buffer worth keeping.
const maxPooled = 2 * chunkBytes

// GET /plants
//
// List answers the caller's plants, for site administrators all plants, by id
// (decisions 46, 47). Of a repeated limit the first counts. A list of one chunk
// has a Content-Length; a longer one is streamed, and its connection breaks
// when it cannot be completed. Errors: 400 for an invalid limit.
func (a *API) List(w http.ResponseWriter, r *http.Request) error {
	caller, err := signedIn(r)
	if err != nil {
		return err
	}
	limit, err := readLimit(r)
	if err != nil {
		return err
	}
	held := a.buffers.Get().(*[]byte)
	s := stream{w: w, buf: (*held)[:0]}
	err = a.send(r, &s, List(caller, limit))
	// The HTTP server may still read what a failed write left to it.
	if err == nil && cap(s.buf) <= maxPooled {
		*held = s.buf
		a.buffers.Put(held)
	}
	return err
}

// send sends all plants of a cursor, to HEAD the header alone.
func (a *API) send(r *http.Request, s *stream, plants *Cursor) (err error) {
	for more := true; more; {
		s.buf, more, err = a.plants.Next(r.Context(), plants, s.buf, appendItem)
		if err != nil {
			return err
		}
		if !s.begun { // a slow client may read it for minutes
			if err := admission.Hold(r.Context(), int64(cap(s.buf))); err != nil {
				return err
			}
		}
		if err := s.send(more); err != nil || r.Method == http.MethodHead {
			return err
		}
	}
	return nil
}

// POST /plants
//
// Create adds a plant to the caller's and answers it, 200 and without its id
// (decision 46). Errors: 400 for a body that is not a plant and for an id that is
// taken, 413, 415 (decisions 47, 48).
func (a *API) Create(w http.ResponseWriter, r *http.Request) error {
	caller, err := signedIn(r)
	if err != nil {
		return err
	}
	p, err := readPlant(r)
	if err != nil {
		return err
	}
	if err := a.plants.Create(r.Context(), caller, p); err != nil {
		return err
	}
	return answer(w, http.StatusOK, appendPlant(make([]byte, 0, 64+len(p.Name)), p))
}

// DELETE /plants/{id}
//
// Delete removes a plant of the caller's, or any for a site administrator, and
// answers 204 without a body. Errors: 400 for an id that is not an integer and,
// alike, for a missing plant or another user's (decision 47).
func (a *API) Delete(w http.ResponseWriter, r *http.Request) error {
	caller, err := signedIn(r)
	if err != nil {
		return err
	}
	id, err := ReadID(web.Param(r, "id"))
	if err != nil {
		return err
	}
	if err := a.plants.Delete(r.Context(), caller, id); err != nil {
		return err
	}
	return web.NoContent(w)
}

// signedIn returns the caller. The route table demands one already; this makes
// a forgotten line there a 401 and not a leak.
func signedIn(r *http.Request) (*account.Caller, error) {
	if c := account.CallerFrom(r.Context()); c != nil {
		return c, nil
	}
	return nil, errs.New(errs.Unauthenticated, "Requires authentication")
}

// readLimit reads the query parameter limit: an int32, not negative.
func readLimit(r *http.Request) (int64, error) {
	web.From(r.Context()).Ask(web.InQuery, "limit")
	if r.URL.RawQuery == "" {
		return NoLimit, nil
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return 0, refuse(badLimit, "the query string cannot be decoded")
	}
	given, ok := q["limit"]
	if !ok {
		return NoLimit, nil
	}
	n, err := integer(given[0], 32)
	if err != nil || n < 0 {
		return 0, refuse(badLimit, "limit must be an integer from 0 to 2147483647")
	}
	return n, nil
}

// ReadID reads the id in an address. Error: 400.
func ReadID(text string) (int64, error) {
	id, err := integer(text, 64)
	if err != nil {
		return 0, refuse(badPathID, "the id in the address must be an integer of 64 bits")
	}
	return id, nil
}

// integer reads a decimal integer of the given size without a plus sign.
func integer(s string, bits int) (int64, error) {
	if strings.HasPrefix(s, "+") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(s, 10, bits)
}

// stream is a list on its way to the client.
type stream struct {
	w     http.ResponseWriter
	buf   []byte // the chunk to send; each plant in it has a comma before it
	begun bool   // a chunk was sent
}

// send sends a chunk: a list that is one chunk with its length, a longer one
// without.
func (s *stream) send(more bool) error {
	if !s.begun {
		if len(s.buf) == 0 {
			s.buf = append(s.buf, ',')
		}
		s.buf[0] = '['
	}
	if !more {
		s.buf = append(s.buf, ']')
	}
	if !s.begun && !more {
		return answer(s.w, http.StatusOK, s.buf)
	}
	if !s.begun {
		s.begun = true
		s.w.Header()["Content-Type"] = jsonType
		s.w.WriteHeader(http.StatusOK)
	}
	_, err := s.w.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}
