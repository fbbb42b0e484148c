package lfs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/git/wire"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Conversation is the protocol of git-lfs-transfer, in which git lfs transfers objects over SSH alone: requests and
// answers in pkt-lines. Each request is checked as one over HTTP.
type Conversation struct {
	In     io.Reader
	Out    io.Writer
	Upload bool // objects may be sent; else they may be fetched
	// Access finds the repository, and checks that the caller may do there what takes a role.
	Access func(context.Context, account.Role) (*repo.Access, error)
	// Count counts a request against the hourly limit of the caller; transfers of single objects are not counted.
	Count func() error
	// Pause sets how long the client may be silent before the next byte that is read.
	Pause func(time.Duration)
}

// Converse answers the client's requests until it says quit, or hangs up. Errors that the client got as an answer are
// not returned, but those of the server are.
func (s *Service) Converse(ctx context.Context, c Conversation) error {
	if s.MaxObject == 0 {
		return errOff()
	}
	if _, err := c.Access(ctx, c.need()); err != nil {
		return err
	}
	admission.As(ctx, admission.Push) // who waits for the client has no turn
	in := bufio.NewReaderSize(c.In, 64<<10)
	t := &talk{Conversation: c, s: s, in: in, lines: wire.NewPktReader(in)}
	if err := t.write("version=1\n", "locking\n"); err != nil {
		return err
	}
	for {
		c.Pause(admission.MaxPause)
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		c.Pause(0)
		m, err := readMessage(t.lines)
		if err != nil {
			return wire.MalformedEOF(err)
		}
		if m.command == "quit" {
			return t.status(200, nil)
		}
		if err := t.serve(ctx, m); err != nil {
			return err
		}
	}
}

// need is the role that the whole conversation takes.
func (c *Conversation) need() account.Role {
	if c.Upload {
		return account.Push
	}
	return account.Pull
}

// talk is a conversation on its way.
type talk struct {
	Conversation
	s     *Service
	in    *bufio.Reader
	lines *wire.PktReader
}

// request is a kind of message.
type request struct {
	need   account.Role
	upload *bool // only in conversations of that kind; nil: in both
	single bool  // is about a single object, and not counted
	serve  func(*talk, context.Context, *repo.Access, *message) error
}

// requestOf returns what a command is.
func requestOf(command string) (request, bool) {
	yes, no := true, false
	switch command {
	case "version":
		return request{account.Pull, nil, true, (*talk).version}, true
	case "batch":
		return request{account.Pull, nil, false, (*talk).batch}, true
	case "get-object":
		return request{account.Pull, &no, true, (*talk).get}, true
	case "put-object":
		return request{account.Push, &yes, true, (*talk).put}, true
	case "verify-object":
		return request{account.Push, &yes, true, (*talk).verify}, true
	case "lock":
		return request{account.Push, nil, false, (*talk).lock}, true
	case "unlock":
		return request{account.Push, nil, false, (*talk).unlock}, true
	case "list-lock", "list-locks": // as some versions of git lfs say
		return request{account.Pull, nil, false, (*talk).list}, true
	}
	return request{}, false
}

// serve answers a request. What is wrong with it is the answer.
func (t *talk) serve(ctx context.Context, m *message) error {
	r, known := requestOf(m.command)
	err := error(nil)
	switch {
	case !known:
		err = errs.Newf(errs.Malformed, "unknown command %q", errs.Clip(m.command))
	case r.upload != nil && *r.upload != t.Upload:
		err = errs.Newf(errs.Forbidden, "%s is not for this operation", m.command)
	case !r.single:
		err = t.Count()
	}
	var a *repo.Access
	if err == nil {
		a, err = t.Access(ctx, max(r.need, t.need()))
	}
	if err == nil {
		err = r.serve(t, ctx, a, m)
	}
	if err == nil || t.broken(err) {
		return err
	}
	if m.data != nil { // the client reads no answer before it has sent all
		n, bad := io.Copy(io.Discard, io.LimitReader(m.data, maxIgnored))
		if bad != nil { // the stream is out of step: the next bytes are not a request
			return wire.MalformedEOF(bad)
		}
		if n == maxIgnored {
			return err
		}
	}
	if sent := t.status(web.Status(errs.KindOf(err)), nil, messageOf(err)); sent != nil {
		return sent
	}
	if errs.KindOf(err) == errs.Internal {
		return err
	}
	return nil
}

// errBroken says that the conversation cannot go on: something was sent in part.
type errBroken struct{ error }

func (e errBroken) Unwrap() error { return e.error }

func (t *talk) broken(err error) bool {
	var broken errBroken
	return errors.As(err, &broken) || errs.Is(err, errs.Canceled)
}

// write sends pkt-lines and a flush.
func (t *talk) write(lines ...string) error {
	var out []byte
	for _, line := range lines {
		out = wire.AppendPkt(out, line)
	}
	_, err := t.Out.Write(append(out, wire.FlushPkt...))
	return err
}

// delimiter stands between arguments and lines.
const delimiter = "0001"

