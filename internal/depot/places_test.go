package depot

import (
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/test/testkit"
)

// stalled is a file that cannot be read before the channel is closed.
type stalled chan struct{}

func (s stalled) ReadAt([]byte, int64) (int, error) {
	<-s
	return 0, io.EOF
}

// However many files an account uploads at one time, reads, signed addresses and other accounts' uploads go on.
func TestUploadsLeaveRoom(t *testing.T) {
	t.Parallel()
	d := opened(t, "file://"+t.TempDir(), "store")
	put(t, d, "files/ab/one", "first")
	control := admission.New(1<<30, nil)
	end := make(stalled)
	var uploads sync.WaitGroup
	defer uploads.Wait()
	defer close(end)
	for range 2 * maxRequests {
		uploads.Go(func() {
			mine := admission.With(t.Context(), control.NewTicket(admission.Holder{Account: 1}))
			_ = d.Put(mine, "files/ab/large", end, 1<<20)
		})
	}
	testkit.Eventually(t, func() bool {
		for _, u := range control.Usage() {
			if u.Kind == "depot" {
				return u.Held+u.Waiting == 2*maxRequests && u.Held <= u.Most/2
			}
		}
		return false
	}, "some uploads have begun, and the others wait")
	if got, err := get(t, d, "files/ab/one", 5); got != "first" || err != nil {
		t.Errorf("a read gets %q, %v", got, err)
	}
	if _, err := d.URL(t.Context(), "files/ab/one", Answer{}, time.Minute); err != nil {
		t.Errorf("an address: %v", err)
	}
	testkit.NoError(t, d.Check(t.Context()))
	other := admission.With(t.Context(), control.NewTicket(admission.Holder{Account: 2}))
	if err := d.Put(other, "files/ab/other", strings.NewReader("x"), 1); err != nil {
		t.Errorf("another account's upload: %v", err)
	}
	if err := d.Copy(other, "files/ab/one", "files/ab/copy", 5); err != nil {
		t.Errorf("another account's copy: %v", err)
	}
}

// A depot without a free place signs addresses, and keeps its keys: they were not refused.
func TestNoPlace(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	synctest.Test(t, func(t *testing.T) {
		d, err := Open("s3://bucket?endpoint=http://127.0.0.1:1&region=us-east-1", "store", nil)
		testkit.NoError(t, err)
		d.known = true
		for range maxRequests {
			d.places <- struct{}{}
		}
		keys := d.backend.(*s3).keys
		_, err = keys.GetWithContext(nil)
		testkit.NoError(t, err)
		if at, err := d.URL(t.Context(), "files/ab/x", Answer{}, time.Minute); err != nil || !strings.Contains(at, "X-Amz") {
			t.Errorf("it signs %q, %v", at, err)
		}
		if _, err := d.Get(t.Context(), "files/ab/x", 0, 1, 1); !errs.Is(err, errs.Unavailable) {
			t.Errorf("a read: %v", err)
		}
		if err := d.Put(t.Context(), "files/ab/x", strings.NewReader("x"), 1); !errs.Is(err, errs.Unavailable) {
			t.Errorf("an upload: %v", err)
		}
		if keys.IsExpired() {
			t.Error("the keys are forgotten")
		}
	})
}

// No bytes are read without asking: a service would answer a range without bytes with others.
func TestNoBytes(t *testing.T) {
	t.Parallel()
	d, err := Open("s3://bucket?endpoint=http://127.0.0.1:1&region=us-east-1", "store", nil)
	testkit.NoError(t, err)
	if got, err := get(t, d, "keys/ssh/key", 0); got != "" || err != nil {
		t.Errorf("it reads %q, %v", got, err)
	}
}
