// Package journal is the program's log: a stock handler of slog. A server's log is buffered, that of a command
// is not. The audit log is not part of it: its rows are in the database.
//
//	journal.go  Text and JSON: slog's handlers, and the id of the context on each line
//	buffer.go   Buffer: writes the lines of a server together, and drops them while their reader is stuck
//	id.go       the id of the request or job that a line belongs to
//	line.go     Log: a request's line
package journal

import (
	"context"
	"io"
	"log/slog"
)

// Text is a log on w as by slog.NewTextHandler.
func Text(w io.Writer, least slog.Leveler) slog.Handler {
	return handler{slog.NewTextHandler(w, &slog.HandlerOptions{Level: least})}
}

// JSON is a log on w as by slog.NewJSONHandler.
func JSON(w io.Writer, least slog.Leveler) slog.Handler {
	return handler{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: least})}
}

// handler adds the context's id to each line. A request's own line has it already.
type handler struct{ slog.Handler }

// Handle is part of slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if id := ID(ctx); id != "" && r.Message != Request {
		r = r.Clone()
		r.AddAttrs(slog.String("id", id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs is part of slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup is part of slog.Handler.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
