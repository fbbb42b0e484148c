package ephemeral

import (
	"context"
	"fmt"
	"net"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"arbor/internal/test/testkit"
)

// A connection over SSH ends with the life in which it began, so nothing is pushed into the next by an old
// one; and the next is there at once.
func TestResetEndsSSH(t *testing.T) {
	t.Parallel()
	k := testkit.Signer(t)
	f := start(t, fmt.Sprintf("users:\n  - {login: alice, tokens: [arb_alice], keys: [%q]}\n",
		testkit.AuthorizedKey(k)))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.ServeSSH(ctx, l) }()
	greeted := func() *gossh.Client {
		t.Helper()
		c, err := gossh.Dial("tcp", l.Addr().String(), &gossh.ClientConfig{User: "git",
			Auth: []gossh.AuthMethod{gossh.PublicKeys(k)}, HostKeyCallback: gossh.InsecureIgnoreHostKey()})
		testkit.NoError(t, err)
		return c
	}
	for range 3 {
		c := greeted()
		f.reset(t)
		if err := c.Wait(); err == nil {
			t.Error("the connection ended in peace")
		}
	}
	greeted().Close()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
