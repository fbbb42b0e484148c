package pages_test

import (
	"fmt"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// A page takes at most twenty queries and one process of git (a comparison two more), however many branches,
// commits and statuses it shows.
func TestCodePagesAskLittle(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		codePlant(t, s, "alice/garden", true)
		sam := as(t, s, "sam")
		for n := range 12 {
			sam.led("/alice/garden/new/main", "path", fmt.Sprintf("deep/f%d", n), "text", "x\n", "message",
				fmt.Sprint("Commit ", n))
			sam.led("/alice/garden/branches", "name", fmt.Sprint("b", n), "from", "main")
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/statuses/" +
				s.Tip(t, "sam", "alice/garden", "main"), As: "sam",
				Send: fmt.Sprintf(`{"state": "success", "context": "c%d"}`, n), Status: 201})
		}
		for _, path := range append(append([]string{}, pages...), codeForms...) {
			var asked, ran int64
			// On a busy machine a visit takes longer than a request relies on one moment, and asks again.
			for try := 0; try == 0 || try < 300 && (asked > 20 || ran > 1); try++ {
				s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Status: 200,
					// so that nothing is in memory
					Send: fmt.Sprintf(`{"description": %q}`, fmt.Sprint(path, try))})
				s.Settle(t)
				before, started := statements.Load(), s.Git.Started()
				sam.get("/alice/garden"+path).Shows(t, 200)
				asked, ran = statements.Load()-before, s.Git.Started()-started
			}
			if asked > 20 || ran > 1 {
				t.Errorf("%q takes %d queries and %d processes", path, asked, ran)
			}
			t.Logf("%q: %d queries, %d processes", path, asked, ran)
		}
	})
}
