package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/net/idna"
)

// Pauses of Authority.Run. An authority like Let's Encrypt takes five failed tries an hour.
const (
	retryAfter  = 15 * time.Minute
	lookAtEnds  = 12 * time.Hour
	patience    = 5 * time.Second     // of a handshake, until there is a certificate
	warnBefore  = 14 * 24 * time.Hour // renewed at 30 days: something is wrong
	warnPortion = 4                   // or a quarter of a short life
)

// AuthorityOptions say which certificates are asked for, and where.
type AuthorityOptions struct {
	Domains   []string // nothing is asked for in any other name
	Email     string   // whom the authority may write to; may be empty
	Directory string   // the authority's address; empty: Let's Encrypt
	Cache     string   // folder of certificates and keys, made with mode 0700
	Log       *slog.Logger
}

// Authority gets certificates by ACME and keeps them in a folder, which nodes may share.
type Authority struct {
	manager *autocert.Manager
	domains []string
	ready   map[string]chan struct{} // closed when the domain has its certificate
	log     *slog.Logger
}

// NewAuthority checks the options. Nothing is asked for before Run.
func NewAuthority(o AuthorityOptions) (*Authority, error) {
	a := &Authority{ready: map[string]chan struct{}{}, log: o.Log}
	for _, name := range o.Domains {
		domain, err := checkDomain(name)
		if err != nil {
			return nil, err
		}
		if a.ready[domain] == nil {
			a.domains = append(a.domains, domain)
			a.ready[domain] = make(chan struct{})
		}
	}
	client := &acme.Client{UserAgent: "arbor", DirectoryURL: o.Directory}
	if o.Directory == "" {
		client.DirectoryURL = autocert.DefaultACMEDirectory
	} else if u, err := url.Parse(o.Directory); err != nil || u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the ACME directory must be an https address, not %q", o.Directory)
	}
	a.manager = &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(o.Cache), Email: o.Email, Client: client,
		HostPolicy: autocert.HostWhitelist(a.domains...),
	}
	return a, nil
}

// checkDomain returns a domain in the form that handshakes use.
func checkDomain(name string) (string, error) {
	domain, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.TrimSpace(name), "."))
	if err != nil || !strings.Contains(domain, ".") || net.ParseIP(domain) != nil {
		return "", fmt.Errorf("%q is not a domain like code.example.org", name)
	}
	return domain, nil
}

// Domains are those with certificates, in the form of handshakes.
func (a *Authority) Domains() []string { return a.domains }

// Challenges wraps the handler of the plain listener: the authority asks there for proofs
// (HTTP-01). Beside it, it is asked by TLS-ALPN-01 on the listener of TLS.
func (a *Authority) Challenges(h http.Handler) http.Handler {
	proofs := a.manager.HTTPHandler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := *r
		to.Host = nameOf(r.Host) // the manager knows no ports
		proofs.ServeHTTP(w, &to)
	})
}

// GetCertificate is tls.Config's. It never asks the authority for anything.
func (a *Authority) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	domain, err := idna.Lookup.ToASCII(strings.TrimSuffix(hello.ServerName, "."))
	if err != nil || a.ready[domain] == nil {
		return nil, fmt.Errorf("no certificate is had for the name %q", hello.ServerName)
	}
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return a.manager.GetCertificate(hello)
	}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-a.ready[domain]:
		return a.obtain(domain)
	case <-wait.C:
		return nil, fmt.Errorf("the certificate of %s is not there yet", domain)
	}
}

// obtain returns the certificate of a domain, and requests one from the authority if it is neither
// in memory nor in the folder. It has an ECDSA key, as all clients of TLS 1.2 read it.
func (a *Authority) obtain(domain string) (*tls.Certificate, error) {
	return a.manager.GetCertificate(&tls.ClientHelloInfo{ServerName: domain,
		CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}})
}

// Run obtains the certificates until ctx is done, while the listeners answer. The manager
// renews them; Run warns if that does not happen.
func (a *Authority) Run(ctx context.Context) error {
	for pause := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = lookAtEnds
		for _, domain := range a.domains {
			if err := a.look(ctx, domain); err != nil && ctx.Err() == nil {
				a.log.Error("no TLS certificate", "domain", domain, "again", retryAfter, "error", err)
				pause = retryAfter
			}
		}
	}
}

// look obtains the certificate of a domain, or warns of its end.
func (a *Authority) look(ctx context.Context, domain string) error {
	type result struct {
		cert *tls.Certificate
		err  error
	}
	done := make(chan result, 1)
	go func() { // the manager takes no context, and gives up after five minutes
		cert, err := a.obtain(domain)
		done <- result{cert, err}
	}()
	var got result
	select {
	case <-ctx.Done():
		return ctx.Err()
	case got = <-done:
	}
	if got.err != nil {
		return got.err
	}
	if got.cert.Leaf == nil {
		return errors.New("the authority sent no certificate")
	}
	begins, ends := got.cert.Leaf.NotBefore, got.cert.Leaf.NotAfter
	select {
	case <-a.ready[domain]:
	default:
		close(a.ready[domain])
		a.log.Info("the TLS certificate is there", "domain", domain, "ends", ends)
	}
	if left := time.Until(ends); left < min(warnBefore, ends.Sub(begins)/warnPortion) {
		a.log.Warn("the TLS certificate ends soon and was not renewed", "domain", domain, "ends", ends)
	}
	return nil
}
