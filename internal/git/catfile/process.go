package catfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git/object"
	"arbor/internal/git/process"
)

// Object is what is known of an object without its contents.
type Object struct {
	SHA  object.SHA
	Type object.Type
	Size int64 // bytes of the contents
}

// Process is one `git cat-file --batch-command --buffer` process, used by one
// caller at a time. After an error in mid-answer it is dirty and ends.
type Process struct {
	dir        string
	generation int // of the pool's view of dir; see Pool.Retire
	begun      time.Time
	process    *process.Process
	in         io.WriteCloser
	out        *bufio.Reader
	line       []byte // the request, reused
	lastUse    time.Time
	large      bool // it has held much, and may keep it
}

// Start starts a process in a cage, in the directory and environment of t.
func Start(ctx context.Context, runner *process.Runner, cage process.Cage, t process.Task) (*Process, error) {
	t.Command = process.Command{Sub: "cat-file", Flags: []string{"--batch-command", "--buffer"}}
	p, in, out, err := runner.Talk(ctx, cage, t)
	if err != nil {
		return nil, err
	}
	return &Process{dir: t.Dir, process: p, in: in, out: bufio.NewReaderSize(out, 64<<10)}, nil
}

// End closes the process's input, kills it and waits for it.
func (c *Process) End() {
	_ = c.in.Close()
	_ = c.process.Stop()
}

// Verdict is why the process ended by itself.
func (c *Process) Verdict() error {
	_ = c.in.Close()
	_, _ = io.Copy(io.Discard, c.out)
	return c.process.Wait()
}

// Kill aborts a read or write in progress; End must still be called.
func (c *Process) Kill() { c.process.Kill() }

// ask sends one request and has git answer at once.
func (c *Process) ask(verb string, sha object.SHA) error {
	c.line = append(append(append(c.line[:0], verb...), sha...), "\nflush\n"...)
	_, err := c.in.Write(c.line)
	return err
}

// header reads the first line of an answer. A missing object is NotFound,
// after which the process is still clean.
func (c *Process) header() (Object, error) {
	line, err := c.out.ReadSlice('\n')
	if err != nil {
		return Object{}, c.broken(err)
	}
	return parseHeader(line[:len(line)-1])
}

// parseHeader parses "SHA TYPE SIZE" or "NAME missing".
func parseHeader(line []byte) (Object, error) {
	if bytes.HasSuffix(line, []byte(" missing")) {
		return Object{}, Missing(string(line[:len(line)-len(" missing")]))
	}
	if len(line) < 43 || line[40] != ' ' || !object.IsSHA(line[:40]) {
		return Object{}, fmt.Errorf("git cat-file: unexpected answer %q", errs.Clip(string(line)))
	}
	kind, size, ok := bytes.Cut(line[41:], []byte(" "))
	if !ok {
		return Object{}, fmt.Errorf("git cat-file: unexpected answer %q", errs.Clip(string(line)))
	}
	t, err := object.ParseType(kind)
	if err != nil {
		return Object{}, err
	}
	n, err := strconv.ParseInt(string(size), 10, 64)
	return Object{SHA: object.SHA(line[:40]), Type: t, Size: n}, err
}

// Missing is the error for an object that is not in the repository.
func Missing(name string) error {
	return errs.Wrap(errs.NotFound, "Not Found", fmt.Errorf("git: object %q is missing", errs.Clip(name)))
}

// broken is the error of a process that stopped answering.
func (c *Process) broken(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("git cat-file ended: %w: %q", err, c.process.Said())
}

// DirtyError is an error after which a process must not be used again.
type DirtyError struct{ Err error }

func (e DirtyError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e DirtyError) Unwrap() error { return e.Err }

// SpentError is an error that is the answer although the process is dirty.
type SpentError struct{ Err error }

func (e SpentError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e SpentError) Unwrap() error { return e.Err }
