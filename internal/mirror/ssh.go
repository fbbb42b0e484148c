package mirror

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/hook/outgoing"
	"arbor/internal/lfs"
	"arbor/internal/lfs/client"
)

// Bounds of conversations by SSH.
const (
	startTime     = 30 * time.Second // from the connection to the command that runs
	authorizeTime = 30 * time.Second
	maxAuthorized = 64 << 10 // bytes of the answer of git-lfs-authenticate
)

// SSH is what a mirror by SSH has.
type SSH struct {
	PublicKey string // of the pair with which the server signs in, as a line of authorized_keys
	HostKey   string // the fingerprint by which the other server is known; empty: it was not seen yet
	Offered   string // the fingerprint of another key, for which the mirror was stopped; empty: none

	secret   string // the encrypted private key
	hostKind string // of the host key; empty: not known
}

// newSSH creates a key pair for a mirror.
func (s *Service) newSSH(m *Mirror) (*SSH, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	sealed, err := s.seal(m.RepoID, forSSH, base64.RawStdEncoding.EncodeToString(private.Seed()))
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + " arbor-mirror"
	return &SSH{PublicKey: line, secret: sealed}, err
}

// signer decrypts the private key. Error: *git.RemoteError.
func (s *Service) signer(m *Mirror) (ssh.Signer, error) {
	text, err := s.open(m.RepoID, forSSH, m.SSH.secret)
	if errors.Is(err, errKey) || errors.Is(err, errNoKey) {
		err = &git.RemoteError{Reason: "its key pair was encrypted with a key that is not in this server's data folder: " +
			"set it up again and add the new public key to the other server"}
	}
	if err != nil {
		return nil, err
	}
	seed, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, errors.New("mirror: a private key is damaged")
	}
	return ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed))
}

// errHostKey says that the other server has another key than the one that is known.
var errHostKey = errors.New("mirror: another host key")

// connection is one by SSH to the other side of a mirror. It ends with the context with which it was made.
type connection struct {
	*ssh.Client
	conn  net.Conn
	until time.Time // when the first command must run
	stop  func() bool
}

// Close ends the connection.
func (c *connection) Close() error {
	c.stop()
	return c.Client.Close()
}

// dialSSH signs in at the other side of a mirror. Its first host key is remembered; any other one stops the mirror until
// an administrator accepts it. Errors: stopError, *git.RemoteError.
func (s *Service) dialSSH(ctx context.Context, m *Mirror, at *url.URL) (*connection, error) {
	signer, err := s.signer(m)
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort(at.Hostname(), portOf(at))
	conn, err := s.Networks.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, &git.RemoteError{Reason: outgoing.Describe(err)}
	}
	made := &connection{conn: conn, until: time.Now().Add(startTime),
		stop: context.AfterFunc(ctx, func() { conn.Close() })}
	_ = conn.SetDeadline(made.until)
	var seen ssh.PublicKey
	c, channels, requests, err := ssh.NewClientConn(conn, address, &ssh.ClientConfig{
		User: at.User.Username(), Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, ClientVersion: "SSH-2.0-Arbor",
		HostKeyAlgorithms: hostKeyAlgorithms(m.SSH.hostKind),
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			if seen = key; m.SSH.HostKey != "" && ssh.FingerprintSHA256(key) != m.SSH.HostKey {
				return errHostKey
			}
			return nil
		}})
	if noteErr := s.noteHostKey(ctx, m, seen); noteErr != nil {
		made.stop()
		return nil, errors.Join(noteErr, conn.Close())
	}
	if err != nil {
		made.stop()
		conn.Close()
		return nil, m.refusedBy(err, seen)
	}
	made.Client = ssh.NewClient(c, channels, requests)
	return made, nil
}

// noteHostKey stores a host key of the other server: the first one as trusted, a different one as offered.
func (s *Service) noteHostKey(ctx context.Context, m *Mirror, seen ssh.PublicKey) error {
	if seen == nil || ssh.FingerprintSHA256(seen) == m.SSH.HostKey && m.SSH.hostKind != "" {
		return nil
	}
	print, kind := ssh.FingerprintSHA256(seen), seen.Type()
	err := s.db.Write(ctx, func(tx *db.Tx) error { return noteHostKey(tx, m, print, kind) })
	if err == nil && m.SSH.HostKey == "" {
		m.SSH.HostKey, m.SSH.hostKind = print, kind
	}
	return err
}

