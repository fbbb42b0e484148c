package git_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

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
