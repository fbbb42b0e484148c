//go:build long

package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/page/diff"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// fences is a file whose lines 3 and 5 hold fences of Markdown.
const fences = "one\ntwo\n```` go\nfour\n```\nsix <b> & \"q\"\n"

// fencePlant is alice's pull request 1, which adds fences.md and changes two lines of song.txt; will may push.
func fencePlant(t testing.TB, s *apitest.Server) {
	t.Helper()
	s.Users(t, "alice", "will")
	h := &history{}
	h.commit("main", "", "Begin", "song.txt", song())
	h.commit("topic", "main", "Explain", "song.txt", song("3", "third line", "5", "fifth line"), "fences.md", fences)
	s.Grant(t, h.into(t, s, "alice/plot", false), "will", account.Push)
	propose(t, s, "topic")
}

// hold opens the form below line n of a file in the browser, drawn from line `from` if that is another one.
func hold(t testing.TB, b *browser.Tab, path, cells string, from, n int) {
	t.Helper()
	var done bool
	b.Eval(fmt.Sprintf(`(() => {
		const cell = (n) => [...document.querySelectorAll('#diff-%[1]s %[2]s')].find((c) => parseInt(c.textContent) === n);
		cell(%[3]d).dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
		const button = document.querySelector('#diff-%[1]s .addnote');
		button.dispatchEvent(new MouseEvent('pointerdown', { bubbles: true, cancelable: true }));
		cell(%[4]d).dispatchEvent(new MouseEvent('pointerup', { bubbles: true }));
		return document.activeElement.matches('.lineform textarea');
	})()`, diff.ID(path), cells, from, n), &done)
	if !done {
		t.Fatal("no form opens below the line")
	}
}

// A reviewer draws over lines, puts them into the comment as a suggestion, changes them there, and the author
// commits them.
func TestInsertSuggestion(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	fencePlant(t, s)
	b := browser.Open(t, s.URL, browser.Look{Width: 360, Height: 740, Dark: true})
	b.SignIn(s.Session(t, "will"))
	text := func() (value string) {
		b.Eval(`document.querySelector(".under .lineform textarea").value`, &value)
		return value
	}
	for form, cells := range map[string]string{"": "tr.a td:nth-child(2)", "?diff=split": "tr td.a:nth-child(3)"} {
		b.Go("/alice/plot/pull/1/files" + form)
		hold(t, b, "fences.md", cells, 6, 2) // upwards
		b.Fill(".under .lineform textarea", "Better:")
		b.Click(".under [data-suggest]")
		want := "Better:\n`````suggestion\ntwo\n```` go\nfour\n```\nsix <b> & \"q\"\n`````\n"
		if got := text(); got != want {
			t.Errorf("%q: the text is %q, want %q", form, got, want)
		}
		for _, flaw := range b.Flaws() {
			t.Errorf("%q: %s", form, flaw)
		}
	}
	// Lines that are not shown are not suggested, and an old line has no suggestion.
	b.Go("/alice/plot/pull/1/files")
	hold(t, b, "song.txt", "tr.a td:nth-child(2)", 5, 5)
	b.Fill(".under .lineform input[name=start]", "0999")
	b.Click(".under [data-suggest]")
	if got := text(); got != "" {
		t.Errorf("lines that are not shown became %q", got)
	}
	b.Fill(".under .lineform input[name=start]", "3")
	b.Click(".under [data-suggest]")
	if got, want := text(), "```suggestion\nthird line\nline 4\nfifth line\n```\n"; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
	b.Fill(".under .lineform textarea", "```suggestion\nla la\n```")
	b.Follow(`.under .lineform button.main`)
	b.See(".suggestion", "la la")
	b.Click(".suggestion summary")
	b.Follow(".suggestion details button.main")
	if got := file(t, s, "topic", "song.txt"); !strings.Contains(got, "line 2\nla la\nline 6\n") {
		t.Errorf("the file is now %q", got)
	}
	b.Go("/alice/plot/pull/1/files")
	hold(t, b, "song.txt", "tr.d td:nth-child(1)", 4, 4)
	becomes(t, b, `document.querySelector(".under [data-suggest]").hidden`)
}

// A reviewer walks through the conversations, resolves one and opens it again, with the keyboard alone.
func TestResolveByKeyboard(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	fencePlant(t, s)
	for line, path := range map[int]string{3: "song.txt", 2: "fences.md"} {
		api(t, s, "will", "POST /repos/alice/plot/pulls/1/comments", 201, changeObject{"body": "Why?",
			"commit_id": head(t, s, 1), "path": path, "line": line, "side": "RIGHT"}, nil)
	}
	b := browser.Open(t, s.URL, browser.Look{})
	b.SignIn(s.Session(t, "will"))
	for _, page := range []string{"/alice/plot/pull/1/files", "/alice/plot/pull/1"} {
		b.Go(page)
		b.Press("x") // none has the focus
		b.Press("jjk")
		becomes(t, b, `document.activeElement.closest(".reviewthread") === document.querySelector(".reviewthread")`)
		b.Leave("x")
		b.See(".reviewthread.resolved", "Resolved by will")
		becomes(t, b, `document.querySelectorAll(".reviewthread.resolved").length === 1`)
		b.Press("?")
		b.See("dialog.keys", "Resolve or unresolve")
		b.Press(kb.Escape)
		becomes(t, b, `document.querySelector("dialog") === null`)
		b.Leave("x") // the address leads to it
		becomes(t, b, `document.querySelectorAll(".reviewthread").length === 2 && !document.querySelector(".resolved")`)
	}
}

// A reviewer follows the link to what is new since the last review, on a phone, with and without a script.
func TestChangesSinceReviewInABrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	changePlant(t, s)
	at := fmt.Sprintf("/alice/plot/pull/%d", propose(t, s, "tune"))
	led(t, s, "will", at+"/reviews", "event", "COMMENT", "body", "So far", "commit", head(t, s, 1))
	edit(t, s, "tune", song("3", "third line", "5", "fifth line", "15", "new"), "Again")
	for _, look := range []browser.Look{{Width: 360, Height: 740}, {Width: 360, Height: 740, Dark: true, NoScript: true}} {
		b := browser.Open(t, s.URL, look)
		b.SignIn(s.Session(t, "will"))
		b.Go(at + "/files")
		b.See(".diffbar", "Changes since your last review")
		b.Follow(`.diffbar a[href$="since=review"]`)
		b.See(".note", "since your last review")
		b.See("main", "1 changed file")
		if !look.NoScript {
			for _, flaw := range b.Flaws() {
				t.Error(flaw)
			}
		}
	}
}
