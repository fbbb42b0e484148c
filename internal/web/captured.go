package web

import (
	"bytes"
	"net/http"

	"arbor/internal/errs"
)

// Captured holds a handler's response in memory, for internal callers. It is an http.ResponseWriter.
type Captured struct {
	Status int // 200 until the handler decides
	Body   bytes.Buffer
	Total  int64 // the length of the list that this is a page of, if Link says so; else 0
	header http.Header

	limit int64 // of Body; 0: none
	hold  func(bytes int64) error
	held  int64 // bytes of memory
}

// Limit bounds the body. As the body grows, hold is called for the memory that it takes
// and that the page made of it takes.
func (c *Captured) Limit(bytes int64, hold func(bytes int64) error) { c.limit, c.hold = bytes, hold }

// Capture returns a writer that records an answer.
func Capture() *Captured { return &Captured{Status: http.StatusOK, header: http.Header{}} }

// Header is that of the answer.
func (c *Captured) Header() http.Header { return c.header }

// WriteHeader notes the status.
func (c *Captured) WriteHeader(status int) { c.Status = status }

// Write keeps the bytes. Errors: TooLarge beyond the limit, those of asking for memory.
func (c *Captured) Write(p []byte) (int, error) {
	size := int64(c.Body.Len() + len(p))
	if c.limit > 0 && size > c.limit {
		return 0, errs.New(errs.TooLarge, "There is too much here for a page: the API has it.")
	}
	if c.hold != nil && size > c.held {
		if err := c.hold(timesAnswer * (2*size - c.held)); err != nil {
			return 0, err
		}
		c.held = 2 * size
	}
	return c.Body.Write(p)
}

// timesAnswer is the memory to make a page of an answer, in sizes of the answer: the
// answer itself and the values that are decoded from it.
const timesAnswer = 3
