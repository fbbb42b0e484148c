// Package outgoing sends requests to addresses that users chose. It holds what keeps the server and its
// network safe from them, and the server from receivers that hang, drip or never end.
//
//	address.go   which addresses requests may go to; a name is looked up once, checked, and pinned
//	outgoing.go  one request, and what is kept of its answer
//	fetch.go     one request whose answer is read by the caller, also after redirects
package outgoing

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

// Bounds of one request.
const (
	Timeout    = 10 * time.Second // of all of it
	maxRead    = 64 << 10         // bytes of an answer's body that are read
	maxKept    = 16 << 10         // bytes of it that are kept
	maxHeader  = 32 << 10         // bytes of its header
	maxHeaders = 64               // lines of it that are kept
	maxValue   = 1 << 10          // bytes of each
)

// Client sends requests. Safe for concurrent use.
type Client struct {
	allowed          Networks
	strict, insecure *http.Client
	timeout          time.Duration
}

// New returns a client that may also send to the given networks.
func New(allowed Networks) *Client { return newClient(allowed, net.DefaultResolver, Timeout) }

// NewPatient returns a client for Do and Fetch that waits so long until an answer begins.
func NewPatient(allowed Networks, wait time.Duration) *Client {
	c := New(allowed)
	c.strict.Transport.(*http.Transport).ResponseHeaderTimeout = wait
	return c
}

func newClient(allowed Networks, names resolver, timeout time.Duration) *Client {
	return &Client{allowed: allowed, timeout: timeout,
		strict: newHTTP(allowed, names, false), insecure: newHTTP(allowed, names, true)}
}

// newHTTP returns a client without redirects, proxies, reuse of connections and decompression.
func newHTTP(allowed Networks, names resolver, insecure bool) *http.Client {
	d := &dialer{allowed: allowed, names: names, Dialer: net.Dialer{Timeout: Timeout}}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: nil, DialContext: d.dial, DisableKeepAlives: true, DisableCompression: true,
			MaxResponseHeaderBytes: maxHeader, ResponseHeaderTimeout: Timeout, TLSHandshakeTimeout: Timeout,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: insecure},
		},
	}
}

// CheckHost is that of the networks which the client may send to.
func (c *Client) CheckHost(host string) error { return c.allowed.CheckHost(host) }

// Answer is what came of a request.
type Answer struct {
	Code   int    // of the answer; 0: there was none
	Status string // in words: "OK", "timed out"
	Header http.Header
	Body   []byte // the beginning
	Took   time.Duration
}

// Send sends a request and reads what matters of its answer. Whatever goes wrong is an Answer, too.
func (c *Client) Send(ctx context.Context, r *http.Request, insecure bool) *Answer {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	began := time.Now()
	a := &Answer{}
	defer func() { a.Took = time.Since(began) }()
	client := c.strict
	if insecure {
		client = c.insecure
	}
	response, err := client.Do(r.WithContext(ctx))
	if err != nil {
		a.Status = describe(err)
		return a
	}
	defer response.Body.Close()
	a.Body, err = io.ReadAll(io.LimitReader(response.Body, maxRead))
	a.Body = a.Body[:min(len(a.Body), maxKept)]
	a.Header = shorten(response.Header)
	if errors.Is(err, context.DeadlineExceeded) {
		a.Status = describe(err)
		return a
	}
	a.Code, a.Status = response.StatusCode, http.StatusText(response.StatusCode)
	if a.Status == "" {
		a.Status = "status " + response.Status
	}
	return a
}

// shorten keeps the first lines of a header, and of each the beginning.
func shorten(h http.Header) http.Header {
	kept, lines := http.Header{}, 0
	for name, values := range h {
		for _, v := range values {
			if lines++; lines > maxHeaders {
				return kept
			}
			kept[name] = append(kept[name], v[:min(len(v), maxValue)])
		}
	}
	return kept
}

// describe returns, in our own words and without an address, why no answer came.
func describe(err error) string {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var hostname x509.HostnameError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, ErrInner):
		return ErrInner.Error()
	case errors.Is(err, errRedirect):
		return errRedirect.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "timed out"
	case errors.Is(err, context.Canceled):
		return "the server was stopped"
	case errors.Is(err, errUnknownName):
		return errUnknownName.Error()
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "the host could not be reached"
	case errors.As(err, &unknown), errors.As(err, &invalid), errors.As(err, &hostname):
		return "the certificate was not accepted"
	case errors.As(err, &record):
		return "the receiver does not speak TLS"
	default:
		return "the connection failed"
	}
}
