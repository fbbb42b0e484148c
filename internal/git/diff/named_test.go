package diff_test

import (
	"testing"

	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Who comments on a line asks for one file of a change: it must be that file,
// with its own counts and patch, wherever it stands and whatever it was named.
func TestFilesNamed(t *testing.T) {
	t.Parallel()
	dir, first, second := odd(t)
	r := gittest.New(t, git.Options{}).Repository(dir)
	all, err := diff.Compare(t.Context(), r, first, second, bounds)
	testkit.NoError(t, err)
	for _, want := range all.Files {
		for _, name := range []string{want.Path, want.OldPath} {
			if name == "" {
				continue
			}
			got, err := diff.FilesNamed(t.Context(), r, first, second, []string{name, "neither"})
			testkit.NoError(t, err)
			if len(got.Files) != 1 || got.Files[0] != want || got.Total != all.Total {
				t.Errorf("%q: %+v, want %+v", name, got.Files, want)
			}
		}
	}
	none, err := diff.FilesNamed(t.Context(), r, first, second, []string{"neither"})
	if err != nil || len(none.Files) != 0 {
		t.Errorf("a file that did not change: %+v, %v", none, err)
	}
}
