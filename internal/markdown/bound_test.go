package markdown

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"arbor/internal/test/testenv"
	"arbor/internal/test/testkit"
)

// pathological are texts that made Markdown renderers work for minutes. Each is
// repeated to the asked length.
var pathological = []struct {
	name string
	text func(n int) string
}{
	{"openers", func(n int) string { return fill("*a ", n) }},
	{"openers and closers", func(n int) string { return fill("*a ", n/2) + fill("a_ ", n/2) }},
	{"delimiters of all kinds", func(n int) string { return fill("a**b~~c_ ", n) }},
	{"brackets", func(n int) string { return fill("[", n/2) + fill("]", n/2) }},
	{"unfinished links", func(n int) string { return fill("[a](", n) }},
	{"unfinished targets", func(n int) string { return fill("[a](<b", n) }},
	{"unfinished titles", func(n int) string { return fill("[a](b (", n) }},
	{"images in images", func(n int) string { return fill("![", n/2) + fill("](h)", n/2) }},
	{"brackets on many lines", func(n int) string { return "x\n" + fill("[a]\n", n) }},
	{"definitions", func(n int) string { return fill("[a]: b\n", n) }},
	{"half definitions", func(n int) string { return fill("[a]:\n", n) }},
	{"a long definition used often", func(n int) string {
		return "[a]: " + fill("b", n/2) + "\n\n" + fill("[a] ", n/2)
	}},
	{"a long image used often", func(n int) string {
		return "[a]: http://" + fill("b", n/2) + "\n\n" + fill("![a]", n/2)
	}},
	{"quotes in quotes", func(n int) string { return fill(">", n/2) + "\n" + fill("> a\n", n/2) }},
	{"lists in lists", func(n int) string { return fill("- ", n/2) + "a\n" + fill("b\n", n/2) }},
	{"backticks", func(n int) string { return fill("\\``", n) }},
	{"more and more backticks", backticks},
	{"wide table with short rows", func(n int) string {
		return fill("|a", n/3) + "|\n" + fill("|-", n/3) + "|\n" + fill("|\n", n/3)
	}},
	{"escapes in a table", func(n int) string { return "|a|\n|-|\n" + fill("|`\\|`|\n", n) }},
	{"equal headings", func(n int) string { return fill("# a\n", n) }},
	{"tags that HTML would repeat", func(n int) string {
		return "<b><i><em><strong><s><tt><small><code>\n" + fill("<p>x\n", n)
	}},
	{"open tags", func(n int) string { return fill("<div>", n) }},
	{"open tables", func(n int) string { return fill("<table><td>", n) }},
	{"attributes", func(n int) string { return "<a" + fill(" href=b", n) + ">" }},
	{"unfinished comments", func(n int) string { return fill("x <!-- ", n) }},
	{"addresses", func(n int) string { return "www.a.b/" + fill("a)", n) }},
	{"mail", func(n int) string { return fill("_a", n) }},
	{"mentions", func(n int) string { return fill("@a ", n) }},
	{"alerts", func(n int) string { return fill("> [!NOTE]\n> a\n\n", n) }},
	{"colons", func(n int) string { return fill(":a", n) }},
	{"formulas", func(n int) string { return fill("$x$ ", n) }},
	{"formulas without end", func(n int) string { return fill("$x ", n) }},
	{"formulas on lines without end", func(n int) string { return fill("$$\nx ", n) }},
	{"formulas of dollars", func(n int) string { return fill("$", n) }},
	{"emojis", func(n int) string { return fill(":x:", n) }},
	{"notes", func(n int) string { return manyNotes("[^%d]: a\n", n) }},
	{"notes and references", func(n int) string {
		return manyNotes("[^%d]: a\n", n/2) + "\n\n" + manyNotes("[^%d] ", n/2)
	}},
	{"references to one note", func(n int) string { return "[^a]: b\n\n" + fill("[^a]", n) }},
	{"references to none", func(n int) string { return "[^a]: b\n\n" + fill("[^b", n) }},
	{"notes in notes", func(n int) string { return fill("[^a]: ", n) }},
	{"code in one block", func(n int) string { return "```go\n" + fill("f(1)+\n", n) + "```\n" }},
	{"code in many blocks", func(n int) string { return fill("```js\nf(1)\n```\n", n) }},
	{"code without an end", func(n int) string { return "```js\n" + fill("`${", n) }},
	{"code of markup", func(n int) string { return "```html\n" + fill("<a \n", n) + "```\n" }},
	{"owners", func(n int) string { return fill("a/b@", n) }},
}

