package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/test/gittest"
)

// branch is a history of two commits: the second changes seven files, each in its own
// way, and adds as many as can be listed.
func branch(tb testing.TB) (dir string, first, second git.SHA) {
	tb.Helper()
	var renamed strings.Builder // enough lines for git to know it again
	for i := range 12 {
		fmt.Fprintf(&renamed, "line %d of a file that is renamed\n", i)
	}
	var b strings.Builder
	file := func(mode, name, text string) {
		fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", mode, name, len(text), text)
	}
	b.WriteString(gittest.CommitLine("main", 0, "c"))
	file("100644", "changed", "c\n")
	file("100644", "gone", "g\n")
	file("100644", "old", renamed.String())
	file("100644", "typed", "t\n")
	file("100644", "binary", "\x00\x01")
	b.WriteString(gittest.CommitLine("main", 1, "c"))
	b.WriteString("D gone\nR old new\n")
	file("100644", "changed", "c\n1\n")
	file("120000", "typed", "old")
	file("100644", "binary", "\x00\x02")
	file("100644", "long", strings.Repeat("l\n", 3000))
	file("100644", "short", strings.Repeat("l\n", 2999))
	for i := range diff.MaxFiles {
		file("100644", fmt.Sprintf("z/%04d", i), "z\n")
	}
	b.WriteString("done\n")
	dir = gittest.Bare(tb)
	gittest.Import(tb, dir, strings.NewReader(b.String()))
	return dir, gittest.Resolve(tb, dir, "main~1"), gittest.Resolve(tb, dir, "main")
}

// Files of a pull request are those of the branch, in GitHub's words, within
// GitHub's bounds; the totals are of all.
func TestPages(t *testing.T) {
	t.Parallel()
	dir, first, second := branch(t)
	r := gittest.New(t, git.Options{}).Repository(dir)
	got, err := diff.Compare(t.Context(), r, first, second, diff.Page(0, 100))
	if err != nil || len(got.Files) != 100 || got.Total != diff.MaxFiles+7 {
		t.Fatalf("%d files of %d, %v", len(got.Files), got.Total, err)
	}
	want := map[string]string{"changed": "modified true", "gone": "removed true", "new": "renamed old false",
		"typed":  "changed true",
		"binary": "modified false", "long": "added false", "short": "added true"}
	for _, f := range got.Files[:7] {
		words := strings.Fields(fmt.Sprint(f.StatusName(), " ", f.OldPath, " ", f.HasPatch))
		if is := strings.Join(words, " "); is != want[f.Path] {
			t.Errorf("%s is %q, not %q", f.Path, is, want[f.Path])
		}
	}
	last, err := diff.Compare(t.Context(), r, first, second, diff.Page(2990, 100))
	if err != nil || len(last.Files) != 10 || last.Total != got.Total || last.Additions != got.Additions {
		t.Errorf("the last page has %d files of %d, %v", len(last.Files), last.Total, err)
	}
	if none, err := diff.Compare(t.Context(), r, first, second, diff.Page(1<<40, 100)); err != nil ||
		len(none.Files) != 0 || none.Total != got.Total {
		t.Errorf("past the end: %d files of %d, %v", len(none.Files), none.Total, err)
	}
}
