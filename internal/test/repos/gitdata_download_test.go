package repos_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// A commit that names one large blob by many paths can be looked at, but not had as text: 406, by all
// addresses.
func TestTextThatIsTooLarge(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	r := s.Repo(t, "alice/plot", false)
	var b strings.Builder
	text := strings.Repeat("line\n", 160<<10)
	fmt.Fprintf(&b, "blob\nmark :1\ndata %d\n%s\n", len(text), text)
	fmt.Fprintf(&b, "commit refs/heads/main\ncommitter %s %d +0000\ndata 1\na\nM 100644 inline x\ndata 1\nx\n", gittest.Author, gittest.Start)
	fmt.Fprintf(&b, "commit refs/heads/many\ncommitter %s %d +0000\ndata 1\nb\nfrom refs/heads/main\n",
		gittest.Author, gittest.Start+1)
	for n := range 700 {
		fmt.Fprintf(&b, "M 100644 :1 %d\n", n)
	}
	dir := gittest.Bare(t)
	gittest.Import(t, dir, strings.NewReader(b.String()+"done\n"))
	s.Import(t, r, dir)
	s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "alice",
		Send: `{"title": "t", "head": "many", "base": "main"}`, Status: 201})
	sha := gittest.Run(t, dir, "rev-parse", "many")
	const want = `{"errors": [{"field": "diff", "code": "too_large"}]}`
	for _, kind := range []string{"diff", "patch"} {
		for _, path := range []string{"/repos/alice/plot/commits/many",
			"/repos/alice/plot/compare/main...many", "/repos/alice/plot/pulls/1"} {
			s.Check(t, apitest.Case{Do: "GET " + path, As: "alice", Status: 406, Want: want,
				Headers: map[string]string{"Accept": "application/vnd.github." + kind}})
		}
		for _, path := range []string{"/commit/" + sha, "/compare/main...many", "/pull/1"} {
			s.Check(t, apitest.Case{Do: "GET /alice/plot" + path + "." + kind, As: "alice",
				Status: 406, Want: want})
		}
	}
}
