//go:build long

package pages_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// hear makes the page keep what it copies to the clipboard.
const hear = `navigator.clipboard.write = async (items) => {
	window.heard = await (await items[0].getType('text/plain')).text();
}, true`

// heard waits until the page has copied a text.
func heard(b *browser.Tab, text string) {
	b.Run(chromedp.Poll(`window.heard === `+quote(text), nil))
}

func quote(text string) string { return `"` + text + `"` }

// A person's first hour with a repository: each act says what it did, commands, files and paths are copied, the menu
// of the head has the levels of watching, and a fork says how far behind it is.
func TestFirstHourInABrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "bob")
	b := browser.Open(t, s.URL, browser.Look{})
	b.SignIn(s.Session(t, "alice"))
	b.Go("/new")
	b.Fill(`input[name="name"]`, "orangery")
	b.Follow("main form button.main")
	b.See("main", "alice/orangery was created.")
	var done bool
	b.Eval(hear, &done)
	b.Click("main section:last-of-type pre .copies")
	heard(b, `git remote add origin `+s.URL+`/alice/orangery.git\ngit push -u origin main`)
	b.Follow(`main a[href="/alice/orangery/upload/main"]`)
	b.See("h1", "Upload files")
	b.Go("/alice/orangery")
	b.Follow(`main a[href="/alice/orangery/new/main"]`)
	b.Fill("#path", "deep/song.txt")
	fillFile(b, browser.Look{}, "La la")
	b.Follow(".editfile button.main")
	b.See("main", "deep/song.txt was created.")
	b.Eval(hear, &done)
	b.Click("[data-copy-file]")
	heard(b, "La la")
	b.Click("[data-copy]")
	heard(b, "deep/song.txt")
	b.Eval(`document.querySelector('a[download]').href.endsWith('/raw/main/deep/song.txt')`, &done)
	if !done {
		t.Error("the file cannot be downloaded")
	}
	b.Click(".watch > summary")
	b.Follow(`.watch button[formaction$="/ignore"]`)
	b.See(".watch > summary", "Ignoring")

	s.Run(t, []apitest.Case{{Do: "POST /repos/alice/orangery/forks", As: "bob", Status: 202},
		{Do: "PUT /repos/alice/orangery/contents/more.txt", As: "alice", Status: 201,
			Send: `{"message": "Add more", "content": "aGVsbG8K"}`}})
	b.Go("/bob/orangery")
	b.See("[data-behind]", "main is 1 commit behind alice:main.")

	phone := browser.Open(t, s.URL, browser.Look{Width: 360, Height: 700})
	phone.SignIn(s.Session(t, "alice"))
	phone.Go("/alice/orangery/settings")
	phone.Eval(`(() => {
		const tab = document.querySelector('.tabs [aria-current]').getBoundingClientRect();
		return tab.left >= 0 && tab.right <= innerWidth;
	})()`, &done)
	if !done {
		t.Error("the tab that is open is out of view on a phone")
	}
}
