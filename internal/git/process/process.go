package process

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Runner starts processes of git, each in its cage.
type Runner struct {
	Binary  string   // absolute path
	env     []string // of every process
	ask     func(ctx context.Context, bytes int64) (release func(), err error)
	started atomic.Int64
	log     *slog.Logger

	mu     sync.Mutex
	counts map[string]Counts // by sub-command
}

// Counts are how many processes of a sub-command there are and were.
type Counts struct {
	Running int64
	Started int64
	Ended   int64 // by their cage, their deadline or because nobody waited any more
}

// Counts lists them, by sub-command.
func (r *Runner) Counts() map[string]Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.counts)
}

// count adds to the counts of a sub-command.
func (r *Runner) count(sub string, more Counts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.counts[sub]
	r.counts[sub] = Counts{c.Running + more.Running, c.Started + more.Started, c.Ended + more.Ended}
}

// NewRunner returns a runner of the program at an absolute path. ask, if set,
// reserves the memory of each process before it starts.
func NewRunner(binary string, ask func(context.Context, int64) (func(), error)) *Runner {
	return &Runner{Binary: binary, env: environment(), ask: ask,
		log:    slog.New(slog.DiscardHandler),
		counts: map[string]Counts{}}
}

// LogTo sets the log for processes that were ended or failed.
func (r *Runner) LogTo(log *slog.Logger) { r.log = log }

// Started is how many processes were started.
func (r *Runner) Started() int64 { return r.started.Load() }

// environment is the environment of one process of git, in its cage.
func (r *Runner) environment(in Cage, t Task) []string {
	first := len(configuration())
	config := append(in.config(), t.Config...)
	env := append(r.env[:len(r.env):len(r.env)], settings(first, config)...)
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(first+len(config)), "GIT_DIR="+t.Dir,
		// One allocation's bound: a crafted delta or tree that claims gigabytes
		// ends its own process and not the machine, even where no other limit applies.
		"GIT_ALLOC_LIMIT="+strconv.FormatInt(in.Memory, 10))
	return append(env, t.Env...)
}

// Task is one git process to run in a repository's directory.
type Task struct {
	Command
	Dir    string
	Env    []string      // added to the fixed environment
	Config [][2]string   // added to the fixed configuration
	Held   bool          // somebody else asks for the memory of its cage: see the pool
	Limit  time.Duration // its deadline
	Stdin  io.Reader     // copied by a goroutine, once the process is in its cage
	Stdout io.Writer
	Stderr io.Writer // receives standard error, in addition to the log
	Nice   bool      // run at low priority
	// Keep is a file that the process has open, though it does not know of it: a lock on it
	// lasts until the process has ended, even if this one ends earlier. nil: none.
	Keep *os.File
	// Socket is file 3 of the process, through which git talks with the remote fd::3. nil: none.
	Socket *os.File
}

// Process is a running task.
type Process struct {
	cmd    *exec.Cmd
	sub    string
	ctx    context.Context // the deadline's
	parent context.Context // the request's
	cancel context.CancelFunc
	tail   *tail

	cage    Cage
	caged   chan struct{} // closed when it is in its cage
	release func()        // gives the memory of its cage back
	started *atomic.Int64 // counts it
	runner  *Runner
	since   time.Time
}

// prepare builds the exec.Cmd of a task: in a process group of its own, which
// is killed whole when the context ends. It waits for the memory of its cage. The
// caller begins the process or abandons it. A cage that is too small to be one is a
// defect in the caller.
func (r *Runner) prepare(ctx context.Context, in Cage, t Task) (*Process, error) {
	args, err := t.build()
	if err == nil && in.Memory < MinCage {
		err = fmt.Errorf("git %s: a cage of %d bytes", t.Sub, in.Memory)
	}
	if err != nil {
		return nil, err
	}
	p := &Process{sub: t.Sub, parent: ctx, tail: &tail{next: t.Stderr}, cage: in,
		caged: make(chan struct{}), release: func() {}, started: &r.started,
		runner: r}
	if !t.Held {
		if p.release, err = r.Admit(ctx, in); err != nil {
			return nil, err
		}
	}
	p.ctx, p.cancel = context.WithTimeout(ctx, t.Limit)
	p.cmd = exec.CommandContext(p.ctx, r.Binary, args...)
	p.cmd.Dir, p.cmd.Env = t.Dir, r.environment(in, t)
	p.cmd.Stdout, p.cmd.Stderr = t.Stdout, p.tail
	if t.Stdin != nil {
		p.cmd.Stdin = gate{t.Stdin, p.caged}
	}
	for _, f := range [...]*os.File{t.Socket, t.Keep} {
		if f != nil {
			p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, f)
		}
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Cancel = func() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }
	p.cmd.WaitDelay = 5 * time.Second
	return p, nil
}

