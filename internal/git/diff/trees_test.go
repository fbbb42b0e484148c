package diff_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// bomb is a repository whose main holds trees in trees: ten entries each, all the
// same, so that fifteen objects hold 10^10 paths. It has two commits.
func bomb(tb testing.TB) (dir string, first, second git.SHA) {
	tb.Helper()
	dir = gittest.Bare(tb)
	entry, sha := "100644 blob", gittest.Object(tb, dir, git.TypeBlob, "x\n")
	for range 10 {
		var tree strings.Builder
		for n := range 10 {
			fmt.Fprintf(&tree, "%s %s\t%d\n", entry, sha, n)
		}
		sha = shaOf(gittest.Pipe(tb, dir, strings.NewReader(tree.String()), "mktree"))
		entry = "040000 tree"
	}
	commit := func(args ...string) git.SHA {
		args = append([]string{"commit-tree"}, args...)
		return shaOf(gittest.Pipe(tb, dir, strings.NewReader("c\n"), args...))
	}
	gittest.Pipe(tb, dir, nil, "mktree") // the empty tree
	first = commit(string(git.EmptyTree))
	second = commit(string(sha), "-p", string(first))
	gittest.Run(tb, dir, "update-ref", "refs/heads/main", string(second))
	return dir, first, second
}

// shaOf is the SHA that a command printed.
func shaOf(out []byte) git.SHA { return git.SHA(bytes.TrimSpace(out)) }

// A commit that adds 10^10 files is shown with the first of them, and git is not
// asked to compare: the git of this test fails at a diff-tree.
func TestDiffOfATreeBombIsCut(t *testing.T) {
	t.Parallel()
	dir, first, second := bomb(t)
	failing := gittest.Wrapped(t, "diff-tree", "exit 1")
	r := gittest.New(t, git.Options{Binary: failing}).Repository(dir)
	for name, read := range map[string]func() (*diff.Changes, error){
		"a page": func() (*diff.Changes, error) {
			return diff.Compare(t.Context(), r, first, second, diff.Page(300, 100))
		},
		"the last": func() (*diff.Changes, error) {
			return diff.Compare(t.Context(), r, first, second, diff.Page(2900, 300))
		},
		"of root": func() (*diff.Changes, error) {
			return diff.Compare(t.Context(), r, git.EmptyTree, second, diff.Page(0, 100))
		},
		"undone": func() (*diff.Changes, error) {
			return diff.Compare(t.Context(), r, second, first, diff.Page(0, 100))
		},
		"one named": func() (*diff.Changes, error) {
			return diff.FilesNamed(t.Context(), r, first, second, []string{"0/0/0/0/0/0/0/0/0/5"})
		},
		"totals": func() (*diff.Changes, error) {
			return diff.Compare(t.Context(), r, first, second, diff.Page(0, 0))
		},
	} {
		want := map[string]int{"one named": 1, "totals": 0}
		got, err := read()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n, some := want[name]
		if !some {
			n = 100
		}
		if len(got.Files) != n || !got.Cut || got.Total <= diff.MaxFiles {
			t.Errorf("%s: %d files, of %d, cut %v", name, len(got.Files), got.Total, got.Cut)
		}
	}
	page, err := diff.Compare(t.Context(), r, first, second, diff.Page(9, 2))
	testkit.NoError(t, err)
	a, b := page.Files[0], page.Files[1]
	if a.Path != "0/0/0/0/0/0/0/0/0/9" || b.Path != "0/0/0/0/0/0/0/0/1/0" || a.Status != 'A' || a.HasPatch {
		t.Errorf("the page holds %+v and %+v", a, b)
	}
	for name, write := range map[string]func(io.Writer) error{
		"diff":  func(w io.Writer) error { return diff.Write(t.Context(), w, r, first, second) },
		"patch": func(w io.Writer) error { return diff.WritePatches(t.Context(), w, r, second, first) },
	} {
		var out bytes.Buffer
		if err := write(&out); !errs.Is(err, errs.NotAcceptable) || out.Len() > 0 {
			t.Errorf("%s: %v, after %d bytes", name, err, out.Len())
		}
	}
}

