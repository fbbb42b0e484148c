package git_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/git/gittest"
)

// A reviewer sees the commits of the branch alone, the oldest first, and learns
// how many there are where not all are shown (decision 39).
func TestPullCommits(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	list := []treeCommit{{files: side{"a": "100644 a"}}, {files: side{"a": "100644 b"}, before: []int{0}}}
	for i := range 253 {
		list = append(list, treeCommit{files: side{"a": fmt.Sprint("100644 ", i)}, at: -i, before: []int{max(0, i+1) * min(i, 1)}})
	}
	shas := commitTrees(t, dir, list)
	r := gittest.New(t, git.Options{}).Repository(dir)
	page, total, err := r.PullCommits(t.Context(), shas[1], shas[len(shas)-1])
	if err != nil || total != 253 || len(page) != git.MaxPullCommits || page[0] != shas[2] || page[249] != shas[251] {
		t.Errorf("%d of %d commits from %v, %v", len(page), total, page[:1], err)
	}
	for _, same := range []git.SHA{shas[1], shas[0]} {
		if page, total, err := r.PullCommits(t.Context(), shas[1], same); err != nil || total != 0 || len(page) != 0 {
			t.Errorf("nothing to pull: %v of %d, %v", page, total, err)
		}
	}
}

// Files of a pull request are those of the branch, in GitHub's words, within
// GitHub's bounds; the totals are of all.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	base := side{"changed": text("c"), "gone": text("g"), "old": text("o"), "typed": text("t"), "binary": "100644 \x00\x01"}
	head := base.with("gone", "", "changed", text("c")+"1\n", "typed", "120000 old", "binary", "100644 \x00\x02",
		"long", "100644 "+strings.Repeat("l\n", 3000), "short", "100644 "+strings.Repeat("l\n", 2999)).moved("old", "new")
	for i := range git.MaxFiles {
		head[fmt.Sprintf("z/%04d", i)] = "100644 z\n"
	}
	shas := commitTrees(t, dir, []treeCommit{{files: base}, {files: head, before: []int{0}}})
	r := gittest.New(t, git.Options{}).Repository(dir)
	got, err := r.Files(t.Context(), shas[0], shas[1], 0, 100)
	if err != nil || len(got.Files) != 100 || got.Total != git.MaxFiles+7 {
		t.Fatalf("%d files of %d, %v", len(got.Files), got.Total, err)
	}
	want := map[string]string{"changed": "modified true", "gone": "removed true", "new": "renamed old false", "typed": "changed true",
		"binary": "modified false", "long": "added false", "short": "added true"}
	for _, f := range got.Files[:7] {
		words := strings.Fields(fmt.Sprint(f.StatusName(), " ", f.OldPath, " ", f.HasPatch))
		if is := strings.Join(words, " "); is != want[f.Path] {
			t.Errorf("%s is %q, not %q", f.Path, is, want[f.Path])
		}
	}
	last, err := r.Files(t.Context(), shas[0], shas[1], 2990, 100)
	if err != nil || len(last.Files) != 10 || last.Total != got.Total || last.Additions != got.Additions {
		t.Errorf("the last page has %d files of %d, %v", len(last.Files), last.Total, err)
	}
	if none, err := r.Files(t.Context(), shas[0], shas[1], 1<<40, 100); err != nil || len(none.Files) != 0 || none.Total != got.Total {
		t.Errorf("past the end: %d files of %d, %v", len(none.Files), none.Total, err)
	}
}
