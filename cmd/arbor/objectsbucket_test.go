//go:build long

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/repo"
	"arbor/internal/test/bucket"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// bucketShop is a shop whose files and new repositories go to a bucket behind a proxy. Its repository cold is there.
type bucketShop struct {
	*shop
	service *bucket.Service
	work    string // a clone of cold
}

// newBucketShop starts the server. answer and alter are those of the proxy.
func newBucketShop(t *testing.T, service *bucket.Service, answer func(http.ResponseWriter, *http.Request) bool,
	alter func(*http.Response) error, env ...string,
) *bucketShop {
	t.Helper()
	proxy := service.Proxy(t, answer, alter)
	s := &bucketShop{newShop(t, db.SQLite, proxy.Address("shop", "redirect=false"), env...), service,
		filepath.Join(t.TempDir(), "cold")}
	s.ok("alice", "POST /user/repos", `{"name": "cold", "auto_init": true}`)
	gittest.Run(t, t.TempDir(), "clone", "-q", s.remote("alice", "alice/cold"), s.work)
	return s
}

func noChange(*http.Response) error { return nil }

// keysOf are the variables with the keys of a service.
func keysOf(service *bucket.Service) (env []string) {
	for _, entry := range service.Env() {
		env = append(env, entry[0]+"="+entry[1])
	}
	return env
}

// push pushes a branch with a file that does not fit into a row.
func (s *bucketShop) push(branch string) (said string, err error) {
	s.t.Helper()
	testkit.NoError(s.t, os.WriteFile(filepath.Join(s.work, branch), randomBytes(200_000), 0o600))
	gittest.Run(s.t, s.work, "add", ".")
	gittest.Run(s.t, s.work, "commit", "-q", "-m", branch)
	_, stderr, err := gittest.Try(s.t, s.work, nil, "push", "-q", s.remote("alice", "alice/cold"), "HEAD:refs/heads/"+branch)
	return string(stderr), err
}

func (s *bucketShop) mustPush(branch string) {
	s.t.Helper()
	if said, err := s.push(branch); err != nil {
		s.t.Fatal(said)
	}
}

// tryUpload uploads a file, and returns what the server says.
func (s *bucketShop) tryUpload(name string) (*http.Response, string) {
	s.t.Helper()
	return s.do("alice", "POST", fmt.Sprintf("/repos/alice/garden/releases/%d/assets?name=%s", s.release, name), nil,
		strings.NewReader(content(name)))
}

// A bucket without room refuses large pushes and uploads by a message that says so. Small changes, which need only the
// database, and all reading go on.
func TestBucketIsFull(t *testing.T) {
	t.Parallel()
	service := bucket.Start(t)
	var full atomic.Pointer[[2]string]
	s := newBucketShop(t, service, func(w http.ResponseWriter, r *http.Request) bool {
		refusal := full.Load()
		if refusal == nil || r.Method != http.MethodPut {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body)
		status := 0
		fmt.Sscan(refusal[0], &status)
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", refusal[1])
		return true
	}, noChange, keysOf(service)...)
	s.mustPush("first")
	for n, refusal := range [][2]string{{"507", "XMinioStorageFull"}, {"403", "QuotaExceeded"},
		{"400", "XMinioAdminBucketQuotaExceeded"}, {"507", "InsufficientStorage"}} {
		full.Store(&refusal)
		if said, err := s.push(fmt.Sprint("large", n)); err == nil || !strings.Contains(said, "storage of files is full") {
			t.Errorf("%v: a large push: %v %s", refusal, err, said)
		}
		if res, text := s.tryUpload(fmt.Sprint("large", n)); res.StatusCode != 507 || res.Header.Get("Retry-After") == "" ||
			!strings.Contains(text, "storage of files is full") {
			t.Errorf("%v: an upload: %d %v %s", refusal, res.StatusCode, res.Header, text)
		}
		if status, text := s.tryDo("PUT", fmt.Sprintf("/repos/alice/cold/contents/small%d", n),
			`{"message": "small", "content": "YQ=="}`); status != 201 {
			t.Errorf("%v: a small change: %d %s", refusal, status, text)
		}
		gittest.Wipe(s.t, s.data)
		if status, text := s.tryDo("GET", "/repos/alice/cold/contents/first?ref=first", ""); status != 200 {
			t.Errorf("%v: reading: %d %s", refusal, status, text)
		}
		full.Store(nil)
		s.mustPush(fmt.Sprint("again", n))
	}
	s.sound()
}

