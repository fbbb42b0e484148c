package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"arbor/internal/errs"
)

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

// tell logs a process that was ended, or failed, under the id of its request or job. A failure is
// often an answer, such as that of a merge with conflicts; a caller that treats it as an error logs it.
func (p *Process) tell(err error) {
	level, message := slog.LevelInfo, "git was ended"
	if _, failed := err.(*exitError); failed {
		level, message = slog.LevelDebug, "git failed"
	} else {
		p.runner.count(p.sub, Counts{Ended: 1})
	}
	p.runner.log.Log(p.parent, level, message, "command", p.sub, "took", time.Since(p.since), "error", err)
}

// why says how a process ended that did not end well; ended is its context's error of then.
func (p *Process) why(err, ended error) error {
	if grown := p.outgrew(err); grown != nil {
		return grown
	}
	if cause := p.parent.Err(); cause != nil {
		return fmt.Errorf("git %s: %w", p.sub, cause)
	}
	if ended != nil {
		return errs.Wrap(errs.Unavailable, "git took too long", fmt.Errorf("git %s: %w", p.sub, ended))
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &exitError{Sub: p.sub, Code: exit.ExitCode(), Stderr: p.tail.String()}
	}
	return fmt.Errorf("git %s: %w", p.sub, err)
}

// outgrew is the error of a process that its cage ended, nil for others. The request
// asked for too much, so the error is Invalid.
func (p *Process) outgrew(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil
	}
	cause := &exitError{Sub: p.sub, Code: exit.ExitCode(), Stderr: p.tail.String()}
	status, _ := exit.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGXCPU:
		message := fmt.Sprintf("git needs more than %v of processor time for this", p.cage.CPU)
		return errs.Wrap(errs.Invalid, message, cause)
	case saysOutgrown(cause.Stderr):
		message := fmt.Sprintf("git needs more than %d MiB of memory for this", p.cage.Memory>>20)
		return errs.Wrap(errs.Invalid, message, cause)
	}
	return nil
}

// ExitCode is the status of a command that ended by itself, -1 otherwise.
func ExitCode(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.Code
	}
	return -1
}

// IsExit reports the error of a command that ended by itself, or by a signal, with a
// status other than 0.
func IsExit(err error) bool {
	var e *exitError
	return errors.As(err, &e)
}
