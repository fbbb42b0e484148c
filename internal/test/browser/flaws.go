package browser

import (
	_ "embed" // for the script
	"strconv"
	"strings"

	"github.com/chromedp/chromedp"
)

// flaws is a script that returns the visible defects of a page.
//
//go:embed flaws.js
var flaws string

// layout is a script that returns the defects of how a page is laid out.
//
//go:embed layout.js
var layout string

// Layout lists the defects of how the page is laid out at the window's width, its menus as they are:
//
//   - a page that is wider than its window
//   - texts that are cut off, without a way to scroll to them and without a title that has them whole
//   - texts, fields and pictures that lie on each other
func (b *Tab) Layout() (list []string) {
	b.t.Helper()
	b.Run(chromedp.Evaluate(strings.TrimSpace(layout), &list))
	return list
}

// menus is a script that returns the defects of where menus and dialogs open.
//
//go:embed menus.js
var menus string

// Menus opens each menu of the page, and the dialogs of its foot if the page's scripts run, one after the other, and
// lists those that reach out of the window, have to be scrolled sideways, or are covered. It leaves them closed.
func (b *Tab) Menus(scripts bool) (list []string) {
	b.t.Helper()
	b.Run(chromedp.Evaluate(strings.Replace(menus, "SCRIPTED", strconv.FormatBool(scripts), 1), &list, Await))
	return list
}

// Flaws opens all menus of the page and lists its visible defects:
//
//   - check boxes that are cut off or have no accessible name
//   - buttons, links and labels whose text has a contrast below 4.5
//   - words that are broken inside
//   - fields too narrow to write in
//   - icons of a timeline outside their bullets
//   - a page that is wider than its window
func (b *Tab) Flaws() (list []string) {
	b.t.Helper()
	b.Run(chromedp.Evaluate(strings.TrimSpace(flaws), &list, Await))
	return list
}
