package git

import "context"

// WithProcess calls fn while a process of the pool is in use.
func WithProcess(ctx context.Context, r *Repository, fn func()) error {
	return r.cat(ctx, func(*catFile) error { fn(); return nil })
}
