package repos_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// What SSH is for elsewhere, and not here, is refused, and the connection lives on.
func TestOtherUsesAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		w.Repo(t, "alice/garden", false)
		k := w.login(t, "alice")
		c := w.connect(t, k)
		s, err := c.NewSession()
		testkit.NoError(t, err)
		defer s.Close()
		if err := s.RequestPty("xterm", 24, 80, nil); err == nil {
			t.Error("there is a terminal")
		}
		if err := s.RequestSubsystem("sftp"); err == nil {
			t.Error("there is a subsystem")
		}
		for _, name := range []string{"PATH", "LD_PRELOAD", "GIT_TRACE", "GIT_CONFIG_COUNT"} {
			if err := s.Setenv(name, "1"); err == nil {
				t.Errorf("%s is taken", name)
			}
		}
		if err := s.Setenv("GIT_PROTOCOL", "version=2"); err != nil {
			t.Error(err)
		}
		for _, what := range []string{"x11-req", "auth-agent-req@openssh.com", "window-change", "nothing"} {
			if ok, err := s.SendRequest(what, true, nil); ok || err != nil {
				t.Errorf("%s: %v, %v", what, ok, err)
			}
		}
		for _, kind := range []string{"direct-tcpip", "direct-streamlocal@openssh.com", "x11",
			"tun@openssh.com"} {
			_, _, err := c.OpenChannel(kind, nil)
			if refused, ok := errors.AsType[*ssh.OpenChannelError](err); !ok || refused.Reason != ssh.Prohibited {
				t.Errorf("%s: %v", kind, err)
			}
		}
		for _, what := range []string{"tcpip-forward", "streamlocal-forward@openssh.com",
			"hostkeys-prove-00@openssh.com"} {
			if ok, _, err := c.SendRequest(what, true, nil); ok || err != nil {
				t.Errorf("%s: %v, %v", what, ok, err)
			}
		}
		if said := may(t, c, "git-upload-pack", "alice/garden"); said != "" {
			t.Errorf("then a fetch hears %q", said)
		}
	})
}

// Connections without a key get nothing with any method, and a user with a key can sign in only with it.
func TestSignIn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		k := w.login(t, "alice")
		if _, err := w.dial(testkit.Signer(t), "git"); err == nil {
			t.Error("an unknown key signs in")
		}
		for _, user := range []string{"alice", "root", ""} {
			if _, err := w.dial(k, user); err == nil {
				t.Errorf("%q signs in", user)
			}
		}
		config := &ssh.ClientConfig{User: "git", HostKeyCallback: ssh.FixedHostKey(w.host),
			Auth: []ssh.AuthMethod{ssh.Password(w.Token(t, "alice")), ssh.KeyboardInteractive(
				func(string, string, []string, []bool) ([]string, error) { return nil, nil })}}
		if _, err := ssh.Dial("tcp", w.address, config); err == nil {
			t.Error("a token signs in as a password")
		}
		certificate := &ssh.Certificate{Key: k.PublicKey(), CertType: ssh.UserCert,
			ValidPrincipals: []string{"git"}, ValidBefore: ssh.CertTimeInfinity}
		testkit.NoError(t, certificate.SignCert(rand.Reader, k))
		signer, err := ssh.NewCertSigner(certificate, k)
		testkit.NoError(t, err)
		if _, err := w.dial(signer, "git"); err == nil {
			t.Error("a certificate signs in")
		}
	})
}

