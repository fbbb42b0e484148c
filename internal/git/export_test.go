package git

import (
	"context"
	"testing"
)

// WithProcess calls fn while a process of the pool is in use.
func WithProcess(ctx context.Context, r *Repository, fn func()) error {
	return r.cat(ctx, func(*catFile) error { fn(); return nil })
}

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
