package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"syscall"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/process"
	"arbor/internal/git/wire"
)

// Negotiate answers a fetch in protocol 0 or 1 on a connection that stays open, as over SSH. wants is the
// client's first message; o.In gives those that follow, and is buffered. The process of git talks with the
// client, but lists no refs to it and hears of no object that the client may not see. It does not hear the
// client once that has said what it has. Errors as of UploadPack.
func Negotiate(ctx context.Context, r *git.Repository, wants []byte, o Request) error {
	if len(wants) == 0 || string(wants) == wire.FlushPkt {
		return nil
	}
	wants, _, err := prepare(ctx, r, wants, o)
	if err != nil || wants == nil {
		return err
	}
	p, in, out, err := r.Talk(ctx, process.Command{Sub: "upload-pack", Flags: []string{"--strict"}, Path: r.Dir()})
	if err != nil {
		return err
	}
	process.GrowPipe(out)
	from := bufio.NewReaderSize(out, 64<<10)
	if err := skipGreeting(from); err != nil {
		return r.Failed(errors.Join(err, p.Stop()))
	}
	heard := make(chan error, 1)
	go func() {
		defer in.Close()
		if err := forwardNegotiation(ctx, in, wants, o); err != nil {
			heard <- err
			p.Kill()
		}
	}()
	written, writeErr := copyOut(o.Out, from)
	if writeErr != nil {
		_ = p.Stop()
		return writeErr
	}
	err = p.Wait()
	select {
	case problem := <-heard: // for which the process was ended
		if gone, ok := errors.AsType[wire.NotOurs](problem); ok {
			return wire.WriteError(o.Out, gone.Error())
		}
		return wire.MalformedEOF(problem)
	default:
	}
	return ended(r, o.Out, written, err)
}

// prepare limits a request to the objects that the client may see, and updates the refs that git reads. It
// returns the request and the generation of the refs. The request is nil if prepare has sent an error to the
// client.
func prepare(ctx context.Context, r *git.Repository, request []byte, o Request) ([]byte, int64, error) {
	if !r.Exists() {
		return nil, 0, wire.WriteError(o.Out, "upload-pack: not our ref")
	}
	request, err := onlyThere(ctx, request, o)
	if gone, ok := errors.AsType[wire.NotOurs](err); ok {
		return nil, 0, wire.WriteError(o.Out, gone.Error())
	}
	if err != nil {
		return nil, 0, err
	}
	refs, err := o.Refs(ctx)
	if err != nil {
		return nil, 0, err
	}
	// On a full disk git reads an older copy: some tags do not come along by themselves.
	if err := r.FreshRefs(refs); err != nil && !errors.Is(err, syscall.ENOSPC) {
		return nil, 0, err
	}
	return request, refs.Generation, nil
}

// onlyThere is wire.OnlyThere, where something is hidden.
func onlyThere(ctx context.Context, request []byte, o Request) ([]byte, error) {
	if o.Absent == nil {
		return request, nil
	}
	return wire.OnlyThere(ctx, request, o.Absent)
}

// skipGreeting reads past the list of refs with which git begins: the client got ours.
func skipGreeting(out io.Reader) error {
	pkts := wire.NewPktReader(out)
	for {
		kind, _, err := pkts.Next()
		if err != nil || kind == wire.PktFlush {
			return wire.MalformedEOF(err)
		}
	}
}

// maxRound bounds one message of a negotiation, in bytes. git names 32 objects in each.
const maxRound = 256 << 10

// forwardNegotiation passes to git what the client wants, and then what it has, message by message.
func forwardNegotiation(ctx context.Context, to io.Writer, wants []byte, o Request) error {
	if _, err := to.Write(wants); err != nil {
		return nil // it has ended, and tells why
	}
	in := bufio.NewReader(o.In)
	for total := len(wants); ; {
		section := wire.NewSection(in, true)
		var message bytes.Buffer
		n, err := message.ReadFrom(io.LimitReader(section, maxRound+1))
		if total += int(n); n > maxRound || total > MaxFetchRequest {
			return errs.Newf(errs.TooLarge, "the request is too large (maximum is %d bytes)", MaxFetchRequest)
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return nil // the client has hung up
		}
		held, err := onlyThere(ctx, message.Bytes(), o)
		if err != nil {
			return err
		}
		if _, err := to.Write(held); err != nil || section.Done() {
			return nil
		}
	}
}
