package web_test

import (
	"strings"
	"testing"
	"time"

	"arbor/internal/web"
)

// A client that asks for what changed since a moment must not get what changed
// since another.
func TestParseTime(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2011-04-22T13:33:48Z":      "2011-04-22T13:33:48Z",
		"2011-04-22T13:33:48.5Z":    "2011-04-22T13:33:48.5Z",
		"2011-04-22T13:33:48+02:00": "2011-04-22T11:33:48Z",
		"2011-04-22T13:33:48 02:00": "2011-04-22T11:33:48Z",
		"2011-04-22":                "2011-04-22T00:00:00Z",
		"2011-02-30T00:00:00Z":      "", "yesterday": "", "0000-01-01T00:00:00Z": "", "2011-04-22T25:00:00Z": "",
		"1303479228": "", "2011-04-22T13:33:48": "", "2011-04-22T13:33Z": "", "-2011-04-22": "", " ": "",
	} {
		got, ok := web.ParseTime(in)
		if ok != (want != "") || ok && got.Format(time.RFC3339Nano) != want {
			t.Errorf("%q is %v, %v, want %q", in, got, ok, want)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2011-04-22T13:33:48Z", "2011-04-22", "2011-04-22T13:33:48 02:00",
		"9999-12-31T23:59:60Z", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := web.ParseTime(s)
		if !ok {
			return
		}
		if y := got.Year(); y < 1 || y > 9999 || got.Location() != time.UTC {
			t.Errorf("%q is %v", s, got)
		}
		// What was read is written back as the same moment.
		if again, ok := web.ParseTime(got.Format(time.RFC3339Nano)); !ok || !again.Equal(got) {
			t.Errorf("%q is %v, again %v", s, got, again)
		}
		if strings.Count(s, ":") == 0 && len(s) != len("2006-01-02") {
			t.Errorf("%q is a time", s)
		}
	})
}
