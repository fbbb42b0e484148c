//go:build long

package pages_test

import (
	"fmt"
	"image/color"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"arbor/internal/db"
	"arbor/internal/page/diff"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// program is a file of 200 lines; indent stands before line 10, and name is in line 100.
func program(indent, name string) string {
	var b strings.Builder
	for n := range 200 {
		switch n + 1 {
		case 1:
			b.WriteString("package x\n")
		case 10:
			fmt.Fprintf(&b, "%svar line10 = 10 // ten\n", indent)
		case 100:
			fmt.Fprintf(&b, "func %s() string { return \"hundred\" }\n", name)
		default:
			fmt.Fprintf(&b, "var line%d = %d\n", n+1, n+1)
		}
	}
	return b.String()
}

// A reviewer reads changes as at GitHub: in colours, with the lines around them, without white space, in a tree of
// all files, with both versions of a picture.
func TestChangesInABrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice")
	var h history
	before := []string{"deep/er/x.go", program("", "old"), "a.png", square(t, color.White)}
	after := []string{"deep/er/x.go", program("  ", "new"), "a.png", square(t, color.Black)}
	for n := range 60 {
		after = append(after, fmt.Sprintf("many/f%02d.go", n), "package many\n\nfunc F() {}\n")
	}
	h.commit("main", "", "First", before...)
	h.commit("topic", "main", "Change much", after...)
	h.into(t, s, "alice/garden", false)
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/pulls", As: "alice", Status: 201,
		Send: `{"title": "Much", "head": "topic", "base": "main"}`})

	const files = "/alice/garden/pull/1/files"
	x, last := "#diff-"+diff.ID("deep/er/x.go"), "#diff-"+diff.ID("many/f59.go")
	b := browser.Open(t, s.URL, browser.Look{Width: 1400, Height: 900})
	b.SignIn(s.Session(t, "alice"))
	for _, form := range []string{"", "?diff=split"} {
		b.Go(files + form)
		b.Run(chromedp.Poll(fmt.Sprintf(`document.querySelectorAll('%s k-').length > 2 &&
			document.querySelectorAll('.difffile:last-child k-').length > 0`, x), nil))
		b.See(".filemenu > summary", "62 changed files")
		b.See(".diffbar", "+182")
		b.See(".tree", "f59.go")
		b.See(".tree", "deep/er")

		// The gap between the hunks is opened from above, from below, and whole.
		gap := x + ` tr.h:has([aria-label="Show the 83 lines between"])`
		b.Click(gap + ` [aria-label="Show 20 lines above"]`)
		b.See(x+" .far", "line77 = 77")
		b.Click(x + ` [aria-label="Show 20 more lines below"]`)
		b.See(x, "line14 = 14")
		b.Click(x + ` [aria-label="Show the 43 lines between"]`)
		b.See(x, "line50 = 50")
		var order string
		b.Eval(fmt.Sprintf(`[...document.querySelectorAll('%s table.diff tr:not(.h, .d)')].map((r) =>
			r.cells[r.cells.length === 4 ? 2 : 1].textContent).filter(Boolean).join(' ')`, x), &order)
		want := make([]string, 0, 100)
		for n := 7; n <= 103; n++ {
			want = append(want, fmt.Sprint(n))
		}
		if order != strings.Join(want, " ") {
			t.Errorf("%q: the lines are %s", form, order)
		}
		b.Click(x + ` tr.h:last-child [aria-label="Show 20 more lines below"]`)
		b.See(x, "line123 = 123")
		for _, flaw := range b.Flaws() {
			t.Errorf("%q: %s", form, flaw)
		}
	}

	b.Go(files)
	b.Follow(`.diffbar a[href*="w=1"]`)
	var text string
	b.Run(chromedp.TextContent(x, &text))
	if strings.Contains(text, "// ten") || !strings.Contains(text, "hundred") || !strings.Contains(b.Path(), "w=1") {
		t.Errorf("with white space hidden: %.300s", text)
	}
	b.Follow(`.tree a[href$="` + last + `"]`)
	b.See(last, "package many")
	if path := b.Path(); !strings.Contains(path, "page=2") || !strings.Contains(path, "w=1") {
		t.Errorf("the tree leads to %s", path)
	}
	b.Go(files)
	picture := "#diff-" + diff.ID("a.png")
	b.Run(chromedp.ScrollIntoView(picture), chromedp.Poll(fmt.Sprintf(`[...document.querySelectorAll('%s img')]
		.every((i) => i.complete && i.naturalWidth === 40)`, picture), nil))
	b.Run(chromedp.SetValue(picture+" select", "swipe"),
		chromedp.Evaluate(fmt.Sprintf(`document.querySelector('%s select').dispatchEvent(new Event('change'))`, picture), nil))
	var clip string
	b.Eval(fmt.Sprintf(`getComputedStyle(document.querySelectorAll('%s figure')[1]).clipPath`, picture), &clip)
	if !strings.Contains(clip, "50%") {
		t.Errorf("the picture is clipped to %q", clip)
	}
	b.See("#viewcount", "0 of 62 viewed")
	b.Click(x + " button[form=viewed]")
	b.See(".tree .seen", "x.go")
	b.See("#viewcount", "1 of 62 viewed")
	b.Go(files + "?page=2")
	b.See("#viewcount", "1 of 62 viewed")
	b.Click(last + " button[form=viewed]")
	b.See("#viewcount", "2 of 62 viewed")
	b.Click(last + " button[form=viewed]")
	b.See("#viewcount", "1 of 62 viewed")
}
