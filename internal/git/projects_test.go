package git_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"arbor/internal/test/testenv"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/gittest/projects"
	"arbor/internal/test/testkit"
)

// mergedTrees are the trees that git merges two commits to without a work tree, "" for those that conflict.
func mergedTrees(tb testing.TB, dir string, pairs [][2]git.SHA) (trees []git.SHA) {
	tb.Helper()
	var in strings.Builder
	for _, p := range pairs {
		fmt.Fprintln(&in, p[0], p[1])
	}
	out := gittest.Pipe(tb, dir, strings.NewReader(in.String()), "merge-tree", "--write-tree", "--stdin",
		"--name-only", "--no-messages")
	// Of each: 1 or 0 for a conflict, the tree, the files in conflict, and an empty name.
	for fields := strings.Split(string(out), "\x00"); len(fields) > 2; {
		tree := git.SHA(fields[1])
		if fields[0] != "1" {
			tree = ""
		}
		trees = append(trees, tree)
		fields = fields[2+slices.Index(fields[2:], "")+1:]
	}
	if len(trees) != len(pairs) {
		tb.Fatalf("git merge-tree tells of %d merges of %d", len(trees), len(pairs))
	}
	return trees
}

// workTree merges with `git merge` as people do, again and again in one place.
type workTree string

func newWorkTree(tb testing.TB, dir string) workTree {
	tb.Helper()
	work := tb.TempDir()
	gittest.Run(tb, work, "clone", "-q", "--shared", "--no-checkout", dir, ".")
	return workTree(work)
}

// merge returns the tree and the parents of the merge commit, or "" with conflicts.
func (w workTree) merge(tb testing.TB, base, head git.SHA) (tree git.SHA, parents string) {
	tb.Helper()
	gittest.Run(tb, string(w), "checkout", "-q", "--force", "--detach", string(base))
	if _, _, err := gittest.Try(tb, string(w), nil, "merge", "-q", "--no-ff", "--no-edit",
		string(head)); err != nil {
		_, _, _ = gittest.Try(tb, string(w), nil, "merge", "--abort") // unrelated histories: nothing to do
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
	// merges of each project, 0 is all: by git merge-tree, and by git merge in a work tree
	all, atHome := 0, 60
	if !testenv.Long {
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
			var pairs [][2]git.SHA
			for _, m := range merges {
				pairs = append(pairs, [2]git.SHA{m.Base, m.Head}, [2]git.SHA{m.Head, m.Base})
			}
			trees := mergedTrees(t, dir, pairs)
			for n, m := range merges {
				for k, pair := range pairs[2*n : 2*n+2] {
					want, before := trees[2*n+k], g.Started()
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
	testkit.NoError(t, err)
	if list := fmt.Sprint(c.Parents); c.Tree != want || list != "["+parents+"]" {
		t.Errorf("%s into %s: tree %s of %s; git has %s of %s", m.Head, m.Base, c.Tree, list, want, parents)
	}
}
