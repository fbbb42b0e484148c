package serve

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"arbor/internal/git"
	"arbor/internal/git/process"
)

// Replace opens what an archive has in the place of a small file; in is nil if it is the file itself.
type Replace func(ctx context.Context, file []byte) (in io.ReadCloser, size int64, err error)

// repackTime is how long an archive may take that is packed again.
const repackTime = time.Hour

// ArchiveWith is Archive, with something else in the place of some files of at most most bytes.
func ArchiveWith(ctx context.Context, r *git.Repository, w io.Writer, commit git.SHA, f ArchiveFormat, prefix string,
	most int64, replace Replace,
) error {
	if err := writeAttributes(r); err != nil {
		return err
	}
	p, out, err := r.Transfer(ctx, process.Task{Command: process.Command{Sub: "archive",
		Flags: []string{"--format=tar", "--prefix=" + prefix}, Revs: []git.SHA{commit}}})
	if err != nil {
		return err
	}
	process.GrowPipe(out)
	ctx, stop := context.WithTimeout(ctx, repackTime)
	defer stop()
	k := &repacking{ctx: ctx, from: tar.NewReader(out), most: most, replace: replace}
	if f == Zip {
		err = k.zip(w, commit)
	} else {
		err = k.tarGz(w)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, out) // what fills git's last block
	}
	if err != nil {
		_ = p.Stop()
		return err
	}
	return p.Wait()
}

// repacking is an archive of git that is packed again.
type repacking struct {
	ctx     context.Context //nolint:containedctx // of the one archive that it is for
	from    *tar.Reader
	most    int64
	replace Replace
}

// each calls fn with each entry of the archive and its content.
func (k *repacking) each(fn func(h *tar.Header, content io.Reader) error) error {
	for {
		h, err := k.from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = k.ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := k.entry(h, fn); err != nil {
			return err
		}
	}
}

func (k *repacking) entry(h *tar.Header, fn func(*tar.Header, io.Reader) error) error {
	if h.Typeflag != tar.TypeReg || h.Size > k.most {
		return fn(h, k.from)
	}
	small, err := io.ReadAll(k.from)
	if err != nil {
		return err
	}
	in, size, err := k.replace(k.ctx, small)
	if err != nil {
		return err
	}
	if in == nil {
		return fn(h, bytes.NewReader(small))
	}
	defer in.Close()
	h.Size = size
	return fn(h, io.LimitReader(&bounded{k.ctx, in}, size))
}

// bounded is what stands in the place of a file, read until the archive's time is over.
type bounded struct {
	ctx context.Context //nolint:containedctx // of the one archive
	io.Reader
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.Reader.Read(p)
}

func (k *repacking) tarGz(w io.Writer) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	err := k.each(func(h *tar.Header, content io.Reader) error {
		h.Format = tar.FormatUnknown // a large object needs another one than the pointer
		if h.Typeflag == tar.TypeXGlobalHeader {
			h.Format = tar.FormatPAX
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			return nil
		}
		_, err := io.Copy(t, content)
		return err
	})
	if err == nil {
		err = t.Close()
	}
	if err == nil {
		err = z.Close()
	}
	return err
}

func (k *repacking) zip(w io.Writer, commit git.SHA) error {
	z := zip.NewWriter(w)
	if err := z.SetComment(string(commit)); err != nil {
		return err
	}
	err := k.each(func(h *tar.Header, content io.Reader) error {
		if h.Typeflag == tar.TypeXGlobalHeader {
			return nil
		}
		to := &zip.FileHeader{Name: h.Name, Modified: h.ModTime, Method: zip.Deflate}
		to.SetMode(h.FileInfo().Mode())
		if h.Typeflag == tar.TypeSymlink {
			content = strings.NewReader(h.Linkname)
		}
		if h.Typeflag == tar.TypeDir {
			to.Method = zip.Store
		}
		out, err := z.CreateHeader(to)
		if err != nil || h.Typeflag == tar.TypeDir {
			return err
		}
		_, err = io.Copy(out, content)
		return err
	})
	if err == nil {
		err = z.Close()
	}
	return err
}
