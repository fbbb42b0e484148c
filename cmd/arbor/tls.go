package main

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/certificate"
	"arbor/internal/server"
)

// tlsFlags say how the server speaks TLS itself.
type tlsFlags struct {
	TLSCert       string   `name:"tls-cert" group:"TLS" help:"Serve TLS with this certificate (PEM, followed by its chain). Reloaded when it changes." placeholder:"FILE"`
	TLSKey        string   `name:"tls-key" group:"TLS" help:"Private key of --tls-cert (PEM)." placeholder:"FILE"`
	ACMEDomain    []string `name:"acme-domain" group:"TLS" help:"Serve TLS with ACME certificates for these names; you agree to the authority's terms. Comma-separated or repeated." placeholder:"NAME"`
	ACMEEmail     string   `name:"acme-email" group:"TLS" help:"Contact address for the certificate authority." placeholder:"ADDRESS"`
	ACMEDirectory string   `name:"acme-directory" group:"TLS" help:"ACME directory of the certificate authority (default: Let's Encrypt)." placeholder:"URL"`
	HTTPRedirect  string   `name:"http-redirect" group:"TLS" help:"Listen address that redirects HTTP to HTTPS, at --base-url or an --acme-domain, and answers HTTP-01 challenges." placeholder:"ADDRESS"`
}

// front is what stands before the interface: TLS, and the plain listener that leads to it.
type front struct {
	source    certificate.Source     // nil: no TLS
	authority *certificate.Authority // nil without ACME; else the source
	redirect  string                 // the plain listener's address; empty: none
	hosts     []string               // of https, to which it leads
	log       *slog.Logger
}

// checkTLS refuses flags that cannot be meant. The server's own were checked before.
func (f *tlsFlags) checkTLS(c *serveCommand) error {
	switch {
	case (f.TLSCert == "") != (f.TLSKey == ""):
		return misuse("--tls-cert and --tls-key go together: %s is missing", f.missing())
	case f.TLSCert != "" && len(f.ACMEDomain) > 0:
		return misuse("--tls-cert and --acme-domain cannot be used together")
	case len(f.ACMEDomain) == 0 && (f.ACMEEmail != "" || f.ACMEDirectory != ""):
		return misuse("--acme-email and --acme-directory require --acme-domain")
	case len(f.ACMEDomain) > 0 && c.Ephemeral:
		return misuse("--acme-domain and --ephemeral cannot be used together: use --tls-cert")
	case f.HTTPRedirect != "" && len(f.ACMEDomain) == 0 && !strings.HasPrefix(c.BaseURL, "https://"):
		return misuse("--http-redirect requires --base-url https://HOST or --acme-domain")
	case (f.TLSCert != "" || len(f.ACMEDomain) > 0) && strings.HasPrefix(c.BaseURL, "http:"):
		return misuse("--base-url begins with http:, but with TLS all addresses begin with https:")
	}
	return nil
}

func (f *tlsFlags) missing() string {
	if f.TLSKey == "" {
		return "--tls-key"
	}
	return "--tls-cert"
}

// openTLS reads the certificate, or makes ready to ask for it.
func (f *tlsFlags) openTLS(c *serveCommand, log *slog.Logger) (front, error) {
	to := front{redirect: f.HTTPRedirect, log: log}
	switch {
	case f.TLSCert != "":
		pair, err := certificate.LoadPair(f.TLSCert, f.TLSKey, log)
		if err != nil {
			return front{}, err
		}
		to.source = pair
	case len(f.ACMEDomain) > 0:
		a, err := certificate.NewAuthority(certificate.AuthorityOptions{Domains: f.ACMEDomain,
			Email:     f.ACMEEmail,
			Directory: f.ACMEDirectory, Cache: filepath.Join(c.Data, "acme"), Log: log})
		if err != nil {
			return front{}, misuse("--acme-domain, --acme-directory: %v", err)
		}
		to.source, to.authority = a, a
	}
	to.hosts = f.hosts(c, to.authority)
	return to, nil
}

// hosts are those of https addresses: of --base-url, else the names of the certificates with the
// port that the server listens on.
func (f *tlsFlags) hosts(c *serveCommand, a *certificate.Authority) []string {
	if u, err := url.Parse(c.BaseURL); err == nil && u.Scheme == "https" {
		return []string{u.Host}
	}
	if a == nil {
		return nil
	}
	_, port, _ := net.SplitHostPort(c.Listen)
	hosts := make([]string, 0, len(a.Domains()))
	for _, domain := range a.Domains() {
		if port := cmp.Or(port, "443"); port != "443" {
			domain = net.JoinHostPort(domain, port)
		}
		hosts = append(hosts, domain)
	}
	return hosts
}

func (f *front) scheme() string {
	if f.source != nil {
		return "https"
	}
	return "http"
}

// run does the background work, until ctx is done.
func (f *front) run(ctx context.Context) error {
	if f.authority == nil {
		return nil
	}
	return f.authority.Run(ctx)
}

// serveRedirect answers on the plain listener. Its connections count with all others.
func (f *front) serveRedirect(ctx context.Context, l net.Listener, conns *admission.Conns) error {
	h := http.Handler(certificate.Redirect(f.hosts))
	if f.authority != nil {
		h = f.authority.Challenges(h)
	}
	return server.Serve(ctx, l, certificate.Paced(h), f.log, conns, nil)
}
