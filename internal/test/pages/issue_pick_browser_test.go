//go:build long

package pages_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// A maintainer labels an issue without loading the page: by keys, with a filter, also with a label that is
// new; Escape changes nothing. Then a former text is read and deleted. Without the script the same is done by forms.
func TestPickersAndEditsInABrowser(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	people(t, s)
	s.Grant(t, s.Repo(t, "alice/garden", false), "sam", account.Push)
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "rae",
		Send: `{"title": "Sun", "body": "it was hot"}`, Status: 201})
	const at, picker = "/alice/garden/issues/1", `form[data-apply="side-labels"]`
	b := browser.Open(t, s.URL, browser.Look{})
	b.SignIn(s.Session(t, "sam"))
	b.Go(at)
	b.Eval(`window.same = true`, nil)
	b.Press("l")
	b.See(picker, "bug")
	b.Press("wont")
	b.Click(picker + ` label:not([hidden]) input`)
	b.Press(kb.Escape)
	b.Press("l")
	b.Fill(picker+` input[type=search]`, "brand new")
	b.See(picker+" .new", "Create label")
	b.Click(picker + " .new input")
	b.Click(picker + " > button")
	b.See("#side-labels .labels", "brand new")
	b.See(".timeline", "added")
	var same bool
	if b.Eval(`window.same === true`, &same); !same {
		t.Error("the page was loaded again")
	}
	if got := issue(t, s, "alice/garden").String(); !strings.HasSuffix(got, "label=brand new") {
		t.Errorf("labels: %s", got)
	}

	b.Click(".said-by .menu:not(.edits) > summary")
	b.Click(".said-by a[data-edit]")
	b.Fill(".said-by textarea", "it is cold")
	b.Follow(".said-by form button.main")
	b.Click(".said-by .edits > summary")
	b.See(".said-by .editlist", "sam edited")
	b.Follow(".said-by .editlist a")
	b.See("table.diff", "it was hot")
	if flaws := b.Flaws(); len(flaws) > 0 {
		t.Errorf("edits: %q", flaws)
	}

	b = browser.Open(t, s.URL, browser.Look{NoScript: true, Width: 390, Height: 800})
	b.SignIn(s.Session(t, "sam"))
	b.Go(at + "/labels")
	b.Click(`input[value="bug"]`)
	b.Fill(`input[name="q"]`, "dup")
	b.Follow(`.pickfilter button`)
	b.Click(`input[value="duplicate"]`)
	b.Follow(`form.choose button.main`)
	b.See("#side-labels .labels", "duplicate")
	for _, label := range []string{"bug", "duplicate", "brand new"} {
		if got := issue(t, s, "alice/garden").String(); !strings.Contains(got, "label="+label) {
			t.Errorf("%s is not among what was chosen: %s", label, got)
		}
	}
	b.Click(".said-by .edits > summary")
	b.Follow(".said-by .edits a")
	b.Follow(".editlist a")
	b.Click(".sure > summary")
	b.Follow(".sure button.danger")
	page := get(t, s, "rae", at+"/edits", 200, "text deleted")
	without(t, get(t, s, "rae", lastEdit(t, page), 200), "hot")
}
