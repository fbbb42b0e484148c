package repos_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// world is a server that serves git over SSH, too.
type world struct {
	*apitest.Server
	address string
	host    ssh.PublicKey
	dir     string // of keys and the settings of ssh
	stop    context.CancelFunc
	ended   chan error
}

// each runs fn on a server for each engine.
func each(t *testing.T, fn func(t *testing.T, w *world), options ...apitest.Option) {
	t.Helper()
	host := testkit.Signer(t)
	keys := func(o *server.Options) { o.SSH.HostKeys = []ssh.Signer{host} }
	apitest.Each(t, func(t *testing.T, s *apitest.Server) { fn(t, serve(t, s, host.PublicKey())) },
		append(options, keys)...)
}

func serve(t *testing.T, s *apitest.Server, host ssh.PublicKey) *world {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.NoError(t, err)
	w := &world{Server: s, address: l.Addr().String(), host: host, dir: t.TempDir(),
		ended: make(chan error, 1)}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	go func() {
		w.ended <- s.Server.ServeSSH(ctx, l)
		close(w.ended)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-w.ended; err != nil {
			t.Errorf("SSH stopped with %v", err)
		}
	})
	return w
}

// needSSH skips what works with OpenSSH, which some machines lack.
func needSSH(t *testing.T) {
	t.Helper()
	for _, name := range []string{"ssh", "ssh-keygen"} {
		if _, err := exec.LookPath(name); err == nil {
			continue
		}
		if os.Getenv("ARBOR_TEST_STRICT") == "1" {
			t.Fatalf("%s is missing, and ARBOR_TEST_STRICT=1", name)
		}
		t.Skipf("skipped: git with OpenSSH; needs %s: apt-get install openssh-client", name)
	}
}

// login creates a key of a user, with which sign signs in.
func (w *world) login(t *testing.T, login string) ssh.Signer {
	t.Helper()
	k := testkit.Signer(t)
	w.addKey(t, login, "/user/keys", k, "")
	return k
}

// addKey adds a key, and gives the address at which it can be removed.
func (w *world) addKey(t *testing.T, as, to string, k ssh.Signer, more string) (address string) {
	t.Helper()
	a := w.Check(t, apitest.Case{Do: "POST " + to, As: as, Status: 201,
		Send: fmt.Sprintf(`{"title":"t","key":%q%s}`, testkit.AuthorizedKey(k), more)})
	return strings.TrimPrefix(a.Header.Get("Location"), w.URL)
}

func (w *world) dial(k ssh.Signer, user string) (*ssh.Client, error) {
	return ssh.Dial("tcp", w.address, &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(k)},
		HostKeyCallback: ssh.FixedHostKey(w.host), Timeout: testkit.Patience})
}

// connect signs in.
func (w *world) connect(t *testing.T, k ssh.Signer) *ssh.Client {
	t.Helper()
	c, err := w.dial(k, "git")
	testkit.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// talk is a command that runs on the server.
type talk struct {
	*ssh.Session
	in     io.WriteCloser
	out    io.Reader
	stderr *bytes.Buffer
}

func start(t *testing.T, c *ssh.Client, command string, protocol ...string) *talk {
	t.Helper()
	s, err := c.NewSession()
	testkit.NoError(t, err)
	k := &talk{Session: s, stderr: &bytes.Buffer{}}
	s.Stderr = k.stderr
	if k.in, err = s.StdinPipe(); err == nil {
		k.out, err = s.StdoutPipe()
	}
	for _, p := range protocol {
		if err == nil {
			err = s.Setenv("GIT_PROTOCOL", p)
		}
	}
	if err == nil {
		err = s.Start(command)
	}
	testkit.NoError(t, err)
	return k
}

// end hangs up, and gives all that the server still said.
func (k *talk) end() (out, stderr string, err error) {
	k.in.Close()
	rest, _ := io.ReadAll(k.out)
	err = k.Wait()
	return string(rest), k.stderr.String(), err
}

// may asks for a service and hangs up: "" where it begins, else what the server says.
func may(t *testing.T, c *ssh.Client, service, repository string) string {
	t.Helper()
	out, stderr, err := start(t, c, service+" '"+repository+".git'").end()
	if err == nil && (strings.HasSuffix(out, "0000") || out == "") {
		return ""
	}
	if out != "" {
		t.Errorf("%s %s: %q, %v", service, repository, out, err)
	}
	return stderr
}

// openSSH writes a user's key and settings for ssh, and returns the environment of a git that uses them.
func (w *world) openSSH(t *testing.T, login string) []string {
	t.Helper()
	return w.openSSHWith(t, login, func(public string) {
		w.Check(t, apitest.Case{Do: "POST /user/keys", As: login,
			Send: fmt.Sprintf(`{"key":%q}`, public), Status: 201,
			Want: fmt.Sprintf(`{"title":%q,"verified":true,"last_used":null}`, login)})
	})
}

// openSSHWith is openSSH for a key that add adds to the server.
func (w *world) openSSHWith(t *testing.T, name string, add func(public string)) []string {
	t.Helper()
	file := filepath.Join(w.dir, name)
	run(t, w.dir, nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file)
	public, err := os.ReadFile(file + ".pub")
	testkit.NoError(t, err)
	add(string(public))
	host, port, _ := net.SplitHostPort(w.address)
	known := "[" + host + "]:" + port + " " + string(ssh.MarshalAuthorizedKey(w.host))
	settings := fmt.Sprintf(
		"Host *\n IdentityFile %q\n IdentitiesOnly yes\n UserKnownHostsFile %q\n GlobalKnownHostsFile none\n"+
			" BatchMode yes\n ConnectTimeout 60\n SendEnv LANG GIT_TRACE\n", file, file+".hosts")
	for name, text := range map[string]string{".hosts": known, ".ssh": settings} {
		testkit.NoError(t, os.WriteFile(file+name, []byte(text), 0o600))
	}
	return append(gittest.Env(), "GIT_SSH_COMMAND=ssh -F '"+file+".ssh'", "GIT_TRACE=0", "LANG=C")
}

// run runs a program that succeeds, and gives its output.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	out, err := try(t, dir, env, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func try(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
