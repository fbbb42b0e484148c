package fulltext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"arbor/internal/fulltext"
)

// What people type finds what people wrote, whatever the case, the accents and
// the script of either.
func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "",
		"Crash on START-up, v1.2":            "crash on start up v1 2",
		"don't foo_bar(baz) C++":             "don t foo bar baz c",
		"\"a\" 'b' `c` * ^ : - ( ) { } \\ /": "a b c",
		"AND OR NOT NEAR(x, 2)":              "and or not near x 2",
		"Äpfel ÉTÉ naïve Ångström":           "apfel ete naive angstrom",
		"e\u0301te\u0301 ﬁnd ＡＢＣ x²":         "ete find abc x2",
		"Ёлка ΣΊΣΥΦΟΣ σίσυφος İstanbul": "елка σισυφοσ σισυφοσ istanbul",
		"東京都に":                            "東 京 都 に",
		"データbase":                         "デ ー タ base",
		"한국어 검색":                          "한국어 검색",
		"ก็ไทย":                           "ก\u0e47 ไ ท ย",
		"हिन्दी":                          "हिन्दी",
		"fire🔥🔥 👩‍💻 ❤️":                   "fire 🔥 🔥 👩 💻 ❤",
		"a\u00adb\u200cc d\u200be\u00a0f": "abc d e f",
		"\u0301\u0e47 x":                  "x",
		strings.Repeat("Z", 70) + " y":    strings.Repeat("z", 64) + " y",
		strings.Repeat("я", 70):           strings.Repeat("я", 64),
	} {
		if got := strings.Join(fulltext.Words(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if fulltext.Searchable(text) != (want != "") {
			t.Errorf("%q: Searchable", text)
		}
	}
}

// A word is found again as itself, and holds nothing that an engine's query
// language could take for syntax.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{"a\"b' :*", "東京 ﷺ", "e\u0301\u0301\u0301", "'x' & !y <-> z", "\u0345\u1fbc",
		"ß ẞ", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for _, w := range fulltext.Words(text) {
			n += len(w)
			if w == "" || utf8.RuneCountInString(w) > 64 || !utf8.ValidString(w) {
				t.Errorf("%q has the word %q", text, w)
			}
			for _, r := range w {
				if r < 0x80 && !('a' <= r && r <= 'z' || '0' <= r && r <= '9') ||
					strings.ContainsRune(" \u00a0", r) {
					t.Errorf("%q has the word %q", text, w)
				}
			}
			if again := fulltext.Words(w); len(again) != 1 || again[0] != w {
				t.Errorf("the word %q of %q is cut into %q", w, text, again)
			}
		}
		if n > 20*len(text)+64 {
			t.Errorf("%d bytes of words in %d bytes of text", n, len(text))
		}
	})
}

func BenchmarkWords(b *testing.B) {
	text := strings.Repeat("The quick brown fox's jumps over_the lazy dog; naïve? ", 7)
	b.SetBytes(int64(len(text)))
	for range b.N {
		fulltext.Words(text)
	}
}
