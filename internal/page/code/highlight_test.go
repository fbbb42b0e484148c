package code

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"
)

var markup = regexp.MustCompile(`</?i( class="[a-z]")?>`)

// plainOf is the text that highlighted lines show; ok is false where anything but the highlighter's own tags is in them.
func plainOf(lines []string) (text string, ok bool) {
	joined := markup.ReplaceAllString(strings.Join(lines, "\n"), "")
	return html.UnescapeString(joined), !strings.ContainsAny(joined, "<>\"")
}

// Highlighting changes no character of a file, in whatever language, and lets none through that a browser would read.
func TestHighlightKeepsTheText(t *testing.T) {
	t.Parallel()
	texts := []string{"", "\n", "\n\n", "a", "a\n", "a\n\n", "<script>alert(1)</script>\n", "\"'&<>\n\t x\n", "/* <b>\n multi\n line */ x\n", "`${`<i>`}`\n",
		"package x\n\nfunc F(a int) string { return \"<i class=\\\"k\\\">\" } // <b>\n", "\ufffd\x01\x1b[31m\n", "<!-- <?php echo '<b>' ?> --><style>a{}</style>\n",
		"# Title\n\n```go\nfunc x() {}\n```\n", "'''\nx\n", strings.Repeat("((((", 300) + "\n", "\r\rx\r\n"}
	for _, name := range []string{"x.go", "x.js", "x.ts", "x.py", "x.rb", "x.html", "x.php", "x.css", "x.md", "x.yaml", "x.json", "x.sh", "x.sql", "x.c",
		"x.rs", "Makefile", "Dockerfile", "x.vue", "x.xml", "x.diff", "x.unknown", "noext"} {
		for _, text := range texts {
			lines := highlight(name, text)
			got, ok := plainOf(lines)
			if want := strings.TrimSuffix(text, "\n"); got != want || !ok {
				t.Errorf("%s: %q became %q", name, want, lines)
			}
		}
	}
	if lines := highlight("x.go", "package x // y\n"); !strings.Contains(lines[0], `<i class="k">package</i>`) || !strings.Contains(lines[0], `<i class="c">// y</i>`) {
		t.Errorf("nothing is highlighted: %q", lines)
	}
}

// A file that is made to be slow does not hold a page.
func TestHighlightIsBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("\"\\", 100_000), strings.Repeat("a(", 1_000_000), strings.Repeat(strings.Repeat("{[(", 600)+"\n", 100), strings.Repeat("<a ", 80_000)} {
		for _, name := range []string{"x.js", "x.html", "x.md", "x.php", "x.rb"} {
			begun := time.Now()
			got, ok := plainOf(highlight(name, text))
			if took := time.Since(begun); took > 20*time.Second || !ok || got != strings.TrimSuffix(text, "\n") {
				t.Errorf("%s of %.20q took %v, whole: %v", name, text, took, ok)
			}
		}
	}
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
		got, ok := plainOf(highlight(name, text))
		if !ok || got != strings.TrimSuffix(text, "\n") {
			t.Errorf("%q became %q", text, got)
		}
	})
}
