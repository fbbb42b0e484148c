package catfile

import (
	"bytes"
	"fmt"
	"io"

	"arbor/internal/errs"
	"arbor/internal/git/object"
)

// Info asks for type and size of one object.
func (c *Process) Info(sha object.SHA) (Object, error) {
	if err := c.ask("info ", sha); err != nil {
		return Object{}, DirtyError{c.broken(err)}
	}
	info, err := c.header()
	return info, dirtyUnlessMissing(err)
}

// Named asks for the object that an abbreviated SHA leads to, with or without
// ^{commit} behind it. Invalid when there are several.
func (c *Process) Named(name string) (Object, error) {
	if err := c.ask("info ", object.SHA(name)); err != nil {
		return Object{}, DirtyError{c.broken(err)}
	}
	line, err := c.out.ReadSlice('\n')
	if err != nil {
		return Object{}, DirtyError{c.broken(err)}
	}
	if bytes.HasSuffix(line, []byte(" ambiguous\n")) {
		return Object{}, errs.Newf(errs.Invalid, "%s is ambiguous: several objects begin with it", name)
	}
	info, err := parseHeader(line[:len(line)-1])
	return info, dirtyUnlessMissing(err)
}

// dirtyUnlessMissing marks every error as leaving the process unusable but
// the one for a missing object, which is a whole answer.
func dirtyUnlessMissing(err error) error {
	if err == nil || errs.Is(err, errs.NotFound) {
		return err
	}
	return DirtyError{err}
}

// infosAtOnce is how many requests are written before answers are read: their
// answers, up to 62 bytes each, fit even the smallest pipe.
const infosAtOnce = 64

// Infos asks for n objects and gives each answer to got. The first missing
// object is the error, after all answers are read.
func (c *Process) Infos(n int, sha func(int) object.SHA, got func(int, Object)) error {
	if n == 0 {
		return nil
	}
	request := make([]byte, 0, n*46+6)
	for i := range n {
		request = append(append(append(request, "info "...), sha(i)...), '\n')
	}
	request = append(request, "flush\n"...)
	written := make(chan error, 1)
	if n <= infosAtOnce {
		_, err := c.in.Write(request)
		written <- err
	} else {
		// git blocks on its answers while we would block on our requests.
		go func() {
			_, err := c.in.Write(request)
			written <- err
		}()
	}
	var missing error
	for i := range n {
		info, err := c.header()
		switch {
		case err == nil:
			got(i, info)
		case errs.Is(err, errs.NotFound):
			if missing == nil {
				missing = err
			}
		default:
			c.Kill()
			<-written
			return DirtyError{err}
		}
	}
	if err := <-written; err != nil {
		return DirtyError{c.broken(err)}
	}
	return missing
}

// Skippable is the size up to which unwanted contents are read and dropped
// rather than the process ended.
const Skippable = 1 << 20

// Contents reads one object of at most limit bytes.
func (c *Process) Contents(sha object.SHA, limit int64) (Object, []byte, error) {
	if err := c.ask("contents ", sha); err != nil {
		return Object{}, nil, DirtyError{c.broken(err)}
	}
	return c.answer(sha, limit)
}

// Open asks for the contents of one object and waits until they begin; contents ends
// with them. After an error the process has ended.
// Invalid when it needs more memory than its cage has.
func (c *Process) Open(sha object.SHA) (size int64, contents io.Reader, err error) {
	info := Object{}
	if err = c.ask("contents ", sha); err == nil {
		info, err = c.header()
	}
	if err == nil {
		_, err = c.out.Peek(1)
	}
	switch {
	case err == nil:
		return info.Size, io.LimitReader(c.out, info.Size), nil
	case errs.Is(err, errs.NotFound):
		c.End()
		return 0, nil, err
	}
	if ended := c.Verdict(); errs.Is(ended, errs.Invalid) {
		return 0, nil, ended
	}
	return 0, nil, c.broken(err)
}

// keptObject is the size in bytes from which an object is the last that a pooled
// process reads: idle ones are many, and nobody is asked for their memory.
const keptObject = 2 << 20

// answer reads the answer to a request for contents.
func (c *Process) answer(sha object.SHA, limit int64) (Object, []byte, error) {
	info, err := c.header()
	if err != nil {
		return Object{}, nil, dirtyUnlessMissing(err)
	}
	if info.Size > limit {
		return c.refuse(info, limit)
	}
	c.large = c.large || info.Size > keptObject
	contents := make([]byte, info.Size+1)
	if _, err := io.ReadFull(c.out, contents); err != nil {
		return Object{}, nil, DirtyError{c.broken(err)}
	}
	if contents[info.Size] != '\n' {
		return Object{}, nil, DirtyError{fmt.Errorf("git cat-file: %s does not end where it should", sha)}
	}
	return info, contents[:info.Size], nil
}

// refuse gets rid of the contents of an object that is too large.
func (c *Process) refuse(info Object, limit int64) (Object, []byte, error) {
	tooLarge := errs.Newf(errs.TooLarge, "%s %s has %d bytes (maximum is %d)",
		info.Type, info.SHA, info.Size, limit)
	if info.Size > Skippable {
		c.Kill()
		return info, nil, SpentError{tooLarge}
	}
	if _, err := c.out.Discard(int(info.Size) + 1); err != nil {
		return Object{}, nil, DirtyError{c.broken(err)}
	}
	return info, nil, tooLarge
}
