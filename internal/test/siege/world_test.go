//go:build long

package siege

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/scope"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
)

// world is a store with honest people's work and harmful repositories, and its server.
type world struct {
	t        *testing.T
	binary   string
	data     string
	database string // the database's address; empty: in the data folder
	log      string // the file of the server's log
	server   *exec.Cmd
	url      string
	address  string // HOST:PORT
	tokens   map[string]string

	garden string             // a clone's source: the history of alice/garden
	pushes map[string]*push   // packs that are harmful to unpack, by name
	tips   map[string]git.SHA // of planted repositories, by name
	bot    bot
}

// honestPeople work; mallory has an account and means harm.
var honestPeople = []string{"alice", "bob", "carol"}

// newWorld makes the store, starts the server and fills it by requests.
func newWorld(t *testing.T, engine db.Engine) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{
		t: t, binary: filepath.Join(dir, "arbor"), data: filepath.Join(dir, "data"),
		log:    filepath.Join(dir, "log"),
		tokens: map[string]string{}, tips: map[string]git.SHA{}, pushes: map[string]*push{},
	}
	out, err := exec.Command("go", "build", "-o", w.binary, "arbor/cmd/arbor").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if engine == db.PostgreSQL {
		w.database = dbtest.URL(t, engine)
	}
	for _, login := range append([]string{"mallory"}, honestPeople...) {
		w.arbor("user", "create", login)
		w.tokens[login] = w.arbor("token", "create", login, "--scopes", strings.Join(scope.Names(), ","))
	}
	w.garden = gittest.Repository(t, 400, 300)
	w.arbor("repo", "create", "alice/garden", "--import", w.garden)
	w.plant()
	w.employ()
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

// arbor runs a command of the operator and gives its output.
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

// serve starts the server, which stops with the test.
func (w *world) serve() {
	w.t.Helper()
	log, err := os.Create(w.log)
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	w.server = exec.Command(w.binary, "serve", "--listen", "127.0.0.1:0", "--memory", "1GiB",
		"--allow-hook-networks", "127.0.0.0/8")
	w.server.Env = w.env()
	w.server.Stderr = log
	out, err := w.server.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.server.Start(); err != nil {
		w.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		text, _ := os.ReadFile(w.log)
		w.t.Fatalf("arbor serve: %v\n%s", err, text)
	}
	w.url = strings.TrimSpace(strings.TrimPrefix(line, "arbor listens on "))
	w.address = strings.TrimPrefix(w.url, "http://")
	w.t.Cleanup(func() {
		w.server.Process.Signal(syscall.SIGTERM)
		if err := w.server.Wait(); err != nil {
			w.t.Errorf("arbor serve ended with %v", err)
		}
	})
}

// fill makes issues and repositories by requests.
func (w *world) fill() {
	w.t.Helper()
	alice := newCaller(w, "127.0.0.1", w.tokens["alice"])
	for n := range 50 {
		w.must(alice, "POST", "/repos/alice/garden/issues",
			fmt.Sprintf(`{"title": "Issue %d", "body": "Slugs, *again*."}`, n), 201)
	}
	for _, login := range honestPeople {
		w.must(newCaller(w, "127.0.0.1", w.tokens[login]), "POST", "/user/repos",
			fmt.Sprintf(`{"name": "notes-%s", "auto_init": true}`, login), 201)
	}
	mallory := newCaller(w, "127.0.0.1", w.tokens["mallory"])
	w.must(mallory, "POST", "/user/repos", `{"name": "heavy"}`, 201)
	w.must(mallory, "POST", "/user/repos", `{"name": "target", "auto_init": true}`, 201)
	w.breed(mallory)
	body, _ := json.Marshal(strings.Repeat("a\n=\n", 16_000))
	control, _ := json.Marshal(strings.Repeat("\x01", 65_000))
	for n := range 100 {
		text := string(body)
		if n%2 == 1 {
			text = string(control)
		}
		w.must(mallory, "POST", "/repos/mallory/heavy/issues",
			fmt.Sprintf(`{"title": "Heavy %d", "body": %s}`, n, text), 201)
	}
}

// must sends a request that has to be answered with the status.
func (w *world) must(c *caller, method, path, body string, status int) {
	w.t.Helper()
	got, text, err := c.do(w.t.Context(), method, path, body, nil)
	if err != nil || got != status {
		w.t.Fatalf("%s %s: %d %.300s, %v", method, path, got, text, err)
	}
}

// stillServes asks once more after everything, and reads the log.
func (w *world) stillServes(t *testing.T) {
	t.Helper()
	c := newCaller(w, "127.0.0.1", "")
	if status, text, err := c.do(t.Context(), "GET", "/healthz", "", nil); err != nil || status != 200 {
		t.Errorf("after the siege /healthz answers %d %.300s, %v", status, text, err)
	}
	log, err := os.ReadFile(w.log)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for line := range strings.Lines(string(log)) {
		isRefusal := strings.Contains(line, " status=503 ") || strings.Contains(line, " status=429 ")
		isError := strings.Contains(line, "level=ERROR") && !isRefusal
		if (isError || strings.Contains(line, "panic")) && shown < 10 {
			t.Errorf("the log blames the server: %.600s", line)
			shown++
		}
	}
}

// caller sends requests from one address, with a token or without.
type caller struct {
	world  *world
	token  string
	local  *net.TCPAddr
	client *http.Client
}

func newCaller(w *world, address, token string) *caller {
	local := &net.TCPAddr{IP: net.ParseIP(address)}
	dialer := &net.Dialer{LocalAddr: local, Timeout: 5 * time.Second}
	transport := &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 4,
		DisableCompression: true}
	return &caller{world: w, token: token, local: local, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// request makes a request with the caller's token.
func (c *caller) request(
	ctx context.Context, method, path string, body io.Reader, header http.Header,
) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.world.url+path, body)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r, nil
}

// maxKept is how many bytes of an answer are kept; the rest is read and dropped.
const maxKept = 1 << 20

// do sends a request and reads its answer.
func (c *caller) do(ctx context.Context, method, path, body string, header http.Header) (int, []byte, error) {
	r, err := c.request(ctx, method, path, strings.NewReader(body), header)
	if err != nil {
		return 0, nil, err
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
