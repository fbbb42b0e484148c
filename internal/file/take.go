package file

import (
	"context"
	"errors"
	"io"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Incoming is a file that a client sends.
type Incoming struct {
	From io.Reader
	Size int64 // in bytes, as it was announced; -1: it was not
	Most int64 // that it may have, in bytes

	Payer account.ID // the account that it counts for; 0: the repository's owner
	As    db.Right   // the sender's
}

// ErrEmpty says that a file has no bytes.
var ErrEmpty = errors.New("file: it is empty")

// Upload receives a file that a client sends for a repository, and adds its row in a transaction that locks
// the repository's. check is called before the file is received and again in that transaction, record at
// its end. After an error nothing is left. Errors: ErrSize for more than in.Most; ErrEmpty; 403 for the
// quota; 507; 400 for a body that breaks off or is too slow; those of check and record.
func (s *Store) Upload(ctx context.Context, id repo.ID, in Incoming, check func(*db.Tx) error,
	record func(*db.Tx, *File) error) error {
	switch {
	case in.Size == 0:
		return ErrEmpty
	case in.Size > in.Most:
		return ErrSize
	}
	err := s.db.Read(ctx, check)
	if err == nil {
		err = s.repos.MayAddFile(ctx, id, in.Payer, max(1, KB(in.Size)))
	}
	if err != nil {
		return err
	}
	f, err := s.receiveWithin(ctx, id, in)
	if err != nil {
		return err
	}
	err = s.db.WriteAs(ctx, in.As, func(tx *db.Tx) error {
		if err := repo.Lock(tx, id); err != nil {
			return err
		}
		if err := check(tx); err != nil {
			return err
		}
		f.Payer = in.Payer
		if err := s.Add(tx, id, f); err != nil {
			return err
		}
		return record(tx, f)
	})
	// otherwise its row may exist: the sweep removes the file if not
	if err != nil && !errors.Is(err, db.ErrOutcomeUnknown) {
		s.Discard(ctx, f)
	}
	return err
}

// receiveWithin takes the bytes in until there are more than a file may have, or than the quota
// has room for.
func (s *Store) receiveWithin(ctx context.Context, id repo.ID, in Incoming) (*File, error) {
	left, err := s.repos.FileRoom(ctx, id, in.Payer)
	if err != nil {
		return nil, err
	}
	most := min(in.Most, min(left, in.Most)*1024)
	f, err := s.receive(ctx, in, most)
	if !errors.Is(err, ErrSize) || most == in.Most {
		return f, err
	}
	if err := s.repos.MayAddFile(ctx, id, in.Payer, left+1); err != nil {
		return nil, err
	}
	return nil, errs.New(errs.Conflict, "The quota changed during the upload. Try again.")
}

// uploadBuffers is the memory of an upload in bytes.
const uploadBuffers = buffers * chunk

// receive reads the bytes while no transaction is open. Errors: ErrSize, ErrEmpty.
func (s *Store) receive(ctx context.Context, in Incoming, most int64) (*File, error) {
	admission.As(ctx, admission.Push) // who waits for the client has no turn
	release, err := admission.Slot(ctx, admission.Upload)
	if err != nil {
		return nil, err
	}
	defer release()
	free, err := admission.Memory(ctx, uploadBuffers)
	if err != nil {
		return nil, err
	}
	defer free()
	late := errs.New(errs.Malformed, "The request body came too slowly")
	f, err := s.Receive(ctx, onTime(in.From, in.within(), late), most, s.repos.Room.Check)
	if err == nil && f.Size == 0 {
		s.Discard(ctx, f)
		return nil, ErrEmpty
	}
	return f, err
}

// After a minute an upload must arrive at uploadRate bytes a second, and within maxUpload, like a push,
// because few can run concurrently.
const (
	uploadRate = 64 << 10
	maxUpload  = time.Hour
	largeRate  = 512 << 10 // for large files that were announced, maxUpload is what they take at this rate
)

// within is how long the upload may take.
func (in *Incoming) within() time.Duration {
	return max(maxUpload, time.Duration(max(in.Size, 0)/largeRate)*time.Second)
}

// onTime returns a body that starts to arrive now. Reading it returns the error late once it is too slow.
func onTime(body io.Reader, within time.Duration, late error) io.Reader {
	now := time.Now()
	return &steady{Reader: web.Timely(body, now.Add(within), late), began: now, late: late}
}

type steady struct {
	io.Reader
	began time.Time
	came  int64 // bytes
	late  error
}

func (s *steady) Read(b []byte) (int, error) {
	if time.Since(s.began) >= time.Minute+time.Duration(s.came)*(time.Second/uploadRate) {
		return 0, s.late
	}
	n, err := s.Reader.Read(b)
	s.came += int64(n)
	return n, err
}
