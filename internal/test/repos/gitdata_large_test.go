package repos_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// Commits may have messages of a megabyte, of characters that take six bytes in JSON. A
// list of them must not fill the server's memory: it reads and sends one after the other.
func TestLargeCommitsStream(t *testing.T) {
	const commits, message = 18, 1_000_000 // a comparison of more outgrows the cage of its walk
	dir := gittest.Bare(t)
	var b bytes.Buffer
	for n := range commits {
		b.WriteString(gittest.CommitLine("main", n, strings.Repeat("\x01", message)))
		b.WriteString(gittest.FileLines(fmt.Sprint("file", n), "x"))
		if n == 0 {
			b.WriteString("reset refs/heads/base\nfrom refs/heads/main\n\n")
		}
	}
	b.WriteString("done\n")
	gittest.Import(t, dir, &b)
	apitest.EachAlone(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/garden", false), dir)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/pulls", As: "alice", Status: 201,
			Send: `{"title": "large", "head": "main", "base": "base"}`})
		for path, most := range map[string]int{
			"commits?per_page=100":         commits,
			"compare/base...main":          commits + 1,
			"pulls/1/commits?per_page=100": commits - 1,
		} {
			m := s.Measure(t, "/repos/alice/garden/"+path, "alice", "")
			if want := int64(most) * 6 * message; m.Sent < want {
				t.Errorf("%s: %d bytes, want %d", path, m.Sent, want)
			}
			if m.Held > 48<<20 { // encoding/json holds a commit twice
				t.Errorf("%s: an answer of %d bytes held %d", path, m.Sent, m.Held)
			}
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/branches/main", Status: 200})
	})
}

// Megabytes of patches are sent one after the other, too.
func TestLargePatchesStream(t *testing.T) {
	dir := gittest.LargePatches(t)
	apitest.EachAlone(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/garden", false), dir)
		m := s.Measure(t, "/repos/alice/garden/commits/main", "alice", "")
		if m.Sent < 40<<20 || m.Held > 40<<20 {
			t.Errorf("a commit of %d bytes held %d", m.Sent, m.Held)
		}
		// The page of the same commit shows the beginning of each patch.
		tip := gittest.Run(t, dir, "rev-parse", "main")
		page := s.Measure(t, "/alice/garden/commit/"+tip, "", "text/html")
		if page.Sent > 4<<20 {
			t.Errorf("its page has %d bytes", page.Sent)
		}
	})
}
