//go:build long

package pages_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// drawn has diagrams and formulas: good ones, broken ones, and some that would harm readers.
var drawn = strings.ReplaceAll(`# Drawn

'''mermaid
flowchart LR
  accTitle: How water flows
  rain --> barrel[The <b>barrel</b>] --> bed
'''

'''mermaid
this is no diagram
'''

'''mermaid
flowchart LR
  a["<img src=x onerror=parent.postMessage(1,'*')><script>parent.document.title='harmed'</script>"] --> b
  click a href "javascript:parent.document.title='harmed'"
  click b call alert()
'''

The area is $\pi r_1^2$, and $$\sum_{i=1}^n x_i$$

'''math
\frac{a}{b}
'''

Broken: $\nothing{$, harmful: $\href{javascript:alert(1)}{x}$, endless: $\def\a{\a\a}\a$
`, "'''", "```")

// Diagrams are drawn and formulas set, in each theme; what is broken or harmful stays text, as all of it does without a
// script. Pages without either load nothing for them.
func TestDiagramsAndFormulas(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	codePlant(t, s, "alice/garden", false)
	put := func(path, text string) {
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/" + path, As: "alice", Status: 201,
			Send: fmt.Sprintf(`{"message": "m", "content": %q}`, base64.StdEncoding.EncodeToString([]byte(text)))})
	}
	put("drawn/README.md", drawn)
	put("plain/README.md", "# Plain\n\nIt costs $5 or $6.\n")
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
		Send: fmt.Sprintf(`{"title": "Drawn", "body": %q}`, drawn)})
	for name, look := range map[string]browser.Look{"light": {}, "dark, on a phone": {Dark: true, Width: 390, Height: 844}} {
		t.Run(name, func(t *testing.T) {
			b := watched(t, s, look)
			b.SignIn(s.Session(t, "alice"))
			for _, page := range []string{"/alice/garden/tree/main/drawn", "/alice/garden/issues/1"} {
				b.Go(page)
				drawing := false
				testkit.Eventually(t, func() (done bool) {
					was := drawing
					b.Eval(`!!document.querySelector('iframe.offstage')`, &drawing)
					if was && !drawing { // the machine is so busy that the time for a diagram was over
						b.Go(page)
					}
					b.Eval(`scrollBy(0, 300); document.querySelectorAll('.diagram img').length === 2 &&
						[...document.querySelectorAll('.diagram img')].every((n) => n.complete && n.naturalWidth > 50)`, &done)
					return done
				}, page+": diagrams are drawn")
				testkit.Eventually(t, func() (done bool) {
					b.Eval(`document.querySelectorAll('.said math').length >= 3`, &done)
					return done
				}, page+": formulas are set")
				var alt, title, left string
				b.Eval(`document.querySelector('.diagram img').alt`, &alt)
				b.Eval(`document.title`, &title)
				b.Eval(`document.querySelector('.said > pre > code.language-mermaid').textContent`, &left)
				if alt != "How water flows" || strings.Contains(title, "harmed") || !strings.Contains(left, "no diagram") {
					t.Errorf("%s: alt %q, title %q, left %q", page, alt, title, left)
				}
				var harm int
				b.Eval(`document.querySelectorAll('.said a[href^=javascript], .said script, .said [onerror]').length`, &harm)
				if harm > 0 {
					t.Errorf("%s: %d harmful elements", page, harm)
				}
				for _, flaw := range b.Flaws() {
					t.Errorf("%s: %s", page, flaw)
				}
				lawful(t, b)
			}
			b.Go("/alice/garden/tree/main/plain")
			var loaded int
			b.Eval(`performance.getEntriesByType('resource').filter((e) => e.name.includes('/assets/')).length`, &loaded)
			if loaded > 3 {
				t.Errorf("a page without formulas and diagrams loads %d files", loaded)
			}
		})
	}
	b := browser.Open(t, s.URL, browser.Look{NoScript: true})
	b.Go("/alice/garden/tree/main/drawn")
	b.See(".language-mermaid", "rain --> barrel")
	b.See(".math-inline", `$\pi r_1^2$`)
	b.Go("/alice/garden/issues/1")
	b.See(".math-display", `$$\sum_{i=1}^n x_i$$`)
}

// hostileDiagram is one that takes as long to draw as the bounds of size let it.
func hostileDiagram() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for n := range 240 {
		fmt.Fprintf(&b, "  n%d --> n%d\n", n%16, (n*7+n/16)%16)
	}
	return b.String()
}

// A diagram that takes long keeps neither the page nor what else is on it: one reads on while it is drawn.
func TestHostileDiagram(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	codePlant(t, s, "alice/garden", false)
	simple := "\n```mermaid\nflowchart LR\n a --> %s\n```\n"
	text := "# Hostile\n\n```mermaid\n" + hostileDiagram() + "```\n" + strings.Repeat("text\n\n", 300) +
		fmt.Sprintf(simple, "b") + fmt.Sprintf(simple, "last")
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/hostile/README.md", As: "alice", Status: 201,
		Send: fmt.Sprintf(`{"message": "m", "content": %q}`, base64.StdEncoding.EncodeToString([]byte(text)))})
	b := watched(t, s, browser.Look{})
	b.Go("/alice/garden/tree/main/hostile")
	testkit.Eventually(t, func() (frame bool) {
		b.Eval(`document.querySelectorAll('iframe.offstage').length === 1`, &frame)
		return frame
	}, "the frame is there")
	b.Hang("/assets/") // the frame, for ever
	testkit.Eventually(t, func() (done bool) {
		b.Eval(`scrollTo(0, document.body.scrollHeight);
			[...document.querySelectorAll('.diagram')].some((n) => n.textContent.includes('last'))`, &done)
		return done
	}, "the page goes on, and the last diagram is drawn")
}
