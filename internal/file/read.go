package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/errs"
)

// Content is the content of an open file. For a file in the data folder, it is an *os.File. For a file in a depot,
// its reader compares the digest: of a small file before it returns the first byte, of a larger one before the last
// byte, if the file is read from beginning to end.
type Content interface {
	io.ReadSeeker
	io.Closer
}

const (
	smallFile   = 1 << 20 // bytes up to which a file is read at once
	rangeWindow = 4 << 20 // bytes of one request to the depot if the client wants only a part
	readTries   = 3       // at most, after each interruption
)

// Open opens a file for reading. Errors: 404 if its row was deleted; 503 for a depot that does not answer, and for
// a file that is missing or damaged there, which is logged.
func (s *Store) Open(ctx context.Context, f *File) (Content, error) {
	in, err := s.openAt(ctx, f)
	if !isMissing(err) || errs.Is(err, errs.Unavailable) {
		return in, err
	}
	// It was deleted or moved since the caller read the row; or its depot has not made it visible yet.
	now, askErr := s.now(ctx, f)
	if askErr != nil {
		return nil, askErr
	}
	if now == nil {
		return nil, errs.Absent()
	}
	if in, err = s.openAt(ctx, now); isMissing(err) && now.Depot != 0 && !errs.Is(err, errs.Unavailable) {
		return nil, s.damaged(ctx, now, err)
	}
	return in, err
}

// now reads the row of a file again; nil: it is gone.
func (s *Store) now(ctx context.Context, f *File) (now *File, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*File, error) { return fileByID(tx, f.ID) })
}

func (s *Store) openAt(ctx context.Context, f *File) (Content, error) {
	if f.Depot == 0 {
		in, err := os.Open(s.path(f.Name))
		if err != nil {
			return nil, err
		}
		return in, nil
	}
	from, err := s.depot(ctx, f.Depot)
	if err != nil {
		return nil, err
	}
	r := &reader{s: s, ctx: ctx, f: *f, from: from, sum: sha256.New()}
	if f.Size > smallFile {
		err := r.fetch() // now, so that the client gets an error status if the file is missing
		if errors.Is(err, depot.ErrDamaged) {
			err = s.damaged(ctx, f, err)
		}
		if err != nil {
			return nil, err
		}
		return r, nil
	}
	free, err := admission.Memory(ctx, f.Size)
	if err != nil {
		return nil, err
	}
	data := make([]byte, f.Size)
	_, err = io.ReadFull(r, data)
	if err = errors.Join(err, r.Close()); err != nil {
		free()
		return nil, err
	}
	return &small{io.NewSectionReader(bytes.NewReader(data), 0, f.Size), sync.OnceFunc(free)}, nil
}

// small is a file that was read and compared.
type small struct {
	*io.SectionReader
	free func()
}

// Close is for io.Closer.
func (s *small) Close() error {
	s.free()
	return nil
}

// reader reads a file of a depot. It is used by one goroutine.
type reader struct {
	s     *Store
	ctx   context.Context //nolint:containedctx // of the request that reads, as an *os.File has none
	f     File
	from  *depot.Depot
	part  bool          // only a part is wanted
	at    int64         // of the next byte
	body  io.ReadCloser // nil: none is open
	next  int64         // of the next byte of body
	sum   hash.Hash     // of the first summed bytes
	total int64         // how many bytes were summed
	err   error
}

// Seek is for io.Seeker. It asks nobody.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.f.Size
	}
	if offset < 0 {
		return 0, errors.New("file: seek before the beginning")
	}
	r.at = offset
	return offset, nil
}

// Read implements io.Reader. Errors: 503 if the depot does not answer, or if the bytes are not those that were
// uploaded.
func (r *reader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.at >= r.f.Size {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	var n int
	var err error
	for range readTries {
		if err = r.fetch(); err == nil {
			n, err = r.body.Read(p)
			r.next += int64(n)
		}
		if n > 0 || r.ctx.Err() != nil {
			break
		}
		r.drop()
	}
	if n == 0 {
		if isMissing(err) || errors.Is(err, depot.ErrDamaged) {
			err = r.s.damaged(r.ctx, &r.f, err)
		}
		if err == nil || errors.Is(err, io.EOF) {
			err = depot.Unavailable(io.ErrUnexpectedEOF)
		}
		r.err = err
		return 0, err
	}
	if r.total == r.at {
		r.sum.Write(p[:n])
		r.total += int64(n)
	}
	r.at += int64(n)
	if r.at == r.f.Size && r.total == r.f.Size {
		if got := hex.EncodeToString(r.sum.Sum(nil)); got != r.f.SHA256 {
			r.err = r.s.damaged(r.ctx, &r.f, fmt.Errorf("%w: its SHA-256 is %s", depot.ErrDamaged, got))
			return 0, r.err
		}
	}
	return n, nil
}

// fetch asks for the bytes from the present place on, unless they are coming.
func (r *reader) fetch() error {
	if r.body != nil && r.next == r.at {
		return nil
	}
	r.drop()
	end := r.f.Size
	if r.part {
		end = min(end, r.at+rangeWindow)
	}
	body, err := r.from.Get(r.ctx, Path(r.f.Name), r.at, end, r.f.Size)
	if isMissing(err) { // it may have been moved
		now, askErr := r.s.now(r.ctx, &r.f)
		if askErr != nil || now == nil || now.Depot == r.f.Depot || now.Depot == 0 {
			return errors.Join(askErr, err)
		}
		r.f.Depot = now.Depot
		if r.from, err = r.s.depot(r.ctx, now.Depot); err == nil {
			body, err = r.from.Get(r.ctx, Path(r.f.Name), r.at, end, r.f.Size)
		}
	}
	if err != nil {
		return err
	}
	r.body, r.next = body, r.at
	return nil
}

func (r *reader) drop() {
	if r.body != nil {
		_ = r.body.Close()
		r.body = nil
	}
}

// Close is for io.Closer.
func (r *reader) Close() error {
	r.drop()
	return nil
}

// damaged logs and counts a file that is not what was uploaded, and returns the 503 for it; 404 if its row is gone.
func (s *Store) damaged(ctx context.Context, f *File, cause error) error {
	now, err := s.now(ctx, f)
	if err != nil {
		return err
	}
	if now == nil {
		return errs.Absent()
	}
	s.Metrics.Damaged()
	s.log.ErrorContext(ctx, "a file is missing or damaged in the storage of files: see arbor objects verify",
		"file", Path(f.Name), "repository", f.RepoID, "error", cause)
	return depot.Unavailable(cause)
}
