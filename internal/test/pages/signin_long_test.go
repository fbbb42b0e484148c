//go:build long

package pages_test

import (
	"regexp"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// A person signs in by keyboard alone in a real browser, with scripts and without, and the page loads nothing
// from elsewhere and breaks no rule of its policy.
func TestFrontInABrowser(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), "alice", "a long secret", nil))
	for _, look := range []browser.Look{{}, {NoScript: true, Width: 390, Height: 800, Dark: true}} {
		b := browser.Open(t, s.URL, look)
		b.Go("/login?return_to=%2Flogin")
		b.Fill("#login", "alice")
		b.Press("\t")
		b.Press("a long secret\r")
		b.See("header.site", "Issues")
		if look.NoScript {
			continue
		}
		var sources []string
		b.Eval(`performance.getEntriesByType("resource").map((e) => e.name)`, &sources)
		for _, source := range sources {
			if !regexp.MustCompile(`^` + regexp.QuoteMeta(s.URL) + `/`).MatchString(source) {
				t.Errorf("the page loads %s", source)
			}
		}
	}
}
