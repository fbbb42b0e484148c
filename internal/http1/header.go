package http1

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// begin renders the status and the headers as they are now. What depends on the
// body is added by seal.
func (w *response) begin() {
	b := append(w.conn.head[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(w.status), 10)
	b = append(append(append(b, ' '), http.StatusText(w.status)...), "\r\n"...)
	fields := w.conn.fields[:0]
	dated := false
	for name, values := range w.header {
		switch name {
		case "Content-Length", "Transfer-Encoding", "Trailer":
			continue
		case "Connection":
			w.close = w.close || strings.EqualFold(w.header.Get(name), "close")
			continue
		case "Content-Type":
			w.typed = true
			if w.status == http.StatusNotModified {
				continue
			}
		case "Content-Encoding":
			w.typed = w.typed || w.header.Get(name) != ""
		case "Date":
			dated = true
		}
		if isToken(name) {
			fields = append(fields, field{name, values})
		}
	}
	slices.SortFunc(fields, func(x, y field) int { return strings.Compare(x.name, y.name) })
	for _, f := range fields {
		for _, value := range f.values {
			b = appendField(b, f.name, value)
		}
	}
	clear(fields)
	w.conn.fields = fields
	if !dated {
		b = appendField(b, "Date", date(time.Now()))
	}
	w.head = b
}

// field is a header of an answer.
type field struct {
	name   string
	values []string
}

// appendField renders a header line. A value that would begin another line does not.
func appendField(b []byte, name, value string) []byte {
	b = append(append(b, name...), ": "...)
	if strings.IndexByte(value, '\r') >= 0 || strings.IndexByte(value, '\n') >= 0 {
		value = strings.NewReplacer("\r", " ", "\n", " ").Replace(value)
	}
	return append(append(b, strings.Trim(value, " \t")...), "\r\n"...)
}

// seal completes the head, once: how the body is framed, what it is, and whether
// the connection ends. done says that the whole body is pending; else more of it
// begins with next.
func (w *response) seal(done bool, next []byte) {
	if w.sealed {
		return
	}
	w.sealed = true
	w.close = w.close || w.conn.server.closing.Load()
	b := w.head
	if w.hasBody() {
		isHead := w.request.Method == http.MethodHead
		if done && w.length < 0 && (!isHead || len(w.pending) > 0) {
			w.length = int64(len(w.pending))
		}
		if start := w.pending; !w.typed {
			if len(start) < sniffed {
				start = append(slices.Clone(start), next[:min(len(next), sniffed)]...)
			}
			if len(start) > 0 {
				b = appendField(b, "Content-Type", http.DetectContentType(start))
			}
		}
		switch {
		case w.length >= 0:
			b = strconv.AppendInt(append(b, "Content-Length: "...), w.length, 10)
			b = append(b, "\r\n"...)
		case !isHead:
			w.chunked = true
			b = append(b, "Transfer-Encoding: chunked\r\n"...)
		}
	}
	if w.close {
		b = append(b, "Connection: close\r\n"...)
	}
	w.head = append(b, "\r\n"...)
}

// sniffed is how many bytes http.DetectContentType looks at.
const sniffed = 512

// stamp is the text of a Date header and the second that it is of.
type stamp struct {
	second int64
	text   string
}

var lastStamp atomic.Pointer[stamp]

// date renders a time for the Date header. It is the same for a second.
func date(now time.Time) string {
	second := now.Unix()
	if s := lastStamp.Load(); s != nil && s.second == second {
		return s.text
	}
	s := &stamp{second, now.UTC().Format(http.TimeFormat)}
	lastStamp.Store(s)
	return s.text
}