// The comparison without git finds what git finds, in git's order, for everything
// that a commit can do to files.
func TestCompareTreesIsGits(t *testing.T) {
	t.Parallel()
	dir, first, second := odd(t)
	g := gittest.New(t, git.Options{})
	for _, pair := range [][2]git.SHA{
		{first, second}, {second, first}, {first, first},
		{git.EmptyTree, second}, {second, git.EmptyTree},
	} {
		raw := gittest.Pipe(t, dir, nil, "diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev",
			string(pair[0]), string(pair[1]))
		want := strings.TrimSuffix(string(raw), "\x00")
		var got []string
		for _, f := range diff.ComparedFiles(t, g.Repository(dir), pair[0], pair[1]) {
			got = append(got, fmt.Sprintf(":%06o %06o %s %s %c\x00%s",
				f.OldMode, f.Mode, f.OldSHA, f.SHA, f.Status, f.Path))
		}
		if have := strings.Join(got, "\x00"); have != want {
			t.Errorf("%v:\n%q, want\n%q", pair, have, want)
		}
	}
}

// Renames are looked for among files that git can hold; a large file that was
// renamed unchanged is found all the same.
func TestRenamesOfLargeFiles(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	large := strings.Repeat("0123456789abcde\n", 5<<20/16)
	small := strings.Repeat("0123456789abcde\n", 100)
	var b bytes.Buffer
	commit := func(branch, from string, files map[string]string) {
		b.WriteString(gittest.CommitLine(branch, 0, "c"))
		if from != "" {
			fmt.Fprintf(&b, "from refs/heads/%s\ndeleteall\n", from)
		}
		for name, text := range files {
			b.WriteString(gittest.FileLines(name, text))
		}
	}
	commit("base", "", map[string]string{"large": large, "small": small})
	commit("unchanged", "base", map[string]string{"large2": large, "small": small})
	commit("changed", "base", map[string]string{"large2": large + "more\n", "small": small})
	commit("little", "base", map[string]string{"large": large, "small2": small + "more\n"})
	b.WriteString("done\n")
	gittest.Import(t, dir, &b)
	r := gittest.New(t, git.Options{}).Repository(dir)
	for branch, want := range map[string]string{
		"unchanged": "R large2",
		"changed":   "D large, A large2",
		"little":    "R small2",
	} {
		c, err := diff.Compare(t.Context(), r, gittest.Resolve(t, dir, "base"), gittest.Resolve(t, dir, branch),
			diff.Page(0, 100))
		testkit.NoError(t, err)
		var all []string
		for _, f := range c.Files {
			all = append(all, fmt.Sprintf("%c %s", f.Status, f.Path))
		}
		if got := strings.Join(all, ", "); got != want {
			t.Errorf("%s: %s, want %s", branch, got, want)
		}
	}
}

// To compare a megabyte of short lines takes git hundreds of megabytes. git ends at
// the limit of its cage, and the commit is still shown with its files.
func TestDiffThatOutgrowsItsCage(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	var b bytes.Buffer
	for n, unit := range []string{"\n", "a\n\n", "b\n\n\n"} {
		text := strings.Repeat(unit, 900_000/len(unit))
		b.WriteString(gittest.CommitLine("main", n, "c") + gittest.FileLines("lines", text))
	}
	b.WriteString("done\n")
	gittest.Import(t, dir, &b)
	r := gittest.New(t, git.Options{Memory: 128 << 20}).Repository(dir)
	got, err := diff.Compare(t.Context(), r, gittest.Resolve(t, dir, "main~1"), gittest.Resolve(t, dir, "main"),
		diff.Page(0, 100))
	testkit.NoError(t, err)
	if got.Total != 1 || len(got.Files) != 1 || !got.Cut {
		t.Fatalf("%+v", got)
	}
	if f := got.Files[0]; f.Path != "lines" || f.HasPatch {
		t.Errorf("%+v", f)
	}
}
