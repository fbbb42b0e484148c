//go:build long

package depot

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/test/bucket"
	"arbor/internal/test/testkit"
)

func TestS3(t *testing.T) {
	s := bucket.Start(t)
	s.Setenv(t)
	behaves(t, s.Address("some/prefix", ""))
}

// Objects of several parts come back as they were put.
func TestS3Multipart(t *testing.T) {
	s := bucket.Start(t)
	s.Setenv(t)
	d := opened(t, s.Address("large", ""), "store")
	large := make([]byte, onePut+5<<20+3)
	rand.Read(large)
	put(t, d, "files/ab/large", string(large))
	if got, err := get(t, d, "files/ab/large", int64(len(large))); got != string(large) {
		t.Errorf("%d bytes came back, %v", len(got), err)
	}
}

// A signed address gives the bytes to anybody, as an attachment of no kind, and nothing once it was altered.
func TestS3SignedAddress(t *testing.T) {
	s := bucket.Start(t)
	s.Setenv(t)
	d := opened(t, s.Address("signed", ""), "store")
	put(t, d, "files/ab/page", "<script>alert(1)</script>")
	as := Answer{Type: "application/octet-stream", Disposition: `attachment; filename="a"`}
	address, err := d.URL(t.Context(), "files/ab/page", as, time.Minute)
	testkit.NoError(t, err)
	r, err := http.Get(address) //nolint:noctx // of a test
	testkit.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if string(body) != "<script>alert(1)</script>" || err != nil || r.Header.Get("Content-Type") !=
		"application/octet-stream" || r.Header.Get("Content-Disposition") != `attachment; filename="a"` {
		t.Errorf("it answers %d %v %q, %v", r.StatusCode, r.Header, body, err)
	}
	for _, altered := range []string{
		strings.Replace(address, "octet-stream", "html", 1), strings.Replace(address, "page", "other", 1),
		strings.Replace(address, "X-Amz-Expires=60", "X-Amz-Expires=600", 1),
	} {
		if altered == address {
			t.Fatalf("%s was not altered", address)
		}
		r, err := http.Get(altered) //nolint:noctx // of a test
		testkit.NoError(t, err)
		if r.Body.Close(); r.StatusCode < 400 {
			t.Errorf("%s answers %d", altered, r.StatusCode)
		}
	}
	as.Plain = true
	plain, err := d.URL(t.Context(), "files/ab/page", as, time.Minute)
	testkit.NoError(t, err)
	if r, err = http.Get(plain); err == nil { //nolint:noctx // of a test
		err = r.Body.Close()
	}
	if err != nil || r.StatusCode != 200 || r.Header.Get("Content-Encoding") != "identity" {
		t.Errorf("a plain one answers %d %v, %v", r.StatusCode, r.Header, err)
	}
	if none, err := opened(t, s.Address("signed", "redirect=false"), "store").URL(t.Context(), "files/ab/page", Answer{},
		time.Minute); none != "" || err != nil {
		t.Errorf("with redirect=false it is %q, %v", none, err)
	}
}

// A service that often fails is asked again; what was acknowledged is there whole.
func TestS3Throttles(t *testing.T) {
	s := bucket.Start(t)
	s.Setenv(t)
	var n atomic.Int64
	proxy := s.Proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		if n.Add(1)%7 == 0 { // some 15 % of requests
			w.WriteHeader([]int{500, 503, 429}[n.Load()/7%3])
			return true
		}
		return false
	})
	d := opened(t, proxy.Address("throttled", ""), "store")
	for i := range 60 {
		key, text := fmt.Sprintf("files/ab/%d", i), strings.Repeat("x", i*1000)
		if i == 0 {
			text = "y"
		}
		put(t, d, key, text)
		if got, err := get(t, d, key, int64(len(text))); got != text || err != nil {
			t.Errorf("%s: %d bytes, %v", key, len(got), err)
		}
	}
}

// A service that is slow, or away, is a 503 within seconds.
func TestS3IsSlow(t *testing.T) {
	s := bucket.Start(t)
	s.Setenv(t)
	var slow atomic.Bool
	end := make(chan struct{})
	defer close(end)
	proxy := s.Proxy(t, func(http.ResponseWriter, *http.Request) bool {
		hangs := slow.Load()
		if hangs {
			<-end
		}
		return hangs
	})
	d := opened(t, proxy.Address("slow", ""), "store")
	put(t, d, "files/ab/x", "x")
	slow.Store(true)
	began := time.Now()
	if err := d.Put(t.Context(), "files/ab/y", strings.NewReader("y"), 1); !errs.Is(err, errs.Unavailable) {
		t.Errorf("an upload: %v", err)
	}
	if _, err := get(t, d, "files/ab/x", 1); !errs.Is(err, errs.Unavailable) {
		t.Errorf("a download: %v", err)
	}
	if took := time.Since(began); took > testkit.Patience {
		t.Errorf("it took %s", took)
	}
	slow.Store(false)
	put(t, d, "files/ab/y", "y") // and back at once
}

// Keys that are refused are read again: those in a file may have been replaced.
func TestS3KeysAreReplaced(t *testing.T) {
	s := bucket.Start(t)
	s.Setenv(t)
	d := opened(t, s.Address("keys", ""), "store")
	put(t, d, "files/ab/x", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong"+base64.StdEncoding.EncodeToString([]byte("x")))
	d.backend.renew()
	if err := d.Put(t.Context(), "files/ab/y", strings.NewReader("y"), 1); !errs.Is(err, errs.Unavailable) {
		t.Errorf("with wrong keys: %v", err)
	}
	s.Setenv(t)
	put(t, d, "files/ab/y", "y")
}

// A bucket that is not there is said so at the start.
func TestS3WithoutBucket(t *testing.T) {
	s := bucket.Start(t)
	s.Setenv(t)
	d, err := Open(strings.Replace(s.Address("", ""), bucket.Name, "no-bucket-here", 1), "store", nil)
	testkit.NoError(t, err)
	if err := d.Bind(t.Context()); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("it is bound: %v", err)
	}
}

// Each upload asks for the encryption that the address names: of one request, of several, of the identity, and by copying.
func TestS3Encryption(t *testing.T) {
	s := bucket.Start(t)
	s.Setenv(t)
	var mu sync.Mutex
	seen := map[string]int{} // what uploads ask for, by their kind
	proxy := s.Proxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		query := r.URL.Query()
		kind := "object"
		switch {
		case query.Has("uploads") && r.Method == http.MethodPost:
			kind = "parts"
		case query.Has("partNumber"), r.Method != http.MethodPut: // a part has the encryption of the upload
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		seen[strings.Join([]string{kind, r.Header.Get("X-Amz-Server-Side-Encryption"),
			r.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id")}, " ")]++
		return false
	})
	large := make([]byte, onePut+1)
	rand.Read(large)
	more := func(sse string) string {
		if sse == "" {
			return ""
		}
		return "sse=" + sse
	}
	for sse, want := range map[string]string{"s3": "AES256 ", "kms:some-key": "aws:kms some-key", "": " "} {
		clear(seen)
		d := opened(t, proxy.Address("sse-"+sse[:min(len(sse), 3)], more(sse)), "store")
		put(t, d, "files/ab/one", "first")
		put(t, d, "files/ab/large", string(large))
		testkit.NoError(t, d.Copy(t.Context(), "files/ab/one", "files/ab/copy", 5))
		// The copy is made of a part.
		if want := map[string]int{"object " + want: 2, "parts " + want: 2}; !maps.Equal(seen, want) {
			t.Errorf("sse=%s: the uploads ask for %v, want %v", sse, seen, want)
		}
	}
}
