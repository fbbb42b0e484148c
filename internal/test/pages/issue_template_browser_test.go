//go:build long

package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// A reader files a report through the form of the repository, with the script and without it.
func TestIssueFormsInABrowser(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	people(t, s)
	templatePlant(t, s)
	for _, look := range []browser.Look{{}, {NoScript: true, Width: 390, Height: 800}} {
		b := browser.Open(t, s.URL, look)
		b.SignIn(s.Session(t, "rae"))
		b.Go("/alice/garden/issues/new")
		b.Follow(`a[href*="1_bug.yml"]`)
		if flaws := b.Flaws(); len(flaws) > 0 {
			t.Errorf("the form: %q", flaws)
		}
		b.Fill("#title", "The door broke")
		b.Fill("#answer-1", "1.2")
		b.Click(`input[name="answer-7"][value="I looked"]`)
		b.Follow("form.split button.main")
		b.See(".said-by", "1.2")
		b.See("aside .labels", "bug")
		if path := b.Path(); !strings.HasPrefix(path, "/alice/garden/issues/") {
			t.Errorf("leads to %s", path)
		}
	}
}
