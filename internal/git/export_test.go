package git

import (
	"context"

	"arbor/internal/git/catfile"
)

// WithProcess calls fn while a process of the pool is in use.
func WithProcess(ctx context.Context, r *Repository, fn func()) error {
	return r.cat(ctx, func(*catfile.Process) error { fn(); return nil })
}

// CopyFile is what happens to a file that cannot be linked.
func CopyFile(from, to string) error { return copyFile(from, to) }

// WriteGraph writes the graph of the commits now.
func (r *Repository) WriteGraph(ctx context.Context) error {
	s := r.git.state(r.dir)
	s.packMu.Lock()
	defer s.packMu.Unlock()
	return r.writeCommitGraph(ctx)
}
