//go:build long

package git_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// A directory of which each new commit needs a megabyte is written as it comes.
func TestRebaseOfLargeDirectory(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	var tree strings.Builder
	file := gittest.Object(t, dir, git.TypeBlob, "x")
	for i := range 20_000 {
		fmt.Fprintf(&tree, "100644 %s%06d\x00%s", strings.Repeat("n", 20), i, hexBytes(t, file))
	}
	commit := func(suffix string, parents ...git.SHA) git.SHA {
		id := gittest.Object(t, dir, git.TypeTree, tree.String()+suffix)
		return gittest.Object(t, dir, git.TypeCommit, commitOf(id, parents...).contents)
	}
	entry := func(name string) string { return "100644 " + name + "\x00" + hexBytes(t, file) }
	root := commit("")
	upstream, head := commit(entry("z"), root), root
	for i := range 40 {
		head = commit(entry(fmt.Sprintf("y%02d", i)), head)
	}
	r := gittest.New(t, git.Options{}).Repository(dir)
	got, err := r.Rebase(t.Context(), upstream, head, rebaser)
	if err != nil || got.Commits != 40 {
		t.Fatalf("%+v, %v", got, err)
	}
	if names := gittest.Run(t, dir, "ls-tree", "--name-only", string(got.Tip)); !strings.HasSuffix(names,
		"\ny39\nz") {
		t.Errorf("the tree ends in %q", names[len(names)-20:])
	}
	gittest.Run(t, dir, "fsck", "--strict", "--no-dangling", string(got.Tip))
}
