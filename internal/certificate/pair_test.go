package certificate_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"arbor/internal/certificate"
	"arbor/internal/test/testkit"
)

// logged is a log to look at.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newLog() (*slog.Logger, *logged) {
	l := &logged{}
	return slog.New(slog.NewTextHandler(l, nil)), l
}

// Tools renew certificates every other month. A server that had to be restarted for it would
// serve an old one some day, and one that takes half of a new pair would serve none.
func TestPairIsReadAnew(t *testing.T) {
	t.Parallel()
	dir, next := t.TempDir(), t.TempDir()
	certFile, keyFile := testkit.Certificate(t, dir)
	log, text := newLog()
	p, err := certificate.LoadPair(certFile, keyFile, log)
	testkit.NoError(t, err)
	current := func() *tls.Certificate {
		t.Helper()
		c, err := p.GetCertificate(nil)
		if err != nil || c == nil {
			t.Fatalf("%v, %v", c, err)
		}
		return c
	}
	first := current()
	testkit.Certificate(t, next)
	exchange := func(name string) {
		t.Helper()
		testkit.NoError(t, os.Rename(filepath.Join(next, name), filepath.Join(dir, name)))
	}
	wait := func(what string, there func() bool) {
		t.Helper()
		testkit.Eventually(t, func() bool { current(); return there() }, what, text.String)
	}
	exchange("cert.pem")
	wait("a warning", func() bool { return strings.Contains(text.String(), "the old one stays") })
	if current() != first {
		t.Error("a certificate without its key replaced the pair")
	}
	exchange("key.pem")
	wait("a new pair", func() bool { return current() != first })
	second := current()
	testkit.NoError(t, os.Remove(keyFile))
	wait("a warning", func() bool { return strings.Contains(text.String(), "no such file") })
	if current() != second {
		t.Error("the pair went with its file")
	}
	if n := strings.Count(text.String(), "the old one stays"); n != 2 {
		t.Errorf("%d warnings of two broken pairs:\n%s", n, text)
	}
}

// Whoever set TLS up wrongly learns at the start which file is wrong, and why.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	certFile, keyFile := testkit.Certificate(t, dir)
	_, otherKey := testkit.Certificate(t, other)
	garbage := filepath.Join(dir, "garbage")
	testkit.NoError(t, os.WriteFile(garbage, []byte("garbage"), 0o600))
	for _, c := range []struct{ name, cert, key, want string }{
		{"another key", certFile, otherKey, "private key does not match public key"},
		{"no key", certFile, filepath.Join(dir, "none"), "the TLS key: stat "},
		{"no certificate", filepath.Join(dir, "none"), keyFile, "the TLS certificate: stat "},
		{"exchanged", keyFile, certFile, "failed to find certificate PEM data"},
		{"garbage", garbage, keyFile, garbage},
		{"a folder", dir, keyFile, "is a directory"},
	} {
		log, _ := newLog()
		if _, err := certificate.LoadPair(c.cert, c.key, log); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	testkit.NoError(t, os.Chmod(keyFile, 0o644))
	log, text := newLog()
	if _, err := certificate.LoadPair(certFile, keyFile, log); err != nil ||
		!strings.Contains(text.String(), "may read the TLS key") {
		t.Errorf("a key that others may read: %v\n%s", err, text)
	}
}
