package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git/catfile"
	"arbor/internal/git/process"
)

// startPooled starts a process that outlives the request it is started for. Each
// caller that uses the process admits the memory of a poolCage before (see cat).
func (g *Git) startPooled(dir string) (*catfile.Process, error) {
	const forEver = 365 * 24 * time.Hour
	return catfile.Start(context.Background(), g.processes, g.poolCage(),
		process.Task{Dir: dir, Limit: forEver, Held: true})
}

// cat runs fn with a pooled process of the repository. fn marks with DirtyError
// the errors that leave an answer half read. A process that died while idle is replaced
// once. One that outgrew its cage is replaced by a process for this request alone, in
// the largest cage. An object that is missing while packs are removed is looked for
// again, as the process may have missed both the old pack and the new one. So is one that a kept repository
// lacks, once its folder is up to date.
func (r *Repository) cat(ctx context.Context, fn func(*catfile.Process) error) error {
	err := r.catPooled(ctx, fn)
	if err == nil || ctx.Err() != nil || errs.KindOf(err) != errs.NotFound && errs.KindOf(err) != errs.Internal {
		return err
	}
	isKept, failed := r.Refresh(ctx)
	if failed != nil || !isKept {
		return cmp.Or(failed, err)
	}
	if err = r.catPooled(ctx, fn); err != nil && !r.OnDisk() && r.Exists() { // somebody removes the folder
		err = errs.Wrap(errs.Unavailable, "The repository is being brought to this server. Try again.", err)
	}
	return err
}

func (r *Repository) catPooled(ctx context.Context, fn func(*catfile.Process) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, r.git.options.ReadTimeout)
	defer cancel()
	release, err := r.git.processes.Admit(limited, r.git.poolCage())
	if err != nil {
		return err
	}
	defer func() { release() }()
	removals := &r.git.state(r.dir).removals
	for again := true; ; {
		before := removals.Load()
		c, fresh, err := r.git.pool.Acquire(limited, r.dir)
		if err != nil {
			return r.readError(ctx, err)
		}
		interrupted, err := r.git.pool.Use(limited, c, fn)
		if spent, ok := errors.AsType[catfile.SpentError](err); ok {
			return spent.Err
		}
		if again && errs.Is(err, errs.NotFound) && (before%2 != 0 || removals.Load() != before) {
			again = false
			continue
		}
		var dirty catfile.DirtyError
		if !errors.As(err, &dirty) {
			return err
		}
		if interrupted {
			return r.readError(limited, dirty.Err)
		}
		if fresh {
			release()
			release = func() {}
			return r.catAlone(limited, fn)
		}
	}
}

// catAlone runs fn with a process that is not of the pool, in the largest cage.
// Its error says why the process ended, if it did: Invalid where the object
// needs more memory than there is.
func (r *Repository) catAlone(ctx context.Context, fn func(*catfile.Process) error) error {
	c, err := catfile.Start(ctx, r.git.processes, r.largeCage(),
		process.Task{Dir: r.dir, Limit: r.git.options.ReadTimeout})
	if err != nil {
		return r.readError(ctx, err)
	}
	stop := context.AfterFunc(ctx, c.Kill)
	defer stop()
	err = fn(c)
	var dirty catfile.DirtyError
	if !errors.As(err, &dirty) {
		c.End()
		if spent, ok := errors.AsType[catfile.SpentError](err); ok {
			return spent.Err
		}
		return err
	}
	if ended := c.Verdict(); errs.Is(ended, errs.Invalid) {
		return ended
	}
	return r.readError(ctx, dirty.Err)
}

// readError says why a read failed: the caller went away, it took too long,
// the repository does not exist yet, or git failed.
func (r *Repository) readError(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("git: read: %w", context.Canceled)
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return errs.Wrap(errs.Unavailable, "git took too long", err)
	case !r.Exists():
		return errs.Wrap(errs.NotFound, "Not Found", err)
	}
	return r.Failed(err)
}
