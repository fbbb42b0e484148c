package git_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

var rebaser = git.Signature{Name: "Who Merges", Email: "merger@example.com",
	When: time.Unix(gittest.Start+9000, 0).UTC()}

// gitRebase rebases in a work tree, as a developer does; "" with conflicts.
func gitRebase(tb testing.TB, dir string, base, head git.SHA) (tip git.SHA, count string) {
	tb.Helper()
	work := tb.TempDir()
	gittest.Run(tb, work, "clone", "-q", "--shared", "--no-checkout", dir, ".")
	gittest.Run(tb, work, "checkout", "-q", "--detach", string(head))
	if _, _, err := gittest.Try(tb, work, nil, "rebase", "-q", "--empty=drop", "--no-fork-point",
		"--reapply-cherry-picks", string(base)); err != nil {
		return "", ""
	}
	return gittest.Resolve(tb, work, "HEAD^{tree}"),
		gittest.Run(tb, work, "rev-list", "--count", string(base)+"..HEAD")
}

// Somebody who rebases on the server must get the commits that `git rebase` makes,
// or be told that it cannot be done.
func TestRebaseIsGits(t *testing.T) {
	t.Parallel()
	base := side{"a.txt": text("a"), "b.txt": text("b"), "dir/c.txt": text("c")}
	changed := base.with("b.txt", text("b")+"upstream\n")
	first := func(name, line string) string { return strings.Replace(text(name), " ", " "+line+"\n", 1) }
	for name, c := range map[string]struct {
		upstream side
		branch   []side
		unsafe   bool // git does it, and gets something else than a merge
	}{
		"other files":       {changed, []side{base.with("a.txt", text("a")+"1\n"), base.with("a.txt", text("a")+"2\n", "dir/new", text("new"))}, false},
		"one file":          {changed, []side{base.with("b.txt", first("b", "1")), base.with("b.txt", first("b", "2")), base.with("b.txt", first("b", "2"), "dir/c.txt", text("x"))}, false},
		"nothing upstream":  {base, []side{base.with("a.txt", text("a")+"1\n")}, false},
		"there already":     {changed, []side{changed, changed.with("a.txt", text("a")+"1\n")}, false},
		"an empty commit":   {changed, []side{base, base.with("a.txt", text("a")+"1\n")}, false},
		"all there already": {changed, []side{changed}, false},
		"renamed upstream": {base.moved("dir", "folder"),
			[]side{base.with("dir/c.txt", text("c")+"1\n"), base.with("dir/c.txt", text("c")+"2\n")}, false},
		"renamed in branch": {changed, []side{base.moved("b.txt", "moved.txt"),
			base.moved("b.txt", "moved.txt").with("moved.txt", first("b", "1"))}, false},
		"conflict": {changed, []side{base.with("a.txt", text("a")+"1\n"),
			base.with("b.txt", text("b")+"1\n")}, false},
		"conflict on the way": {changed, []side{base.with("b.txt", text("b")+"1\n"),
			base.with("a.txt", text("a")+"1\n")}, false},
		"there and taken back": {changed, []side{changed, base, base.with("a.txt", text("a")+"1\n")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := gittest.Bare(t)
			list := []treeCommit{{files: base}, {files: c.upstream, at: 10, before: []int{0}}}
			for i, files := range c.branch {
				parent := 0
				if i > 0 {
					parent = len(list) - 1
				}
				list = append(list, treeCommit{files: files, at: 20 + i, before: []int{parent}})
			}
			shas := commitTrees(t, dir, list)
			upstream, head := shas[1], shas[len(shas)-1]
			want, count := gitRebase(t, dir, upstream, head)
			r := gittest.New(t, git.Options{}).Repository(dir)
			before := files(t, r)
			got, err := r.Rebase(t.Context(), upstream, head, rebaser)
			testkit.NoError(t, err)
			leaves(t, r, slices.Concat(before, newPacks(t, r, before)))
			if got.Conflict != (want == "" || c.unsafe) {
				t.Fatalf("%+v; git's tree is %q", got, want)
			}
			if got.Conflict {
				return
			}
			gittest.Run(t, dir, "fsck", "--strict", "--no-dangling", string(got.Tip))
			tree := gittest.Run(t, dir, "rev-parse", string(got.Tip)+"^{tree}")
			if tree != string(want) || fmt.Sprint(got.Commits) != count {
				t.Errorf("the tree is %s after %d commits; git says %s after %s", tree,
					got.Commits, want, count)
			}
			if n := gittest.Run(t, dir, "rev-list", "--count", "--no-merges",
				string(upstream)+".."+string(got.Tip)); n != count {
				t.Errorf("%s commits on top, %s wanted", n, count)
			}
		})
	}
}