// abandon is for a process that does not begin.
func (p *Process) abandon() {
	p.cancel()
	p.release()
}

// begin starts the process and puts it into its cage.
func (p *Process) begin(nice bool) error {
	if err := p.cmd.Start(); err != nil {
		p.abandon()
		return fmt.Errorf("git %s: %w", p.sub, err)
	}
	p.started.Add(1)
	p.runner.count(p.sub, Counts{Running: 1, Started: 1})
	p.since = time.Now()
	err := Confine(p.cmd.Process.Pid, p.cage)
	close(p.caged)
	if err != nil {
		_ = p.Stop()
		return fmt.Errorf("git %s: limits: %w", p.sub, err)
	}
	if nice {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, p.cmd.Process.Pid, 10)
	}
	return nil
}

// Read begins a task whose output is read while it runs. The caller reads to the end
// and then calls Wait, or calls Stop before.
func (r *Runner) Read(ctx context.Context, in Cage, t Task) (*Process, io.Reader, error) {
	p, err := r.prepare(ctx, in, t)
	if err != nil {
		return nil, nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.abandon()
		return nil, nil, err
	}
	if err := p.begin(t.Nice); err != nil {
		return nil, nil, err
	}
	return p, out, nil
}

// Talk begins a task that is written to and read from while it runs. The caller stops
// it, or closes in, reads to the end and waits.
func (r *Runner) Talk(
	ctx context.Context, cage Cage, t Task,
) (p *Process, in io.WriteCloser, out io.Reader, err error) {
	if p, err = r.prepare(ctx, cage, t); err != nil {
		return nil, nil, nil, err
	}
	if in, err = p.cmd.StdinPipe(); err == nil {
		out, err = p.cmd.StdoutPipe()
	}
	if err != nil {
		p.abandon()
		return nil, nil, nil, err
	}
	if err := p.begin(t.Nice); err != nil {
		return nil, nil, nil, err
	}
	return p, in, out, nil
}

// Kill aborts a read or write in progress; Stop or Wait must still be called.
func (p *Process) Kill() { p.cancel() }

// Said is the end of what the process wrote to its standard error.
func (p *Process) Said() string { return p.tail.String() }

// Wait waits for the process and says how it ended: nil, the context's error,
// an Unavailable for its deadline, or an *exitError, within an Invalid when it
// outgrew its cage.
func (p *Process) Wait() error {
	err := p.cmd.Wait()
	ended := p.ctx.Err()
	p.abandon()
	p.runner.count(p.sub, Counts{Running: -1})
	if err == nil {
		return nil
	}
	err = p.why(err, ended)
	p.tell(err)
	return err
}

// Stop kills the process group and waits. It returns an error if the cage had ended the
// process before, as its output may then be cut off.
func (p *Process) Stop() error {
	p.cancel()
	err := p.cmd.Wait()
	p.release()
	p.runner.count(p.sub, Counts{Running: -1})
	if err = p.outgrew(err); err != nil {
		p.tell(err)
	}
	return err
}

// Run runs a task to its end.
func (r *Runner) Run(ctx context.Context, in Cage, t Task) error {
	p, err := r.prepare(ctx, in, t)
	if err != nil {
		return err
	}
	if err := p.begin(t.Nice); err != nil {
		return err
	}
	return p.Wait()
}