// manyNotes writes a line with each number, as many as go into n bytes.
func manyNotes(format string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func fill(unit string, n int) string { return strings.Repeat(unit, n/len(unit)) }

func backticks(n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		b.WriteString("e" + strings.Repeat("`", i))
	}
	return b.String()
}

// One body must not hold a server's core, nor fill its memory: the output grows
// with the source, and eight times the source takes not much more than eight
// times the processor's time, where a quadratic search would take 64 times.
func TestWorkIsBounded(t *testing.T) {
	long := 64 << 10
	if !testenv.Long {
		long = 16 << 10
	}
	for _, p := range pathological {
		big, out := cost(t, p.text(long), 1)
		if out > 24*long {
			t.Errorf("%s: %d bytes give %d", p.name, long, out)
		}
		if big < 250*time.Millisecond {
			continue
		}
		big, _ = cost(t, p.text(long), 3) // once may have been an accident
		small, _ := cost(t, p.text(long/8), 3)
		if ratio := float64(big) / float64(max(small, time.Millisecond)); ratio > 30 &&
			big > 250*time.Millisecond {
			t.Errorf("%s: %v for %d bytes, %v for an eighth of it", p.name, big, long, small)
		}
	}
}

// cost returns the least processor time of several runs, and the size of what was
// made.
func cost(t *testing.T, source string, runs int) (least time.Duration, size int) {
	t.Helper()
	for i := range runs {
		start := processor(t)
		d := Parse(source)
		size = len(d.HTML(everything())) + len(d.Text())
		if took := processor(t) - start; i == 0 || took < least {
			least = took
		}
	}
	return least, size
}

// processor returns the user time of this process; other tests of the package
// that run in parallel have not begun or have ended.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	testkit.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano())
}

// What is cut or left out stays valid HTML, however it is nested.
func TestBoundsKeepHTMLValid(t *testing.T) {
	t.Parallel()
	for _, p := range pathological {
		if err := check(Parse(p.text(8 << 10)).HTML(Links{})); err != nil {
			t.Errorf("%s: %.500v", p.name, err)
		}
	}
	for _, unit := range []string{"<b>", "<a href=x>", "<table>", "<table><tr><td>", "<ul><li>", "> ", "- ",
		"1. ", "<ruby><rt>", "<dl><dd>", "<pre>\n"} {
		if err := check(Parse(strings.Repeat(unit, 2000) + "x").HTML(Links{})); err != nil {
			t.Errorf("%q nested: %.500v", unit, err)
		}
	}
}

// The longest body that may be written is read to its end; a file that is longer
// is cut between two characters.
func TestLength(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("𝄞", 65_535) + "!"
	if got := Parse(long).Text(); got != long {
		t.Errorf("of %d bytes %d are left", len(long), len(got))
	}
	got := Parse("x" + strings.Repeat("𝄞", 70_000)).Text()
	if !utf8.ValidString(got) || strings.Contains(got, "\uFFFD") || len(got) != MaxSource-3 {
		t.Errorf("cut to %d bytes, ending in %q", len(got), got[len(got)-4:])
	}
}

// The bounds are far above what people write: real texts keep their form.
func TestBoundsAreGenerous(t *testing.T) {
	t.Parallel()
	var links, table, definitions strings.Builder
	for i := range 400 {
		fmt.Fprintf(&links, "[a%d](http://h/%d) and [b], ", i, i)
		fmt.Fprintf(&definitions, "[c%d]\n\n[c%[1]d]: http://h/%[1]d\n\n", i)
		fmt.Fprintf(&table, "|%d|`a\\|b`|*c*|d|e|f|g|h|\n", i)
	}
	for source, want := range map[string]int{
		links.String():       400,
		definitions.String(): 400,
	} {
		if n := strings.Count(Parse(source).HTML(Links{}), "<a "); n != want {
			t.Errorf("%d links of %d", n, want)
		}
	}
	html := Parse("|1|2|3|4|5|6|7|8|\n|-|-|-|-|-|-|-|-|\n" + table.String()).HTML(Links{})
	if cells := strings.Count(html, "<td>"); cells != 8*400 ||
		strings.Count(html, "<code>a|b</code>") != 400 {
		t.Errorf("%d cells of %d", cells, 8*400)
	}
	quotes := Parse(strings.Repeat("> ",
		20) + "a\n\n- b\n  - c\n    - d\n      - **e *f* [g](h)**").HTML(Links{})
	if strings.Count(quotes, "<blockquote>") != 20 ||
		!strings.Contains(quotes, `<strong>e <em>f</em> <a href="h">g</a></strong>`) {
		t.Errorf("nesting is lost: %s", quotes)
	}
}
