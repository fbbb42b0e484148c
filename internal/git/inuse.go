package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"arbor/internal/git/process"
)

// A folder that a purge has emptied of its users goes at once, not hours later. So a
// process that may run long in a folder (a fetch, a push, maintenance) holds a lock in it,
// on the file config, which is never replaced. The process of git itself inherits the open
// file: the lock lasts as long as that process, on any node, even after the end of
// the server that started it. Short reads hold none: they are waited for by time.

// markUsed passes the lock to the task's process if it may run long. The caller calls done after the
// process has started.
func (g *Git) markUsed(t *process.Task) (done func()) {
	if t.Limit < g.options.TransferTimeout {
		return func() {}
	}
	f, err := os.OpenFile((&Repository{git: g, dir: t.Dir}).path("config"), os.O_RDWR, 0)
	if err != nil {
		return func() {} // the folder is missing, and git reports it
	}
	shareUse(f)
	t.Keep = f
	return func() { f.Close() }
}

// Use holds the lock until done is called, which is to happen once. ok is false, and done
// does nothing, where the folder is not there, or is being removed.
func (r *Repository) Use() (done func(), ok bool) {
	none := func() {}
	f, err := os.OpenFile(r.path("config"), os.O_RDWR, 0)
	if err != nil {
		return none, r.Exists() // an old store without it
	}
	done = func() { f.Close() }
	shared := shareUse(f)
	held, err := f.Stat()
	there, gone := os.Stat(r.path("config"))
	if !shared || err != nil || gone != nil || !os.SameFile(held, there) {
		done()
		return none, false
	}
	return done, true
}

// AwaitReads returns when the short reads have ended that began before.
func (g *Git) AwaitReads(ctx context.Context) error { return Sleep(ctx, g.options.PackGrace) }

// RemoveUnused removes a folder of a repository that no transaction refers to any longer, and no
// short read (AwaitReads), once no process that may run long uses it. tell is called
// when somebody is waited for; after most, it gives up, and removed is false.
func (g *Git) RemoveUnused(
	ctx context.Context, dir string, most time.Duration, tell func(),
) (removed bool, err error) {
	g.pool.Retire(dir)
	f, err := os.OpenFile((&Repository{git: g, dir: dir}).path("config"), os.O_RDWR, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err // nobody knows who uses it
	}
	if err == nil {
		defer f.Close()
		for end := time.Now().Add(most); ; {
			unused, err := tryUnused(f)
			if err != nil {
				return false, err
			}
			if unused {
				break
			}
			if tell != nil {
				tell()
				tell = nil
			}
			if time.Now().After(end) {
				return false, nil
			}
			if err := Sleep(ctx, 100*time.Millisecond); err != nil {
				return false, err
			}
		}
	}
	// A push that came too late may still write, before it is refused.
	for end := time.Now().Add(lateWrites); ; {
		err := os.RemoveAll(dir)
		if err == nil || time.Now().After(end) {
			return err == nil, err
		}
		if err := Sleep(ctx, 100*time.Millisecond); err != nil {
			return false, err
		}
	}
}

// lateWrites is how long a folder that fills again is removed again.
const lateWrites = 30 * time.Second

// Sleep waits for a time. Error: ctx's, when it ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
