package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"arbor/internal/errs"
)

// configuration is set over whatever a repository's config says.
func configuration() [][2]string {
	return [][2]string{
		{"core.hooksPath", "/dev/null"},
		{"core.fsync", "all"}, {"core.fsyncMethod", "fsync"},
		{"core.protectHFS", "true"}, {"core.protectNTFS", "true"},
		{"core.alternateRefsCommand", ":"},
		{"core.warnAmbiguousRefs", "false"}, // a full SHA is not looked for among refs first
		{"safe.directory", "*"}, {"protocol.allow", "never"},
		{"gc.auto", "0"}, {"maintenance.auto", "false"},
		{"uploadpack.allowFilter", "true"}, {"uploadpack.allowAnySHA1InWant", "true"},
		{"pack.writeReverseIndex", "true"},
		// Bounds of memory: large blobs stream, delta search keeps a window.
		{"core.bigFileThreshold", "64m"}, {"pack.windowMemory", "128m"}, {"pack.deltaCacheSize", "64m"},
	}
}

// environment is that of every git process: nothing of the server's own
// environment but PATH, no configuration but ours, nothing to prompt with.
func environment() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=/bin/false", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ADVICE=0",
		// One allocation's bound: a crafted delta or tree that claims
		// gigabytes ends its own process and not the machine.
		"GIT_ALLOC_LIMIT=1g",
	}
	config := configuration()
	for i, kv := range config {
		env = append(env, setting(i, kv[0], kv[1])...)
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(config)))
}

// setting is the n-th setting, counted from 0, in a process's environment.
func setting(n int, key, value string) []string {
	i := strconv.Itoa(n)
	return []string{"GIT_CONFIG_KEY_" + i + "=" + key, "GIT_CONFIG_VALUE_" + i + "=" + value}
}

// passing is for processes that write only what is read back, synced and
// removed by us, so nothing but speed counts. It stands behind the environment
// of all and overrules it.
func passing() []string {
	n := len(configuration())
	env := append(setting(n, "core.fsync", "none"), setting(n+1, "core.createObject", "rename")...)
	env = append(env, setting(n+2, "core.looseCompression", "1")...)
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n+3))
}

// maxStderr bounds what is kept of a process's standard error, in bytes.
const maxStderr = 8 << 10

// tail keeps the last bytes written to it, and passes all on to next.
type tail struct {
	mu   sync.Mutex
	buf  []byte
	next io.Writer // may be nil; its errors are ignored
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - maxStderr; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	if t.next != nil {
		_, _ = t.next.Write(p)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.buf))
}

// exitError is a git command that ended with a status other than 0. Its text
// is for the log; code decides by Code alone.
type exitError struct {
	Sub    string
	Code   int // -1 when a signal ended it
	Stderr string
}

func (e *exitError) Error() string {
	return fmt.Sprintf("git %s: exit status %d: %q", e.Sub, e.Code, e.Stderr)
}

// task is one git process to run in a repository's directory.
type task struct {
	command
	dir    string
	env    []string      // beside the fixed environment
	limit  time.Duration // its deadline
	stdin  io.Reader     // copied by a goroutine; an *os.File is handed over
	stdout io.Writer
	stderr io.Writer // what of standard error goes elsewhere, beside the log
	nice   bool      // run at low priority
}

// process is a running task.
type process struct {
	cmd    *exec.Cmd
	sub    string
	ctx    context.Context // the deadline's
	parent context.Context // the request's
	cancel context.CancelFunc
	tail   *tail

	started *atomic.Int64 // counts it
}

// prepare makes the exec.Cmd of a task: in a process group of its own, which
// is killed whole when the context ends.
func (g *Git) prepare(ctx context.Context, t task) (*process, error) {
	args, err := t.build()
	if err != nil {
		return nil, err
	}
	p := &process{sub: t.sub, parent: ctx, tail: &tail{next: t.stderr}, started: &g.started}
	p.ctx, p.cancel = context.WithTimeout(ctx, t.limit)
	p.cmd = exec.CommandContext(p.ctx, g.binary, args...)
	p.cmd.Dir = t.dir
	p.cmd.Env = append(append(g.env[:len(g.env):len(g.env)], "GIT_DIR="+t.dir), t.env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = t.stdin, t.stdout, p.tail
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Cancel = func() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }
	p.cmd.WaitDelay = 5 * time.Second
	return p, nil
}

// begin starts the process.
func (p *process) begin(nice bool) error {
	if err := p.cmd.Start(); err != nil {
		p.cancel()
		return fmt.Errorf("git %s: %w", p.sub, err)
	}
	p.started.Add(1)
	if nice {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, p.cmd.Process.Pid, 10)
	}
	return nil
}

// read begins a task whose output is read while it runs. Whoever has read to its
// end calls wait, and whoever does not want the rest calls stop.
func (g *Git) read(ctx context.Context, t task) (*process, io.Reader, error) {
	p, err := g.prepare(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.cancel()
		return nil, nil, err
	}
	if err := p.begin(t.nice); err != nil {
		return nil, nil, err
	}
	return p, out, nil
}

// wait waits for the process and says how it ended: nil, the context's error,
// an Unavailable for its deadline, or an *exitError.
func (p *process) wait() error {
	err := p.cmd.Wait()
	ended := p.ctx.Err()
	p.cancel()
	if err == nil {
		return nil
	}
	if cause := p.parent.Err(); cause != nil {
		return fmt.Errorf("git %s: %w", p.sub, cause)
	}
	if ended != nil {
		return errs.Wrap(errs.Unavailable, "git took too long", fmt.Errorf("git %s: %w", p.sub, ended))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &exitError{Sub: p.sub, Code: exit.ExitCode(), Stderr: p.tail.String()}
	}
	return fmt.Errorf("git %s: %w", p.sub, err)
}

// stop kills the process group and waits.
func (p *process) stop() {
	p.cancel()
	_ = p.cmd.Wait()
}

// run runs a task to its end.
func (g *Git) run(ctx context.Context, t task) error {
	p, err := g.prepare(ctx, t)
	if err != nil {
		return err
	}
	if err := p.begin(t.nice); err != nil {
		return err
	}
	return p.wait()
}

// exitCode is the status of a command that ended by itself, -1 otherwise.
func exitCode(err error) int {
	var e *exitError
	if errors.As(err, &e) {
		return e.Code
	}
	return -1
}
