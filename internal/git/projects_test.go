package git_test

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/git/gittest"
	"arbor/internal/git/gittest/projects"
)

// mergedTree is the tree that git merges two commits to without a work tree, ""
// when they conflict.
func mergedTree(tb testing.TB, dir string, base, head git.SHA) git.SHA {
	tb.Helper()
	out, stderr, err := gittest.Try(tb, dir, nil, "merge-tree", "--write-tree", "--name-only", "--no-messages", string(base), string(head))
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return ""
	}
	if err != nil {
		tb.Fatalf("git merge-tree %s %s: %v\n%s", base, head, err, stderr)
	}
	return git.SHA(strings.TrimSpace(string(out)))
}

// workTree merges with `git merge` as people do, again and again in one place.
type workTree string

func newWorkTree(tb testing.TB, dir string) workTree {
	tb.Helper()
	work := tb.TempDir()
	gittest.Run(tb, work, "clone", "-q", "--shared", "--no-checkout", dir, ".")
	return workTree(work)
}

// merge gives the tree and the parents of the merge commit, or "" with conflicts.
func (w workTree) merge(tb testing.TB, base, head git.SHA) (tree git.SHA, parents string) {
	tb.Helper()
	gittest.Run(tb, string(w), "checkout", "-q", "--force", "--detach", string(base))
	if _, _, err := gittest.Try(tb, string(w), nil, "merge", "-q", "--no-ff", "--no-edit", string(head)); err != nil {
		gittest.Run(tb, string(w), "merge", "--abort")
		return "", ""
	}
	t, parents, _ := strings.Cut(gittest.Run(tb, string(w), "log", "-1", "--format=%T %P"), " ")
	return git.SHA(t), parents
}

// Each merge that the people of real projects made, and the same the other way
// round: what the server makes of the two parents is what git makes of them,
// conflicts among it, and where nothing had to be resolved, what they recorded.
// If this failed, a merge by the button and one at home would be two projects.
func TestMergesOfRealProjects(t *testing.T) {
	t.Parallel()
	all, atHome := 0, 60 // merges of each project, 0 is all: by git merge-tree, and by git merge in a work tree
	if testing.Short() {
		all, atHome = 30, 5
	}
	for _, project := range projects.All() {
		t.Run(project, func(t *testing.T) {
			t.Parallel()
			dir := projects.Repository(t, project)
			merges := projects.Sample(projects.Merges(t, dir), all)
			g := gittest.New(t, git.Options{})
			r := g.Repository(dir)
			var clean, conflicts, asked, recorded, resolved int
			for _, m := range merges {
				for _, pair := range [][2]git.SHA{{m.Base, m.Head}, {m.Head, m.Base}} {
					want, before := mergedTree(t, dir, pair[0], pair[1]), g.Started()
					checkMerge(t, r, pair[0], pair[1], want)
					if g.Started() > before {
						asked++
					}
					switch {
					case want == "":
						conflicts++
					case pair[0] == m.Base && want == m.Tree:
						recorded++
						fallthrough
					default:
						clean++
					}
					if pair[0] == m.Base && want == "" {
						resolved++
					}
				}
			}
			t.Logf("both ways of %d merges: %d clean (%d with git's help), %d conflicts; recorded: %d with the same tree, %d resolved by hand, %d changed by hand",
				len(merges), clean, asked, conflicts, recorded, resolved, len(merges)-recorded-resolved)
			if recorded < len(merges)*9/10 || asked > len(merges) {
				t.Error("that is not what projects look like")
			}
			work := newWorkTree(t, dir)
			for _, m := range projects.Sample(merges, atHome) {
				checkTestMerge(t, r, work, m)
			}
		})
	}
}

// checkTestMerge holds the commit that the server tests a merge with against the
// one that `git merge --no-ff` makes.
func checkTestMerge(t *testing.T, r *git.Repository, work workTree, m projects.Merge) {
	t.Helper()
	want, parents := work.merge(t, m.Base, m.Head)
	sha, got, err := r.TestMerge(t.Context(), m.Base, m.Head)
	switch {
	case err != nil:
		t.Fatal(err)
	case want == "" || got.UpToDate:
		if sha != "" || got.Conflict != (want == "") {
			t.Errorf("%s into %s: %q, %+v; git merges it to %q", m.Head, m.Base, sha, got, want)
		}
		return
	}
	c, err := r.Commit(t.Context(), sha)
	if err != nil {
		t.Fatal(err)
	}
	if list := fmt.Sprint(c.Parents); c.Tree != want || list != "["+parents+"]" {
		t.Errorf("%s into %s: tree %s of %s; git has %s of %s", m.Head, m.Base, c.Tree, list, want, parents)
	}
}