// status sends an answer: arguments, and lines behind a delimiter.
func (t *talk) status(code int, args []string, lines ...string) error {
	out := wire.AppendPkt(nil, fmt.Sprintf("status %03d\n", code))
	for _, arg := range args {
		out = wire.AppendPkt(out, arg+"\n")
	}
	if len(lines) > 0 {
		out = append(out, delimiter...)
	}
	for _, line := range lines {
		out = wire.AppendPkt(out, line+"\n")
	}
	if _, err := t.Out.Write(append(out, wire.FlushPkt...)); err != nil {
		return errBroken{err}
	}
	return nil
}

func (t *talk) version(_ context.Context, _ *repo.Access, m *message) error {
	if m.word != "1" {
		return errs.Newf(errs.Malformed, "unsupported version %q", errs.Clip(m.word))
	}
	return t.status(200, nil)
}

// batch says of objects which can be fetched, or have to be sent. An object that cannot be sent ends a whole batch,
// since the protocol has no other words for it.
func (t *talk) batch(ctx context.Context, a *repo.Access, m *message) error {
	if hash := m.args["hash-algo"]; hash != "" && hash != "sha256" {
		return errs.New(errs.Conflict, "hash-algo must be sha256")
	}
	list := make([]Pointer, 0, len(m.lines))
	for _, line := range m.lines {
		oid, rest, _ := strings.Cut(line, " ")
		digits, _, _ := strings.Cut(rest, " ")
		size, err := strconv.ParseInt(digits, 10, 64)
		if !isOID(oid) || err != nil || size < 0 {
			return errs.Newf(errs.Invalid, "%q names no object", errs.Clip(line))
		}
		list = append(list, Pointer{oid, size})
	}
	if len(list) > maxBatch {
		return errs.Newf(errs.TooLarge, "a batch may have at most %d objects", maxBatch)
	}
	b := &batch{s: t.s, access: a, upload: t.Upload, inline: true}
	found, err := b.run(ctx, list)
	if err != nil {
		return err
	}
	lines := make([]string, len(found))
	for n, o := range found {
		action := "noop"
		for name := range o.Actions {
			if name != "verify" {
				action = name
			}
		}
		if o.Error != nil && t.Upload {
			return t.status(o.Error.Code, nil, o.Error.Message)
		}
		lines[n] = fmt.Sprintf("%s %d %s", o.OID, o.Size, action)
	}
	out := []string{"hash-algo=sha256"}
	if len(lines) == 0 {
		return t.status(200, out)
	}
	return t.status(200, out, lines...)
}

// object finds the object that a message names. Errors: 404; 422 for another size.
func (t *talk) object(ctx context.Context, a *repo.Access, m *message) (*Object, error) {
	have, err := t.s.find(ctx, a.ID, oidsOf([]Pointer{{OID: m.word}}))
	if err != nil {
		return nil, err
	}
	o := have[m.word]
	if o == nil {
		return nil, errs.Absent()
	}
	if size, given := m.args["size"]; given && size != strconv.FormatInt(o.Size, 10) {
		return nil, errWrongSize()
	}
	return o, nil
}

// get sends an object.
func (t *talk) get(ctx context.Context, a *repo.Access, m *message) error {
	o, err := t.object(ctx, a, m)
	if err != nil {
		return err
	}
	from, err := t.s.Open(ctx, o)
	if err != nil {
		return err
	}
	defer from.Close()
	out := wire.AppendPkt(nil, "status 200\n")
	out = append(wire.AppendPkt(out, fmt.Sprintf("size=%d\n", o.Size)), delimiter...)
	if _, err := t.Out.Write(out); err != nil {
		return errBroken{err}
	}
	buf := make([]byte, wire.MaxPktData/2)
	for {
		n, err := io.ReadFull(from, buf)
		if n > 0 {
			if _, err := t.Out.Write(wire.AppendPkt(out[:0], buf[:n])); err != nil {
				return errBroken{err}
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return errBroken{err} // the client compares what it got
		}
	}
	if err := wire.WriteFlush(t.Out); err != nil {
		return errBroken{err}
	}
	return nil
}

// put takes an object.
func (t *talk) put(ctx context.Context, a *repo.Access, m *message) error {
	size, err := strconv.ParseInt(m.args["size"], 10, 64)
	if !isOID(m.word) || err != nil || size < 0 || m.data == nil {
		return errs.New(errs.Malformed, "put-object takes an object, its size and its bytes")
	}
	err = t.s.Upload(ctx, a, Pointer{m.word, size}, m.data)
	if errors.Is(err, errHave) {
		// A client that asks with batch first does not send it, or not for long.
		n, err := io.Copy(io.Discard, io.LimitReader(m.data, maxIgnored))
		if err == nil && n == maxIgnored {
			err = errs.New(errs.Conflict, "The object is there already.")
		}
		if err != nil {
			return errBroken{wire.MalformedEOF(err)}
		}
		return t.status(200, nil)
	}
	if err != nil {
		return err
	}
	return t.status(200, nil)
}

// verify says whether an object has arrived.
func (t *talk) verify(ctx context.Context, a *repo.Access, m *message) error {
	if _, err := t.object(ctx, a, m); err != nil {
		return err
	}
	return t.status(200, nil)
}
