package page

import (
	"strings"
	"testing"
)

// People on slow lines wait for the style and the script of the first page: together they are 60 KB at most.
func TestAssetsAreSmall(t *testing.T) {
	a := theAssets()
	size := 0
	for name, f := range a.files {
		size += len(f.zipped)
		if len(f.data) == 0 {
			t.Errorf("%s is empty", name)
		}
		if strings.Contains(string(f.data), "\n\t") || strings.HasPrefix(string(f.data), "/* Colours") {
			t.Errorf("%s has what browsers do not need", name)
		}
	}
	if size > 60_000 {
		t.Errorf("style, script and icon are %d bytes, compressed", size)
	}
	t.Logf("%d bytes", size)
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
