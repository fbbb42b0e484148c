package depot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"
)

// Sizes of uploads in bytes.
const (
	onePut   = 64 << 20 // up to here an object is one request
	partSize = 16 << 20 // of larger ones
	maxParts = 10_000   // that the protocol allows
	threads  = 4        // parts of one object at one time
)

// s3 is a bucket.
type s3 struct {
	client *minio.Core
	keys   *credentials.Credentials
	bucket string
	prefix string
	sse    encrypt.ServerSide
	direct bool
}

func (s *s3) put(ctx context.Context, key string, from io.ReaderAt, size int64) error {
	o := minio.PutObjectOptions{ContentType: "application/octet-stream", ServerSideEncryption: s.sse,
		SendContentMd5: true, NumThreads: threads, DisableMultipart: size <= onePut,
		PartSize: uint64(max(partSize, (size/maxParts+1<<20)&^(1<<20-1)))}
	_, err := s.client.Client.PutObject(ctx, s.bucket, s.prefix+key, io.NewSectionReader(from, 0, size), size, o)
	return translate(err)
}

func (s *s3) create(ctx context.Context, key string, data []byte) error {
	o := minio.PutObjectOptions{ContentType: "application/json", ServerSideEncryption: s.sse, SendContentMd5: true,
		DisableMultipart: true}
	o.SetMatchETagExcept("*") // If-None-Match
	_, err := s.client.Client.PutObject(ctx, s.bucket, s.prefix+key, bytes.NewReader(data), int64(len(data)), o)
	return translate(err)
}

func (s *s3) get(ctx context.Context, key string, offset, end int64) (io.ReadCloser, int64, error) {
	o := minio.GetObjectOptions{}
	if err := o.SetRange(offset, end-1); err != nil {
		return nil, 0, err
	}
	in, _, header, err := s.client.GetObject(ctx, s.bucket, s.prefix+key, o)
	if err != nil {
		return nil, 0, translate(err)
	}
	begin, size, err := rangeOf(header)
	if err == nil && begin != offset {
		err = fmt.Errorf("%w: bytes from %d, not from %d", ErrDamaged, begin, offset)
	}
	if err != nil {
		return nil, 0, errors.Join(err, in.Close())
	}
	return in, size, nil
}

// rangeOf returns where the bytes of an answer begin, and the size of the object.
func rangeOf(h http.Header) (begin, size int64, err error) {
	text := h.Get("Content-Range")
	if text == "" { // all of it
		size, err = strconv.ParseInt(h.Get("Content-Length"), 10, 64)
		return 0, size, err
	}
	rest, ok := strings.CutPrefix(text, "bytes ")
	span, total, cut := strings.Cut(rest, "/")
	first, _, dash := strings.Cut(span, "-")
	if !ok || !cut || !dash {
		return 0, 0, fmt.Errorf("invalid Content-Range %q", text)
	}
	begin, err = strconv.ParseInt(first, 10, 64)
	if err == nil {
		size, err = strconv.ParseInt(total, 10, 64)
	}
	return begin, size, err
}

func (s *s3) copy(ctx context.Context, from, to string) error {
	_, err := s.client.Client.ComposeObject(ctx,
		minio.CopyDestOptions{Bucket: s.bucket, Object: s.prefix + to, Encryption: s.sse},
		minio.CopySrcOptions{Bucket: s.bucket, Object: s.prefix + from})
	return translate(err)
}

func (s *s3) remove(ctx context.Context, keys []string) error {
	if len(keys) == 1 {
		err := s.client.RemoveObject(ctx, s.bucket, s.prefix+keys[0], minio.RemoveObjectOptions{})
		return ignoreMissing(translate(err))
	}
	list := make(chan minio.ObjectInfo, len(keys))
	for _, key := range keys {
		list <- minio.ObjectInfo{Key: s.prefix + key}
	}
	close(list)
	var all error
	for failed := range s.client.RemoveObjects(ctx, s.bucket, list, minio.RemoveObjectsOptions{}) {
		all = errors.Join(all, ignoreMissing(translate(failed.Err)))
	}
	return all
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *s3) list(ctx context.Context, prefix string, each func(Entry) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for o := range s.client.Client.ListObjects(ctx, s.bucket,
		minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}) {
		if o.Err != nil {
			return translate(o.Err)
		}
		key := strings.TrimPrefix(o.Key, s.prefix)
		if strings.HasSuffix(key, "/") || key == "" {
			continue // a folder, as some tools make them
		}
		if err := each(Entry{Key: key, Size: o.Size, Modified: o.LastModified}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (s *s3) url(ctx context.Context, key string, a Answer, valid time.Duration) (string, error) {
	if !s.direct {
		return "", nil
	}
	answer := url.Values{
		"response-content-type":        {a.Type},
		"response-content-disposition": {a.Disposition},
	}
	if a.Plain {
		answer.Set("response-content-encoding", "identity")
	}
	u, err := s.client.PresignedGetObject(ctx, s.bucket, s.prefix+key, valid, answer)
	if err != nil {
		return "", translate(err)
	}
	return u.String(), nil
}

func (s *s3) renew() { s.keys.Expire() }

// fullCodes are error codes for "no space left" of services that do not answer 507.
var fullCodes = []string{"QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"}

// translate wraps the errors of a service that Arbor handles in fs.ErrNotExist, fs.ErrExist, syscall.ENOSPC or
// ErrDamaged.
func translate(err error) error {
	if err == nil {
		return nil
	}
	failed := minio.ToErrorResponse(err)
	switch {
	case failed.Code == minio.NoSuchKey:
		return fmt.Errorf("%w (%w)", fs.ErrNotExist, err)
	case failed.StatusCode == http.StatusInsufficientStorage, slices.Contains(fullCodes, failed.Code):
		return fmt.Errorf("%w (%w)", syscall.ENOSPC, err)
	case failed.StatusCode == http.StatusPreconditionFailed, failed.StatusCode == http.StatusConflict:
		return fmt.Errorf("%w (%w)", fs.ErrExist, err)
	case failed.StatusCode == http.StatusRequestedRangeNotSatisfiable: // it is shorter than it was
		return fmt.Errorf("%w (%w)", ErrDamaged, err)
	}
	return err
}
