// Package depot keeps files beyond any node: in a folder, or in a bucket of an S3-compatible service.
//
//	depot.go     the type: deadlines, faults and counts around each request
//	address.go   addresses: file:///path and s3://bucket/prefix?endpoint=...
//	identity.go  arbor-store.json, by which a depot knows its store
//	folder.go    a folder as a bucket
//	s3.go        a bucket, by minio-go; s3client.go makes the client
//	metrics.go   requests and damaged files
//
// A depot knows keys and bytes, nothing of rows. A key is used once and its bytes never change, so no request
// depends on the order in which nodes see writes. Put is durable when it returns. Get checks that the bytes are as
// many as they should be; whoever knows a digest compares it (package file).
//
// Requests are tried three times within a few seconds. What fails after that is a 503 at once: there is no breaker,
// since a request that waits at most answerTime costs little, and the next one finds out by itself that the service
// is back. At most maxRequests wait for the service at one time. Uploads and copies take long: clients have fewer slots for
// them, shared by account (admission.Depot), so that reads always find a slot.
//
// Nothing is read, written or removed before the depot was seen to hold the identity of the store.
package depot

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"time"

	"arbor/internal/admission"
	"arbor/internal/errs"
)

// Entry is an object of a list.
type Entry struct {
	Key      string
	Size     int64
	Modified time.Time
}

// Answer is what a signed address answers besides the bytes.
type Answer struct {
	Type        string // Content-Type
	Disposition string // Content-Disposition
	// Plain asks for Content-Encoding: identity. Some services answer with the coding of the upload, aws-chunked, at
	// which libcurl gives up, and git with it.
	Plain bool
}

// Errors of depots. A depot without room is an errs.NoRoom, each other failure an errs.Unavailable, unless the caller
// gave up.
var (
	// ErrMissing says that the depot has no object of a key. It is also fs.ErrNotExist.
	ErrMissing = fs.ErrNotExist
	// ErrDamaged says that an object does not have the bytes that were put.
	ErrDamaged = errors.New("depot: an object is not what was put")
)

// backend is a service that keeps objects. Its errors are its own, but for fs.ErrNotExist and fs.ErrExist.
type backend interface {
	put(ctx context.Context, key string, from io.ReaderAt, size int64) error
	// create puts a small object under a key that has none. Error: fs.ErrExist.
	create(ctx context.Context, key string, data []byte) error
	// get reads from offset to before end. size is that of the whole object.
	get(ctx context.Context, key string, offset, end int64) (body io.ReadCloser, size int64, err error)
	copy(ctx context.Context, from, to string) error
	remove(ctx context.Context, keys []string) error
	list(ctx context.Context, prefix string, each func(Entry) error) error
	url(ctx context.Context, key string, a Answer, valid time.Duration) (string, error)
	// renew forgets credentials that were refused, so that the next request reads them again.
	renew()
}

// Depot is a place for files. Its methods may be called concurrently.
type Depot struct {
	address string
	store   string // the id that it must hold
	backend backend
	metrics *Metrics
	places  chan struct{}

	mu    sync.Mutex
	known bool   // it was seen to hold the id
	id    string // its own, as it was seen last
}

// Times and numbers of requests.
const (
	answerTime  = 5 * time.Second  // for an answer to begin, all tries together
	stallTime   = 10 * time.Second // for the next bytes of a body
	slowest     = 512 << 10        // bytes a second that a transfer must reach, besides answerTime
	listTime    = time.Minute      // for one list
	maxRequests = 32
	// MaxKeys is how many objects one call may remove.
	MaxKeys = 1000
)

// Open returns the depot at an address. It asks nobody yet. store is the id of the store that the depot must hold.
func Open(address, store string, m *Metrics) (*Depot, error) {
	at, err := parse(address)
	if err != nil {
		return nil, err
	}
	d := &Depot{address: at.String(), store: store, metrics: m, places: make(chan struct{}, maxRequests)}
	if at.bucket == "" {
		d.backend = folder(at.path)
		return d, nil
	}
	d.backend, err = newS3(at)
	return d, err
}

// Folder returns the path of a depot that is a folder; empty: it is a bucket.
func (d *Depot) Folder() string {
	f, _ := d.backend.(folder)
	return string(f)
}

// Signs reports whether URL returns addresses.
func (d *Depot) Signs() bool {
	bucket, ok := d.backend.(*s3)
	return ok && bucket.direct
}

// Put stores the bytes of an object durably. Errors: 507; 503; 429 for an account with too many concurrent writes.
func (d *Depot) Put(ctx context.Context, key string, from io.ReaderAt, size int64) error {
	return d.write(ctx, "put", size, func(ctx context.Context) error { return d.backend.put(ctx, key, from, size) })
}

