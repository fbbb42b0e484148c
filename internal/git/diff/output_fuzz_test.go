package diff

import (
	"bufio"
	"strings"
	"testing"
)

// Whatever a process prints, reading it must end, within its bounds.
func FuzzOutputReader(f *testing.F) {
	sha := strings.Repeat("a", 40)
	f.Add(":100644 100644 "+sha+" "+sha+
		" M\tx\n1\t1\tx\n\ndiff --git a/x b/x\nindex a..b 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 0,
		300)
	f.Add(":100644 100644 "+sha+" "+sha+" R100\t\"a\\tb\"\tb\n0\t0\tx\n\ndiff --git \"a/a\\tb\" b/b\n", 0, 1)
	f.Add(":000000 100644 "+sha+" "+sha+" A\tx\n-\t-\tx\n\ndiff --git a/x b/x\nBinary files differ\n", 1, 2)
	f.Add("::\n\n", 0, 0)
	f.Fuzz(func(t *testing.T, text string, skip, most int) {
		o := Options{Skip: skip & 0xfff, Max: most & 0xfff, Lines: 50, Bytes: 1000, Sum: 2000}
		d := &outputReader{o: o, in: bufio.NewReaderSize(strings.NewReader(text), 16)}
		if len(text)%2 == 0 {
			d.in = bufio.NewReaderSize(strings.NewReader(text), 64<<10)
		}
		_ = d.read()
		sum := 0
		for _, file := range d.changes.Files {
			if len(file.Patch) > o.Bytes {
				t.Errorf("a patch of %d bytes", len(file.Patch))
			}
			sum += len(file.Patch)
		}
		if len(d.changes.Files) > o.Max || sum > o.Sum || d.changes.Additions < 0 {
			t.Errorf("%d files, %d bytes of patches", len(d.changes.Files), sum)
		}
	})
}

// Names that git quotes must come out as they were.
func FuzzUnquotePath(f *testing.F) {
	for _, s := range []string{"plain", "tab\t", "\"quoted\"", "back\\slash", "new\nline", "\x01\x7f\xff",
		"é", `"\`, `"\400"`, `"\1"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = unquotePath(s) // whatever it is, it must not panic
		if s == "" || strings.ContainsAny(s, "\x00/") || len(s) > 200 || s == "." || s == ".." ||
			strings.EqualFold(s, ".git") {
			return
		}
		if got, err := unquotePath(cQuote(s)); err != nil || got != s {
			t.Errorf("%q, quoted %s, is read as %q (%v)", s, cQuote(s), got, err)
		}
	})
}

// cQuote quotes as git documents it for core.quotePath.
func cQuote(s string) string {
	var b strings.Builder
	quoted := false
	for i := range len(s) {
		c := s[i]
		at := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c)
		switch {
		case at >= 0:
			quoted = true
			b.WriteString("\\" + `abtnvfr"\`[at:at+1])
		case c < ' ' || c >= 0x7f:
			quoted = true
			b.WriteString("\\" + string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7}))
		default:
			b.WriteByte(c)
		}
	}
	if !quoted {
		return s
	}
	return `"` + b.String() + `"`
}
