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
	header http.Header
	limit  int64 // of Body; 0: none
}

// Limit bounds the body, in bytes.
func (c *Captured) Limit(bytes int64) { c.limit = bytes }

// Capture returns a writer that records an answer.
func Capture() *Captured { return &Captured{Status: http.StatusOK, header: http.Header{}} }

// Header is that of the answer.
func (c *Captured) Header() http.Header { return c.header }

// WriteHeader notes the status.
func (c *Captured) WriteHeader(status int) { c.Status = status }

// Write keeps the bytes. Error: TooLarge beyond the limit.
func (c *Captured) Write(p []byte) (int, error) {
	if c.limit > 0 && int64(c.Body.Len()+len(p)) > c.limit {
		return 0, errs.New(errs.TooLarge, "The response is too large.")
	}
	return c.Body.Write(p)
}
