//go:build long

package pages_test

import (
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// A link to a line leads to the page of the file that has it.
func TestLinksToLinesInABrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	aLongFile(t, s)
	b := browser.Open(t, s.URL, browser.Look{})
	for _, kind := range []string{"blob", "blame"} {
		b.Go("/alice/garden/" + kind + "/main/program.go#L2500")
		b.See("tr:target", "line2500")
		b.Go("/alice/garden/" + kind + "/main/program.go?page=1#L4000-L4002")
		b.See("tr.on", "line4000")
		b.Go("/alice/garden/" + kind + "/main/program.go#L99999")
		b.See("main", "line5000")
	}
	plain := browser.Open(t, s.URL, browser.Look{NoScript: true, Width: 390, Height: 800})
	plain.Go("/alice/garden/blob/main/program.go#L2500")
	plain.Fill(".goline input[name=line]", "2500")
	plain.Follow(".goline button")
	plain.See("tr:target", "line2500")
}
