//go:build long && linux

package load

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/scope"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// world is a store with honest people's work and harmful repositories, and its server.
type world struct {
	t           testing.TB
	binary      string
	data        string
	database    string // the database's address; empty: in the data folder
	log         string // the file of the server's log
	tls         bool   // the server speaks it
	harmful     bool   // the store has what the attacks in clear need
	certificate string // the file of the server's certificate

	server     *exec.Cmd
	url        string
	address    string // HOST:PORT
	admin      string // HOST:PORT
	sshAddress string // HOST:PORT; empty where this machine has no OpenSSH
	ssh        string // the command for ssh as carol

	tokens map[string]string
	key    ssh.Signer         // mallory's
	large  string             // a clone of carol/large
	pushes map[string]*push   // packs that are harmful to unpack, by name
	tips   map[string]git.SHA // of repositories, by name
	bot    bot
}

// honestPeople work; mallory has an account and means harm.
var honestPeople = []string{"alice", "bob", "carol"}

// build compiles the program and returns its path.
func build(t testing.TB) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "arbor")
	out, err := exec.Command("go", "build", "-o", binary, "arbor/cmd/arbor").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// newWorld creates the store, starts the server and fills it through the API.
func newWorld(t testing.TB, binary string, engine db.Engine, overTLS, harmful bool) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{
		t: t, binary: binary, tls: overTLS, harmful: harmful,
		data: filepath.Join(dir, "data"), log: filepath.Join(dir, "log"),
		admin: testkit.FreeAddress(t), tokens: map[string]string{}, tips: map[string]git.SHA{}, pushes: map[string]*push{},
	}
	if engine == db.PostgreSQL {
		w.database = dbtest.URL(t, engine)
	}
	for _, login := range append([]string{"mallory"}, honestPeople...) {
		w.arbor("user", "create", login)
		w.tokens[login] = w.arbor("token", "create", login, "--scopes", strings.Join(scope.Names(), ","))
	}
	garden := gittest.Repository(t, 400, 300)
	w.arbor("repo", "create", "alice/garden", "--import", garden)
	w.arbor("repo", "create", "carol/private", "--private", "--import", garden)
	large := largeRepository(t)
	w.tips["garden"] = gittest.Resolve(t, garden, "main")
	w.tips["large"] = gittest.Resolve(t, large, "main")
	w.arbor("repo", "create", "carol/large", "--import", large)
	w.large = filepath.Join(t.TempDir(), "large")
	gittest.Run(t, "", "clone", "-q", large, w.large)
	w.addKeys()
	if harmful {
		w.plant()
		w.registerApp()
	}
	w.serve()
	w.fill()
	return w
}

func (w *world) env() []string {
	env := append(gittest.Env(), "ARBOR_DATA="+w.data, "ARBOR_CONFIG="+os.DevNull) // not this machine's
	if w.database != "" {
		env = append(env, "ARBOR_DATABASE="+w.database)
	}
	return env
}

