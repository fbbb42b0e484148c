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

// manyPaths is a repository whose second commit names one blob of 800 KB by 3,000 paths, and changes a little
// else.
func manyPaths(tb testing.TB) (dir string, first, second git.SHA) {
	tb.Helper()
	dir = gittest.Bare(tb)
	var b bytes.Buffer
	text := strings.Repeat("line\n", 160<<10)
	fmt.Fprintf(&b, "blob\nmark :1\ndata %d\n%s\n", len(text), text)
	b.WriteString(gittest.CommitLine("main", 1, "c"))
	b.WriteString(gittest.FileLines("README.md", "one\n"))
	b.WriteString(gittest.FileLines("a", "a file that becomes a folder\n"))
	b.WriteString(gittest.FileLines("old", "as it was\n"))
	b.WriteString(gittest.CommitLine("main", 2, "c"))
	b.WriteString(gittest.FileLines("README.md", "one\ntwo\n"))
	fmt.Fprint(&b, "D a\nR old new\n")
	for n := range 3000 {
		fmt.Fprintf(&b, "M 100644 :1 a/%04d\n", n)
	}
	b.WriteString("done\n")
	gittest.Import(tb, dir, &b)
	return dir, gittest.Resolve(tb, dir, "main~1"), gittest.Resolve(tb, dir, "main")
}

// A push of a few kilobytes can name a large blob thousands of times: who looks at it waits no longer than
// for another commit, and still sees what changed, and the text of some of it.
func TestOneBlobByManyPaths(t *testing.T) {
	t.Parallel()
	dir, first, second := manyPaths(t)
	r := gittest.New(t, git.Options{}).Repository(dir)
	got, err := diff.Compare(t.Context(), r, first, second, diff.Page(0, 300))
	testkit.NoError(t, err)
	if len(got.Files) != 300 || got.Total != 3003 || !got.Cut {
		t.Errorf("%d files of %d, cut: %v", len(got.Files), got.Total, got.Cut)
	}
	unread := 0
	for _, f := range got.Files {
		switch {
		case f.Path == "README.md" && f.Patch != "@@ -1 +1,2 @@\n one\n+two", f.Path == "a" && !f.Unread:
			t.Errorf("%+v", f)
		case f.Unread && (f.Additions > 0 || f.HasPatch):
			t.Errorf("%s is counted", f.Path)
		case f.Unread:
			unread++
		case f.Path != "README.md" && f.Additions != 160<<10:
			t.Errorf("%s: %d lines", f.Path, f.Additions)
		}
	}
	// The time that it takes is that of the files that are compared.
	if most := 32 << 20 / (800 << 10); len(got.Files)-unread > most+2 || unread == len(got.Files) {
		t.Errorf("%d files were not compared", unread)
	}
	last, err := diff.Compare(t.Context(), r, first, second, diff.Page(2999, 300))
	if err != nil || len(last.Files) != 1 || last.Total != 3003 {
		t.Errorf("the last page: %+v, %v", last, err)
	}
	none, err := diff.Compare(t.Context(), r, first, second, diff.Page(0, 0))
	if err != nil || none.Total != 3003 {
		t.Errorf("the count alone: %+v, %v", none, err)
	}
	named, err := diff.FilesNamed(t.Context(), r, first, second, []string{"old", "README.md"})
	if err != nil || len(named.Files) != 2 || !named.Files[0].HasPatch || named.Files[1].OldPath != "old" ||
		named.Files[1].Unread {
		t.Errorf("two files by their names: %+v, %v", named, err)
	}
}

// Downloads of what names one large blob thousands of times are refused, with words; git reads
// nothing.
func TestTextOfOneBlobByManyPaths(t *testing.T) {
	t.Parallel()
	dir, first, second := manyPaths(t)
	failing := gittest.Wrapped(t, "diff-tree", "exit 1")
	r := gittest.New(t, git.Options{Binary: failing}).Repository(dir)
	for name, write := range map[string]func(io.Writer) error{
		"diff":  func(w io.Writer) error { return diff.Write(t.Context(), w, r, first, second) },
		"patch": func(w io.Writer) error { return diff.WritePatches(t.Context(), w, r, second, first) },
	} {
		var text bytes.Buffer
		err := write(&text)
		if !errs.Is(err, errs.NotAcceptable) || text.Len() > 0 {
			t.Errorf("%s: %v, after %d bytes", name, err, text.Len())
		}
	}
}
