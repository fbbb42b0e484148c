package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git/process"
)

// pool keeps cat-file processes between requests: few per repository, few in
// all, none longer idle than Options.IdleTime.
type pool struct {
	git *Git

	mu          sync.Mutex
	idle        []*catFile     // the longest idle first
	live        map[string]int // processes by directory, busy ones included
	generations map[string]int // see retire
	total       int
	changed     chan struct{} // closed and replaced when a process frees
	timer       *time.Timer   // runs reap while something is idle
	closed      bool
	ending      sync.WaitGroup
}

func newPool(g *Git) *pool {
	return &pool{git: g, live: make(map[string]int), generations: make(map[string]int),
		changed: make(chan struct{})}
}

// errClosed answers reads after Close.
func errClosed() error { return errs.New(errs.Unavailable, "the server is stopping") }

// acquire takes a process for dir, starting one where the limits allow and
// waiting where they do not. fresh says that the process was started just now.
func (p *pool) acquire(ctx context.Context, dir string) (c *catFile, fresh bool, err error) {
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return nil, false, errClosed()
		}
		if i := p.lastIdle(dir); i >= 0 {
			c := p.idle[i]
			p.idle = slices.Delete(p.idle, i, i+1)
			p.mu.Unlock()
			return c, false, nil
		}
		if p.live[dir] < p.git.options.ProcessesPerDir && p.roomLocked() {
			p.live[dir]++
			p.total++
			generation := p.generations[dir]
			p.mu.Unlock()
			c, err := p.git.startPooled(dir)
			if err != nil {
				p.mu.Lock()
				p.dropLocked(dir)
				p.mu.Unlock()
				return nil, false, err
			}
			c.generation, c.begun = generation, time.Now()
			return c, true, nil
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// lastIdle finds the most recently used idle process of dir, -1 without one.
func (p *pool) lastIdle(dir string) int {
	for i := len(p.idle) - 1; i >= 0; i-- {
		if p.idle[i].dir == dir {
			return i
		}
	}
	return -1
}

// roomLocked makes room for one more process, ending the longest idle one of
// another repository when needed.
func (p *pool) roomLocked() bool {
	if p.total < p.git.options.Processes {
		return true
	}
	if len(p.idle) == 0 {
		return false
	}
	p.endLocked(p.idle[0])
	p.idle = slices.Delete(p.idle, 0, 1)
	return true
}

// dropLocked takes a process of dir off the books.
func (p *pool) dropLocked(dir string) {
	p.total--
	if p.live[dir]--; p.live[dir] <= 0 {
		delete(p.live, dir)
		delete(p.generations, dir) // no process is left that could be older
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// endLocked ends a process that nobody uses, without making anyone wait.
func (p *pool) endLocked(c *catFile) {
	p.dropLocked(c.dir)
	p.ending.Go(c.end)
}

// release gives a process back; a dirty one ends, and one that has grown.
func (p *pool) release(c *catFile, dirty bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// An old one may hold packs open that other nodes have replaced.
	old := time.Since(c.begun) > p.git.options.ProcessAge
	if dirty || old || c.large || p.closed || c.generation != p.generations[c.dir] {
		p.endLocked(c)
		return
	}
	c.lastUse = time.Now()
	p.idle = append(p.idle, c)
	if p.timer == nil {
		p.timer = time.AfterFunc(p.git.options.IdleTime, p.reap)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// reap ends what was idle for too long, and comes again while more is idle.
func (p *pool) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	if p.closed {
		return
	}
	old := time.Now().Add(-p.git.options.IdleTime)
	p.idle = slices.DeleteFunc(p.idle, func(c *catFile) bool {
		if c.lastUse.After(old) {
			return false
		}
		p.endLocked(c)
		return true
	})
	if len(p.idle) > 0 {
		p.timer = time.AfterFunc(p.git.options.IdleTime/4+time.Millisecond, p.reap)
	}
}

// retire ends the processes of dir, busy ones when they are given back: they
// hold packs open that maintenance has replaced.
func (p *pool) retire(dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live[dir] == 0 {
		return
	}
	p.generations[dir]++
	p.idle = slices.DeleteFunc(p.idle, func(c *catFile) bool {
		if c.dir != dir {
			return false
		}
		p.endLocked(c)
		return true
	})
}

// close ends all processes and waits for those that are idle.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	for _, c := range p.idle {
		p.endLocked(c)
	}
	p.idle = nil
	for p.total > 0 {
		changed := p.changed
		p.mu.Unlock()
		<-changed
		p.mu.Lock()
	}
	p.mu.Unlock()
	p.ending.Wait()
}

// errDirty marks an error after which a process must not be used again.
type errDirty struct{ error }

func (e errDirty) Unwrap() error { return e.error }

// errSpent marks an error that is the answer although the process is dirty.
type errSpent struct{ error }

func (e errSpent) Unwrap() error { return e.error }

// cat runs fn with a pooled process of the repository. fn marks with errDirty
// the errors that leave an answer half read. A process that died while idle is replaced
// once. One that outgrew its cage is replaced by a process for this request alone, in
// the largest cage. An object that is missing while packs are removed is looked for
// again, as the process may have missed both the old pack and the new one.
func (r *Repository) cat(ctx context.Context, fn func(*catFile) error) error {
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
		c, fresh, err := r.git.pool.acquire(limited, r.dir)
		if err != nil {
			return r.readError(ctx, err)
		}
		interrupted, err := r.git.pool.use(limited, c, fn)
		var spent errSpent
		if errors.As(err, &spent) {
			return spent.error
		}
		if again && errs.Is(err, errs.NotFound) && (before%2 != 0 || removals.Load() != before) {
			again = false
			continue
		}
		var dirty errDirty
		if !errors.As(err, &dirty) {
			return err
		}
		if interrupted {
			return r.readError(limited, dirty.error)
		}
		if fresh {
			release()
			release = func() {}
			return r.catAlone(limited, fn)
		}
	}
}

// use runs fn with a process and gives the process back, also when fn panics: else the
// pool would be empty after as many panics as it has processes.
func (p *pool) use(ctx context.Context, c *catFile, fn func(*catFile) error) (interrupted bool, err error) {
	isClean := false
	stop := context.AfterFunc(ctx, c.kill)
	defer func() {
		interrupted = !stop()
		p.release(c, !isClean || interrupted)
	}()
	err = fn(c)
	var dirty errDirty
	var spent errSpent
	isClean = !errors.As(err, &dirty) && !errors.As(err, &spent)
	return false, err
}

// catAlone runs fn with a process that is not of the pool, in the largest cage.
// Its error says why the process ended, if it did: Invalid where the object
// needs more memory than there is.
func (r *Repository) catAlone(ctx context.Context, fn func(*catFile) error) error {
	c, err := r.git.startCatFile(ctx, process.Task{Dir: r.dir, Limit: r.git.options.ReadTimeout, Cage: r.largeCage()})
	if err != nil {
		return r.readError(ctx, err)
	}
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	err = fn(c)
	var dirty errDirty
	if !errors.As(err, &dirty) {
		c.end()
		var spent errSpent
		if errors.As(err, &spent) {
			return spent.error
		}
		return err
	}
	if ended := c.verdict(); errs.Is(ended, errs.Invalid) {
		return ended
	}
	return r.readError(ctx, dirty.error)
}

// readError says why a read failed: the caller went away, it took too long,
// there is no repository yet, or git failed.
func (r *Repository) readError(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("git: read: %w", context.Canceled)
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return errs.Wrap(errs.Unavailable, "git took too long", err)
	case !r.Exists():
		return errs.Wrap(errs.NotFound, "Not Found", err)
	}
	return err
}
