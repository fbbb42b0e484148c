//go:build long

package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// A person works on an issue in a real browser: with the script menus open in place, a task is ticked at
// once, a text is edited where it stands, the editor previews and completes; without it the same is done by
// links and forms.
func TestThreadInABrowser(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	people(t, s)
	threadPlant(t, s, "alice/garden", false)
	for n := range 160 {
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues/1/comments", As: "sam",
			Send: threadObject("body", fmt.Sprintf("said %d.", n)), Status: 201})
	}
	const at = "/alice/garden/issues/1"
	b := browser.Open(t, s.URL, browser.Look{})
	b.SignIn(s.Session(t, "alice"))

	// A comment in the middle, which the address names, is fetched and shown.
	b.Go(at + "#issuecomment-61")
	b.See("#issuecomment-61", "said 59.")

	b.Go(at)
	b.Click(".gap a")
	b.See(".timeline", "said 60.")
	b.Click(`.task[value="0"]`)
	b.See(`.task[value="0"][aria-checked="true"]`, "")
	// the box shows it before the server says so
	testkit.Eventually(t, func() bool {
		return strings.Contains(issue(t, s, "alice/garden").Body, "- [x] one")
	}, "the task is ticked")

	b.Click(`aside .gear[data-load*="/labels"] summary`)
	b.Click(`aside .gear input[value="bug"]`)
	b.Click(`aside .gear button`)
	b.See("aside .labels", "bug")

	b.Click(`#issuecomment-1 details.menu summary`)
	b.Click(`#issuecomment-1 a[data-edit]`)
	b.Fill(`#issuecomment-1 textarea`, "Edited in place")
	b.Follow(`#issuecomment-1 form button.main`)
	b.See("#issuecomment-1 .said", "Edited in place")

	b.Click(`#issuecomment-1 .reactions summary`)
	b.Follow(`#issuecomment-1 .react button[value="heart"]`)
	b.See("#issuecomment-1 .reactions", "1")

	b.Fill("#new-comment textarea", "**strong** for @s")
	b.See(".hints:not([hidden])", "sam")
	b.Click(".hints li")
	var text string
	b.Eval(`document.querySelector("#new-comment textarea").value`, &text)
	if text != "**strong** for @sam " {
		t.Errorf("completed to %q", text)
	}
	b.Click(`#new-comment .bar .right`)
	b.See("#new-comment .seen strong", "strong")
	b.Click(`#new-comment .bar .right`)
	b.Click(`#new-comment .bar button[aria-label="Task list"]`)
	b.Eval(`document.querySelector("#new-comment textarea").value`, &text)
	if !strings.HasSuffix(text, "\n- [ ] ") {
		t.Errorf("the toolbar wrote %q", text)
	}
	b.Follow(`#new-comment button.main`)
	b.See(".timeline > li:last-child", "strong for @sam")

	b.Go("/alice/garden/issues")
	b.Click(`.filters details:nth-child(2) summary`)
	b.Follow(`.filters .optionlist a:nth-child(2)`)
	b.See(".listing", "Issue")
	if q := b.Path(); !strings.Contains(q, "label") {
		t.Errorf("the menu leads to %s", q)
	}

	b = browser.Open(t, s.URL, browser.Look{NoScript: true, Width: 390, Height: 800})
	b.SignIn(s.Session(t, "sam"))
	b.Go(at)
	b.Follow(`.task[value="1"]`)
	if body := issue(t, s, "alice/garden").Body; !strings.Contains(body, "- [ ] two") {
		t.Errorf("the task is not changed: %s", body)
	}
	b.Click(`aside .gear[data-load*="/milestone"] summary`)
	b.Follow(`aside .gear[data-load*="/milestone"] a`)
	b.Click(`input[name="milestone"][value=""]`)
	b.Follow(`form.choose button.main`)
	b.See("aside", "No milestone")
	b.Fill("#new-comment textarea", "Without a script")
	b.Follow(`#new-comment button[value="not_planned"]`)
	b.See(".threadhead", "Not planned")
	b.See(".timeline > li:last-child", "closed this as not planned")
}
