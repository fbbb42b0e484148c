package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// checkEvery is how often the files are looked at, at most, while there are handshakes.
const checkEvery = time.Second

// Pair is a certificate and its key in two files. A handshake looks whether they have
// changed, once a second at most. It is safe for concurrent use.
type Pair struct {
	certFile, keyFile string
	log               *slog.Logger
	now               func() time.Time

	current atomic.Pointer[tls.Certificate]
	due     atomic.Int64 // when the files are looked at again, in nanoseconds
	mu      sync.Mutex
	seen    stamp  // of the current pair
	told    string // the error that was logged last, until a pair is read
}

// stamp identifies a version of the two files.
type stamp struct{ cert, key fs.FileInfo }

func (a stamp) same(b stamp) bool { return sameFile(a.cert, b.cert) && sameFile(a.key, b.key) }

// sameFile compares what os.Stat said, which follows links: tools that renew certificates
// exchange links, or a file under its name.
func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// LoadPair reads a certificate, with its chain behind it, and its key, both in PEM.
func LoadPair(certFile, keyFile string, log *slog.Logger) (*Pair, error) {
	p := &Pair{certFile: certFile, keyFile: keyFile, log: log, now: time.Now}
	seen, err := p.stat()
	if err != nil {
		return nil, err
	}
	made, err := p.load(seen)
	if err != nil {
		return nil, err
	}
	p.seen = seen
	p.current.Store(made)
	p.due.Store(p.now().Add(checkEvery).UnixNano())
	return p, nil
}

// GetCertificate is tls.Config's.
func (p *Pair) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now := p.now()
	if due := p.due.Load(); now.UnixNano() >= due &&
		p.due.CompareAndSwap(due, now.Add(checkEvery).UnixNano()) {
		p.check()
	}
	return p.current.Load(), nil
}

// check reloads the files if they have changed. The old pair stays while the new one is
// broken: perhaps only one of the two files is there yet.
func (p *Pair) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen, err := p.stat()
	if err == nil && seen.same(p.seen) {
		return
	}
	var made *tls.Certificate
	if err == nil {
		made, err = p.load(seen)
	}
	if err != nil {
		if text := err.Error(); text != p.told {
			p.told = text
			p.log.Warn("the new TLS certificate is not used, and the old one stays", "error", err)
		}
		return
	}
	p.seen, p.told = seen, ""
	p.current.Store(made)
	p.log.Info("the TLS certificate was reloaded", "file", p.certFile, "ends", made.Leaf.NotAfter)
}

func (p *Pair) stat() (s stamp, err error) {
	if s.cert, err = os.Stat(p.certFile); err != nil {
		return stamp{}, fmt.Errorf("the TLS certificate: %w", err)
	}
	if s.key, err = os.Stat(p.keyFile); err != nil {
		return stamp{}, fmt.Errorf("the TLS key: %w", err)
	}
	return s, nil
}

// load reads the files. It is called after stat, so a change in between is seen later.
func (p *Pair) load(seen stamp) (*tls.Certificate, error) {
	cert, err := os.ReadFile(p.certFile)
	if err != nil {
		return nil, fmt.Errorf("the TLS certificate: %w", err)
	}
	key, err := os.ReadFile(p.keyFile)
	if err != nil {
		return nil, fmt.Errorf("the TLS key: %w", err)
	}
	made, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("the TLS certificate in %s and the key in %s: %w", p.certFile, p.keyFile, err)
	}
	if made.Leaf == nil { // GODEBUG=x509keypairleaf=0
		if made.Leaf, err = x509.ParseCertificate(made.Certificate[0]); err != nil {
			return nil, fmt.Errorf("the TLS certificate in %s: %w", p.certFile, err)
		}
	}
	if mode := seen.key.Mode().Perm(); mode&0o007 != 0 {
		p.log.Warn("others on this machine may read the TLS key: chmod o= FILE", "file", p.keyFile,
			"mode", mode)
	}
	if now := p.now(); now.Before(made.Leaf.NotBefore) || now.After(made.Leaf.NotAfter) {
		p.log.Warn("the TLS certificate is not valid at this time", "file", p.certFile,
			"begins", made.Leaf.NotBefore, "ends", made.Leaf.NotAfter)
	}
	return &made, nil
}
