package git_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
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

// A push must bring to notice exactly the commits that are new: a missed one
// leaves an issue open that it fixes, one too many closes an issue again.
func TestNewCommits(t *testing.T) {
	t.Parallel()
	dir, random := gittest.Bare(t), rand.New(rand.NewPCG(7, 0))
	tree := gittest.Run(t, dir, "hash-object", "-t", "tree", "-w", "/dev/null")
	var all []git.SHA
	for n := range 160 {
		args := []string{"commit-tree", tree, "-m", fmt.Sprint(n)}
		for range min(len(all), 1+random.IntN(2)) {
			if n%40 != 0 {
				args = append(args, "-p", string(all[len(all)-1-random.IntN(min(len(all), 9))]))
			}
		}
		all = append(all, git.SHA(gittest.Run(t, dir, args...)))
	}
	r := gittest.New(t, git.Options{}).Repository(dir)
	for range 60 {
		from, not := pick(random, all, 1+random.IntN(3)), pick(random, all, random.IntN(4))
		if random.IntN(8) == 0 {
			not = pick(random, all, 30) // more than are walked without a process
		}
		args := []string{"rev-list"}
		for _, sha := range from {
			args = append(args, string(sha))
		}
		for _, sha := range not {
			args = append(args, "^"+string(sha))
		}
		var want []git.SHA
		for _, line := range strings.Fields(gittest.Run(t, dir, args...)) {
			want = append(want, git.SHA(line))
		}
		got, err := r.NewCommits(t.Context(), from, not, 1000)
		testkit.NoError(t, err)
		few, err := r.NewCommits(t.Context(), from, not, 3)
		if err != nil || len(few) != min(3, len(want)) {
			t.Errorf("%v ^%v: %d of at most 3 (%v)", from, not, len(few), err)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%v ^%v: %d commits, want %d", from, not, len(got), len(want))
		}
	}
	if _, err := r.NewCommits(t.Context(), []git.SHA{"--all"}, nil, 3); err == nil {
		t.Error("an option passes for a commit")
	}
}

// A push of one commit is noted without a process.
func TestNewCommitsStartsNothing(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	dir := gittest.Repository(t, 300, 1)
	r := g.Repository(dir)
	list := strings.Fields(gittest.Run(t, dir, "rev-list", "--max-count=2", "--all"))
	if _, err := r.Commit(t.Context(), git.SHA(list[0])); err != nil { // the pool's process
		t.Fatal(err)
	}
	before := g.Started()
	got, err := r.NewCommits(t.Context(), []git.SHA{git.SHA(list[0])}, []git.SHA{git.SHA(list[1])}, 10)
	if err != nil || len(got) != 1 || got[0] != git.SHA(list[0]) {
		t.Errorf("%v, %v", got, err)
	}
	if n := g.Started() - before; n != 0 {
		t.Errorf("%d processes", n)
	}
}

func pick(random *rand.Rand, all []git.SHA, n int) []git.SHA {
	list := make([]git.SHA, n)
	for i := range list {
		list[i] = all[random.IntN(len(all))]
	}
	return list
}
