package server_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/load"
	"arbor/internal/test/testkit"
)

// places sets a server's limit of connections.
func places(most int) apitest.Option {
	return func(o *server.Options) {
		o.Admission = admission.New(1<<30, nil)
		o.Admission.Conns = admission.NewConns(most, nil)
	}
}

// besiegeAll has each of eight networks open more connections than its share.
func besiegeAll(t *testing.T, s *apitest.Server, most int, said string) {
	t.Helper()
	for n := range 8 {
		load.Open(t, s.Address, fmt.Sprintf("127.0.%d.1", n+1), most, said)
	}
	testkit.Eventually(t, func() bool {
		open, _ := s.Admitted.Open()
		return open >= int64(most)-1
	}, "all places are taken")
}

// Clients of eight networks that connect and say nothing, or not all of what they begin, or that have been
// served and say nothing more, closed the server for everybody else.
func TestSilenceClosesNothing(t *testing.T) {
	t.Parallel()
	const most = 16
	whole := load.Head("GET /healthz")
	for name, said := range map[string]string{
		"nothing": "", "a part of a head": "GET /healthz HTTP/1.1\r\nHost: h\r\n", "a whole request": whole,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apitest.Start(t, db.SQLite, places(most))
			s.Log.AllowErrors()
			besiegeAll(t, s, most, said)
			for range 3 {
				// Clients are not silent until they are served, and not before the server has read what they say.
				testkit.Eventually(t, func() bool {
					got, _ := tryFrom(t, s, "127.9.9.9", "", "/healthz")
					return got == http.StatusOK
				}, "another network is served")
			}
		})
	}
}

// The same with TLS: handshakes that do not begin or do not end, and connections of HTTP/2 without a request.
func TestSilenceClosesNoTLS(t *testing.T) {
	t.Parallel()
	const most = 16
	for name, said := range map[string]string{
		"nothing": "", "a part of a ClientHello": "\x16\x03\x01\x02\x00\x01", "no request": http2.ClientPreface,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, certFile := apitest.StartTLS(t, db.SQLite, places(most))
			s.Log.AllowErrors()
			if said != http2.ClientPreface {
				besiegeAll(t, s, most, said)
			} else {
				for n := range most { // a network alone gets half of them
					quietH2(t, s, certFile, fmt.Sprintf("127.0.%d.1", n))
				}
			}
			for range 3 {
				serves(t, s, certFile)
			}
		})
	}
}

// quietH2 opens a connection of HTTP/2, and waits until the server has said what it takes.
func quietH2(t *testing.T, s *apitest.Server, certFile, from string) {
	t.Helper()
	a := dialH2(t, s, certFile, from)
	testkit.NoError(t, a.Until(testkit.Patience, func(f http2.Frame) bool {
		_, ok := f.(*http2.SettingsFrame)
		return ok
	}))
}

// A connection that gave way is closed, so that its client finds out.
func TestSilentClientHears(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, places(16))
	s.Log.AllowErrors()
	var all []net.Conn
	for range 4 {
		for n := range 8 {
			all = append(all, load.Open(t, s.Address, fmt.Sprintf("127.0.%d.1", n+1), 1, "")...)
		}
	}
	all[0].SetReadDeadline(time.Now().Add(testkit.Patience))
	if _, err := all[0].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the oldest stays open: %v", err)
	}
}
