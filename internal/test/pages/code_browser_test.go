//go:build long

package pages_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// A person finds a file, links to lines of it, edits it, and meets somebody else's change without losing a
// word: in a browser with the script and in one without.
func TestCodeInABrowser(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]browser.Look{"script": {},
		"no script, on a phone": {NoScript: true, Width: 390, Height: 800}} {
		t.Run(name, func(t *testing.T) {
			s := apitest.Start(t, db.SQLite)
			codePlant(t, s, "alice/garden", false)
			b := browser.Open(t, s.URL, look)
			b.SignIn(s.Session(t, "sam"))
			b.Go("/alice/garden")
			b.See("main", "song.txt")
			b.Follow(`a[data-key="t"]`)
			b.Fill(`.findform input[name=q]`, "song")
			if look.NoScript {
				b.Follow(`.findform button:not([name])`)
			}
			b.See(".found", "song.txt")
			if !look.NoScript {
				b.Run(chromedp.Poll(`document.querySelectorAll(".found li").length === 1`, nil))
			}
			b.Follow(`.found li a`)
			b.See("main", "1 line")
			if !look.NoScript {
				b.Go("/alice/garden/find/main")
				b.Fill(`.findform input[name=q]`, "song")
				b.Submit()
				b.See("main", "1 line")
				b.Click(`a[href="#L1"]`)
				var hash string
				b.Eval(`location.hash`, &hash)
				if hash != "#L1" {
					t.Errorf("the line's link leads to %q", hash)
				}
			}
			b.Follow(`a[data-key="e"]`)
			fillFile(b, look, "sam's words")
			alice := as(t, s, "alice")
			alice.led("/alice/garden/edit/main/song.txt", "blob",
				field(t, alice.get("/alice/garden/edit/main/song.txt"), "blob"), "path", "song.txt",
				"text", "alice's\n")
			b.Follow(`.editfile button.main`)
			b.See("main", "Someone changed this file while you were editing it")
			var typed string
			if b.Run(chromedp.Value("#text", &typed)); !strings.Contains(typed, "sam's words") {
				t.Errorf("the form has %q", typed)
			}
			b.Follow(`.editfile button.main`)
			b.See("main", "sam's words")
			if got := text(t, s, "song.txt", "main"); !strings.Contains(got, "sam's words") {
				t.Errorf("the file is %q", got)
			}
			b.Go("/alice/garden/commit/main?diff=split")
			b.See(".difffile", "alice's")
		})
	}
}

// Lines from one to another are marked, and a collapsed file opens in its place.
func TestScript(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	codePlant(t, s, "alice/garden", false)
	sam := as(t, s, "sam")
	sam.led("/alice/garden/new/main", "path", "go.sum", "text", "generated words\n")
	b := browser.Open(t, s.URL, browser.Look{})
	b.Go("/alice/garden/blob/main/deep/er/x.go#L2-L3")
	var marked int
	b.Eval(`document.querySelectorAll(".code tr.on").length`, &marked)
	if marked != 2 {
		t.Errorf("%d lines are marked", marked)
	}
	b.Go("/alice/garden/commit/main")
	b.See(".difffile", "Generated files are collapsed")
	b.Click(`a[data-show]`)
	b.See(".difffile", "generated words")
	if path := b.Path(); strings.Contains(path, "show=") {
		t.Errorf("the browser went to %s", path)
	}
}

// The tree of files beside a file: folders open one at a time, the file is marked, and the tree stays as its reader
// left it. On a phone a button shows it. Without a script its names are links.
func TestFilesBesideAFile(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	codePlant(t, s, "alice/garden", false)
	has := func(b *browser.Tab, script string) {
		t.Helper()
		b.Run(chromedp.Poll(script, nil))
	}
	b := browser.Open(t, s.URL, browser.Look{})
	b.Go("/alice/garden/blob/main/song.txt")
	b.See(`.filetree [aria-current="page"]`, "song.txt")
	has(b, `document.querySelectorAll(".filetree ul ul").length === 0 && document.querySelectorAll(".filetree li > a").length > 4`)
	b.Run(chromedp.Focus(`.filetree .fold`, chromedp.ByQuery))
	b.Press(kb.Enter)
	b.See(`.filetree .dir[class="dir"] > ul`, "er")
	b.Press(kb.Enter)
	has(b, `document.querySelector(".filetree .dir > ul").checkVisibility() === false`)
	b.Press(kb.Enter)
	b.Run(chromedp.Focus(`.filetree .dir .dir .fold`, chromedp.ByQuery))
	b.Press(kb.Enter)
	b.See(`.filetree .dir .dir > ul`, "x.go")
	b.Follow(`.filetree .dir .dir li:not(.dir) a`)
	b.See(`.filetree .dir .dir [aria-current="page"]`, "x.go")
	if shifts := b.Shifts(); len(shifts) > 0 {
		t.Errorf("the page shifts: %s", shifts)
	}
	b.Click(`.filetree > summary`)
	has(b, `!document.querySelector(".filetree > nav").checkVisibility() && localStorage.getItem("files") === "closed"`)
	b.Go("/alice/garden/tree/main/deep")
	has(b, `!document.querySelector(".filetree > nav").checkVisibility()`)
	b.Click(`.filetree > summary`)
	b.Follow(`.filetree .dir > a`)
	has(b, `document.querySelector(".filetree > nav").checkVisibility()`)
	b.Resize(360, 740)
	b.Go("/alice/garden/blob/main/song.txt")
	has(b, `!document.querySelector(".filetree > nav").checkVisibility()`)
	b.Click(`.filetree > summary`)
	b.See(`.filetree > nav`, "README.md")
	for _, flaw := range b.Layout() {
		t.Errorf("open on a phone: %s", flaw)
	}
	b.Resize(1280, 900)
	b.Go("/alice/garden")
	b.Go("/alice/garden/blob/main/song.txt") // a phone's choice is not that of a large screen
	has(b, `document.querySelector(".filetree > nav").checkVisibility()`)

	plain := browser.Open(t, s.URL, browser.Look{NoScript: true})
	plain.Go("/alice/garden/blob/main/deep/er/x.go")
	plain.Click(`.filetree > summary`)
	plain.See(`.filetree .dir .dir [aria-current="page"]`, "x.go")
	plain.Follow(`.filetree .dir > a`)
	plain.See("main", "er")
}
