package web

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"gzip":                                 true,
		"GZip":                                 true,
		"x-gzip":                               true,
		"gzip, deflate, br, zstd":              true,
		"br;q=1.0, gzip;q=0.8, *;q=0.1":        true,
		"deflate;q=0.5 ,\tgzip ; q=0.001":      true,
		"gzip;Q=1.000":                         true,
		"gzip;q=0.":                            false,
		"*":                                    true,
		"*;q=0.1":                              true,
		"identity;q=0.5, *":                    true,
		"identity, gzip":                       true,
		"identity;q=0, gzip;q=0.1":             true,
		"":                                     false,
		"identity":                             false,
		"br":                                   false,
		"gzipped":                              false,
		"gzip;q=0":                             false,
		"gzip;q=0.000":                         false,
		"gzip;q=0, *":                          false,
		"x-gzip, gzip;q=0":                     false,
		"*;q=0":                                false,
		"br, *;q=0":                            false,
		"identity, gzip;q=0.5":                 false,
		"gzip;q=0.5, *":                        false, // "*" is the plain form, too
		"gzip;q=1.001":                         false,
		"gzip;q=0.0001":                        false,
		"gzip;q=-1":                            false,
		"gzip;q=":                              false,
		"gzip;q":                               false,
		"gzip;":                                false,
		"gzip;level=9":                         false,
		"gzip;q=1;q=1":                         false,
		"gzip q=1":                             false,
		"gzip;q=0.5, identity;q=0.5":           true,
		"gzip;q=0.499,identity;q=0.5, br;q=.5": false,
	} {
		if got := AcceptsGzip([]string{header}); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
	if AcceptsGzip(nil) {
		t.Error("no header at all means gzip")
	}
	if AcceptsGzip([]string{"gzip", "gzip;q=0"}) || !AcceptsGzip([]string{"br", "gzip"}) {
		t.Error("several headers are not read as one")
	}
}

// Whatever is sent, several headers are one list, case and spaces mean nothing,
// and who refuses gzip never gets it.
func FuzzAcceptsGzip(f *testing.F) {
	for _, s := range []string{"gzip", "gzip;q=0.5, identity", "*;q=0.001,br", "x-gzip ; q=1.000,,",
		"identity;q=0,*;q=0", "gzip;q=\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got := AcceptsGzip([]string{header})
		if AcceptsGzip(strings.Split(header, ",")) != got {
			t.Errorf("%q: not the same as several headers", header)
		}
		ascii := strings.IndexFunc(header, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
		if ascii && AcceptsGzip([]string{strings.ToUpper(header)}) != AcceptsGzip(
			[]string{strings.ToLower(header)}) {
			t.Errorf("%q: case counts", header)
		}
		if AcceptsGzip([]string{" \t" + strings.ReplaceAll(header, ",", "\t, ") + " "}) != got {
			t.Errorf("%q: spaces count", header)
		}
		for _, refusal := range []string{"gzip;q=0", "x-gzip; q=0.0"} {
			if AcceptsGzip([]string{refusal, header}) || AcceptsGzip([]string{header + "," + refusal}) {
				t.Errorf("%q: gzip although %q", header, refusal)
			}
		}
		if got && !strings.Contains(strings.ToLower(header), "gzip") && !strings.Contains(header, "*") {
			t.Errorf("%q: gzip that nobody asked for", header)
		}
	})
}
