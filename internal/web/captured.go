package web

import (
	"bytes"
	"net/http"
)

// Captured takes a handler's answer in memory, for whoever asks without a socket.
// It is an http.ResponseWriter.
type Captured struct {
	Status int // 200 until the handler decides
	Body   bytes.Buffer
	header http.Header
}

// Capture makes room for an answer.
func Capture() *Captured { return &Captured{Status: http.StatusOK, header: http.Header{}} }

// Header is that of the answer.
func (c *Captured) Header() http.Header { return c.header }

// WriteHeader notes the status.
func (c *Captured) WriteHeader(status int) { c.Status = status }

// Write keeps the bytes.
func (c *Captured) Write(p []byte) (int, error) { return c.Body.Write(p) }
