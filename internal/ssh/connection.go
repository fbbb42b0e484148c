package ssh

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
)

// user is the user name for everyone: the key identifies the account.
const user = "git"

// Limits of a signed-in client on one connection.
const (
	maxSessions = 10
	maxRefused  = 100
)

// connection is one client that has signed in.
type connection struct {
	s           *Server
	net         net.Conn
	from        netip.Addr // invalid for a socket in the file system
	fingerprint string     // of the key
	id          account.ID // of the signed-in account, which its memory is charged to

	mu       sync.Mutex
	sessions int
	refused  int
	stopping bool
	idle     *time.Timer // ends the connection; runs while the connection has no session
}

// serve serves one connection to its end.
func (s *Server) serve(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	defer s.survive()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &connection{s: s, net: conn, from: addressOf(conn)}
	s.add(c)
	defer s.remove(c)
	_ = conn.SetDeadline(time.Now().Add(handshakeTime))
	config := s.config
	config.PublicKeyCallback = c.signIn(ctx)
	e := &exchanges{begun: time.Now()}
	for _, k := range s.o.HostKeys {
		config.AddHostKey(e.counted(k))
	}
	nobody := admission.With(ctx, c.ticket()) // who signs in is not known yet
	t := &turn{ask: func() (func(), error) { return admission.Slot(nobody, admission.Handshake) }}
	signed, channels, requests, err := ssh.NewServerConn(&prompt{conn, e, t}, &config)
	t.end()
	if err != nil {
		s.o.Log.LogAttrs(ctx, slog.LevelDebug, "ssh: nobody signed in", slog.Any("address", c.from),
			slog.Any("error", err))
		return
	}
	defer signed.Close()
	c.fingerprint = signed.Permissions.Extensions[fingerprintKey]
	_ = conn.SetDeadline(time.Time{})
	if !c.begin() {
		return
	}
	defer c.idle.Stop()
	go c.refuseAll(requests)
	var open sync.WaitGroup
	for channel := range channels {
		if channel.ChannelType() != "session" {
			c.refuse(channel, ssh.Prohibited, "nothing is forwarded here")
			continue
		}
		release, reason := c.reserveSession(ctx)
		if reason != "" {
			c.refuse(channel, ssh.ResourceShortage, reason)
			continue
		}
		open.Go(func() {
			defer release()
			defer s.survive()
			c.session(ctx, channel)
		})
	}
	cancel() // the client has disconnected
	open.Wait()
}

// survive logs a panic: it ends one conversation, and not the server.
func (s *Server) survive() {
	if p := recover(); p != nil {
		s.o.Log.Error("ssh: panic", "panic", p, "stack", string(debug.Stack()))
	}
}

func addressOf(conn net.Conn) netip.Addr {
	at, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// begin starts the clock of a connection without a channel; false where the server stops.
func (c *connection) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = time.AfterFunc(idleTime, func() { c.net.Close() })
	return !c.stopping
}

const fingerprintKey = "fingerprint"

// signIn looks up offered keys. A suspended account is refused only after the client has proven
// that it has the key.
func (c *connection) signIn(
	ctx context.Context,
) func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
	told := false
	return func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if meta.User() != user {
			err := errs.New(errs.Unauthenticated, "another user name than git")
			if told {
				return nil, err
			}
			told = true
			return nil, &ssh.BannerError{Err: err,
				Message: "The user name is git for everybody, your key says who you are: ssh git@...\r\n"}
		}
		if _, isCertificate := key.(*ssh.Certificate); isCertificate {
			return nil, errs.New(errs.Unauthenticated, "certificates are not supported")
		}
		fingerprint := ssh.FingerprintSHA256(key)
		caller, err := c.s.o.Tokens.CallerOfKey(ctx, fingerprint)
		if err != nil && !errs.Is(err, errs.Forbidden) {
			if !errs.Is(err, errs.Unauthenticated) && ctx.Err() == nil {
				c.s.o.Log.Error("ssh: a key was not looked up", "error", err)
			}
			return nil, err
		}
		c.id = account.IDOf(caller)
		return &ssh.Permissions{Extensions: map[string]string{fingerprintKey: fingerprint}}, nil
	}
}

// refuseAll rejects global requests, such as port forwarding.
func (c *connection) refuseAll(requests <-chan *ssh.Request) {
	for r := range requests {
		if r.Type != "keepalive@openssh.com" { // any reply keeps the client alive
			c.count()
		}
		if r.WantReply {
			_ = r.Reply(false, nil)
		}
	}
}

func (c *connection) refuse(channel ssh.NewChannel, why ssh.RejectionReason, message string) {
	c.count()
	_ = channel.Reject(why, message)
}

// count ends a connection with too many rejected requests.
func (c *connection) count() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused++; c.refused > maxRefused {
		c.net.Close()
	}
}

// window is how many bytes a client may send on a channel before they are read: golang.org/x/crypto/ssh
// buffers that much without a setting. Buffers come on top.
const window = 2<<20 + 256<<10

// reserveSession reserves a session. If there is none left, it returns the reason.
func (c *connection) reserveSession(ctx context.Context) (release func(), refused string) {
	c.mu.Lock()
	full := c.sessions == maxSessions || c.stopping
	if !full {
		c.sessions++
		c.idle.Stop()
		c.s.o.Control.SetSilent(c.net, false)
	}
	c.mu.Unlock()
	if full {
		return nil, "too many sessions on one connection"
	}
	give, err := admission.Memory(admission.With(ctx, c.ticket()), window)
	if err != nil {
		c.close()
		return nil, err.Error()
	}
	return func() {
		give()
		c.close()
	}, ""
}

// close notes the end of a session.
func (c *connection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions--
	if c.sessions > 0 {
		return
	}
	if c.stopping {
		c.net.Close()
		return
	}
	c.s.o.Control.SetSilent(c.net, true)
	c.idle.Reset(idleTime)
}

// ticket is one of the account that signed in, or of the network while that is suspended.
func (c *connection) ticket() *admission.Ticket {
	t := c.s.o.Control.NewTicket(admission.Holder{Network: admission.NetworkOf(c.from)})
	if c.id != 0 {
		t.SignIn(int64(c.id))
	}
	return t
}

// stop ends the connection as soon as nothing is in flight.
func (c *connection) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping = true; c.sessions == 0 {
		c.net.Close()
	}
}

// prompt sets a deadline for each write to a client, so that a client that does not read cannot
// block us, in any state. Until the handshake is done, the connection has a deadline of its own, and the client
type prompt struct {
	net.Conn
	e    *exchanges
	turn *turn
}

// longestWrite is how long one packet of up to 32 KiB may take.
const longestWrite = admission.Grace + 4*time.Second

func (p *prompt) Write(b []byte) (int, error) {
	timer := time.AfterFunc(longestWrite, func() { p.Close() })
	defer timer.Stop()
	n, err := p.Conn.Write(b)
	p.e.moved.Add(int64(n))
	return n, err
}

func (p *prompt) Read(b []byte) (int, error) {
	p.turn.give()
	n, err := p.Conn.Read(b)
	p.e.moved.Add(int64(n))
	if err == nil {
		err = p.turn.take()
	}
	return n, err
}
