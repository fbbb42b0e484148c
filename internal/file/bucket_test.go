//go:build long

package file_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/bucket"
	"arbor/internal/test/testkit"
)

// brokenOff is a body that ends with an error after some bytes.
type brokenOff struct {
	io.ReadCloser
	left int
}

func (b *brokenOff) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errors.New("broken off")
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// flipped is a body with one byte that is another.
type flipped struct {
	io.ReadCloser
	done bool
}

func (f *flipped) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if n > 0 && !f.done {
		p[n-1] ^= 1
		f.done = true
	}
	return n, err
}

// A bucket that breaks off is asked for the rest; one that gives other bytes, or none, is an error before the last
// byte.
func TestBucketLies(t *testing.T) {
	s := bucket.Start(t)
	s.Setenv(t)
	var fault atomic.Value
	fault.Store("")
	isFile := func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/files/") && len(path.Base(r.URL.Path)) == 32
	}
	proxy := s.Proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		gone := isFile(r) && fault.Load() == "gone"
		if gone {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
		}
		return gone
	}, func(r *http.Response) error {
		switch {
		case !isFile(r.Request):
		case fault.Load() == "reset":
			r.Body = &brokenOff{r.Body, 3 << 20}
		case fault.Load() == "flipped":
			r.Body = &flipped{ReadCloser: r.Body}
		}
		return nil
	})
	e := newEstate(t, db.SQLite)
	offline, err := e.files.Use(t.Context(), mustCanonical(t, proxy.Address("lies", "")))
	testkit.NoError(t, errors.Join(offline, err))
	for _, content := range []string{"seeds", strings.Repeat("peas ", 2<<20)} {
		f := e.add(content)
		for name, whole := range map[string]bool{"": true, "reset": true, "flipped": false, "gone": false} {
			fault.Store(name)
			got, err := e.read(e.files, f)
			if whole && (got != content || err != nil) {
				t.Errorf("%q, %d bytes: %d came, %v", name, f.Size, len(got), err)
			}
			if !whole && (len(got) == len(content) || !errs.Is(err, errs.Unavailable)) {
				t.Errorf("%q, %d bytes: %d came, %v", name, f.Size, len(got), err)
			}
		}
		fault.Store("")
	}
}

// BenchmarkBucket is BenchmarkFiles for a bucket.
func BenchmarkBucket(b *testing.B) {
	s := bucket.Start(b)
	s.Setenv(b)
	for _, size := range []int{64 << 10, 8 << 20} {
		e := newEstate(b, db.SQLite)
		_, err := e.files.Use(b.Context(), mustCanonical(b, s.Address(fmt.Sprint("bench", size), "")))
		testkit.NoError(b, err)
		benchmarkFiles(b, fmt.Sprintf("bucket/%dKiB", size>>10), e, strings.Repeat("x", size))
	}
}

// Files move to a bucket that throttles, and back.
func TestMoveToBucket(t *testing.T) {
	s := bucket.Start(t)
	s.Setenv(t)
	var n atomic.Int64
	proxy := s.Proxy(t, func(w http.ResponseWriter, _ *http.Request) bool {
		fails := n.Add(1)%9 == 0
		if fails {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return fails
	})
	e := newEstate(t, db.SQLite)
	for range 50 {
		e.add("some seeds")
	}
	for _, to := range []string{mustCanonical(t, proxy.Address("moved", "")), ""} {
		if moved, err := e.move(to); err != nil || moved.Files != 50 || moved.Left != 0 {
			t.Errorf("the move to %q: %+v, %v", to, moved, err)
		}
	}
}

// Files do not move to the bucket where they are, by an address with other settings.
func TestMoveToSameBucket(t *testing.T) {
	s := bucket.Start(t)
	s.Setenv(t)
	e := newEstate(t, db.SQLite)
	_, err := e.files.Use(t.Context(), mustCanonical(t, s.Address("same", "")))
	testkit.NoError(t, err)
	f := e.add("seeds")
	_, err = e.move(mustCanonical(t, s.Address("same", "redirect=false")))
	refusedPlace(t, "the same bucket", err, "is the same place as")
	if got, err := e.read(e.node(), f); got != "seeds" || err != nil {
		t.Errorf("the file has %q, %v", got, err)
	}
}
