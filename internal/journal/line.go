package journal

import (
	"context"
	"log/slog"
	"net/netip"
	"strconv"
	"time"
)

// Line is what the log has of a request.
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

// Log logs a request's line: to a handler for text of this package in a fifth of
// the time that slog takes, to any other as a record.
func Log(ctx context.Context, log *slog.Logger, l *Line) {
	h := log.Handler()
	if j, ok := h.(*Handler); ok && j.plain && j.out.add(l) {
		return
	}
	// The logger itself would look up from where it is called, for nobody.
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
	_ = h.Handle(ctx, r) // as the logger does: there is nobody to tell
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

// add adds a line in the format of slog's text handler. It reports false, with
// nothing done, for a line that must not wait or that has a value which cannot
// simply be copied.
func (o *output) add(l *Line) bool {
	if l.Level != slog.LevelInfo || l.Error != nil || l.At.IsZero() ||
		!safe(l.Method) || !safe(l.Route) || !safe(l.ID) || l.Caller != "" && !safe(l.Caller) ||
		l.Repo != "" && !(safe(l.Owner) && safe(l.Repo)) || l.Address.Zone() != "" {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) >= requestBound {
		o.dropped++
	} else {
		o.waiting = appendLine(o.waiting, l, &o.clock)
	}
	o.added()
	return true
}

func appendLine(b []byte, l *Line, c *clock) []byte {
	b = c.append(append(b, "time="...), l.At)
	b = append(append(b, " level=INFO msg="+Request+" method="...), l.Method...)
	b = append(append(b, " route="...), l.Route...)
	b = append(b, " repo="...)
	if l.Repo == "" {
		b = append(b, `""`...)
	} else {
		b = append(append(append(b, l.Owner...), '/'), l.Repo...)
	}
	b = strconv.AppendInt(append(b, " status="...), int64(l.Status), 10)
	b = append(append(b, " took="...), l.Took.String()...)
	b = append(b, " address="...)
	if l.Address.IsValid() {
		b = l.Address.AppendTo(b)
	} else {
		b = append(b, `""`...)
	}
	b = append(b, " caller="...)
	if l.Caller == "" {
		b = append(b, `""`...)
	}
	b = append(b, l.Caller...)
	b = strconv.AppendInt(append(b, " token="...), l.TokenID, 10)
	b = strconv.AppendInt(append(b, " bytes="...), l.Bytes, 10)
	b = strconv.AppendInt(append(b, " cost="...), l.Cost, 10)
	b = append(append(b, " id="...), l.ID...)
	if l.KeyID != 0 {
		b = strconv.AppendInt(append(b, " key="...), l.KeyID, 10)
	}
	return append(b, '\n')
}

// safe reports what stands in a line without quotes: printable ASCII that means
// nothing there. There is more of that kind, which slog knows.
func safe(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '=' {
			return false
		}
	}
	return s != ""
}

// clock renders times. Most are within the second of the one before.
type clock struct {
	second int64
	zone   *time.Location
	text   []byte // as in timeFormat; its milliseconds change
}

const (
	timeFormat   = "2006-01-02T15:04:05.000Z07:00"
	beforeMillis = len("2006-01-02T15:04:05.")
)

func (c *clock) append(b []byte, t time.Time) []byte {
	if t.Unix() != c.second || t.Location() != c.zone {
		c.second, c.zone = t.Unix(), t.Location()
		c.text = t.AppendFormat(c.text[:0], timeFormat)
	}
	ms := t.Nanosecond() / int(time.Millisecond)
	c.text[beforeMillis], c.text[beforeMillis+1], c.text[beforeMillis+2] = byte('0'+ms/100), byte(
		'0'+ms/10%10), byte('0'+ms%10)
	return append(b, c.text...)
}
