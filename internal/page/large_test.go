package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/apitest"
	"arbor/internal/git/gittest"
)

// A page is made of what the API answers. It must neither hold fifty megabytes of
// patches of which it shows the beginnings, nor build ten megabytes of comments
// before it sends them.
func TestLargePages(t *testing.T) {
	dir := gittest.Bare(t)
	var b bytes.Buffer
	fmt.Fprintf(&b, "commit refs/heads/main\ncommitter %s %d +0000\ndata 1\nm\n", gittest.Author, gittest.Start)
	for n := range 12 {
		text := strings.Repeat(strings.Repeat("\x01", 999)+"\n", 900)
		fmt.Fprintf(&b, "M 100644 inline file%d\ndata %d\n%s\n", n, len(text), text)
	}
	b.WriteString("done\n")
	gittest.Import(t, dir, &b)
	apitest.EachAlone(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/garden", false), dir)
		commit := s.Measure(t, "/alice/garden/commit/"+gittest.Run(t, dir, "rev-parse", "main"), "", "text/html")
		if commit.Allocated > 150<<20 || commit.Sent > 4<<20 {
			t.Errorf("the page of a commit: %d bytes took %d", commit.Sent, commit.Allocated)
		}
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Send: `{"title": "large"}`, Status: 201})
		for n := range 60 {
			sent, _ := json.Marshal(map[string]string{"body": fmt.Sprint(n) + strings.Repeat(" \"", 32_000)})
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues/1/comments", As: "alice", Send: string(sent), Status: 201})
		}
		issue := s.Measure(t, "/alice/garden/issues/1", "", "text/html")
		if issue.Sent < 10<<20 || issue.Header.Get("Etag") != "" {
			t.Errorf("the page of an issue has %d bytes and the ETag %q", issue.Sent, issue.Header.Get("Etag"))
		}
	})
}
