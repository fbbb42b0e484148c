package journal

import (
	"context"
	"log/slog"
	"net/netip"
	"time"
)

// Line is the line that the log has of a request.
type Line struct {
	At      time.Time
	Level   slog.Level
	Method  string
	Route   string // the pattern
	Owner   string // of the repository that the address names, and its
	Repo    string // name; empty for none
	Status  int
	Took    time.Duration
	Address netip.Addr // of the client; invalid for a socket in the file system
	Caller  string     // the login; empty for nobody
	TokenID int64      // of the caller's token; 0 for none
	KeyID   int64      // of the caller's SSH key; 0 for none
	Bytes   int64      // of the answer
	Cost    int64      // bytes of memory that were granted to the request, in all
	ID      string
	Error   error // nil for none
}

// Request is the message of a request's line.
const Request = "request"

// Log logs a request's line.
func Log(ctx context.Context, log *slog.Logger, l *Line) {
	// A record of its own has the time of the line, and not the place in the code, which text and JSON leave out.
	r := slog.NewRecord(l.At, l.Level, Request, 0)
	r.AddAttrs(slog.String("method", l.Method), slog.String("route", l.Route),
		slog.String("repo", l.repository()), slog.Int("status", l.Status), slog.Duration("took", l.Took),
		slog.String("address", l.address()),
		slog.String("caller", l.Caller), slog.Int64("token", l.TokenID), slog.Int64("bytes", l.Bytes),
		slog.Int64("cost", l.Cost), slog.String("id", l.ID))
	if l.KeyID != 0 {
		r.AddAttrs(slog.Int64("key", l.KeyID))
	}
	if l.Error != nil {
		r.AddAttrs(slog.String("error", l.Error.Error()))
	}
	_ = log.Handler().Handle(ctx, r) // a logger drops this error, too
}

func (l *Line) repository() string {
	if l.Repo == "" {
		return ""
	}
	return l.Owner + "/" + l.Repo
}

func (l *Line) address() string {
	if !l.Address.IsValid() {
		return ""
	}
	return l.Address.String()
}
