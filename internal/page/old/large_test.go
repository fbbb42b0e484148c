package old_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/apitest"
	"arbor/internal/git/gittest"
)

// A page is made of an answer of the API. It must not hold fifty megabytes of patches,
// of which it shows the beginnings, nor build ten megabytes of comments before it sends
// them.
func TestLargePages(t *testing.T) {
	dir := gittest.LargePatches(t)
	apitest.EachAlone(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/garden", false), dir)
		tip := gittest.Run(t, dir, "rev-parse", "main")
		commit := s.Measure(t, "/alice/garden/commit/"+tip, "", "text/html")
		if commit.Allocated > 150<<20 || commit.Sent > 4<<20 {
			t.Errorf("the page of a commit: %d bytes took %d", commit.Sent, commit.Allocated)
		}
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice",
			Send: `{"title": "large"}`, Status: 201})
		for n := range 60 {
			sent, _ := json.Marshal(map[string]string{"body": fmt.Sprint(n) + strings.Repeat(" \"", 32_000)})
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues/1/comments", As: "alice",
				Send: string(sent), Status: 201})
		}
		issue := s.Measure(t, "/alice/garden/issues/1", "", "text/html")
		if issue.Sent < 10<<20 || issue.Header.Get("Etag") != "" {
			t.Errorf("the page of an issue has %d bytes and the ETag %q",
				issue.Sent, issue.Header.Get("Etag"))
		}
	})
}
