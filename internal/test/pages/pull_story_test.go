//go:build long

package pages_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// A reviewer writes ten comments, which nobody else sees before they are submitted, all at once.
func TestReviewOfTenComments(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	changePlant(t, s)
	var lines []string
	for n := 1; n <= 10; n++ {
		lines = append(lines, fmt.Sprint(n), fmt.Sprint("other line ", n))
	}
	edit(t, s, "clash", song(lines...), "Change ten lines")
	number := propose(t, s, "clash")
	at := fmt.Sprintf("/alice/plot/pull/%d", number)
	b := enter(t, s, "will", browser.Look{})
	b.Go(at + "/files")
	for n := 1; n <= 10; n++ {
		var opened bool
		b.Eval(fmt.Sprintf(`(() => {
			const cell = [...document.querySelectorAll('tr.a td:nth-child(2)')].find((n) => n.textContent === '%d');
			cell.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
			cell.querySelector('.addnote').dispatchEvent(new MouseEvent('click', { bubbles: true }));
			return document.activeElement.matches('.under .lineform textarea');
		})()`, n), &opened)
		if !opened {
			t.Fatalf("no form opens below line %d", n)
		}
		b.Press(fmt.Sprintf("Remark number %d.", n))
		b.Follow(`.under .lineform button[name="review"]`)
		b.See("main", fmt.Sprintf("Remark number %d.", n))
	}
	without(t, get(t, s, "alice", at+"/files", 200), "Remark number")
	b.Click(".reviewmenu > summary")
	b.Fill("#review textarea", "Ten remarks")
	b.Follow("#review button.main")
	b.See("main", "Ten remarks")
	page := get(t, s, "alice", at, 200, "Ten remarks")
	var comments []struct {
		Review int64 `json:"pull_request_review_id"`
	}
	api(t, s, "alice", fmt.Sprintf("GET /repos/alice/plot/pulls/%d/comments", number), 200, nil, &comments)
	if len(comments) != 10 {
		t.Fatalf("%d comments\n%s", len(comments), inner(page))
	}
	for _, c := range comments {
		if c.Review != comments[0].Review {
			t.Error("the comments are of several reviews")
		}
	}
}

// tabTo presses Tab until what a selector finds has the focus.
func tabTo(t *testing.T, b *browser.Tab, selector string) {
	t.Helper()
	for range 150 {
		var there bool
		b.Eval(fmt.Sprintf("document.activeElement.matches(%q)", selector), &there)
		if there {
			return
		}
		b.Press(kb.Tab)
	}
	t.Fatalf("Tab does not lead to %s, at %s", selector, b.Path())
}

// By keyboard alone somebody signs in, opens an issue, comments on it, closes it, and merges a pull request.
func TestByKeyboard(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	changePlant(t, s)
	number := propose(t, s, "solo")
	testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), "will", "a long secret", nil))
	b := browser.Open(t, s.URL, browser.Look{})
	send := func() { b.Run(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierCtrl))) }
	b.Go("/login?return_to=/alice/plot")
	tabTo(t, b, "#login")
	b.Press("will")
	tabTo(t, b, "input[type=password]")
	b.Press("a long secret" + kb.Enter)
	b.See("main", "song.txt")

	tabTo(t, b, `a[href="/alice/plot/issues"]`)
	b.Press(kb.Enter)
	b.See("main", "New issue")
	tabTo(t, b, `a[href="/alice/plot/issues/new"]`)
	b.Press(kb.Enter)
	b.See("h1", "New issue")
	tabTo(t, b, "#title")
	b.Press("Created by keyboard")
	tabTo(t, b, "textarea[name=body]")
	b.Press("Without a mouse.")
	send()
	b.See("main", "Without a mouse.")
	b.See("main", "Created by keyboard")
	tabTo(t, b, "textarea[name=body]")
	b.Press("And a comment.")
	send()
	b.See("main", "And a comment.")
	tabTo(t, b, `button[name=state][value=completed]`)
	b.Press(kb.Enter)
	b.See("main", "Closed")

	b.Go(fmt.Sprintf("/alice/plot/pull/%d", number))
	b.See("#merge", "no conflicts")
	tabTo(t, b, `#merge button.main`)
	b.Press(kb.Enter)
	b.See("#merge", "Revert")
}