// Sessions of a connection, and what it asks for in vain, are bounded: the rest is for others.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		k := w.login(t, "alice")
		c := w.connect(t, k)
		var refused *ssh.OpenChannelError
		for n := 0; ; n++ {
			_, err := c.NewSession()
			if errors.As(err, &refused) && refused.Reason == ssh.ResourceShortage && n == 10 {
				break
			}
			if err != nil || n == 10 {
				t.Fatalf("session %d: %v", n, err)
			}
		}
		c.Close()
		c = w.connect(t, k)
		for range 300 { // of a client that waits for a long clone
			if _, _, err := c.SendRequest("keepalive@openssh.com", true, nil); err != nil {
				t.Fatal(err)
			}
		}
		for n := 0; ; n++ {
			if _, _, err := c.OpenChannel("direct-tcpip", nil); !errors.As(err, &refused) {
				break
			}
			if n == 1000 {
				t.Fatal("a thousand channels were asked for in vain")
			}
		}
		held := func() (bytes int64) {
			for _, u := range w.Admitted.Usage() {
				if u.Kind == "work" {
					bytes = u.Held
				}
			}
			return bytes
		}
		testkit.Eventually(t, func() bool { return held() == 0 }, "no bytes are held")
	})
}

// Bytes that are not SSH and messages that are not git end only their own connection.
func TestNonsense(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		r := w.Repo(t, "alice/garden", false)
		w.Import(t, r, gittest.Repository(t, 2, 2))
		for _, text := range []string{"", "GET / HTTP/1.1\r\n\r\n",
			"SSH-2.0-x\r\n" + strings.Repeat("\xff", 5000), "SSH-1.5-x\r\n"} {
			conn, err := net.Dial("tcp", w.address)
			testkit.NoError(t, err)
			fmt.Fprint(conn, text)
			_ = conn.(*net.TCPConn).CloseWrite()
			_ = conn.SetReadDeadline(time.Now().Add(testkit.Patience))
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%.20q: the connection stays", text)
			}
			conn.Close()
		}
		c := w.connect(t, w.login(t, "alice"))
		flush := wire.FlushPkt
		for _, m := range []struct{ service, protocol, say string }{
			{"git-upload-pack", "version=0", "xxxx"}, {"git-upload-pack", "version=0", "0003"},
			{"git-upload-pack", "version=0", "0010want"},
			{"git-upload-pack", "version=0", "0008nope" + flush},
			{"git-upload-pack", "version=2", "0014command=explode\n" + flush},
			{"git-upload-pack", "version=2", "fff0"}, {"git-upload-pack", "version=2", "0012command=fetch\n"},
			{"git-upload-pack", "version=7:x", flush}, {"git-upload-pack", "", ""}, {"git-receive-pack",
				"version=2", ""},
			{"git-receive-pack", "version=1", flush}, {"git-receive-pack", "",
				"0008nope" + flush}, {"git-receive-pack", "", "zzzz"},
			{"git-receive-pack", "", string(wire.AppendPkt(nil,
				string(git.ZeroSHA)+" "+strings.Repeat("a", 40)+" refs/heads/x\x00 report-status")) + flush},
			{"git-receive-pack", "", string(wire.AppendPkt(nil,
				string(git.ZeroSHA)+" "+strings.Repeat("a", 40)+" refs/heads/x\x00 report-status")) + flush +
				"PACK\x00\x00\x00\x02\x00\x00\x00\x01xx"},
		} {
			k := start(t, c, m.service+" alice/garden", m.protocol)
			readGreeting(t, k.out)
			fmt.Fprint(k.in, m.say)
			out, said, err := k.end()
			if nothing := m.say == "" || m.say == flush; nothing != (err == nil) &&
				!strings.Contains(out, "unpack ") && !strings.Contains(out, "ERR ") {
				t.Errorf("%v: %q %q %v", m, out, said, err)
			}
			if strings.Contains(said, "Internal") {
				t.Errorf("%v: %q", m, said)
			}
		}
		if said := may(t, c, "git-upload-pack", "alice/garden"); said != "" {
			t.Errorf("then a fetch hears %q", said)
		}
	})
}

