// Package certificate provides what a server needs to serve TLS itself.
//
//   - pair.go: a certificate and its key in files, reloaded when they change
//   - authority.go: certificates that an authority issues by ACME (RFC 8555)
//   - redirect.go: the plain listener, which redirects to https
//
// Both sources return the certificate of a handshake from memory. What takes long (asking an
// authority) happens in the background, so a burst of handshakes starts nothing.
package certificate

import (
	"crypto/tls"
	"net"

	"golang.org/x/crypto/acme"
)

// Source returns the certificate for a handshake.
type Source interface {
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
}

// Listen wraps l in TLS 1.2 or newer, with HTTP/2 or HTTP/1.1. The HTTP server
// performs the handshake, within its own timeout.
func Listen(l net.Listener, from Source) net.Listener {
	c := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: from.GetCertificate,
	}
	if _, ok := from.(*Authority); ok {
		c.NextProtos = append(c.NextProtos, acme.ALPNProto)
	}
	return tls.NewListener(l, c)
}
