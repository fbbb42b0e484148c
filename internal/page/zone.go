package page

import (
	"bytes"
	"html/template"
	"io"
	"net/http"
	"time"

	"arbor/internal/account"
)

// Times are rendered in UTC, and written to those who chose a time zone by zoneWriter, which knows it. So what is
// rendered once for many readers has no reader's zone in it. Dates without a time, such as due dates, have none.
// For those who chose none the script shows times in the zone of the browser (10-base.js).

// The layouts of a date and of a moment.
const (
	dateLayout   = "2 Jan 2006"
	momentLayout = "2 January 2006, 15:04 MST"
)

// timeTag begins each element with a time.
const timeTag = `<time datetime="`

// timeElement is the element with a text that says when t is.
func timeElement(t time.Time, text string) template.HTML {
	t = t.UTC()
	return template.HTML(timeTag + t.Format(time.RFC3339) + `" title="` + t.Format(momentLayout) + `">` + text + `</time>`)
}

// when says how long ago a time is; nothing for the zero time.
func when(t time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	return timeElement(t, ago(t))
}

// moment is a time to the minute.
func moment(t time.Time) template.HTML { return timeElement(t, t.UTC().Format(momentLayout)) }

// Date is the day of a time.
func Date(t time.Time) template.HTML { return timeElement(t, t.UTC().Format(dateLayout)) }

// ago says how long ago a time is, as people say it: "3 hours ago", and from a month on its date.
func ago(t time.Time) string {
	switch since := time.Since(t); {
	case since < -time.Minute:
		return "on " + t.UTC().Format(dateLayout)
	case since < time.Minute:
		return "now"
	case since < time.Hour:
		return plural(int64(since/time.Minute), "minute") + " ago"
	case since < 24*time.Hour:
		return plural(int64(since/time.Hour), "hour") + " ago"
	case since < 48*time.Hour:
		return "yesterday"
	case since < 30*24*time.Hour:
		return plural(int64(since/(24*time.Hour)), "day") + " ago"
	default:
		return "on " + t.UTC().Format(dateLayout)
	}
}

// zoneOf is the time zone that the viewer chose, else UTC.
func zoneOf(r *http.Request) *time.Location {
	if c := account.CallerFrom(r.Context()); c != nil && c.TimeZone != "" {
		if zone, ok := account.LoadZone(c.TimeZone); ok {
			return zone
		}
	}
	return time.UTC
}

// inZone returns a writer that passes a page to w with its times in the viewer's time zone.
func inZone(r *http.Request, w io.Writer) io.Writer {
	if zone := zoneOf(r); zone != time.UTC {
		return &zoneWriter{w, zone}
	}
	return w
}

// zoneWriter moves times to a zone. Each element must come whole in one call of Write; html/template writes the
// value of an action so.
type zoneWriter struct {
	to   io.Writer
	zone *time.Location
}

// Write implements io.Writer.
func (z *zoneWriter) Write(b []byte) (int, error) {
	rest := b
	for {
		from := bytes.Index(rest, []byte(timeTag))
		if from < 0 {
			break
		}
		size := bytes.Index(rest[from:], []byte("</time>"))
		if size < 0 {
			break
		}
		if _, err := z.to.Write(rest[:from]); err != nil {
			return 0, err
		}
		if _, err := z.to.Write(z.move(rest[from : from+size])); err != nil {
			return 0, err
		}
		rest = rest[from+size:]
	}
	if _, err := z.to.Write(rest); err != nil {
		return 0, err
	}
	return len(b), nil
}

// move returns the element with the texts of its time in the zone.
func (z *zoneWriter) move(element []byte) []byte {
	stamp, _, _ := bytes.Cut(element[len(timeTag):], []byte(`"`))
	t, err := time.Parse(time.RFC3339, string(stamp))
	if err != nil {
		return element
	}
	for _, layout := range []string{momentLayout, dateLayout} {
		element = bytes.ReplaceAll(element, []byte(t.UTC().Format(layout)), []byte(t.In(z.zone).Format(layout)))
	}
	return element
}
