package db

import (
	"fmt"
	"time"
)

// Time is microseconds since the beginning of 1970 in UTC, as tables store it
// (BIGINT). Zero means absent: it is stored as NULL, and NULL is read as zero.
type Time int64

// FromTime cuts t to microseconds. The zero time.Time is the zero Time.
func FromTime(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMicro())
}

// Time returns t in UTC; for an absent one the zero time.Time.
func (t Time) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(t)).UTC()
}

// IsZero reports whether t is absent.
func (t Time) IsZero() bool { return t == 0 }

// String is t as it stands in JSON, without quotes; "" when absent.
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return string(t.appendText(nil))
}

// MarshalJSON returns a time such as "2011-04-22T13:33:48Z", or null for zero.
func (t Time) MarshalJSON() ([]byte, error) { return t.AppendJSON(nil), nil }

// AppendJSON appends what MarshalJSON gives to b.
func (t Time) AppendJSON(b []byte) []byte {
	if t == 0 {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = t.appendText(b)
	return append(b, '"')
}

// appendText does by hand what Time.AppendFormat does: lists hold several
// times a row, and this takes a third of the time.
func (t Time) appendText(b []byte) []byte {
	u := t.Time()
	year, month, day := u.Date()
	if year < 0 || year > 9999 {
		return u.AppendFormat(b, time.RFC3339)
	}
	hour, minute, second := u.Clock()
	b = append(b, byte('0'+year/1000), byte('0'+year/100%10))
	b = appendTwo(b, year%100, '-')
	b = appendTwo(b, int(month), '-')
	b = appendTwo(b, day, 'T')
	b = appendTwo(b, hour, ':')
	b = appendTwo(b, minute, ':')
	return appendTwo(b, second, 'Z')
}

func appendTwo(b []byte, n int, after byte) []byte {
	return append(b, byte('0'+n/10), byte('0'+n%10), after)
}

// Scan reads a column: NULL is the zero Time.
func (t *Time) Scan(v any) error {
	switch n := v.(type) {
	case nil:
		*t = 0
	case int64:
		*t = Time(n)
	default:
		return fmt.Errorf("cannot scan a value of type %T into a time", v)
	}
	return nil
}
