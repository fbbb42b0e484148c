//go:build long

package pages_test

import (
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"

	"github.com/chromedp/chromedp/kb"
)

// A person works with the keyboard alone: goes to pages, walks through a list, opens menus; and can switch the
// keys off.
func TestKeys(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	people(t, s)
	threadPlant(t, s, "alice/garden", false)
	b := browser.Open(t, s.URL, browser.Look{})
	b.SignIn(s.Session(t, "alice"))

	b.Go("/alice/garden")
	b.Leave("gi")
	b.See("h1", "Issues")
	b.Press("jjk")
	b.Submit() // Enter follows the link of the first row
	b.See("h1", "#")

	b.Press("l")
	b.See(`.gear[open] .choose`, "Apply")
	b.Press(kb.Escape)
	b.Press("r")
	becomes(t, b, `document.activeElement.name === "body"`)
	b.Press("jk?")
	becomes(t, b, `document.activeElement.value.endsWith("jk?") && !document.querySelector("dialog")`)

	// Ctrl+K finds pages by a part of the name.
	b.Go("/alice/garden")
	b.Click("a[data-palette]")
	b.See("#palette-list", "Milestones")
	b.Fill("dialog input", "miles")
	becomes(t, b, `document.querySelectorAll("#palette-list li").length === 1`)
	b.Submit()
	b.See("h1", "Milestones")

	// The list of keys, in which they are switched off.
	b.Press("?")
	b.See("dialog.keys", "Show this list")
	b.Click(`dialog.keys input`)
	b.Click(`dialog.keys button`)
	b.Press("?")
	becomes(t, b, `document.querySelector("dialog") === null`)
	b.Click("a[data-keys]")
	b.See("dialog.keys", "Keyboard shortcuts")
}