// Keys that expire while the server runs are read again from their file once they are refused. Until the file has new
// ones, requests that need the bucket are 503.
func TestBucketKeysExpire(t *testing.T) {
	t.Parallel()
	service := bucket.Start(t)
	services := []*bucket.Service{service, service.WithKeys(t, "other-key", "other-secret")}
	file := filepath.Join(t.TempDir(), "credentials")
	writeKeys := func(n int) {
		env := services[n].Env()
		testkit.NoError(t, os.WriteFile(file+".new", []byte("[default]\naws_access_key_id = "+env[0][1]+
			"\naws_secret_access_key = "+env[1][1]+"\n"), 0o600))
		testkit.NoError(t, os.Rename(file+".new", file))
	}
	writeKeys(0)
	var expired atomic.Pointer[[2]string] // the key, and what the service says
	s := newBucketShop(t, service, func(w http.ResponseWriter, r *http.Request) bool {
		signed := func(key string) bool { return strings.Contains(r.Header.Get("Authorization"), "Credential="+key+"/") }
		switch e := expired.Load(); {
		case e != nil && signed(e[0]):
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", e[1])
		case signed("other-key"):
			services[1].Forward(w, r)
		default:
			return false
		}
		return true
	}, noChange, "AWS_SHARED_CREDENTIALS_FILE="+file, "AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=")
	s.mustPush("first")
	for n, code := range []string{"ExpiredToken", "InvalidAccessKeyId"} {
		expired.Store(&[2]string{services[n].Env()[0][1], code})
		for range 2 {
			res, text := s.tryUpload(fmt.Sprint("early", n))
			if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %d %v %s", code, res.StatusCode, res.Header, text)
			}
		}
		s.ok("alice", "POST /repos/alice/garden/issues", `{"title": "rain"}`)
		writeKeys(1 - n)
		if res, text := s.tryUpload(fmt.Sprint("late", n)); res.StatusCode != 201 {
			t.Errorf("%s: with new keys: %d %s", code, res.StatusCode, text)
		}
		gittest.Wipe(s.t, s.data)
		s.mustPush(fmt.Sprint("late", n))
	}
	s.sound()
	s.stop()
	s.log = &logBuffer{} // which has the refusals
}

// listed is an entry of a list of a bucket.
var listed = regexp.MustCompile(`(?s)<Contents>.*?<Key>([^<]*)</Key>.*?</Contents>`)

