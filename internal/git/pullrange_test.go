package git_test

import (
	"fmt"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// A reviewer sees the commits of the branch alone, the oldest first, and learns
// how many there are where not all are shown (decision 39).
func TestPullCommits(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	list := []treeCommit{{files: side{"a": "100644 a"}}, {files: side{"a": "100644 b"}, before: []int{0}}}
	for i := range 253 {
		list = append(list, treeCommit{files: side{"a": fmt.Sprint("100644 ", i)}, at: -i,
			before: []int{max(0, i+1) * min(i, 1)}})
	}
	shas := commitTrees(t, dir, list)
	r := gittest.New(t, git.Options{}).Repository(dir)
	page, total, err := r.PullCommits(t.Context(), shas[1], shas[len(shas)-1])
	if err != nil || total != 253 || len(page) != git.MaxPullCommits || page[0] != shas[2] ||
		page[249] != shas[251] {
		t.Errorf("%d of %d commits from %v, %v", len(page), total, page[:1], err)
	}
	for _, same := range []git.SHA{shas[1], shas[0]} {
		if page, total, err := r.PullCommits(t.Context(), shas[1], same); err != nil || total != 0 ||
			len(page) != 0 {
			t.Errorf("nothing to pull: %v of %d, %v", page, total, err)
		}
	}
}
