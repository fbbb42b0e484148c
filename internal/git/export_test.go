package git

import "testing"

// ComparedFiles is what compareTrees finds.
func ComparedFiles(t testing.TB, r *Repository, from, to SHA) []FileChange {
	t.Helper()
	d, err := r.compareTrees(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	if !d.whole || d.total != len(d.files) {
		t.Fatalf("%d files of %d", len(d.files), d.total)
	}
	return d.files
}
