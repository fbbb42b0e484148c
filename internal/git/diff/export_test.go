package diff

import (
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/testkit"
)

// ComparedFiles is what compareTrees finds.
func ComparedFiles(t testing.TB, r *git.Repository, from, to git.SHA) []File {
	t.Helper()
	d, err := compareTrees(t.Context(), r, from, to)
	testkit.NoError(t, err)
	if !d.whole || d.total != len(d.files) {
		t.Fatalf("%d files of %d", len(d.files), d.total)
	}
	return d.files
}