// A stop lets what is in flight finish, and keeps nobody who does nothing.
func TestStop(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		r := w.Repo(t, "alice/garden", false)
		k := w.login(t, "alice")
		idle, busy := w.connect(t, k), w.connect(t, k)
		dir := gittest.Repository(t, 3, 4)
		tip := gittest.Run(t, dir, "rev-parse", "main")
		pack := gittest.Pipe(t, dir, nil, "pack-objects", "-q", "--all", "--stdout")
		push := start(t, busy, "git-receive-pack 'alice/garden'")
		readGreeting(t, push.out)
		command := wire.AppendPkt(nil, string(git.ZeroSHA)+" "+tip+" refs/heads/main\x00 report-status")
		sshSend(t, push.in, append(append(command, "0000"...), pack[:len(pack)/2]...))
		w.waitFor(t, r, 1)
		w.stop()
		if err := idle.Wait(); err == nil {
			t.Error("an idle connection ended in peace")
		}
		if c, err := w.dial(k, "git"); err == nil {
			c.Close()
			t.Error("somebody signs in after the stop")
		}
		sshSend(t, push.in, pack[len(pack)/2:])
		if report, err := io.ReadAll(push.out); err != nil ||
			!strings.Contains(string(report), "ok refs/heads/main") {
			t.Errorf("the report is %q, %v", report, err)
		}
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
	})
}

// SSH counts like HTTP: the hourly limit, the log's line and the last use of the key.
func TestWhatIsCounted(t *testing.T) {
	t.Parallel()
	limited := func(o *server.Options) {
		o.RateLimit = 3
		o.SSH.Host, o.SSH.Port = "code.example.org", "2222"
	}
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		w.Repo(t, "alice/garden", true)
		c := w.connect(t, w.login(t, "alice"))
		for range 3 {
			if said := may(t, c, "git-upload-pack", "alice/garden"); said != "" {
				t.Fatalf("a fetch hears %q", said)
			}
		}
		if said := may(t, c, "git-upload-pack", "alice/garden"); !strings.Contains(said,
			"rate limit exceeded") {
			t.Errorf("a fetch too many hears %q", said)
		}
		w.Check(t, apitest.Case{Do: "GET /repos/alice/garden", As: "alice", Status: 200,
			Want: `{"ssh_url":"ssh://git@code.example.org:2222/alice/garden.git"}`})
		if line := "method=SSH route=git-upload-pack repo=alice/garden status=200"; !strings.Contains(
			w.Log.Text(), line) {
			t.Errorf("no line has %q:\n%s", line, w.Log.Text())
		}
	}, limited)
}

// Who asks for key exchanges all the time loses the connection; one for each megabyte is what ssh can be told
// to do.
func TestKeyExchangesAreBounded(t *testing.T) {
	t.Parallel()
	needSSH(t)
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		k := w.login(t, "alice")
		config := &ssh.ClientConfig{User: "git", Auth: []ssh.AuthMethod{ssh.PublicKeys(k)},
			HostKeyCallback: ssh.FixedHostKey(w.host), Timeout: testkit.Patience}
		config.RekeyThreshold = 1 // as often as the library can
		c, err := ssh.Dial("tcp", w.address, config)
		testkit.NoError(t, err)
		defer c.Close()
		asked := 0
		for ; err == nil && asked < 10_000; asked++ {
			_, _, err = c.SendRequest("keepalive@openssh.com", true, nil)
		}
		if err == nil || asked < 10 {
			t.Errorf("after %d keepalives with a key exchange for every few: %v", asked, err)
		}
		if said := may(t, w.connect(t, k), "git-receive-pack", "alice/nothing"); !strings.Contains(said,
			"not found") {
			t.Errorf("then a push hears %q", said)
		}
		w.Repo(t, "alice/garden", false)
		from, env := gittest.Bare(t), w.openSSH(t, "alice")
		noise := make([]byte, 20<<20)
		rand.Read(noise)
		gittest.ImportStored(t, from, strings.NewReader(gittest.CommitLine("main", 1, "x")+
			gittest.FileLines("noise", string(noise))))
		for n, v := range env {
			if strings.HasPrefix(v, "GIT_SSH_COMMAND=") {
				env[n] += " -o RekeyLimit=1M"
			}
		}
		remote := "ssh://git@" + w.address + "/alice/garden"
		run(t, from, env, "git", "push", "-q", remote, "main")
		run(t, w.dir, env, "git", "clone", "-q", "--bare", remote, "copy")
	})
}
