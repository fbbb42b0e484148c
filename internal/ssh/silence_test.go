package ssh

import (
	"io"
	"log/slog"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ssh"

	"arbor/internal/admission"
	"arbor/internal/test/testkit"
)

// buffered is an end of a pipe that does not wait for the other end to read: both begin by writing.
type buffered struct {
	net.Conn
	sent chan []byte
}

func newBuffered(c net.Conn) *buffered {
	b := &buffered{c, make(chan []byte, 100)}
	go func() {
		for part := range b.sent {
			if _, err := c.Write(part); err != nil {
				return
			}
		}
	}()
	return b
}

func (b *buffered) Write(p []byte) (int, error) {
	b.sent <- slices.Clone(p)
	return len(p), nil
}

// Clients that connect and then say nothing, or begin a handshake and then say nothing, have no turn among
// those that shake hands: another one finds out at once which server it is.
func TestSilenceHasNoTurn(t *testing.T) {
	host := testkit.Signer(t)
	for name, said := range map[string]string{
		"nothing": "", "a part of a line": "SSH-2", "a line": "SSH-2.0-x\r\n",
		"a part of a packet": "SSH-2.0-x\r\n\x00\x00\x01\x00",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(Options{Control: admission.New(1<<30, nil), HostKeys: []ssh.Signer{host},
					Log: slog.New(slog.DiscardHandler)})
				for range 200 { // more than the server shakes hands with at one time
					ours, theirs := net.Pipe()
					go s.serve(t.Context(), ours)
					go io.Copy(io.Discard, theirs)
					go io.WriteString(theirs, said)
				}
				synctest.Wait()
				ours, theirs := net.Pipe()
				go s.serve(t.Context(), ours)
				client := newBuffered(theirs)
				began, met := time.Now(), false
				_, _, _, err := ssh.NewClientConn(client, "", &ssh.ClientConfig{User: user,
					HostKeyCallback: func(string, net.Addr, ssh.PublicKey) error {
						met = true
						return nil
					}})
				if waited := time.Since(began); !met || waited != 0 {
					t.Errorf("after %v: %v", waited, err)
				}
				theirs.Close()
				close(client.sent)
				time.Sleep(time.Minute) // until all have been given up
			})
		})
	}
}
