package mirror

import (
	"context"
	"io"
	"net"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"arbor/internal/git"
	"arbor/internal/hook/outgoing"
	"arbor/internal/test/testkit"
)

// silent is a mirror whose other side signs everybody in. It accepts sessions if it should, and says nothing more.
// asked gets something with each session that is asked for, ended with each connection that ends.
type silent struct {
	connect func(context.Context, string, io.Writer) (git.Stream, error)
	asked   chan struct{}
	ended   chan struct{}
}

func newSilent(t *testing.T, sessions bool) *silent {
	t.Helper()
	host := testkit.Signer(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	out := &silent{asked: make(chan struct{}, 10), ended: make(chan struct{}, 10)}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go out.serve(conn, host, sessions)
		}
	}()
	s := &Service{keys: t.TempDir(), Networks: outgoing.Networks{netip.MustParsePrefix("127.0.0.0/8")}}
	m := &Mirror{RepoID: 1}
	m.SSH, err = s.newSSH(m)
	testkit.NoError(t, err)
	m.SSH.HostKey, m.SSH.hostKind = ssh.FingerprintSHA256(host.PublicKey()), host.PublicKey().Type()
	out.connect = s.connectSSH(m, &url.URL{Scheme: "ssh", User: url.User("git"), Host: l.Addr().String(), Path: "/x"})
	return out
}

func (s *silent) serve(conn net.Conn, host ssh.Signer, sessions bool) {
	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(host)
	c, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	go func() {
		for asked := range channels {
			if sessions {
				_, requests, err := asked.Accept()
				if err != nil {
					return
				}
				go func() {
					for r := range requests {
						_ = r.Reply(true, nil)
					}
				}()
			}
			s.asked <- struct{}{}
		}
	}()
	_ = c.Wait()
	s.ended <- struct{}{}
}

// A mirror that is removed, or a server that stops, ends a conversation by SSH whose other side says nothing.
func TestSilentSSHEnds(t *testing.T) {
	t.Parallel()
	for name, sessions := range map[string]bool{"no session": false, "no answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSilent(t, sessions)
			ctx, cancel := context.WithCancel(t.Context())
			read := make(chan error, 1)
			go func() {
				stream, err := s.connect(ctx, "git-upload-pack", io.Discard)
				if err == nil {
					_, err = stream.Read(make([]byte, 1))
				}
				read <- err
			}()
			<-s.asked
			cancel()
			waitFor(t, "the end of the run", read)
			waitFor(t, "the end of the connection", s.ended)
		})
	}
}

func waitFor[T any](t *testing.T, what string, from <-chan T) {
	t.Helper()
	select {
	case <-from:
	case <-time.After(startTime / 2):
		t.Errorf("%s did not come", what)
	}
}
