package git

import (
	"bytes"
	"context"
	"errors"
	"io"

	"arbor/internal/errs"
)

// heldBlob is the size in bytes up to which a blob is read whole, from a
// process of the pool; larger ones stream from a process of their own, which
// a slow client may hold.
const heldBlob = 1 << 20

// ReadBlob calls fn with the size of a blob and its contents; fn's error is
// returned. Before fn is called it fails with: NotFound for an object that is
// missing, Invalid for one that is no blob, TooLarge for more than limit bytes.
func (r *Repository) ReadBlob(ctx context.Context, sha SHA, limit int64, fn func(size int64, contents io.Reader) error) error {
	object, err := r.Info(ctx, sha)
	switch {
	case err != nil:
		return err
	case object.Type != TypeBlob:
		return errs.Newf(errs.Invalid, "%s is a %s, not a blob", sha, object.Type)
	case object.Size > limit:
		return errs.Newf(errs.TooLarge, "%s has %d bytes (maximum is %d)", sha, object.Size, limit)
	case object.Size > heldBlob:
		return r.streamBlob(ctx, sha, fn)
	}
	_, contents, err := r.Contents(ctx, sha, heldBlob)
	if err != nil {
		return err
	}
	return fn(object.Size, bytes.NewReader(contents))
}

// streamBlob reads a blob from a process of its own.
func (r *Repository) streamBlob(ctx context.Context, sha SHA, fn func(int64, io.Reader) error) error {
	select {
	case r.git.streams <- struct{}{}:
		defer func() { <-r.git.streams }()
	case <-ctx.Done():
		return ctx.Err()
	}
	c, err := r.git.startCatFile(r.dir)
	if err != nil {
		return err
	}
	defer c.end()
	ctx, cancel := context.WithTimeout(ctx, r.git.options.TransferTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, c.kill)()
	if err := c.ask("contents ", sha); err != nil {
		return c.broken(err)
	}
	object, err := c.header()
	if err != nil {
		return err
	}
	err = fn(object.Size, io.LimitReader(c.out, object.Size))
	return errors.Join(err, ctx.Err())
}
