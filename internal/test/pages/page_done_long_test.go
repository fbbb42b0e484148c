//go:build long

package pages_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// The page after a form says once what the form did: not again after a reload or the back button, and not
// next to the failure of the next form.
func TestDoneIsSaidOnce(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "bob")
	s.Repo(t, "alice/garden", false)
	const at = "/alice/garden/settings/access"
	for _, look := range []browser.Look{{}, {NoScript: true, Width: 390, Height: 800}} {
		b := browser.Open(t, s.URL, look)
		b.SignIn(s.Session(t, "alice"))
		notes := func(when, want string) {
			t.Helper()
			var got string
			b.Eval(`[...document.querySelectorAll('main > .note')].map((n) => n.innerText.trim()).join('|')`, &got)
			if got != want {
				t.Errorf("%+v, %s: the page says %q, want %q", look, when, got, want)
			}
			if path := b.Path(); strings.Contains(path, "?") {
				t.Errorf("%+v, %s: the address is %s", look, when, path)
			}
		}
		const done = "bob has the role Write now."
		add := func(login string) {
			b.Fill("#login", login)
			b.Follow("form.row button.main")
		}
		b.Go(at)
		add("bob")
		notes("after the form", done)
		b.Run(chromedp.Reload())
		notes("loaded again", "")

		add("bob")
		notes("after the form", done)
		add("nobody")
		notes("after a form that failed", `There is nobody with the login "nobody".`)

		b.Go(at)
		add("bob")
		b.Follow(`nav a[href="/alice/garden/settings/keys"]`)
		notes("on another page", "")
		b.Eval(`history.back(), 1`, nil)
		b.See("h1", "Collaborators")
		notes("come back to", "")
	}
}
