//go:build long

package pages_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// Typing into the field of a radio button chooses the button, with the script and without: a commit for which
// somebody named a new branch does not go to main, and an App that is to reach one repository does not reach
// all.
func TestWhatIsNamedIsChosen(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	s.Repo(t, "alice/cellar", true)
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/a", As: "alice", Status: 201,
		Send: `{"message": "first", "content": "YQo="}`})
	s.NewApp(t, "alice", app.Manifest{Name: "weeder", URL: "https://robots.example"})
	for _, look := range []browser.Look{{}, {NoScript: true}} {
		b := browser.Open(t, s.URL, look)
		b.SignIn(s.Session(t, "alice"))
		name, file := "typed", "one"
		if look.NoScript {
			name, file = "plain", "two"
		}
		b.Go("/alice/garden/new/main")
		b.Fill("#path", file)
		fillFile(b, look, "text")
		b.Fill("#branch", name)
		if !look.NoScript {
			checked(t, b, "#target-new")
		}
		b.Follow("form.editfile button.main")
		b.See("h1", "Open a pull request")
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/" + file + "?ref=" + name, Status: 200})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/" + file, Status: 404})

		b.Go("/github-apps/weeder/installations/new")
		b.Fill("#repos", "garden")
		b.Follow("form.form button.main")
		if look.NoScript {
			b.See("[role=alert]", "choose one or the other")
			continue
		}
		b.See("h1", "weeder")
		b.See("main", "alice/garden")
		if text := b.Text("main"); strings.Contains(text, "cellar") || strings.Contains(text, "All of the account") {
			t.Errorf("the App reaches more than was named: %s", text)
		}
		b.Go("/settings/installations")
		b.Follow(`main a[href^="/settings/installations/"]`)
		b.Click("section:last-of-type li:last-child .sure summary")
		b.Follow("section:last-of-type li:last-child .sure button")

		b.Go("/alice/garden/settings/hooks/new")
		b.Click(`input[name="events"][value="issues"]`)
		checked(t, b, "#which-some")

		// The branch of the page is chosen after all: the name goes, and comes back with its answer.
		b.Go("/alice/garden/new/main")
		b.Fill("#path", "three")
		fillFile(b, look, "text")
		b.Fill("#branch", "never")
		b.Click(`input[value="direct"]`)
		pageValue(t, b, "#branch", "")
		b.Click("#target-new")
		pageValue(t, b, "#branch", "never")
		b.Run(chromedp.KeyEvent(kb.ArrowUp)) // chooses the other answer
		pageValue(t, b, "#branch", "")
		b.Follow("form.editfile button.main")
		b.See("main", "three")
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/three", Status: 200})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/branches/never", Status: 404})
	}
}

func checked(t *testing.T, b *browser.Tab, selector string) {
	t.Helper()
	var is bool
	if b.Eval(`document.querySelector("`+selector+`").checked`, &is); !is {
		t.Errorf("%s: %s is not checked", b.Path(), selector)
	}
}

func pageValue(t *testing.T, b *browser.Tab, selector, want string) {
	t.Helper()
	var got string
	if b.Run(chromedp.Value(selector, &got, chromedp.ByQuery)); got != want {
		t.Errorf("%s: %s holds %q, want %q", b.Path(), selector, got, want)
	}
}
