package page

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"arbor/internal/test/testkit"
)

// People on slow lines wait for the style and the script of the first page: together they are 60 KB at most. What
// few pages load has bounds of its own.
func TestAssetsAreSmall(t *testing.T) {
	a := theAssets()
	size := 0
	for _, address := range []string{a.Style, a.Script, a.Icon} {
		f := a.files[strings.TrimPrefix(address, "/assets/")]
		size += len(f.zipped)
		text := unzip(t, f)
		if f.size == 0 || strings.Contains(text, "\n\t") || strings.HasPrefix(text, "/* Colours") || strings.Contains(text, "{{") {
			t.Errorf("%s is empty, or has what browsers do not need", address)
		}
	}
	if size > 60_000 {
		t.Errorf("style, script and icon are %d bytes, compressed", size)
	}
	t.Logf("%d bytes", size)
	for name, f := range a.files {
		if unzip(t, f); len(f.zipped) > 1_100_000 {
			t.Errorf("%s is %d bytes, compressed", name, len(f.zipped))
		}
		t.Logf("%s: %d bytes, %d compressed", name, f.size, len(f.zipped))
	}
}

// unzip is the text of a file, which must have the size that is told to clients.
func unzip(t *testing.T, f asset) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(f.zipped))
	testkit.NoError(t, err)
	text, err := io.ReadAll(z)
	if err != nil || len(text) != f.size {
		t.Errorf("%d bytes, want %d (%v)", len(text), f.size, err)
	}
	return string(text)
}

// Texts that people read have one form of each number.
func TestPlural(t *testing.T) {
	for want, got := range map[string]string{"1 branch": plural(1, "branch"),
		"2 branches": plural(2, "branch"), "0 commits": plural(0, "commit"),
		"3 repositories": plural(3, "repository"), "1.5 KiB": Bytes(1536), "1.2k": compact(1234),
		"999": compact(999)} {
		if want != got {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A form leads to pages of this site alone.
func TestReturnTo(t *testing.T) {
	for address, want := range map[string]string{
		"/alice/garden?tab=x#y": "/alice/garden?tab=x#y", "": "/", "//evil.example": "/",
		"https://evil.example": "/", `/\evil.example`: "/",
		"/a\r\nSet-Cookie: x=y": "/", "javascript:alert(1)": "/", "/%0d%0a": "/%0d%0a", "alice": "/",
	} {
		if got := ReturnTo(address, "/"); got != want {
			t.Errorf("%q leads to %q, want %q", address, got, want)
		}
	}
}
