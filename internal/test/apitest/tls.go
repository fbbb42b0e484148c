package apitest

import (
	"net/http"
	"strings"
	"testing"

	"arbor/internal/certificate"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/testkit"
)

// StartTLS is Start for a server that speaks TLS. Its requests are made by HTTP/2. certFile
// is what clients have to trust.
func StartTLS(t testing.TB, engine db.Engine, options ...Option) (s *Server, certFile string) {
	t.Helper()
	certFile, keyFile := testkit.Certificate(t, t.TempDir())
	l, err := server.Listen("127.0.0.1:0")
	testkit.NoError(t, err)
	pair, err := certificate.LoadPair(certFile, keyFile, nil)
	testkit.NoError(t, err)
	s = startOn(t, engine, "", certificate.Listen(l, pair), options...)
	s.URL = strings.Replace(s.URL, "http:", "https:", 1)
	transport := s.client.Transport.(*http.Transport)
	transport.TLSClientConfig, transport.ForceAttemptHTTP2 = testkit.Trusting(t, certFile), true
	return s, certFile
}
