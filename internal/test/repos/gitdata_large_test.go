package repos_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/git"
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

// Neither a push nor the API stores a tree that is too large to walk, or a commit that is
// too large to show. The answer says why, and the repository stays as it was.
func TestWhatNobodyCanShowIsRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		r := s.Repo(t, "alice/zoo", false)
		s.Import(t, r, zoo(t))
		clone := filepath.Join(t.TempDir(), "clone")
		gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "alice", "alice/zoo"), clone)
		before := gittest.Run(t, clone, "rev-parse", "HEAD")

		// The same trees by both ways: each has the one before ten times.
		tree := gittest.Resolve(t, clone, "HEAD^{tree}")
		for level := 1; ; level++ {
			var listing, entries strings.Builder
			for c := 'a'; c < 'k'; c++ {
				fmt.Fprintf(&listing, "040000 tree %s\t%c\n", tree, c)
				fmt.Fprintf(&entries, `,{"path": "%c", "mode": "040000", "type": "tree", "sha": %q}`, c, tree)
			}
			a := s.Do(t, apitest.Case{Do: "POST /repos/alice/zoo/git/trees", As: "alice",
				Send: `{"tree": [` + entries.String()[1:] + `]}`})
			made := gittest.Pipe(t, clone, strings.NewReader(listing.String()), "mktree", "--missing")
			tree = git.SHA(strings.TrimSpace(string(made)))
			if a.Status == 201 && level < 8 {
				continue
			}
			if a.Status != 422 || !strings.Contains(string(a.Body), "has more than 10000000 paths") {
				t.Errorf("level %d: %d %s", level, a.Status, a.Body)
			}
			break
		}
		push := func(commit, says string) {
			t.Helper()
			_, said, err := gittest.Try(t, clone, nil, "push", "-q", "origin", commit+":refs/heads/main")
			if err == nil || !strings.Contains(string(said), says) {
				t.Errorf("pushed: %v, %s", err, said)
			}
		}
		push(gittest.Run(t, clone, "commit-tree", "-p", "HEAD", "-m", "bomb", string(tree)),
			"has more than 10000000 paths")
		message := strings.NewReader(strings.Repeat("long\n", 300_000))
		made := gittest.Pipe(t, clone, message, "commit-tree", "-p", "HEAD", "HEAD^{tree}")
		long := strings.TrimSpace(string(made))
		push(long, "commit "+long+" has ")
		now := strings.Fields(gittest.Run(t, clone, "ls-remote", "origin", "refs/heads/main"))[0]
		if now != before {
			t.Errorf("main is at %s and was at %s", now, before)
		}
	})
}

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
	s.Ask(t, "alice", "POST /repos/alice/plot/pulls", `{"title": "t", "head": "many", "base": "main"}`, 201)
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

// A first read starts at most one git process outside the pool, and a repeated one starts none: otherwise a
// busy server would spend its time on processes.
func TestReadsStartFewProcesses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		dir := gittest.Repository(t, 40, 10)
		s.Import(t, s.Repo(t, "alice/garden", false), dir)
		head := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "main"))
		s.Check(t, apitest.Case{Name: "warm the pool", Do: "GET /repos/alice/garden/git/trees/main",
			Status: 200})
		s.Settle(t) // languages are counted with the same processes
		for path, most := range map[string]int64{
			"git/trees/" + head + "?recursive=1": 0, "git/commits/" + head: 0, "contents": 0,
			"readme?ref=none": 0,
			"commits":         1, "commits?path=file1.txt": 1, "commits/main": 1, "commits/" + head: 1,
			"branches": 0, "branches/main": 0, "tags": 0, "git/refs": 0, "git/ref/heads/main": 0,
			"compare/main...main": 2,
		} {
			for round := range 2 {
				before := s.Git.Started()
				a := s.Do(t, apitest.Case{Do: "GET /repos/alice/garden/" + path})
				if a.Status >= 500 {
					t.Fatalf("%s: status %d", path, a.Status)
				}
				started := s.Git.Started() - before
				if round == 1 && a.Status == 200 {
					most = 0
				}
				if started > most {
					t.Errorf("round %d of %s started %d processes of git, not at most %d", round+1, path,
						started, most)
				}
			}
		}
	})
}
