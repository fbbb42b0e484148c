package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Somebody who merges at home and pushes the result has merged: the pull request must
// not stay open, or in conflict with what holds it already.
func TestPushedMerge(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		for n, head := range []string{"slugs", "snails"} {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send: `{"title": "x", "head": "` + head + `", "base": "main"}`, Status: 201,
				Want: fmt.Sprintf(`{"number": %d}`, n+1)})
		}
		head := pullTip(t, s, "alice/plot", "slugs")
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/plot/git/refs/heads/main", As: "will",
			Send: `{"sha": "` + head + `"}`, Status: 200})
		closed := func() bool {
			a := s.Do(t, apitest.Case{Do: "GET /repos/alice/plot/pulls?state=closed"})
			return strings.Contains(string(a.Body), `"number":1`)
		}
		testkit.Eventually(t, closed, "the pull request is closed")
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"state": "closed", "merged": true, "merged_by": {"login": "will"}, "merge_commit_sha": "` + head + `", "mergeable": null, "commits": 1}`},
			{Do: "GET /repos/alice/plot/pulls/1/merge", Status: 204},
			{Do: "GET /repos/alice/plot/pulls/2", Status: 200,
				Want: `{"state": "open", "merged": false, "mergeable": true}`},
			{Name: "a head set back to what the base had is no merge",
				Do: "PATCH /repos/alice/plot/git/refs/heads/snails", As: "will",
				Send: `{"sha": "` + head + `", "force": true}`, Status: 200},
			{Do: "GET /repos/alice/plot/pulls/2", Status: 200, Want: `{"state": "open", "merged": false}`},
		})
	})
}
