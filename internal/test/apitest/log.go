package apitest

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"arbor/internal/journal"
)

// Log collects what the server logs.
type Log struct {
	mu     sync.Mutex
	lines  []string
	bad    []string
	served []Request
	allow  bool
}

// Request is a request as the server logged it once it was answered.
type Request struct {
	Method string
	Route  string // the pattern of the route table; "-" for an address that is none
	Status int
}

// Requests are those that were answered until now. What a client has read
// already may still be on its way to the log, until the server has stopped.
func (l *Log) Requests() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.served)
}

// AllowErrors says that the test provokes errors of the server on purpose.
func (l *Log) AllowErrors() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.allow = true
}

// Unexpected are the lines of level error.
func (l *Log) Unexpected() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.allow {
		return nil
	}
	return l.bad
}

// Text is everything that was logged.
func (l *Log) Text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// Enabled takes every level.
func (l *Log) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps a line.
func (l *Log) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	var served Request
	b.WriteString(r.Level.String() + " " + r.Message)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(" " + a.String())
		switch a.Key {
		case "method":
			served.Method = a.Value.String()
		case "route":
			served.Route = a.Value.String()
		case "status":
			served.Status = int(a.Value.Int64())
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Message == journal.Request {
		l.served = append(l.served, served)
	}
	l.lines = append(l.lines, b.String())
	if r.Level >= slog.LevelError {
		l.bad = append(l.bad, b.String())
	}
	return nil
}

// WithAttrs leaves out attributes of a whole log; the server uses none.
func (l *Log) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup leaves out groups; the server uses none.
func (l *Log) WithGroup(string) slog.Handler { return l }
