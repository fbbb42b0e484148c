package git_test

import (
	"math/rand/v2"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// A merge from the wrong common ancestor brings back what was undone. Where one
// is found without git it must be the only one that git knows, whatever shape
// the histories have and however wrong the clocks of their authors were.
func TestMergeBaseIsGits(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	random := rand.New(rand.NewPCG(3, 4))
	const commits = 60
	var list []treeCommit
	for i := range commits {
		c := treeCommit{files: side{"f": "100644 x"}, at: 100*i + random.IntN(2000) - 1000}
		if i > 1 {
			for range 1 + random.IntN(2) {
				if p := i - 1 - random.IntN(min(i, 8)); len(c.before) == 0 || c.before[0] != p {
					c.before = append(c.before, p)
				}
			}
		}
		list = append(list, c)
	}
	shas := commitTrees(t, dir, list)
	g := gittest.New(t, git.Options{})
	r := g.Repository(dir)
	before := g.Started()
	asked, none := 0, 0
	for i := 0; i < commits; i += 2 {
		for j := 0; j < commits; j += 3 {
			a, b := shas[i], shas[j]
			got, err := r.MergeBase(t.Context(), a, b)
			out, _, _ := gittest.Try(t, dir, nil, "merge-base", string(a), string(b))
			asked++
			if len(out) == 0 {
				none++
				if !errs.Is(err, errs.NotFound) {
					t.Errorf("%s and %s have %q, %v in common; git finds nothing", a, b, got, err)
				}
			} else if string(got)+"\n" != string(out) {
				t.Errorf("%s and %s have %q, %v in common; git says %s", a, b, got, err, out)
			}
		}
	}
	started := g.Started() - before - 1
	t.Logf("%d pairs, %d without a common ancestor, %d processes", asked, none, started)
	if started > int64(asked)/2 || started < 5 || none == 0 {
		t.Errorf("%d processes for %d pairs", started, asked)
	}
}
