package git_test

import (
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// A merge of tree bombs merges each tree once. Pull requests make it in the background.
func TestMergeOfTreeBombs(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, git.Options{}).Repository(t.TempDir() + "/r.git")
	blob := entry{kind: 3, contents: "x"}
	var objects []entry
	var commits []git.SHA
	for i, names := range []string{"f", "fg", "fh"} {
		var leaf strings.Builder
		for _, c := range names {
			leaf.WriteString("100644 " + string(c) + "\x00" + hexBytes(t, blob.sha()))
		}
		top := entry{kind: 2, contents: leaf.String()}
		objects = append(objects, top)
		for range 10 {
			top = tenfold(t, top.sha())
			objects = append(objects, top)
		}
		var parents []git.SHA
		if i > 0 {
			parents = commits[:1]
		}
		commit := commitOf(top.sha(), parents...)
		objects, commits = append(objects, commit), append(commits, commit.sha())
	}
	store(t, r, append(objects, blob)...)
	m, err := r.MergeTree(t.Context(), commits[1], commits[2])
	if err != nil || m.Conflict {
		t.Fatal(m, err)
	}
	merged := entry{kind: 2}
	for _, c := range "fgh" {
		merged.contents += "100644 " + string(c) + "\x00" + hexBytes(t, blob.sha())
	}
	for range 10 {
		merged = tenfold(t, merged.sha())
	}
	if m.Tree != merged.sha() {
		t.Errorf("merged to %s, not %s", m.Tree, merged.sha())
	}
}
