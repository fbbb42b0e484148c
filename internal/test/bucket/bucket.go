// Package bucket runs a service with the interface of S3 for tests: versitygw, over a folder.
package bucket

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/test/testkit"
	"arbor/internal/test/tool"
)

// Name is that of the bucket.
const Name = "arbor-files"

// Keys of the service.
const (
	key    = "arbor-test"
	secret = "arbor-test-secret"
)

// Service is one that runs, or a proxy before it.
type Service struct {
	URL         string
	root        string // of its folders
	dir         string // of the bucket
	key, secret string
}

// Start starts the service with an empty bucket until the test ends. Without the program the test is skipped.
func Start(t testing.TB) *Service {
	t.Helper()
	root := t.TempDir()
	s := &Service{root: root, dir: filepath.Join(root, "buckets", Name), key: key, secret: secret}
	testkit.NoError(t, os.MkdirAll(s.dir, 0o700))
	testkit.NoError(t, os.MkdirAll(filepath.Join(root, "metadata"), 0o700))
	s.run(t)
	return s
}

// WithKeys starts another service with the same bucket, and with keys of its own, until the test ends.
func (s *Service) WithKeys(t testing.TB, key, secret string) *Service {
	t.Helper()
	other := &Service{root: s.root, dir: s.dir, key: key, secret: secret}
	other.run(t)
	return other
}

func (s *Service) run(t testing.TB) {
	t.Helper()
	program := tool.Program{Name: "versitygw", Module: "github.com/versity/versitygw@v1.8.0",
		Dir: "./cmd/versitygw"}.Build(t)
	address := testkit.FreeAddress(t)
	s.URL = "http://" + address
	cmd := exec.CommandContext(t.Context(), program, "--port", address, "--access", s.key, "--secret", s.secret,
		"--region", "us-east-1", "posix", "--sidecar", filepath.Join(s.root, "metadata"), filepath.Dir(s.dir))
	cmd.Dir = s.root
	testkit.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	testkit.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, "the service does not answer")
}

// Setenv gives this process the keys of the service.
func (s *Service) Setenv(t testing.TB) {
	t.Helper()
	for _, entry := range s.Env() {
		t.Setenv(entry[0], entry[1])
	}
}

// Env are the variables with the keys of the service.
func (s *Service) Env() [][2]string {
	return [][2]string{{"AWS_ACCESS_KEY_ID", s.key}, {"AWS_SECRET_ACCESS_KEY", s.secret}}
}

// Address is the address of a prefix of the bucket as a depot, with more settings.
func (s *Service) Address(prefix, more string) string {
	address := "s3://" + Name + "/" + prefix + "?style=path&region=us-east-1&endpoint=" + url.QueryEscape(s.URL)
	if more != "" {
		address += "&" + more
	}
	return address
}

// File is where the bytes of an object are.
func (s *Service) File(key string) string { return filepath.Join(s.dir, filepath.FromSlash(key)) }

// Proxy starts a proxy before the service. fault may answer a request, and says so; alter, if given, may change what
// the service answers.
func (s *Service) Proxy(t testing.TB, fault func(http.ResponseWriter, *http.Request) bool,
	alter ...func(*http.Response) error,
) *Service {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fault(w, r) {
			s.Forward(w, r, alter...)
		}
	}))
	t.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
	})
	return &Service{URL: proxy.URL, root: s.root, dir: s.dir, key: s.key, secret: s.secret}
}

// Forward has the service answer a request of a proxy. alter may change the answer.
func (s *Service) Forward(w http.ResponseWriter, r *http.Request, alter ...func(*http.Response) error) {
	p := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(&url.URL{Scheme: "http", Host: strings.TrimPrefix(s.URL, "http://")})
		p.Out.Host = p.In.Host // which is signed
	}}
	for _, change := range alter {
		p.ModifyResponse = change
	}
	p.ServeHTTP(w, r)
}
