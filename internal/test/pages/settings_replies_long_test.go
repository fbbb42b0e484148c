//go:build long

package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// Somebody saves two replies, and inserts one at the caret of a comment, with the filter. Without the script the
// editor leads to the page, where the text can be copied, changed and deleted.
func TestSavedRepliesInABrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "bob")
	s.Repo(t, "alice/garden", false)
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Send: `{"title": "Sun"}`, Status: 201})
	const at, field = "/alice/garden/issues/1", "#new-comment textarea"
	b := browser.Open(t, s.URL, browser.Look{})
	b.SignIn(s.Session(t, "bob"))
	for _, r := range [][2]string{{"Thanks", "Thank you <b>very</b> much."}, {"Duplicate", "Somebody reported this."}} {
		b.Go("/settings/replies")
		b.Fill("#title-0", r[0])
		b.Fill("#body-0", r[1])
		b.Follow(`button[value="add"]`)
		b.See("[role=status]", "The reply was saved.")
	}
	if flaws := b.Flaws(); len(flaws) > 0 {
		t.Errorf("the page: %q", flaws)
	}
	b.Go(at)
	b.Fill(field, "Hello ! Bye")
	b.Eval(`document.querySelector("`+field+`").setSelectionRange(6, 6)`, nil)
	b.Click("#new-comment .replies > summary")
	b.See("#new-comment .replies", "Somebody reported this.")
	b.Press("thank")
	b.Click("#new-comment .replies li:not([hidden]) button")
	var got string
	if b.Eval(`document.querySelector("`+field+`").value`, &got); got != "Hello Thank you <b>very</b> much.! Bye" {
		t.Errorf("the comment: %q", got)
	}
	if flaws := b.Flaws(); len(flaws) > 0 {
		t.Errorf("the comment: %q", flaws)
	}

	b = browser.Open(t, s.URL, browser.Look{NoScript: true, Width: 390, Height: 800})
	b.SignIn(s.Session(t, "bob"))
	b.Go(at)
	b.See(`#new-comment a[href="/settings/replies"]`, "Saved replies")
	b.Go("/settings/replies")
	b.Click(".reply:nth-child(2) details:not(.sure) > summary")
	if b.Eval(`document.querySelector(".reply:nth-child(2) textarea").value`,
		&got); got != "Thank you <b>very</b> much." {
		t.Errorf("the text to copy: %q", got)
	}
	b.Click(".reply:nth-child(1) .sure > summary")
	b.Follow(".reply:nth-child(1) .sure button")
	b.See("[role=status]", "The saved reply was deleted.")
	if text := b.Text("main"); strings.Contains(text, "Duplicate") {
		t.Error("the deleted reply is still there")
	}
}