// arbor runs a command of the operator and returns its output.
func (w *world) arbor(args ...string) string {
	w.t.Helper()
	cmd := exec.Command(w.binary, args...)
	cmd.Env = w.env()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("arbor %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// addKeys creates SSH keys for carol, who uses OpenSSH if it is installed, and for mallory.
func (w *world) addKeys() {
	w.t.Helper()
	dir := w.t.TempDir()
	file := filepath.Join(dir, "carol")
	if _, err := exec.LookPath("ssh"); err != nil {
		if os.Getenv("ARBOR_TEST_STRICT") == "1" {
			w.t.Fatal("ssh is missing, and ARBOR_TEST_STRICT=1")
		}
		w.t.Log("nothing is done over SSH; needs ssh: apt-get install openssh-client")
		return
	}
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file).CombinedOutput()
	if err != nil {
		w.t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	w.arbor("user", "key", "add", "carol", file+".pub")
	w.key = testkit.Signer(w.t)
	public := filepath.Join(dir, "mallory.pub")
	testkit.NoError(w.t, os.WriteFile(public, []byte(testkit.AuthorizedKey(w.key)), 0o600))
	w.arbor("user", "key", "add", "mallory", public)
	w.ssh = fmt.Sprintf("ssh -F none -i '%s' -o IdentitiesOnly=yes -o BatchMode=yes "+
		"-o StrictHostKeyChecking=accept-new -o UserKnownHostsFile='%s'", file, filepath.Join(dir, "known"))
	w.sshAddress = testkit.FreeAddress(w.t)
}

// serve starts the server, which stops with the test.
func (w *world) serve() {
	w.t.Helper()
	log, err := os.Create(w.log)
	testkit.NoError(w.t, err)
	defer log.Close()
	args := []string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", w.admin, "--memory", "1GiB",
		"--allow-hook-networks", "127.0.0.0/8"}
	if w.tls {
		certFile, keyFile := testkit.Certificate(w.t, w.t.TempDir())
		w.certificate = certFile
		args = append(args, "--tls-cert", certFile, "--tls-key", keyFile)
	}
	if w.sshAddress != "" {
		args = append(args, "--ssh-listen", w.sshAddress)
	}
	w.server = exec.Command(w.binary, args...)
	w.server.Env = w.env()
	w.server.Stderr = log
	w.server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // should the tests be interrupted
	out, err := w.server.StdoutPipe()
	testkit.NoError(w.t, err)
	testkit.NoError(w.t, w.server.Start())
	w.t.Cleanup(func() {
		w.server.Process.Signal(syscall.SIGTERM)
		if err := w.server.Wait(); err != nil {
			w.t.Errorf("arbor serve ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		text, _ := os.ReadFile(w.log)
		w.t.Fatalf("arbor serve: %v\n%s", err, text)
	}
	w.url = strings.TrimSpace(strings.TrimPrefix(line, "arbor listens on "))
	_, w.address, _ = strings.Cut(w.url, "://")
}

// checkSound reads the log and has the operator check the whole store.
func (w *world) checkSound(t testing.TB) {
	t.Helper()
	w.must(newCaller(w, "127.0.0.1", ""), "GET", "/healthz", "", 200)
	var log []byte
	testkit.Eventually(t, func() (whole bool) { // the server writes its log in blocks
		var err error
		log, err = os.ReadFile(w.log)
		testkit.NoError(t, err)
		return bytes.HasSuffix(log, []byte("\n"))
	}, "the log ends with a line")
	shown := 0
	for line := range strings.Lines(string(log)) {
		isRefusal := strings.Contains(line, " status=503 ") || strings.Contains(line, " status=429 ") ||
			strings.Contains(line, "the server is full at this moment") // of a list, after its first rows
		isError := strings.Contains(line, "level=ERROR") && !isRefusal
		if (isError || strings.Contains(line, "panic")) && shown < 10 {
			t.Errorf("the log blames the server: %.600s", line)
			shown++
		}
	}
	w.arbor("check", "--full")
}

// caller sends requests from one address, with a token or without.
type caller struct {
	world  *world
	token  string
	accept string
	client *http.Client
}

func newCaller(w *world, address, token string) *caller {
	transport := &http.Transport{DialContext: dialer(address).DialContext, MaxIdleConnsPerHost: 4,
		DisableCompression: true}
	if w.tls {
		transport.TLSClientConfig, transport.ForceAttemptHTTP2 = testkit.Trusting(w.t, w.certificate), true
	}
	return &caller{world: w, token: token, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// accepting returns the same caller with a media type of GitHub's.
func (c *caller) accepting(kind string) *caller {
	other := *c
	other.accept = "application/vnd.github." + kind
	return &other
}

// must sends a request that has to be answered with a status.
func (w *world) must(c *caller, method, path, body string, status int) []byte {
	w.t.Helper()
	got, text, err := c.do(w.t.Context(), method, path, body, nil)
	if err != nil || got != status {
		w.t.Fatalf("%s %s: %d %.300s, %v", method, path, got, text, err)
	}
	return text
}

// maxKept is how many bytes of an answer are kept; the rest is read and dropped.
const maxKept = 1 << 20

// do sends a request and reads its answer.
func (c *caller) do(ctx context.Context, method, path, body string, header http.Header) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.world.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.accept != "" {
		r.Header.Set("Accept", c.accept)
	}
	res, err := c.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxKept))
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
	}
	return res.StatusCode, text, err
}
