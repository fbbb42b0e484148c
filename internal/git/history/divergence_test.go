package history_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/git/history"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Divergences counts as git itself does, for many branches with merges among them; what lies too far back is
// not guessed.
func TestDivergences(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	var b strings.Builder
	n := 0
	commit := func(branch string, parents ...string) {
		n++
		fmt.Fprintf(&b, "commit refs/heads/%s\ncommitter %s %d +0000\ndata 1\nx\n", branch, gittest.Author,
			gittest.Start+n)
		for k, p := range parents {
			if p == branch { // its own commit is the first parent anyway
				continue
			}
			fmt.Fprintf(&b, "%s refs/heads/%s\n", []string{"from", "merge"}[k], p)
		}
	}
	for range 20 {
		commit("main")
	}
	commit("same", "main")
	for range 3 {
		commit("ahead", "same")
		commit("side", "main")
	}
	for range 5 {
		commit("main")
	}
	commit("merged", "ahead", "main")
	commit("merged")
	commit("main", "main", "side")
	commit("alone")
	gittest.Import(t, dir, strings.NewReader(b.String()+"done\n"))
	r := gittest.New(t, git.Options{}).Repository(dir)
	sha := func(name string) git.SHA { return gittest.Resolve(t, dir, name) }
	names := []string{"same", "ahead", "side", "merged", "alone", "main", "main~12"}
	var tips []git.SHA
	for _, name := range names {
		tips = append(tips, sha(name))
	}
	all, err := history.Divergences(t.Context(), r, sha("main"), tips, 1000)
	testkit.NoError(t, err)
	few, err := history.Divergences(t.Context(), r, sha("main"), tips, 17)
	testkit.NoError(t, err)
	for k, name := range names {
		want := gittest.Run(t, dir, "rev-list", "--left-right", "--count", name+"...main")
		got, known := all[tips[k]]
		if text := fmt.Sprintf("%d\t%d", got.Ahead, got.Behind); !known || text != want {
			t.Errorf("%s: %s, want %s", name, text, want)
		}
		if d, known := few[tips[k]]; known && d != got {
			t.Errorf("%s: %v of few commits, want %v", name, d, got)
		}
	}
	if _, known := few[sha("alone")]; known || len(few) == 0 {
		t.Errorf("of few commits: %v", few)
	}
}
