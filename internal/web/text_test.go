package web

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// Whatever bytes a path or name holds, a client must be able to parse the JSON
// that it stands in, and get the same text back where it was UTF-8.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a\"b\\c\n\t\x00\x1f", "é", "\xff\xfe", "a\xc3", "日本", "\u2028",
		"\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(AppendString(nil, s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		want := s
		if !utf8.ValidString(s) {
			want = ""
			for _, r := range s { // ranging gives U+FFFD for each bad byte
				want += string(r)
			}
		}
		if got != want {
			t.Fatalf("%q came back as %q", s, got)
		}
	})
}
