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

// guide has what READMEs at GitHub have.
var guide = strings.ReplaceAll(`# :seedling: Guide

> [!WARNING]
> Do not *water* at noon.[^1]

See [how to sow](docs/sow.md#how-to) and [the code](/deep/er/x.go#L2).

'''go
func water(plants int) string { return "done" } // all of them
'''

- [x] sow
- [ ] water

| Plant | Sensor | A column that is wide | Another column that is wide | And a third one |
|---|---|---|---|---|
| strawberriesandraspberries | temperatureofthegreenhouse | 1 | 2 | averylongwordthatdoesnotfitonphones |

[^1]: See [the calendar](docs/sow.md).
`, "'''", "```")

// A README from GitHub looks and leads as it does there: with the script and without, light and dark, wide and on a
// phone.
func TestMarkdownInABrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	codePlant(t, s, "alice/garden", false)
	for path, text := range map[string]string{"guide/README.md": guide,
		"guide/docs/sow.md": "# Sow\n\n" + strings.Repeat("text\n\n", 100) + "## How to\n\nSlowly.\n"} {
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/" + path, As: "alice", Status: 201,
			Send: fmt.Sprintf(`{"message": "guide", "content": %q}`, base64.StdEncoding.EncodeToString([]byte(text)))})
	}
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
		Send: fmt.Sprintf(`{"title": "Guide", "body": %q}`, guide)})
	for name, look := range map[string]browser.Look{"light": {}, "dark, on a phone": {Dark: true, Width: 390, Height: 844},
		"no script": {NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			b := browser.Open(t, s.URL, look)
			b.SignIn(s.Session(t, "alice"))
			for _, page := range []string{"/alice/garden/tree/main/guide", "/alice/garden/issues/1"} {
				var plain, colours int
				testkit.Eventually(t, func() (coloured bool) { // a busy machine leaves code plain at first
					b.Go(page)
					b.See(".said pre", "func")
					b.Eval(`document.querySelector('.said pre .pl-k') !== null`, &coloured)
					return coloured
				}, "code is coloured")
				b.See(".markdown-alert-warning", "Warning")
				b.See("h1:has(+ .markdown-alert)", "🌱 Guide")
				b.Eval(`new Set([...document.querySelectorAll('.said pre [class^=pl-], .said pre code')]
					.map((n) => getComputedStyle(n).color)).size`, &colours)
				b.Eval(`parseInt(getComputedStyle(document.querySelector('.said pre code')).fontSize)`, &plain)
				if colours < 4 || plain < 13 {
					t.Errorf("%s: code has %d colours and letters of %d pixels", page, colours, plain)
				}
				if look.NoScript {
					continue
				}
				for _, flaw := range b.Flaws() {
					t.Errorf("%s: %s", page, flaw)
				}
				var reached bool
				b.Eval(`[...document.querySelectorAll('.said table')].every((n) =>
					n.scrollWidth <= n.clientWidth || n.tabIndex === 0)`, &reached)
				if !reached {
					t.Errorf("%s: a table scrolls, and cannot be reached by keyboard", page)
				}
			}
			b.Go("/alice/garden/tree/main/guide")
			b.Click("[data-footnote-ref]")
			b.See(".footnotes li:target", "the calendar")
			b.Follow(`.said a[href*="how-to"]`)
			if path := b.Path(); path != "/alice/garden/blob/main/guide/docs/sow.md#user-content-how-to" {
				t.Errorf("the link leads to %s", path)
			}
			b.See("h2:target", "How to")
			if !look.NoScript {
				b.Go("/alice/garden/blob/main/guide/docs/sow.md#how-to")
				var top float64
				b.Eval(`document.querySelector('h2[id$=how-to]').getBoundingClientRect().top`, &top)
				if top < 0 || top > 844 {
					t.Errorf("the heading is at %v", top)
				}
			}
		})
	}
}