// Get reads the bytes of an object from offset to before end. size is the number of bytes that the whole object
// should have. The body must be closed; its reads fail if no bytes come for some time. Errors: ErrMissing;
// ErrDamaged for an object of another size; 503. No bytes are read without asking.
func (d *Depot) Get(ctx context.Context, key string, offset, end, size int64) (io.ReadCloser, error) {
	if end <= offset { // no Range can ask for that
		return io.NopCloser(strings.NewReader("")), nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(answerTime, func() { cancel(errSlow) })
	var in io.ReadCloser
	err := d.do(ctx, "get", 0, func(ctx context.Context) error {
		body, has, err := d.backend.get(ctx, key, offset, end)
		if err == nil && has != size {
			err = errors.Join(ErrDamaged, body.Close())
		}
		in = body
		return err
	})
	timer.Stop()
	if err != nil {
		cancel(nil)
		return nil, err
	}
	return &body{in: in, left: end - offset, timer: timer, cancel: cancel}, nil
}

// Copy copies an object. Errors: ErrMissing; 507; 503; 429 for an account with too many concurrent
// writes.
func (d *Depot) Copy(ctx context.Context, from, to string, size int64) error {
	return d.write(ctx, "copy", size, func(ctx context.Context) error { return d.backend.copy(ctx, from, to) })
}

// write makes a request that takes as long as so many bytes.
func (d *Depot) write(ctx context.Context, operation string, size int64, request func(context.Context) error) error {
	release, err := admission.Slot(ctx, admission.Depot)
	if err != nil {
		return err
	}
	defer release()
	return d.do(ctx, operation, answerTime+time.Duration(size/slowest)*time.Second, request)
}

// Delete removes objects, at most MaxKeys. One that is not there is no error.
func (d *Depot) Delete(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	return d.do(ctx, "delete", listTime, func(ctx context.Context) error { return d.backend.remove(ctx, keys) })
}

// List calls each with the objects whose keys begin with a prefix, which ends with a slash. A list may be older than
// what Get finds. An error of each ends it.
func (d *Depot) List(ctx context.Context, prefix string, each func(Entry) error) error {
	return d.do(ctx, "list", 0, func(ctx context.Context) error { return d.backend.list(ctx, prefix, each) })
}

// URL returns an address at which anybody can get an object for a time. Empty: the depot has none. It takes no place
// among the requests, since it asks nobody but for new keys.
func (d *Depot) URL(ctx context.Context, key string, a Answer, valid time.Duration) (address string, err error) {
	if err := d.ready(ctx); err != nil {
		return "", err
	}
	err = d.run(ctx, "sign", answerTime, func(ctx context.Context) error {
		address, err = d.backend.url(ctx, key, a, valid)
		return err
	})
	return address, err
}

// errSlow is the cause of a request that took too long.
var errSlow = errors.New("depot: no answer in time")

// do makes a request, once the depot is known to be the store's. within bounds it; 0: the caller does.
func (d *Depot) do(ctx context.Context, operation string, within time.Duration,
	request func(context.Context) error,
) error {
	if err := d.ready(ctx); err != nil {
		return err
	}
	return d.ask(ctx, operation, within, request)
}

// ask is do for a depot that is not known yet.
func (d *Depot) ask(ctx context.Context, operation string, within time.Duration,
	request func(context.Context) error,
) error {
	return d.run(ctx, operation, within, func(ctx context.Context) error {
		if err := d.enter(ctx); err != nil {
			return err
		}
		defer func() { <-d.places }()
		return request(ctx)
	})
}

// run makes a request without a place.
func (d *Depot) run(ctx context.Context, operation string, within time.Duration,
	request func(context.Context) error,
) error {
	asked := ctx
	if within > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, within, errSlow)
		defer stop()
	}
	began := time.Now()
	err := request(ctx)
	if err != nil && context.Cause(ctx) != nil && !errs.Is(err, errs.Unavailable) {
		err = context.Cause(ctx)
	}
	d.metrics.observe(operation, err, time.Since(began))
	return d.fault(asked, err)
}

// errBusy is the cause of a request that found no place. It says nothing about the service or its keys.
var errBusy = errors.New("depot: too many requests at one time")

// enter waits for a place among the requests. Error: 503.
func (d *Depot) enter(ctx context.Context) error {
	timer := time.NewTimer(answerTime)
	defer timer.Stop()
	select {
	case d.places <- struct{}{}:
		return nil
	case <-timer.C:
	case <-ctx.Done():
		if !errors.Is(context.Cause(ctx), errSlow) {
			return ctx.Err()
		}
	}
	return Unavailable(errBusy)
}

// fault turns the error of a service into one of a depot.
func (d *Depot) fault(ctx context.Context, err error) error {
	var wrong *IdentityError
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist), errors.Is(err, ErrDamaged):
		return err
	case errors.Is(err, syscall.ENOSPC):
		return errs.Wrap(errs.NoRoom, "The storage of files is full: it takes no new files until there is room. "+
			"Reading, deleting and small changes go on.", err)
	case errors.As(err, &wrong), errs.Is(err, errs.Unavailable):
		return err
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errSlow):
		return ctx.Err()
	}
	d.backend.renew()
	return Unavailable(err)
}

// Unavailable returns the 503 of files that cannot be reached now.
func Unavailable(cause error) error {
	e := errs.Wrap(errs.Unavailable, "The storage of files does not answer. Try again later.", cause)
	var failure *errs.Error
	if errors.As(e, &failure) {
		failure.Wait = retryAfter
	}
	return e
}

// retryAfter is how many seconds later a client should try again.
const retryAfter = 5

// body is what Get reads.
type body struct {
	in     io.ReadCloser
	left   int64
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.EOF
	}
	b.timer.Reset(stallTime)
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.timer.Stop()
	if b.left -= int64(n); err != nil && b.left > 0 {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return n, Unavailable(err)
	}
	return n, nil
}

func (b *body) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.in.Close()
}
