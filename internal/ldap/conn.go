package ldap

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	ldaplib "github.com/go-ldap/ldap/v3"

	"arbor/internal/errs"
)

// Bounds of what a directory may answer, in bytes.
const (
	maxMessage = 16 << 20  // one message
	maxAnswers = 512 << 20 // of one connection
)

const dialTime = 4 * time.Second // for one server, until it is bound

// Failure says what of a directory failed, in words without addresses and names.
type Failure struct {
	What string
	Err  error
}

// Error implements error.
func (f *Failure) Error() string { return f.What + ": " + f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

func failed(what string, err error) error { return &Failure{what, err} }

// unavailable is the 503 for people who sign in.
func (d *Directory) unavailable(cause error) error {
	return errs.Wrap(errs.Unavailable,
		d.Label+" cannot be asked at this moment. Try again later, or sign in another way.", cause)
}

// conn is a connection that is bound as the service's account.
type conn struct {
	*ldaplib.Conn
	d *Directory
	g *groups
}

// boundMessages bounds the messages of the library, once.
var boundMessages = sync.OnceFunc(func() { ber.MaxPacketLengthBytes = maxMessage })

// with calls fn with a connection, which is closed then. All of it takes at most limit.
func (d *Directory) with(ctx context.Context, limit time.Duration, fn func(*conn) error) error {
	return d.withOneOf(ctx, d.Servers, limit, fn)
}

// withOneOf is with for some of the servers.
func (d *Directory) withOneOf(
	ctx context.Context, servers []string, limit time.Duration, fn func(*conn) error,
) error {
	boundMessages()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return failed("too many sign-ins wait for it", ctx.Err())
	}
	c, err := d.connect(ctx, servers)
	if err != nil {
		return err
	}
	defer c.Close()
	return fn(c)
}

// connect connects with the first server that answers.
func (d *Directory) connect(ctx context.Context, servers []string) (c *conn, err error) {
	var all error
	for _, server := range servers {
		if c, err = d.connectTo(ctx, server); err == nil {
			return c, nil
		}
		all = errors.Join(all, err)
	}
	return nil, all
}

func (d *Directory) connectTo(ctx context.Context, server string) (*conn, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"ldap": "389", "ldaps": "636"}[u.Scheme]
	}
	dialing, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(dialing, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return nil, failed("the server cannot be reached", err)
	}
	soon, _ := dialing.Deadline()
	raw.SetDeadline(soon) // until it is bound: the next server may still be asked
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	link := net.Conn(&boundedConn{Conn: raw, left: maxAnswers, closed: stop})
	if u.Scheme == "ldaps" {
		secure := tls.Client(link, d.tls(u.Hostname()))
		if err := secure.HandshakeContext(dialing); err != nil {
			raw.Close()
			return nil, noTLS(err)
		}
		link = secure
	}
	l := ldaplib.NewConn(link, u.Scheme == "ldaps")
	l.Start()
	l.SetTimeout(time.Until(soon))
	c := &conn{Conn: l, d: d}
	c.g = &groups{c: c, above: map[string][]string{}}
	if d.StartTLS {
		if err := l.StartTLS(d.tls(u.Hostname())); err != nil {
			l.Close()
			return nil, noTLS(err)
		}
	}
	if err := c.bindService(); err != nil {
		l.Close()
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	raw.SetDeadline(deadline)
	l.SetTimeout(time.Until(deadline))
	return c, nil
}

// noTLS says why there is no secure connection.
func noTLS(err error) error {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown), strings.Contains(err.Error(), unknown.Error()): // StartTLS tells in words alone
		return failed("its certificate is of an authority that is not trusted (see ca_file)", err)
	case errors.As(err, &host):
		return failed("its certificate is for another host", err)
	case errors.As(err, &invalid):
		return failed("its certificate does not count", err)
	}
	return failed("there is no TLS connection with it", err)
}

// bindService binds as the account that searches, or as nobody.
func (c *conn) bindService() error {
	if c.d.BindDN == "" {
		if err := c.UnauthenticatedBind(""); err != nil {
			return failed("it does not let anybody search without bind_dn", err)
		}
		return nil
	}
	if err := c.Bind(c.d.BindDN, c.d.password); err != nil {
		if ldaplib.IsErrorAnyOf(err, ldaplib.LDAPResultInvalidCredentials, ldaplib.LDAPResultNoSuchObject) {
			return failed("it refuses bind_dn or its password", err)
		}
		return failed("bind_dn could not be bound", err)
	}
	return nil
}

// pageSize is how many entries are asked for at once: Active Directory gives at most 1000.
const pageSize = 500

// all reads the entries below a base that match a filter, page by page, at most so many.
func (c *conn) all(base, filter string, attributes []string, most int, fn func(*ldaplib.Entry) error) error {
	paging := ldaplib.NewControlPaging(pageSize)
	n := 0
	for {
		found, err := c.Search(ldaplib.NewSearchRequest(base, ldaplib.ScopeWholeSubtree, ldaplib.NeverDerefAliases, 0, 0,
			false, filter, attributes, []ldaplib.Control{paging}))
		if err != nil {
			return searchFailed(err)
		}
		for _, e := range found.Entries {
			if n++; n > most {
				return failed("it answers too much", fmt.Errorf("there are more than %d entries", most))
			}
			if err := fn(e); err != nil {
				return err
			}
		}
		next, _ := ldaplib.FindControl(found.Controls, ldaplib.ControlTypePaging).(*ldaplib.ControlPaging)
		if next == nil || len(next.Cookie) == 0 {
			return nil
		}
		if len(found.Entries) == 0 {
			return failed("it answers pages without end", errors.New("a page is empty, and not the last"))
		}
		paging.SetCookie(next.Cookie)
	}
}

// some reads at most so many entries, and reports an error of the directory if there are more.
func (c *conn) some(base string, scope int, filter string, attributes []string, most int) ([]*ldaplib.Entry, error) {
	request := ldaplib.NewSearchRequest(base, scope, ldaplib.NeverDerefAliases, most, 0, false, filter, attributes, nil)
	request.EnforceSizeLimit = true
	found, err := c.Search(request)
	if err != nil {
		return nil, searchFailed(err)
	}
	return found.Entries, nil
}

func searchFailed(err error) error {
	switch {
	case ldaplib.IsErrorWithCode(err, ldaplib.LDAPResultNoSuchObject):
		return failed("base or group_base does not exist, or bind_dn may not see it", err)
	case ldaplib.IsErrorWithCode(err, ldaplib.LDAPResultReferral):
		return failed("it refers to another server: name that in servers", err)
	case ldaplib.IsErrorWithCode(err, ldaplib.LDAPResultInsufficientAccessRights):
		return failed("bind_dn may not search", err)
	}
	return failed("a search failed", err)
}

// boundedConn ends when too much came.
type boundedConn struct {
	net.Conn
	left   int64
	closed func() bool
}

// Read implements net.Conn.
func (b *boundedConn) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.Conn.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// Close implements net.Conn.
func (b *boundedConn) Close() error {
	b.closed()
	return b.Conn.Close()
}
