package catfile

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"arbor/internal/errs"
)

// PoolOptions are the limits of a [Pool].
type PoolOptions struct {
	Start func(dir string) (*Process, error) // starts one that outlives the request

	Processes int           // in all
	PerDir    int           // of one repository
	IdleTime  time.Duration // after which an idle one ends
	Age       time.Duration // after which a busy one ends
}

// Pool keeps cat-file processes between requests: few per repository, few in
// all, none longer idle than PoolOptions.IdleTime.
type Pool struct {
	options PoolOptions

	mu          sync.Mutex
	idle        []*Process     // the longest idle first
	live        map[string]int // processes by directory, busy ones included
	generations map[string]int // see Retire
	total       int
	waiting     int           // readers
	changed     chan struct{} // closed and replaced when a process frees
	timer       *time.Timer   // runs reap while something is idle
	closed      bool
	ending      sync.WaitGroup
}

// NewPool returns a pool without processes.
func NewPool(o PoolOptions) *Pool {
	return &Pool{options: o, live: make(map[string]int), generations: make(map[string]int),
		changed: make(chan struct{})}
}

// errClosed answers reads after Close.
func errClosed() error { return errs.New(errs.Unavailable, "the server is stopping") }

// Acquire takes a process for dir, starting one if the limits allow, and
// waiting if they do not. fresh says that the process was started just now.
func (p *Pool) Acquire(ctx context.Context, dir string) (c *Process, fresh bool, err error) {
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
		if p.live[dir] < p.options.PerDir && p.roomLocked() {
			p.live[dir]++
			p.total++
			generation := p.generations[dir]
			p.mu.Unlock()
			c, err := p.options.Start(dir)
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
		p.waiting++
		p.mu.Unlock()
		var err error
		select {
		case <-changed:
		case <-ctx.Done():
			err = ctx.Err()
		}
		p.mu.Lock()
		p.waiting--
		p.mu.Unlock()
		if err != nil {
			return nil, false, err
		}
	}
}

// Usage is how many processes work and wait for work, and how many readers wait for one.
func (p *Pool) Usage() (busy, idle, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total - len(p.idle), len(p.idle), p.waiting
}

// lastIdle finds the most recently used idle process of dir, -1 without one.
func (p *Pool) lastIdle(dir string) int {
	for i := len(p.idle) - 1; i >= 0; i-- {
		if p.idle[i].dir == dir {
			return i
		}
	}
	return -1
}

// roomLocked ensures room for one more process, ending the longest idle one of
// another repository when needed.
func (p *Pool) roomLocked() bool {
	if p.total < p.options.Processes {
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
func (p *Pool) dropLocked(dir string) {
	p.total--
	if p.live[dir]--; p.live[dir] <= 0 {
		delete(p.live, dir)
		delete(p.generations, dir) // no process is left that could be older
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// endLocked ends a process that nobody uses, without making anyone wait.
func (p *Pool) endLocked(c *Process) {
	p.dropLocked(c.dir)
	p.ending.Go(c.End)
}

// release returns a process to the pool. It ends a process that is dirty or has grown.
func (p *Pool) release(c *Process, dirty bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// An old one may hold packs open that other nodes have replaced.
	old := time.Since(c.begun) > p.options.Age
	if dirty || old || c.large || p.closed || c.generation != p.generations[c.dir] {
		p.endLocked(c)
		return
	}
	c.lastUse = time.Now()
	p.idle = append(p.idle, c)
	if p.timer == nil {
		p.timer = time.AfterFunc(p.options.IdleTime, p.reap)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// reap ends what was idle for too long, and comes again while more is idle.
func (p *Pool) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	if p.closed {
		return
	}
	old := time.Now().Add(-p.options.IdleTime)
	p.idle = slices.DeleteFunc(p.idle, func(c *Process) bool {
		if c.lastUse.After(old) {
			return false
		}
		p.endLocked(c)
		return true
	})
	if len(p.idle) > 0 {
		p.timer = time.AfterFunc(p.options.IdleTime/4+time.Millisecond, p.reap)
	}
}

// Retire ends the processes of dir, busy ones when they are given back: they
// hold packs open that maintenance has replaced.
func (p *Pool) Retire(dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live[dir] == 0 {
		return
	}
	p.generations[dir]++
	p.idle = slices.DeleteFunc(p.idle, func(c *Process) bool {
		if c.dir != dir {
			return false
		}
		p.endLocked(c)
		return true
	})
}

// Close ends all processes and waits for those that are idle.
func (p *Pool) Close() {
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

// Use runs fn with a process and gives the process back, even if fn panics: else the
// pool would be empty after as many panics as it has processes.
func (p *Pool) Use(ctx context.Context, c *Process, fn func(*Process) error) (interrupted bool, err error) {
	isClean := false
	stop := context.AfterFunc(ctx, c.Kill)
	defer func() {
		interrupted = !stop()
		p.release(c, !isClean || interrupted)
	}()
	err = fn(c)
	var dirty DirtyError
	var spent SpentError
	isClean = !errors.As(err, &dirty) && !errors.As(err, &spent)
	return false, err
}
