package browser

import (
	_ "embed" // for the script
	"strings"

	"github.com/chromedp/chromedp"
)

// flaws is a script that gives what is wrong with how a page looks.
//
//go:embed flaws.js
var flaws string

// Flaws opens all menus of the page and lists what is wrong with how it looks:
//
//   - boxes to tick that are cut off or have no name
//   - text of buttons, links and labels that is hard to read on what is behind it
//   - words that are broken inside
//   - fields too narrow to write in
//   - pictures of a timeline that are not in their bullets
//   - a page that is wider than its window
func (b *Tab) Flaws() (list []string) {
	b.t.Helper()
	b.Run(chromedp.Evaluate(strings.TrimSpace(flaws), &list, Await))
	return list
}
