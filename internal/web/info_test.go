package web

import (
	"strings"
	"testing"
)

// A number in an address is written in one way only, so that a resource has one
// address.
func TestParseNumber(t *testing.T) {
	for s, want := range map[string]int64{"1": 1, "10": 10, "9007199254740993": 9007199254740993, "999999999999999999": 999999999999999999} {
		if n, ok := ParseNumber(s); !ok || n != want {
			t.Errorf("%q: %d, %v", s, n, ok)
		}
	}
	for _, s := range []string{"", "0", "01", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "1_0", "１", "x", "1x", "9223372036854775808", strings.Repeat("1", 300)} {
		if n, ok := ParseNumber(s); ok {
			t.Errorf("%q is taken for %d", s, n)
		}
	}
}
