// Package certificate has what a server needs to speak TLS itself.
//
//   - pair.go: a certificate and its key in files, which are read anew when they change
//   - authority.go: certificates that an authority issues by ACME (RFC 8555)
//   - redirect.go: the plain listener beside it, which leads to https
//
// Both sources give the certificate of a handshake from memory. What takes long (asking an
// authority) happens beside the handshakes, so a crowd of them starts nothing.
package certificate

import (
	"crypto/tls"
	"net"

	"golang.org/x/crypto/acme"
)

// Source gives the certificate for a handshake.
type Source interface {
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
}

// Listen lets clients of l speak TLS 1.2 or newer, and HTTP/2 or HTTP/1.1 in it. The HTTP
// server makes the handshake, within its own timeout.
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
