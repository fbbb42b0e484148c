package git_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// A comparison lists the commits that git lists, in its order, whichever clocks they were made by.
func TestDivergedIsGits(t *testing.T) {
	t.Parallel()
	for _, skew := range []int{0, 1, 210, 2000} {
		t.Run(fmt.Sprint(skew), func(t *testing.T) {
			t.Parallel()
			dir, random := gittest.Bare(t), rand.New(rand.NewPCG(5, uint64(skew)))
			var list []treeCommit
			for i := range 80 {
				c := treeCommit{files: side{"f": "100644 x"}, at: 100 * i}
				switch skew {
				case 0:
				case 1: // several in one second
					c.at = i / 5
				default:
					c.at += random.IntN(skew) - skew/2
				}
				for range min(i, random.IntN(4)) { // 0: a beginning of its own
					if p := i - 1 - random.IntN(min(i, 8)); !slices.Contains(c.before, p) {
						c.before = append(c.before, p)
					}
				}
				if i > 0 && len(c.before) == 0 && random.IntN(4) > 0 {
					c.before = []int{i - 1}
				}
				list = append(list, c)
			}
			shas := commitTrees(t, dir, list)
			g := gittest.New(t, git.Options{})
			r := g.Repository(dir)
			before, asked := g.Started(), 0
			for i := 0; i < len(shas); i += 7 {
				for j := 1; j < len(shas); j += 6 {
					asked++
					checkDiverged(t, r, dir, shas[i], shas[j])
				}
			}
			started := g.Started() - before - 1 // the pool's
			t.Logf("%d pairs, %d processes", asked, started)
			if skew < 2 && started > 1 || skew == 2000 && started < 5 {
				t.Errorf("%d processes for %d pairs", started, asked)
			}
		})
	}
}

func checkDiverged(t *testing.T, r *git.Repository, dir string, a, b git.SHA) {
	t.Helper()
	var onlyA int
	var onlyB []git.SHA
	for line := range strings.Lines(gittest.Run(t, dir, "rev-list", "--left-right", "--topo-order",
		"--reverse", string(a+"..."+b)) + "\n") {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "<"):
			onlyA++
		case line != "":
			onlyB = append(onlyB, git.SHA(line[1:]))
		}
	}
	ofA, ofB, page, err := r.Diverged(t.Context(), a, b, 2, 5)
	want := onlyB[min(2, len(onlyB)):min(7, len(onlyB))]
	if err != nil || ofA != onlyA || ofB != len(onlyB) || !slices.Equal(page, want) {
		t.Errorf("%s...%s: %d, %d, %v, %v; git has %d, %d, %v", a, b, ofA, ofB, page, err, onlyA,
			len(onlyB), want)
	}
}
