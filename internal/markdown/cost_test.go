package markdown

import (
	"runtime"
	"strings"
	"testing"
)

// dense are texts with much work for a renderer in each byte. The test repeats each of
// them.
var dense = []string{
	"a\n=\n", "a\n-\n", "# a\n", "- [ ] a\n", "|a|b|c|d|\n|-|-|-|-|\n", "- a\n", "1. a\n", "> a\n\n",
	"a\n", "a\\\n", "---\n", "***\n",
	"[a](b)", "![a](http://b)", "a@b.c ", "http://a.b ", "www.a.bc ", "*a* ", "**a** ", "~~a~~ ", "`a` ",
	"\"", "<", "&", "&amp;", "\x01",
	"<b>", "<p>", "<kbd></kbd>", "<h1>a", "<hr>", "<a id=b title=c lang=d dir=ltr>", "<table><tr><td>",
	"<ruby><rt>a", "<details><summary>",
	"@a1 ", "#1 ", "o/r#1 ", "0123456 ", "[a]: b\n[a]", "[^1]", ">>>> ", "- - - ", "```\n", "    a\n\n",
	"<!-- -->", "\\*", "é", "𝄞", ":x:", ":+1: ", "> [!TIP]\n> a\n\n", "[^a]: b\n\n[^a]", "```go\n1+f()\n```\n", "```js\n`${a}`\n```\n",
}

// measure parses a source and gives the bytes that this allocated.
func measure(source string) (*Document, int64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := Parse(source)
	runtime.ReadMemStats(&after)
	return d, int64(after.TotalAlloc - before.TotalAlloc)
}

// A list holds a hundred texts of the largest size. None may take many times its own
// length, neither rendered nor while it is rendered: a page of `a` above `=` took half a
// gigabyte.
func TestCostIsBoundedByLength(t *testing.T) {
	goldmark()
	policy()
	texts := map[string]string{}
	for _, unit := range dense {
		texts[unit] = strings.Repeat(unit, 64<<10/len(unit))
		texts[unit+" on long lines"] = strings.Repeat(strings.TrimRight(unit, "\n")+" ", 64<<10/(len(unit)+1))
		texts[unit+" in lines"] = strings.Repeat(strings.Repeat(unit, 1+14/len(unit))+"\n", 64<<10/16)
	}
	for _, p := range pathological {
		texts[p.name] = p.text(64 << 10)
	}
	for name, source := range texts {
		d, took := measure(source)
		if took > Cost(len(source)) {
			t.Errorf("%q: %d bytes take %d, more than %d", name, len(source), took, Cost(len(source)))
		}
		most, isPlain := maxHTML(len(source)), strings.HasPrefix(d.html, "<pre>")
		if len(d.html) > most+len("<pre></pre>") && !isPlain {
			t.Errorf("%q: %d bytes become %d, more than %d", name, len(source), len(d.html), most)
		}
		if n := len(d.Text()); n > 3*len(source)+1 { // U+FFFD has three bytes
			t.Errorf("%q: the plain text of %d bytes has %d", name, len(source), n)
		}
	}
}

// A text that is too dense to be rendered is shown word for word.
func TestTooMuchIsShownAsItIs(t *testing.T) {
	t.Parallel()
	source := strings.TrimSpace(strings.Repeat("a & <b>\n=\n", 64<<10/10))
	d := Parse(source)
	if want := preformatted(source); strings.ReplaceAll(d.html, "&#34;", `"`) != want {
		t.Errorf("it is %.80q, want %.80q", d.html, want)
	}
	if d.Text() != source {
		t.Errorf("its plain text is %.80q", d.Text())
	}
	if err := check(d.HTML(everything())); err != nil {
		t.Error(err)
	}
	if usual := Parse(strings.Repeat("a\n=\n", 1000)); strings.Count(usual.html, "<h1") != 1000 {
		t.Error("a thousand headings are not shown as such")
	}
}

// Three kilobytes that name a thousand issues with long titles must not become
// megabytes in each answer.
func TestLinksAreBoundedByLength(t *testing.T) {
	t.Parallel()
	d := Parse(strings.Repeat("#1 #2 #3 ", 400))
	title := strings.Repeat("\"", 256)
	issue := func(string, string, int64) (string, string, bool) { return "/i", title, true }
	out := d.HTML(Links{Issue: issue})
	if most := maxHTML(len(d.html)); len(out) > most+len(d.html)+10_000 || !strings.HasSuffix(out, "#3</p>") {
		t.Errorf("%d bytes, want at most about %d", len(out), most)
	}
	if err := check(strings.ReplaceAll(out, ` class="issue-link"`, "")); err != nil {
		t.Errorf("%.500v", err)
	}
}

// A text that is shown again is not parsed again, and the cache stays within its bound.
func TestDocumentsAreKept(t *testing.T) {
	c := NewCache(1 << 18)
	source := strings.Repeat(comment, 4<<10/len(comment))
	first := c.Parse(source)
	if c.Get(source) != first || c.Parse(source) != first {
		t.Error("the same text was parsed twice")
	}
	for i := range 100 {
		c.Parse(strings.Repeat("x", i) + source)
		if kept := c.byHash.Cost(); kept > 1<<18 {
			t.Fatalf("%d bytes are kept of at most %d", kept, 1<<18)
		}
	}
	if c.Get(source) != nil || c.byHash.Len() < 2 {
		t.Errorf("the oldest is kept, or nothing is: %d", c.byHash.Len())
	}
}