// Commits must stay their authors', to the byte; only who made them anew is new.
func TestRebaseKeepsAuthors(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	base := side{"a.txt": text("a")}
	shas := commitTrees(t, dir, []treeCommit{{files: base}, {files: base.with("b", text("b")),
		before: []int{0}}, {files: base.with("c", text("c")), before: []int{0}}})
	tree := gittest.Run(t, dir, "rev-parse", string(shas[2])+"^{tree}")
	odd := func(parent git.SHA, author, extra, message string) git.SHA {
		return gittest.Object(t, dir, git.TypeCommit,
			fmt.Sprintf("tree %s\nparent %s\nauthor %s\ncommitter X <x@example.com> 5 +0100\n%s\n%s", tree,
				parent, author, extra, message))
	}
	one := odd(shas[2], "N\u00f6 <> 1300000000 -0730", "gpgsig -----BEGIN\n x\n",
		"subject\n\n\nbody\xff without end")
	two := odd(one, "J\xf6rg <j@example.com> 1300000001 +0000", "encoding ISO-8859-1\n", "Gr\xfc\xdfe\n")
	r := gittest.New(t, git.Options{}).Repository(dir)
	got, err := r.Rebase(t.Context(), shas[1], two, rebaser)
	if err != nil || got.Commits != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	_, contents, err := r.Contents(t.Context(), got.Tip, 1<<20)
	testkit.NoError(t, err)
	committer := "\ncommitter Who Merges <merger@example.com> 1300009000 +0000\n\n"
	if want := "\nauthor J\u00f6rg <j@example.com> 1300000001 +0000" + committer +
		"Gr\u00fc\u00dfe\n"; !strings.HasSuffix(string(contents), want) {
		t.Errorf("the last commit is %q", contents)
	}
	tip, _ := r.Commit(t.Context(), got.Tip)
	_, contents, err = r.Contents(t.Context(), tip.Parents[0], 1<<20)
	if want := "\nauthor N\u00f6 <> 1300000000 -0730" + committer +
		"subject\n\n\nbody\xff without end"; err != nil || !strings.HasSuffix(string(contents), want) {
		t.Errorf("the commit before is %q, %v", contents, err)
	}
}

// Bounds: of the number of commits, and of what a long rebase of a large
// directory holds in memory before it writes.
func TestRebaseBounds(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	base := side{"a": "100644 a"}
	list := []treeCommit{{files: base}, {files: base.with("b", "100644 b"), before: []int{0}}}
	for i := range git.MaxRebase + 1 {
		list = append(list, treeCommit{files: base.with("c", fmt.Sprint("100644 ", i)), at: i,
			before: []int{max(0, i+1) * min(i, 1)}})
	}
	shas := commitTrees(t, dir, list)
	r := gittest.New(t, git.Options{}).Repository(dir)
	last := len(shas) - 1
	if _, err := r.Rebase(t.Context(), shas[1], shas[last], rebaser); !errs.Is(err, errs.TooLarge) {
		t.Errorf("one too many: %v", err)
	}
	if got, err := r.Rebase(t.Context(), shas[1], shas[last-1], rebaser); err != nil ||
		got.Commits != git.MaxRebase {
		t.Errorf("as many as may be: %+v, %v", got, err)
	}
	if got, err := r.Rebase(t.Context(), shas[last], shas[2], rebaser); err != nil || got.Tip != shas[last] ||
		got.Commits != 0 {
		t.Errorf("nothing to do: %+v, %v", got, err)
	}
	if _, err := r.Rebase(t.Context(), shas[1], shas[2], git.Signature{}); !errs.Is(err, errs.Invalid) {
		t.Errorf("a committer without a name: %v", err)
	}
}
