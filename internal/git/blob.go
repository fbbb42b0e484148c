package git

import (
	"bytes"
	"context"
	"errors"
	"io"

	"arbor/internal/errs"
	"arbor/internal/git/catfile"
	"arbor/internal/git/process"
)

// HeldBlob is the size in bytes up to which a blob is read whole, from a
// process of the pool; larger ones stream from a process of their own, which
// a slow client may hold.
const HeldBlob = 1 << 20

// ReadBlob calls fn with the size of a blob and its contents; fn's error is
// returned. Before fn is called it fails with: NotFound for an object that is
// missing, Invalid for one that is not a blob, TooLarge for more than limit bytes.
func (r *Repository) ReadBlob(
	ctx context.Context, sha SHA, limit int64, fn func(size int64, contents io.Reader) error,
) error {
	info, err := r.Info(ctx, sha)
	switch {
	case err != nil:
		return err
	case info.Type != TypeBlob:
		return errs.Newf(errs.Invalid, "%s is a %s, not a blob", sha, info.Type)
	case info.Size > limit:
		return errs.Newf(errs.TooLarge, "%s has %d bytes (maximum is %d)", sha, info.Size, limit)
	case info.Size > HeldBlob:
		return r.streamBlob(ctx, sha, fn)
	}
	_, contents, err := r.Contents(ctx, sha, HeldBlob)
	if err != nil {
		return err
	}
	return fn(info.Size, bytes.NewReader(contents))
}

// streamBlob reads a blob from a process of its own.
func (r *Repository) streamBlob(ctx context.Context, sha SHA, fn func(int64, io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, r.git.options.TransferTimeout)
	defer cancel()
	small := process.Cage{Memory: r.git.poolCage().Memory, CPU: r.git.cpu(r.load())}
	c, size, contents, err := r.openBlob(ctx, sha, small)
	if errs.Is(err, errs.Invalid) {
		c, size, contents, err = r.openBlob(ctx, sha, r.largeCage())
	}
	if err != nil {
		return r.readError(ctx, err)
	}
	defer c.End()
	return errors.Join(fn(size, contents), ctx.Err())
}

// openBlob starts a process and waits until the blob begins. A blob that is stored
// as a delta then takes memory for itself and for its base, others take little.
// Error: Invalid if that is more than the cage allows.
func (r *Repository) openBlob(
	ctx context.Context, sha SHA, in process.Cage,
) (c *catfile.Process, size int64, contents io.Reader, err error) {
	t := process.Task{Dir: r.dir, Limit: r.git.options.TransferTimeout}
	c, err = catfile.Start(ctx, r.git.processes, in, t)
	if err != nil {
		return nil, 0, nil, err
	}
	size, contents, err = c.Open(sha)
	return c, size, contents, err
}
