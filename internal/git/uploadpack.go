package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/git/process"
	"arbor/internal/git/wire"
)

// UploadOptions is one POST to git-upload-pack.
type UploadOptions struct {
	Protocol int       // from ProtocolVersion
	In       io.Reader // the request's body, unpacked
	Out      io.Writer // the response's body; streams
	// Refs returns the current refs. It is called when they are needed.
	Refs   func(context.Context) (Refs, error)
	Absent Absent // for the client
}

// MaxFetchRequest bounds a request for objects, in bytes: half a million wants
// and haves.
const MaxFetchRequest = 32 << 20

// UploadPack answers a fetch: protocol 2's ls-refs from Refs, all else through
// `git upload-pack`, which is bounded by Options.TransferTimeout. What the
// client did wrong is reported in git's protocol if there is
// a message for it; the errors are Malformed and TooLarge before anything was written,
// Canceled when the client went away, Unavailable past the deadline.
func (r *Repository) UploadPack(ctx context.Context, o UploadOptions) error {
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
	if request, err = r.prepareUpload(ctx, request, o); err != nil || request == nil {
		return err
	}
	return r.uploadPack(ctx, request, o)
}

// answerLsRefs needs neither a process nor the repository's directory.
func answerLsRefs(ctx context.Context, in io.Reader, o UploadOptions) error {
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

// clientGone marks an error of writing to the client.
func clientGone(err error) error {
	if err == nil {
		return nil
	}
	return errs.Wrap(errs.Canceled, "the client went away", err)
}

// uploadPack runs git upload-pack and copies what it says while it says it.
func (r *Repository) uploadPack(ctx context.Context, request []byte, o UploadOptions) error {
	p, out, err := r.git.read(ctx, r.sendCage(2), process.Task{
		Command: process.Command{Sub: "upload-pack", Flags: []string{"--strict", "--stateless-rpc"},
			Path: r.dir},
		Dir: r.dir, Env: protocolEnv(o.Protocol),
		Limit: r.git.options.TransferTimeout, Stdin: bytes.NewReader(request)})
	if err != nil {
		return err
	}
	process.GrowPipe(out)
	written, writeErr := copyOut(o.Out, out)
	if writeErr != nil {
		_ = p.Stop()
		return writeErr
	}
	err = p.Wait()
	if process.ExitCode(err) > 0 {
		if r.Check() != nil {
			return r.failed(err)
		}
		// Either git has sent the reason to the client, or the client has ended the exchange early, as in
		// the negotiation of a shallow clone.
		r.git.log.LogAttrs(ctx, slog.LevelDebug, "git upload-pack", slog.Any("error", err))
		if written == 0 {
			return wire.WriteError(o.Out, "upload-pack: the request was refused")
		}
		return nil
	}
	return err
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

// Absent finds out which objects a client must not see, stored or not. When it is
// nil, the client may see all that is stored.
type Absent func(context.Context, []SHA) (map[SHA]bool, error)

// protocolEnv is how git learns the protocol version.
func protocolEnv(version int) []string {
	if version == 0 {
		return nil
	}
	return []string{"GIT_PROTOCOL=version=" + strconv.Itoa(version)}
}
