//go:build long

package server_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// In a real browser, a documentation_url must lead to its operation, and one without an operation to the
// beginning of the document. To show the whole reference takes a browser seconds, so each document is shown
// once with an operation, and that an address of GitHub's leads to no other document its page is asked.
func TestDocumentationURLsLeadToOperations(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	tab := browser.Open(t, s.URL, browser.Look{})
	for i, test := range []struct {
		anchor string
		want   []string
	}{
		{"#post-plants", []string{`#tag/plants/operation/post-plants`, "Arbor plant store", "40008"}},
		{"#post-plants-nothing", []string{"Arbor plant store"}},
		{"#get-repos-owner-repo-issues", []string{`#tag/issues/operation/get-repos-owner-repo-issues`,
			"Arbor code hosting"}},
	} {
		// with a query of its own it is another page, which is loaded
		tab.Go(fmt.Sprint("/docs?", i, test.anchor))
		for _, want := range test.want {
			shows := false
			testkit.Eventually(t, func() bool {
				tab.Eval(`document.documentElement.outerHTML.includes(`+strconv.Quote(want)+`)`, &shows)
				return shows
			}, "/docs"+test.anchor+" shows "+want)
		}
	}
	var led []string
	tab.Run(chromedp.Evaluate(
		`fetch(documentOf("delete-repos-owner-repo-pages")).then(answer => answer.json()).then(spec =>
		[spec.info.title, String(operationIn(spec, "delete-repos-owner-repo-pages"))])`, &led, browser.Await))
	if !slices.Equal(led, []string{"Arbor code hosting", "undefined"}) {
		t.Errorf("an operation of GitHub's that is not there leads to %q", led)
	}
}
