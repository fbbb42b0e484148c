package object

import (
	"strings"
	"testing"
	"unsafe"

	"arbor/internal/errs"
)

// What keeps a SHA does not keep the address of 64 KB, or the commit of a megabyte, that it
// stood in.
func TestParseSHACopies(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0", 1<<20)
	sha, err := ParseSHA(text[:40])
	if err != nil || unsafe.StringData(string(sha)) == unsafe.StringData(text) {
		t.Errorf("%v; the SHA is a part of the text", err)
	}
}

func TestParseSHA(t *testing.T) {
	t.Parallel()
	const low = "0123456789abcdef0123456789abcdef01234567"
	for in, want := range map[string]SHA{low: low, strings.ToUpper(low): low, "": "", low[1:]: "",
		low + "0": "", low[1:] + "g": "", low[1:] + "\n": "", "--" + low[2:]: ""} {
		got, err := ParseSHA(in)
		if got != want || (err == nil) != (want != "") || err != nil && !errs.Is(err, errs.Invalid) {
			t.Errorf("ParseSHA(%q) = %q, %v", in, got, err)
		}
	}
}
