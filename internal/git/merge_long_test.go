//go:build long

package git_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// Trees nested without end are small to push. Merging them ends, as git's own merge
// or with a clear error, and takes the server with it in no case.
func TestMergeOfDeepTrees(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, git.Options{}).Repository(gittest.Bare(t))
	file := gittest.Object(t, r.Dir(), git.TypeBlob, "x")
	nested := func(depth int, parents []git.SHA, names ...string) git.SHA {
		var tree git.NewObject
		for _, name := range names {
			tree.Data = append(tree.Data, "100644 "+name+"\x00"+hexBytes(t, file)...)
		}
		var objects []git.NewObject
		for range depth {
			tree.Type = git.TypeTree
			objects = append(objects, tree)
			tree = git.NewObject{Type: git.TypeTree, Data: []byte("40000 d\x00" + hexBytes(t, tree.SHA()))}
		}
		if _, err := r.WriteObjects(t.Context(), append(objects, tree)); err != nil {
			t.Fatal(err)
		}
		return gittest.Object(t, r.Dir(), git.TypeCommit, commitOf(tree.SHA(), parents...).contents)
	}
	for _, depth := range []int{500, 600, 3000, 10_000} {
		root := []git.SHA{nested(depth, nil, "f")}
		ours, theirs := nested(depth, root, "f", "g"), nested(depth, root, "f", "h")
		m, err := r.MergeTree(t.Context(), ours, theirs)
		if errs.Is(err, errs.TooLarge) && depth > 600 {
			continue
		}
		if err != nil {
			t.Errorf("%d deep: %v", depth, err)
			continue
		}
		if want := gittest.Run(t, r.Dir(), "merge-tree", "--write-tree", string(ours),
			string(theirs)); string(m.Tree) != want {
			t.Errorf("%d deep gives %s, git says %s", depth, m.Tree, want)
		}
	}
}

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