// A service whose lists lag behind loses nothing: files that a list lacks are neither swept nor reported, and move.
func TestBucketListsLag(t *testing.T) {
	began := time.Now()
	service := bucket.Start(t)
	service.Setenv(t) // the sweep runs in this process
	var lags atomic.Bool
	var hidden atomic.Int64
	s := newBucketShop(t, service, func(http.ResponseWriter, *http.Request) bool { return false },
		func(res *http.Response) error {
			if !lags.Load() || res.Request.URL.Query().Get("list-type") == "" {
				return nil
			}
			body, err := io.ReadAll(res.Body)
			body = listed.ReplaceAllFunc(body, func(entry []byte) []byte {
				info, err := os.Stat(service.File(string(listed.FindSubmatch(entry)[1])))
				if err == nil && info.ModTime().Before(began) {
					return entry
				}
				hidden.Add(1)
				return nil
			})
			res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			res.Header.Del("Content-Length")
			return err
		}, keysOf(service)...)
	asset := s.upload(s.instance, "seeds.txt", content("seeds"))
	s.mustPush("first")
	lags.Store(true)
	sweep := func() {
		s.operate(func(ctx context.Context, f *forge.Forge) (err error) {
			for shard := range int64(repo.Shards) {
				err = errors.Join(err, f.Packs.SweepShard(ctx, shard, 0), f.Files.SweepShard(ctx, shard, 0))
			}
			return err
		})
	}
	holds := func(when string) {
		t.Helper()
		gittest.Wipe(s.t, s.data)
		if status, text := s.download(s.instance, asset); status != 200 || text != content("seeds") {
			t.Errorf("%s the asset is %d, %d bytes", when, status, len(text))
		}
		if status, text := s.tryDo("GET", "/repos/alice/cold/contents/first?ref=first", ""); status != 200 {
			t.Errorf("%s the repository is %d %s", when, status, text)
		}
		if out, err := s.tells("objects", "verify", "--deep"); err != nil || strings.Contains(out, "PROBLEM") {
			t.Errorf("%s verify says %v %s", when, err, out)
		}
	}
	sweep()
	holds("after a sweep")
	there := filepath.Join(t.TempDir(), "there")
	testkit.NoError(t, os.Mkdir(there, 0o700))
	s.stop()
	if out, err := s.tells("objects", "move", "--to", "file://"+there); err != nil {
		t.Errorf("the move: %v %s", err, out)
	}
	s.start("--objects", "file://"+there)
	sweep()
	holds("after a move")
	if hidden.Load() == 0 {
		t.Error("no list lacked anything")
	}
}

// A service that answers with the bytes of another object, or of what was under a key before, gives nobody those bytes.
func TestBucketGivesOldBytes(t *testing.T) {
	t.Parallel()
	service := bucket.Start(t)
	var swapped atomic.Pointer[map[string]string] // keys by keys
	s := newBucketShop(t, service, func(w http.ResponseWriter, r *http.Request) bool {
		other := swapped.Load()
		if other == nil || r.Method != http.MethodGet || (*other)[path.Base(r.URL.Path)] == "" {
			return false
		}
		http.ServeFile(w, r, (*other)[path.Base(r.URL.Path)])
		return true
	}, noChange, keysOf(service)...)
	assets := []int64{s.upload(s.instance, "one", content("one")), s.upload(s.instance, "two", content("two"))}
	s.mustPush("first")
	s.mustPush("second")
	swap := map[string]string{}
	for _, folder := range []string{"files", "packs"} {
		found, err := filepath.Glob(service.File("shop/" + folder + "/*/*"))
		testkit.NoError(t, err)
		if len(found) < 2 {
			t.Fatalf("%s: %q", folder, found)
		}
		for n, file := range found {
			swap[filepath.Base(file)] = found[(n+1)%len(found)]
		}
	}
	swapped.Store(&swap)
	gittest.Wipe(s.t, s.data)
	for n, id := range assets {
		if status, text := s.tryDo("GET", fmt.Sprintf("/repos/alice/garden/releases/assets/%d", id), "", "Accept",
			"application/octet-stream"); status != 0 && status != 503 {
			t.Errorf("asset %d is answered %d, %d bytes", n, status, len(text))
		}
	}
	for _, branch := range []string{"first", "second"} {
		if status, text := s.tryDo("GET", "/repos/alice/cold/contents/"+branch+"?ref="+branch, ""); status != 503 {
			t.Errorf("%s is answered %d %s", branch, status, text)
		}
	}
	if out, err := s.tells("objects", "verify", "--deep"); err == nil || strings.Count(out, "PROBLEM") != len(swap) {
		t.Errorf("verify says %v %s", err, out)
	}
	swapped.Store(nil)
	for n, id := range assets {
		if status, text := s.download(s.instance, id); status != 200 || text != content([]string{"one", "two"}[n]) {
			t.Errorf("asset %d is %d, %d bytes", n, status, len(text))
		}
	}
	for _, branch := range []string{"first", "second"} {
		if status, text := s.tryDo("GET", "/repos/alice/cold/contents/"+branch+"?ref="+branch, ""); status != 200 {
			t.Errorf("%s is answered %d %s", branch, status, text)
		}
	}
	s.sound()
	s.stop()
	s.log = &logBuffer{} // which has errors, as it should
}
