// Package journal is the program's log: slog's lines, byte for byte, where those
// of requests wait for each other, so that requests pay for no write(2).
//
//	id.go       the id of the request or job that a line belongs to
//	line.go     Log: a request's line, and how it becomes text
//	journal.go  Handler: which lines wait
//	output.go   the buffer and its writer
//
// A line of a request that went well waits for 100 ms at most, or until 32 KiB
// have come together. Any other line is written at once, after those that wait:
// the order is that of a log that waits for nothing. A process that is killed or
// crashes loses what waits; a server that stops calls Flush and loses nothing. Nobody
// waits for ever for a reader that is stuck: lines beyond a bound are dropped,
// and counted in the log.
package journal

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"time"
)

// How many bytes wait before more are dropped: a request's line and others.
const (
	requestBound = 1 << 20
	otherBound   = 2 << 20
)

// How long a line that does not wait is waited for, and a whole log at the end.
// In the ordinary case both are microseconds.
const (
	lineLimit  = time.Second
	flushLimit = 5 * time.Second
)

// Handler is a slog.Handler. Make one by Text or JSON.
type Handler struct {
	requests slog.Handler
	others   slog.Handler
	plain    bool // in the form of text, nothing was added by With
	out      *output
}

// Text is a log on w as by slog.NewTextHandler.
func Text(w io.Writer, least slog.Leveler) *Handler {
	h := newHandler(w, func(w io.Writer) slog.Handler {
		return slog.NewTextHandler(w, &slog.HandlerOptions{Level: least})
	})
	h.plain = true
	return h
}

// JSON is a log on w as by slog.NewJSONHandler.
func JSON(w io.Writer, least slog.Leveler) *Handler {
	return newHandler(w, func(w io.Writer) slog.Handler {
		return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: least})
	})
}

func newHandler(w io.Writer, form func(io.Writer) slog.Handler) *Handler {
	var text bytes.Buffer
	notice := form(&text)
	out := newOutput(w, func(dropped int) []byte {
		text.Reset()
		line := slog.NewRecord(time.Now(), slog.LevelWarn,
			"lines of the log were dropped, since they could not be written", 0)
		line.AddAttrs(slog.Int("lines", dropped))
		_ = notice.Handle(context.Background(), line) // a buffer takes everything
		return text.Bytes()
	})
	return &Handler{requests: form(bounded{out, requestBound}),
		others: form(bounded{out, otherBound}), out: out}
}

// Enabled is part of slog.Handler.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.others.Enabled(ctx, level)
}

// Handle is part of slog.Handler. It waits for no writer longer than a second,
// and for one that is known to be stuck not at all.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Message != Request { // a request's own line has its id
		if id := ID(ctx); id != "" {
			r = r.Clone()
			r.AddAttrs(slog.String("id", id))
		}
	}
	if r.Message != Request || r.Level > slog.LevelInfo {
		err := h.others.Handle(ctx, r)
		h.out.flush(lineLimit, false)
		return err
	}
	return h.requests.Handle(ctx, r)
}

// WithAttrs is part of slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{requests: h.requests.WithAttrs(attrs), others: h.others.WithAttrs(attrs), out: h.out}
}

// WithGroup is part of slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{requests: h.requests.WithGroup(name), others: h.others.WithGroup(name), out: h.out}
}

// Waiting is how many bytes wait to be written, and how many lines were dropped so far.
func (h *Handler) Waiting() (bytes int, dropped int64) {
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	return len(h.out.waiting), h.out.told + int64(h.out.dropped)
}

// Flush returns when every line so far is written, or after five seconds in
// which that was not possible. The handler can be used afterwards.
func (h *Handler) Flush() { h.out.flush(flushLimit, true) }
