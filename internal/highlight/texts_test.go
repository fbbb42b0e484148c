package highlight

import (
	"crypto/sha256"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

var markup = regexp.MustCompile(`</?[ktfsmcvx]->`)

// plainOf is the text that highlighted lines show; ok is false where anything but the highlighter's own tags
// is in them.
func plainOf(lines []string) (text string, ok bool) {
	joined := markup.ReplaceAllString(strings.Join(lines, "\n"), "")
	return html.UnescapeString(joined), !strings.ContainsAny(joined, "<>")
}

// coloured highlights a text as a page does that nobody else asks for.
func coloured(t *testing.T, name, text string) []string {
	text = strings.TrimSuffix(text, "\n")
	return lines(t.Context(), OfFile(name, text), text)
}

// idle reports that no lexer is at work, also none that was left.
func idle() bool {
	working.mu.Lock()
	defer working.mu.Unlock()
	return len(working.texts) == 0
}

// Highlighting changes no character of a file, in whatever language, and lets none through that a browser
// would read.
func TestHighlightKeepsTheText(t *testing.T) {
	t.Parallel()
	texts := []string{"", "\n", "\n\n", "a", "a\n", "a\n\n", "<script>alert(1)</script>\n", "\"'&<>\n\t x\n",
		"/* <b>\n multi\n line */ x\n", "`${`<i>`}`\n",
		"package x\n\nfunc F(a int) string { return \"<i class=\\\"k\\\">\" } // <b>\n",
		"\ufffd\x01\x1b[31m\n", "<!-- <?php echo '<b>' ?> --><style>a{}</style>\n",
		"# Title\n\n```go\nfunc x() {}\n```\n", "'''\nx\n", strings.Repeat("((((", 300) + "\n", "\r\rx\r\n"}
	for _, name := range []string{"x.go", "x.js", "x.ts", "x.py", "x.rb", "x.html", "x.php", "x.css", "x.md",
		"x.yaml", "x.json", "x.sh", "x.sql", "x.c", "x.rs", "Makefile", "Dockerfile", "x.vue", "x.xml",
		"x.diff", "x.unknown", "noext"} {
		for _, text := range texts {
			lines := coloured(t, name, text)
			got, ok := plainOf(lines)
			if want := strings.TrimSuffix(text, "\n"); got != want || !ok {
				t.Errorf("%s: %q became %q", name, want, lines)
			}
		}
	}
	testkit.Eventually(t, func() bool { // a busy machine may leave the lexer no time
		line := coloured(t, "x.go", "package x // y\n")[0]
		return strings.Contains(line, `<k->package</k->`) && strings.Contains(line, `<c->// y</c->`)
	}, "the text is highlighted")
}

// A file that is made to be slow does not hold a page.
func TestHighlightIsBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("\"\\", 100_000), strings.Repeat("a(", 1_000_000),
		strings.Repeat(strings.Repeat("{[(", 600)+"\n", 100), strings.Repeat("<a ", 80_000)} {
		for _, name := range []string{"x.js", "x.html", "x.md", "x.php", "x.rb"} {
			if got, ok := plainOf(coloured(t, name, text)); !ok || got != strings.TrimSuffix(text, "\n") {
				t.Errorf("%s of %.20q is not whole", name, text)
			}
		}
	}
}

// A file on which regular expressions take long shows plain, soon, and only once it is tried.
func TestSlowTextsArePlain(t *testing.T) {
	p := NewTexts()
	for _, name := range []string{"x.pas", "x.erb", "x.svelte", "x.md"} {
		for _, piece := range []string{"{\n", "(*\n", "<\n"} {
			text := strings.Repeat(piece, maxText/len(piece))
			testkit.Eventually(t, idle, "the lexers that were left end")
			lines := p.Lines(t.Context(), name, text)
			if got, ok := plainOf(lines); !ok || got != strings.TrimSuffix(text, "\n") {
				t.Errorf("%s of %q changed", name, piece)
			}
			again := p.Lines(t.Context(), name, text)
			if OfFile(name, text) != nil && &again[0] != &lines[0] {
				t.Errorf("%s of %q is lexed again", name, piece)
			}
		}
	}
}

// Two texts are lexed at a time, each once. The others are plain, and are not kept so.
func TestFewTextsAreLexedAtOnce(t *testing.T) {
	p := NewTexts()
	plain := func(name, text string) bool {
		return !strings.Contains(p.Lines(t.Context(), name, text)[0], "</")
	}
	const text = "package x\n"
	same := fmt.Sprintf("Go %x", sha256.Sum256([]byte("package x")))
	for _, keys := range [][]string{{"a", "b"}, {same}} {
		for _, key := range keys {
			for !working.enter(key) { // another test is at work
				time.Sleep(time.Millisecond)
			}
		}
		if !plain("x.go", text) {
			t.Errorf("the text is lexed beside %v", keys)
		}
		for _, key := range keys {
			working.leave(key)
		}
	}
	testkit.Eventually(t, func() bool {
		p = NewTexts() // a text that took too long is kept plain
		return !plain("x.go", text) && !plain("y.go", text) && p.byHash.Len() == 1
	}, "the text is highlighted and kept once")
}

// Tokens of one class are one element.
func TestNeighboursAreJoined(t *testing.T) {
	t.Parallel()
	testkit.Eventually(t, func() bool {
		return strings.Count(coloured(t, "x.go", `var _ = "a\n\t\n"`)[0], `<s->`) == 1
	}, "the string is one element")
}

// FuzzHighlight: of any text every character is shown, and nothing of it is read as HTML.
func FuzzHighlight(f *testing.F) {
	f.Add("x.go", "func x() { return `<b>` }")
	f.Add("x.html", "<script>let a = '<b>'</script>")
	f.Fuzz(func(t *testing.T, name, text string) {
		if len(text) > 2000 {
			return
		}
		text = strings.ToValidUTF8(text, "")
		got, ok := plainOf(coloured(t, name, text))
		if !ok || got != strings.TrimSuffix(text, "\n") {
			t.Errorf("%q became %q", text, got)
		}
	})
}
