//go:build long

package server_test

import (
	"fmt"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// In a real browser, a documentation_url leads to its operation, and one without an operation to the list of all.
func TestDocumentationURLsLeadToOperations(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	tab := browser.Open(t, s.URL, browser.Look{})
	for i, test := range []struct{ anchor, leads, shows string }{
		{"#post-plants", "/docs/plants#post-plants", "POST /plants"},
		{"#get-repos-owner-repo-issues", "/docs/issues#get-repos-owner-repo-issues", "List issues"},
		{"#post-plants-nothing", "", "Arbor plant store"},
		{"#delete-repos-owner-repo-pages", "", "Arbor code hosting"},
	} {
		here := fmt.Sprint("/docs?", i, test.anchor) // with a query of its own it is another page, which is loaded
		tab.Go(here)
		tab.See("main", test.shows)
		if test.leads == "" {
			test.leads = here
		}
		if at := tab.Path(); at != test.leads {
			t.Errorf("%s leads to %s, want %s", here, at, test.leads)
		}
	}
}
