package object

import (
	"strings"
	"testing"

	"arbor/internal/errs"
)

func TestParseSHA(t *testing.T) {
	t.Parallel()
	const low = "0123456789abcdef0123456789abcdef01234567"
	for in, want := range map[string]SHA{low: low, strings.ToUpper(low): low, "": "", low[1:]: "", low + "0": "",
		low[1:] + "g": "", low[1:] + "\n": "", "--" + low[2:]: ""} {
		got, err := ParseSHA(in)
		if got != want || (err == nil) != (want != "") || err != nil && !errs.Is(err, errs.Invalid) {
			t.Errorf("ParseSHA(%q) = %q, %v", in, got, err)
		}
	}
}