// refusedBy converts an error of the sign-in to an error for the repository's administrators.
func (m *Mirror) refusedBy(err error, seen ssh.PublicKey) error {
	switch {
	case errors.Is(err, errHostKey):
		return stopError("its host key was " + m.SSH.HostKey + " and is now " + ssh.FingerprintSHA256(seen) +
			": accept it if the other server confirms it")
	case strings.Contains(err.Error(), "unable to authenticate"):
		return &git.RemoteError{Reason: "it does not accept the key of the mirror: add its public key there"}
	case seen == nil:
		return &git.RemoteError{Reason: "it does not speak SSH, or no version that this server speaks"}
	}
	return &git.RemoteError{Reason: "the other server closed the connection during sign-in"}
}

// hostKeyAlgorithms returns the algorithms to offer, with those of the known host key first, so that a server with
// several keys presents the known one.
func hostKeyAlgorithms(kind string) []string {
	all := ssh.SupportedAlgorithms().HostKeys
	known := func(name string) bool {
		return name == kind || kind == ssh.KeyAlgoRSA && (name == ssh.KeyAlgoRSASHA256 || name == ssh.KeyAlgoRSASHA512)
	}
	slices.SortStableFunc(all, func(a, b string) int {
		switch {
		case known(a) == known(b):
			return 0
		case known(a):
			return -1
		}
		return 1
	})
	return all
}

// sshPath is the path of a repository as git sends it: /~ begins a path below somebody's home.
func sshPath(at *url.URL) string {
	if strings.HasPrefix(at.Path, "/~") {
		return at.Path[1:]
	}
	return at.Path
}

// quoted is a word of a command line for a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// connectSSH returns the Connect of the mirror's git.Remote.
func (s *Service) connectSSH(m *Mirror, at *url.URL) func(context.Context, string, io.Writer) (git.Stream, error) {
	return func(ctx context.Context, service string, said io.Writer) (git.Stream, error) {
		c, err := s.dialSSH(ctx, m, at)
		if err != nil {
			return nil, err
		}
		stream, err := startSSH(c, service+" "+quoted(sshPath(at)), said)
		if err != nil {
			reason := "it does not run " + service
			if !time.Now().Before(c.until) {
				reason = "it took too long"
			}
			return nil, errors.Join(&git.RemoteError{Reason: reason}, err, c.Close())
		}
		return stream, nil
	}
}

// sshStream is a command that runs at the other side.
type sshStream struct {
	io.Reader
	io.WriteCloser // its standard input
	client         *connection
}

// startSSH runs a command at the other side, which then may take as long as the context of the connection.
func startSSH(c *connection, command string, said io.Writer) (*sshStream, error) {
	session, err := c.NewSession()
	if err != nil {
		return nil, err
	}
	session.Stderr = said
	in, err := session.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := session.Start(command); err != nil {
		return nil, err
	}
	return &sshStream{out, in, c}, c.conn.SetDeadline(time.Time{})
}

// CloseWrite closes the command's standard input.
func (s *sshStream) CloseWrite() error { return s.WriteCloser.Close() }

// Close ends the connection.
func (s *sshStream) Close() error { return s.client.Close() }

// authorizeSSH asks the other side where objects of Git LFS are, and for a token, as git lfs does. Errors: stopError,
// *git.RemoteError.
func (s *Service) authorizeSSH(ctx context.Context, m *Mirror, at *url.URL) (*client.Server, error) {
	ctx, cancel := context.WithTimeout(ctx, authorizeTime)
	defer cancel()
	c, err := s.dialSSH(ctx, m, at)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	way := "download"
	if m.Push {
		way = "upload"
	}
	none := &git.RemoteError{Reason: "the other server has no Git LFS over SSH"}
	out, err := startSSH(c, "git-lfs-authenticate "+quoted(sshPath(at))+" "+way, io.Discard)
	if err != nil {
		return nil, none
	}
	text, err := io.ReadAll(io.LimitReader(out, maxAuthorized))
	var ticket lfs.Ticket
	if err != nil || json.Unmarshal(bytes.TrimSpace(text), &ticket) != nil {
		return nil, none
	}
	base := client.Base(&url.URL{Scheme: "https", Host: at.Hostname(), Path: at.Path})
	if ticket.Href != "" {
		base, err = url.Parse(ticket.Href)
	}
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.User != nil {
		return nil, none
	}
	header := http.Header{}
	for name, value := range ticket.Header {
		header.Set(name, value)
	}
	return client.New(base, header, s.Networks), nil
}
