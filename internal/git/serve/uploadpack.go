// Package serve sends objects of a repository to clients by processes of git, whose output is passed on while
// it comes.
//
//	uploadpack.go  UploadPack: a fetch by one request, as over HTTP
//	shared.go      Shared: one answer for clients that ask for the same; answer.go is such an answer
//	negotiate.go   Negotiate: a fetch on a connection that stays open, as over SSH
//	archive.go     Archive: the files of a commit
//
// No process lists refs to a client: the caller has them. An object that the client may not see is not there.
package serve

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/process"
	"arbor/internal/git/wire"
)

// Request is one POST to git-upload-pack.
type Request struct {
	Protocol int       // from ProtocolVersion
	In       io.Reader // the request's body, unpacked
	Out      io.Writer // the response's body; streams
	// Refs returns the current refs. It is called when they are needed.
	Refs   func(context.Context) (git.Refs, error)
	Absent git.Absent // for the client
	Shared *Shared    // for protocol 2 and HTTP; nil: each request has a process of its own
	// Bundle returns what the client may download before it fetches the rest; nil: nothing. It is called if the client
	// asks, in protocol 2.
	Bundle func(context.Context) *wire.Bundle
}

// Open opens the repository. release is called once it is not used any more.
type Open func(context.Context) (r *git.Repository, release func(), err error)

// MaxFetchRequest bounds a request for objects, in bytes: half a million wants
// and haves.
const MaxFetchRequest = 32 << 20

// UploadPack answers a fetch: protocol 2's ls-refs from Refs, its bundle-uri from Bundle, all else through
// `git upload-pack`, which is bounded by git.Options.TransferTimeout. The repository is opened for the latter alone,
// since its objects may have to come from elsewhere first. What the client did wrong is reported in git's protocol if
// there is a message for it; the errors are those of open, Malformed and TooLarge before anything was written,
// Canceled when the client went away, Unavailable past the deadline.
func UploadPack(ctx context.Context, open Open, o Request) error {
	in := bufio.NewReaderSize(o.In, 64<<10)
	if o.Protocol == 2 {
		command, err := wire.PeekCommand(in)
		if err != nil {
			return err
		}
		switch command {
		case "":
			return nil
		case "ls-refs":
			return answerLsRefs(ctx, in, o)
		case wire.BundleURI:
			return answerBundleURI(ctx, in, o)
		case "fetch":
		default:
			return errs.Newf(errs.Malformed, "unknown command %q", errs.Clip(command))
		}
	}
	request, err := io.ReadAll(io.LimitReader(in, MaxFetchRequest+1))
	if err != nil {
		return wire.MalformedEOF(err)
	}
	if len(request) > MaxFetchRequest {
		return errs.Newf(errs.TooLarge, "the request is too large (maximum is %d bytes)", MaxFetchRequest)
	}
	if len(request) == 0 || string(request) == wire.FlushPkt {
		return nil
	}
	r, release, err := open(ctx)
	if err != nil {
		return err
	}
	defer release()
	request, generation, err := prepare(ctx, r, request, o)
	if err != nil || request == nil {
		return err
	}
	if o.Shared != nil && wire.IsLast(request) {
		return o.Shared.upload(ctx, r, request, generation, o)
	}
	_, err = upload(ctx, r, request, o, false)
	return err
}

// answerLsRefs needs neither a process nor the repository's directory.
func answerLsRefs(ctx context.Context, in io.Reader, o Request) error {
	request, err := wire.ReadLsRefs(in)
	if err != nil {
		return err
	}
	refs, err := o.Refs(ctx)
	if err != nil {
		return err
	}
	return clientGone(wire.WriteLsRefs(o.Out, request, refs))
}

// answerBundleURI answers with an empty list if there is no bundle; the client then fetches everything.
func answerBundleURI(ctx context.Context, in io.Reader, o Request) error {
	if err := wire.ReadBundleURI(in); err != nil {
		return err
	}
	var bundle *wire.Bundle
	if o.Bundle != nil {
		bundle = o.Bundle(ctx)
	}
	return clientGone(wire.WriteBundleURI(o.Out, bundle))
}

// clientGone marks an error of writing to the client.
func clientGone(err error) error {
	if err == nil {
		return nil
	}
	return errs.Wrap(errs.Canceled, "the client went away", err)
}

// upload runs git upload-pack and copies what it says while it says it. admitted says that the memory for that is
// admitted (Repository.Admit). whole reports that git succeeded.
func upload(
	ctx context.Context, r *git.Repository, request []byte, o Request, admitted bool,
) (whole bool, err error) {
	p, out, err := r.Transfer(ctx, process.Task{
		Command: process.Command{Sub: "upload-pack", Flags: []string{"--strict", "--stateless-rpc"},
			Path: r.Dir()},
		Held: admitted, Env: protocolEnv(o.Protocol), Stdin: bytes.NewReader(request)})
	if err != nil {
		return false, err
	}
	process.GrowPipe(out)
	written, err := copyOut(o.Out, out)
	if err != nil {
		_ = p.Stop()
		return false, err
	}
	err = p.Wait()
	return err == nil, ended(r, o.Out, written, err)
}

// ended returns the error for the end of git upload-pack. If git refused, it has sent the reason to the client, or
// the client has ended the exchange early, as in the negotiation of a shallow clone.
func ended(r *git.Repository, out io.Writer, written int64, err error) error {
	switch {
	case process.ExitCode(err) <= 0:
		return err
	case r.Check() != nil:
		return r.Failed(err)
	case written == 0:
		return wire.WriteError(out, "upload-pack: the request was refused")
	}
	return nil
}

// copyOut copies a process's output to the client. The error is that of the
// client's side; on git's side the exit status tells more.
func copyOut(w io.Writer, out io.Reader) (int64, error) {
	buf := make([]byte, 128<<10)
	var total int64
	for {
		n, err := out.Read(buf)
		if n > 0 {
			total += int64(n)
			if _, err := w.Write(buf[:n]); err != nil {
				return total, clientGone(fmt.Errorf("git upload-pack: %w", err))
			}
		}
		if err != nil {
			return total, nil
		}
	}
}

// protocolEnv is how git learns the protocol version.
func protocolEnv(version int) []string {
	if version == 0 {
		return nil
	}
	return []string{"GIT_PROTOCOL=version=" + strconv.Itoa(version)}
}
