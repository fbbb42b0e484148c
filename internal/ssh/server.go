// Package ssh implements fetches and pushes over SSH for users and deploy keys, and nothing else.
//
//	server.go      listening, and stopping
//	handshakes.go  the turn of a client that shakes hands
//	rekey.go       how often a client may ask for other keys
//	connection.go  the handshake: who signs in, with which key; the channels of a connection
//	session.go     what a client asks for on a channel
//	serve.go       one of git's services, with the rights and limits that it has over HTTP; tokens of Git LFS
//	command.go     the command line that git sends
//	hostkey.go     the keys by which clients know the server
//
// The protocol is golang.org/x/crypto/ssh's. Git's own part of the conversation is package repo's
// (repo.Service.Converse), keys of callers are package token's. Here is no SQL, no shell and no path of a
// file: a command names a service and a repository, or it is refused.
//
// All that a client can make large is bounded: connections (admission.Conns), the time of the handshake,
// attempts to sign in, key exchanges, channels of a connection, the memory of each, and what it asks for in
// vain.
//
// A deploy key is a caller whose reach is one repository. Protocol 2 and pushes start a process of
// git once a message is there whole. Protocols 0 and 1 negotiate, so there one process talks with
// the client, behind a filter of what that may see, and is counted among those that slow clients
// hold. A pack that comes in ends with its checksum, since clients wait for the report and hang up
// later. What golang.org/x/crypto/ssh buffers for a channel counts as the account's memory.
package ssh

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/admission"
	"arbor/internal/lfs"
	"arbor/internal/repo"
	"arbor/internal/repo/transport"
)

// Options configures a server.
type Options struct {
	Tokens    *token.Service
	Transport *transport.Service
	LFS       *lfs.Service
	Site      string // the address of the server over HTTP; empty: it is not known
	Control   *admission.Control
	Log       *slog.Logger
	HostKeys  []ssh.Signer
	NewID     func() string               // of a request, for the log
	Allow     func(*account.Caller) error // counts a request against its caller's hourly limit
	Observe   func(Served)                // counts a request that was served
	Explain   func(error) error           // distinguishes a full disk from other errors of a push
	Address   func(r *repo.Repo) string   // where a repository is now
}

// Served is a request that was served.
type Served struct {
	Service string // "git-upload-pack", "git-receive-pack", "git-lfs-transfer", "git-lfs-authenticate" or "shell"
	Status  int    // as HTTP would have it
}

// Server serves git over SSH.
type Server struct {
	o      Options
	config ssh.ServerConfig // without callbacks and host keys, which each connection has of its own

	mu       sync.Mutex
	conns    map[*connection]bool
	stopping bool
	all      sync.WaitGroup
}

// Bounds of connections.
const (
	handshakeTime = 10 * time.Second
	idleTime      = 2 * time.Minute  // without a channel
	stopTime      = 30 * time.Second // for connections in flight when the server stops
	maxTries      = 6                // keys that a client may offer, as many as sshd takes
)

// keyExchanges cost some milliseconds. Those with finite-field groups cost twenty times as much, and
// clients can request them without computing anything.
var keyExchanges = []string{ssh.KeyExchangeMLKEM768X25519, ssh.KeyExchangeCurve25519, ssh.KeyExchangeECDHP256}

// New returns a server. Options must have at least one host key.
func New(o Options) *Server {
	s := &Server{o: o, conns: map[*connection]bool{}}
	strong := ssh.SupportedAlgorithms()
	s.config = ssh.ServerConfig{
		Config:                  ssh.Config{KeyExchanges: keyExchanges, Ciphers: strong.Ciphers, MACs: strong.MACs},
		PublicKeyAuthAlgorithms: strong.PublicKeyAuths, MaxAuthTries: maxTries,
		ServerVersion: "SSH-2.0-Arbor",
	}
	return s
}

// Serve serves l until ctx is done. Then it waits up to half a minute for connections in flight.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// Connections in flight outlive ctx.
	requests, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	stop := context.AfterFunc(ctx, func() {
		l.Close()
		s.mu.Lock()
		s.stopping = true
		s.mu.Unlock()
		s.each((*connection).stop)
	})
	defer stop()
	err := s.accept(requests, l)
	if ctx.Err() == nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		s.all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(stopTime):
		abandon()
		s.each(func(c *connection) { c.net.Close() })
		<-done
	}
	return nil
}

// accept takes connections until l is closed.
func (s *Server) accept(ctx context.Context, l net.Listener) error {
	for pause := time.Duration(0); ; {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // such as too many open files
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.o.Log.Warn("ssh: a connection was not accepted", "error", err)
			time.Sleep(pause)
			continue
		}
		pause = 0
		if !s.o.Control.Enter(conn) {
			conn.Close()
			continue
		}
		s.all.Go(func() {
			defer s.o.Control.Leave(conn)
			s.serve(ctx, conn)
		})
	}
}

func (s *Server) add(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = true
	c.stopping = s.stopping
}

func (s *Server) remove(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *Server) each(do func(*connection)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		do(c)
	}
}
