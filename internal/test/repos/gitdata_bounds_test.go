package repos_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

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
		tree := git.SHA(gittest.Run(t, clone, "rev-parse", "HEAD^{tree}"))
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
