package git

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

// catFile is one `git cat-file --batch-command --buffer` process, used by one
// caller at a time. After an error in mid-answer it is dirty and ends.
type catFile struct {
	dir        string
	generation int // of the pool's view of dir; see pool.retire
	begun      time.Time
	process    *process.Process
	in         io.WriteCloser
	out        *bufio.Reader
	line       []byte // the request, reused
	lastUse    time.Time
	large      bool // it has held much, and may keep it
}

// startPooled starts a process that outlives the request it is started for. Each
// caller that uses the process admits the memory of a poolCage before (see cat).
func (g *Git) startPooled(dir string) (*catFile, error) {
	const forEver = 365 * 24 * time.Hour
	return g.startCatFile(context.Background(),
		process.Task{Dir: dir, Limit: forEver, Cage: g.poolCage(), Held: true})
}

// startCatFile starts a process in the directory, environment and cage of t.
func (g *Git) startCatFile(ctx context.Context, t process.Task) (*catFile, error) {
	t.Command = process.Command{Sub: "cat-file", Flags: []string{"--batch-command", "--buffer"}}
	p, in, out, err := g.processes.Talk(ctx, t)
	if err != nil {
		return nil, err
	}
	return &catFile{dir: t.Dir, process: p, in: in, out: bufio.NewReaderSize(out, 64<<10)}, nil
}

// end closes the process's input, kills it and waits for it.
func (c *catFile) end() {
	_ = c.in.Close()
	_ = c.process.Stop()
}

// verdict is why the process ended by itself.
func (c *catFile) verdict() error {
	_ = c.in.Close()
	_, _ = io.Copy(io.Discard, c.out)
	return c.process.Wait()
}

// kill makes a read or write in progress fail; end still has to follow.
func (c *catFile) kill() { c.process.Kill() }

// ask sends one request and has git answer at once.
func (c *catFile) ask(verb string, sha SHA) error {
	c.line = append(append(append(c.line[:0], verb...), sha...), "\nflush\n"...)
	_, err := c.in.Write(c.line)
	return err
}

// header reads the first line of an answer. A missing object is NotFound,
// after which the process is still clean.
func (c *catFile) header() (Object, error) {
	line, err := c.out.ReadSlice('\n')
	if err != nil {
		return Object{}, c.broken(err)
	}
	return parseHeader(line[:len(line)-1])
}

// parseHeader parses "SHA TYPE SIZE" or "NAME missing".
func parseHeader(line []byte) (Object, error) {
	if bytes.HasSuffix(line, []byte(" missing")) {
		return Object{}, missing(string(line[:len(line)-len(" missing")]))
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
	return Object{SHA: SHA(line[:40]), Type: t, Size: n}, err
}

// missing is the error for an object that is not in the repository.
func missing(name string) error {
	return errs.Wrap(errs.NotFound, "Not Found", fmt.Errorf("git: object %q is missing", errs.Clip(name)))
}

// broken is the error of a process that stopped answering.
func (c *catFile) broken(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("git cat-file ended: %w: %q", err, c.process.Said())
}
