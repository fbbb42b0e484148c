package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/repo"
	"arbor/internal/scope"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// instance is a data folder and the arbor process that serves it, if one runs.
type instance struct {
	t        testing.TB
	data     string // the data folder
	database string // the database's address; empty: in the data folder
	env      []string
	wrapper  []string // what runs the server, e.g. a shell that sets its umask
	log      *logBuffer
	tokens   map[string]string // by login

	url    string // of the running server, without a slash at the end
	server *exec.Cmd
	ended  chan error
	leash  *os.File
}

// newInstance creates an empty data folder. At the end of the test its server is
// stopped, which must go well, and what it leaves is looked at.
func newInstance(t testing.TB, engine db.Engine) *instance {
	t.Helper()
	return newInstanceIn(t, engine, filepath.Join(t.TempDir(), "data"))
}

func newInstanceIn(t testing.TB, engine db.Engine, data string) *instance {
	t.Helper()
	database := ""
	if engine == db.PostgreSQL {
		database = dbtest.URL(t, engine) + "&pool_max_conns=4" // each connection plans every statement anew
	}
	return newInstanceOn(t, data, database)
}

// newInstanceOn is newInstanceIn for a database; "" is a file in the data folder.
func newInstanceOn(t testing.TB, data, database string) *instance {
	t.Helper()
	s := &instance{t: t, data: data, database: database, log: &logBuffer{}, tokens: map[string]string{}}
	s.env = append(gittest.Env(), "ARBOR_DATA="+s.data, "ARBOR_LISTEN=127.0.0.1:0", "TMPDIR="+t.TempDir())
	s.env = append(s.env, raceOptions(), "ARBOR_MIN_FREE_SPACE=0") // the disk may be nearly full
	if _, bench := t.(*testing.B); !bench {
		s.env = append(s.env, collectLess)
	}
	if database != "" {
		s.env = append(s.env, "ARBOR_DATABASE="+database)
	}
	t.Cleanup(s.finish)
	return s
}

// raceOptions keep programs built with -race from waiting a second at their end.
func raceOptions() string {
	return "GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=10")
}

// collectLess has programs that live briefly collect garbage less often: a fourth of what a command takes.
const collectLess = "GOGC=400"

// serving is newInstance and start. The database has its tables already, which a first start would make.
func serving(t testing.TB, engine db.Engine, flags ...string) *instance {
	t.Helper()
	s := newInstance(t, engine)
	s.makeTables()
	s.start(flags...)
	return s
}

// makeTables makes the data folder with a SQLite database that has its tables, unless there is one. Those of
// PostgreSQL have them from the start.
func (s *instance) makeTables() {
	s.t.Helper()
	file := filepath.Join(s.data, "arbor.db")
	if _, err := os.Stat(file); s.database != "" || err == nil {
		return
	}
	testkit.NoError(s.t, os.MkdirAll(s.data, 0o700))
	dbtest.WriteSQLite(s.t, file)
}

// start runs a server on the data folder and waits until it answers.
func (s *instance) start(flags ...string) {
	s.t.Helper()
	testkit.NoError(s.t, s.tryStart(flags...))
}

func (s *instance) tryStart(flags ...string) error {
	if s.server != nil {
		return errors.New("the server runs already")
	}
	args := append(append([]string{}, s.wrapper...), "arbor", "serve")
	args = append(args, flags...)
	cmd := exec.Command(args[0], args[1:]...)
	held, end, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Env = append(s.env[:len(s.env):len(s.env)], leashVariable+"=3")
	cmd.ExtraFiles = []*os.File{held}
	cmd.Stderr = s.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	held.Close()
	s.server, s.leash, s.ended = cmd, end, make(chan error, 1)
	line, _ := bufio.NewReader(out).ReadString('\n') // what is cut off is no address
	go func(ended chan error) { ended <- cmd.Wait() }(s.ended)
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "arbor listens on ")
	if !ok {
		err := s.wait()
		return fmt.Errorf("the server said %q instead of its address and ended: %v\n%s", line, err, s.log)
	}
	s.url = address
	return nil
}

// pid is the server's process, also when something wraps it.
func (s *instance) pid() int {
	if len(s.wrapper) == 0 {
		return s.server.Process.Pid
	}
	for _, p := range processes(s.t, "/") {
		if p.parent == s.server.Process.Pid {
			return p.pid
		}
	}
	s.t.Fatal("the server is gone")
	return 0
}

// stop tells the server to stop, which it must do with status 0.
func (s *instance) stop() {
	s.t.Helper()
	if err := s.tryStop(); err != nil {
		s.t.Errorf("SIGTERM: the server ended with %v, want status 0\n%s", err, s.log)
	}
}

func (s *instance) tryStop() error {
	if err := syscall.Kill(s.pid(), syscall.SIGTERM); err != nil {
		return err
	}
	return s.wait()
}

// kill ends the server as a power cut does, as far as its memory goes.
func (s *instance) kill() {
	s.t.Helper()
	testkit.NoError(s.t, syscall.Kill(s.pid(), syscall.SIGKILL))
	s.wait()
}

// wait waits for the server's end and says how it ended.
func (s *instance) wait() error {
	defer func() { s.server = nil; s.leash.Close() }()
	select {
	case err := <-s.ended:
		return err
	case <-time.After(testkit.Patience): // a stop waits for requests
		s.server.Process.Signal(syscall.SIGQUIT)
		<-s.ended
		return fmt.Errorf("it did not end\n%s", s.log)
	}
}

// finish stops the server. Whatever a test did: no answer was a 5xx, and no
// process of git and no half-received pack is left.
func (s *instance) finish() {
	if s.server != nil {
		s.stop()
	}
	for _, line := range s.log.errors() {
		if !strings.Contains(line, " is full: nothing was written") { // a worker's, on a full disk
			s.t.Errorf("the server logged an error: %s", line)
		}
	}
	if !s.t.Failed() { // which may be why something is left
		s.quiet()
	}
}

// quiet waits until no process works in the data folder, and looks for
// quarantines that pushes left.
func (s *instance) quiet() {
	s.t.Helper()
	var left []string
	testkit.Eventually(s.t, func() bool {
		left = append(s.gitProcesses(), s.incoming()...)
		return len(left) == 0
	}, "nothing is left behind", func() string { return strings.Join(left, "\n") })
}

// incoming are the quarantine directories of pushes.
func (s *instance) incoming() []string { return s.find("incoming-*") }

// find lists the files and directories of the data folder with such a name.
func (s *instance) find(pattern string) []string {
	s.t.Helper()
	var found []string
	err := filepath.WalkDir(s.data, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone meanwhile
		}
		if err != nil {
			return err
		}
		if ok, err := filepath.Match(pattern, d.Name()); ok || err != nil {
			found = append(found, path)
			return err
		}
		return nil
	})
	if err != nil {
		s.t.Error(err)
	}
	return found
}

// objects are the files that hold a repository's objects.
func (s *instance) objects() []string {
	return append(s.find("pack-*"), s.find("??????????????????????????????????????")...)
}

// gitProcesses are the processes of git on the data folder's repositories, by
// their command lines; those of the pool, which stay for the next read, do not
// count while the server runs.
func (s *instance) gitProcesses() []string {
	var list []string
	for _, p := range processes(s.t, s.data) {
		pooled := s.server != nil && strings.Contains(p.command, "cat-file --batch-command")
		if !pooled {
			list = append(list, p.command)
		}
	}
	return list
}

// flags name the store, for commands that run in this process.
func (s *instance) flags() storeFlags { return storeFlags{Data: s.data, Database: s.database} }

// operate does as the operator's commands do, whether a server runs or not, in the test's process: for what a
// test needs and does not test. A process of its own takes several times as long.
func (s *instance) operate(do func(ctx context.Context, f *forge.Forge) error) {
	s.t.Helper()
	s.makeTables()
	flags, p := s.flags(), &process{ctx: s.t.Context(), stdout: io.Discard, stderr: s.log, began: time.Now()}
	testkit.NoError(s.t, withNewStore(p, &flags, func(at *store, log *slog.Logger) error {
		return do(p.ctx, at.forge(log))
	}))
}

// user registers users, each with a token that may do everything.
func (s *instance) user(logins ...string) {
	s.t.Helper()
	all, err := scope.Parse(strings.Join(scope.Names(), ","))
	testkit.NoError(s.t, err)
	s.operate(func(ctx context.Context, f *forge.Forge) error {
		for _, login := range logins {
			if _, err := f.Accounts.CreateUser(ctx, account.NewUser{Login: login}); err != nil {
				return err
			}
			token, _, err := f.Tokens.CreateToken(ctx, token.NewToken{Login: login, Scopes: all})
			if err != nil {
				return err
			}
			s.tokens[login] = token
		}
		return nil
	})
}

// org registers organizations of alice's.
func (s *instance) org(logins ...string) {
	s.t.Helper()
	s.operate(func(ctx context.Context, f *forge.Forge) error {
		for _, login := range logins {
			if _, err := f.Accounts.CreateOrg(ctx, login, "alice"); err != nil {
				return err
			}
		}
		return nil
	})
}

// repo creates a public repository OWNER/NAME. It is empty, or has the refs and objects of the folder from.
func (s *instance) repo(name, from string) { s.t.Helper(); s.makeRepo(name, from, false) }

// privateRepo is repo for a private one.
func (s *instance) privateRepo(name, from string) { s.t.Helper(); s.makeRepo(name, from, true) }

func (s *instance) makeRepo(full, from string, private bool) {
	s.t.Helper()
	owner, name, _ := strings.Cut(full, "/")
	s.operate(func(ctx context.Context, f *forge.Forge) error {
		made, err := f.Repos.Create(ctx, nil, repo.NewRepo{Owner: owner, Name: name, Private: private})
		if err == nil && from != "" {
			_, err = f.Transport.Import(ctx, made, from, func(string, int64, int64) {})
		}
		return err
	})
}

// arbor runs a command of the operator, and gives its standard output.
func (s *instance) arbor(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("arbor", args...)
	cmd.Env = s.env
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("arbor %q: %v\n%s", args, err, &problems)
	}
	return strings.TrimSpace(out.String())
}

// tells runs a command, which may fail, and returns all that it says.
func (s *instance) tells(args ...string) (string, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), testkit.Patience) // a server that is not refused goes on
	defer cancel()
	cmd := exec.CommandContext(ctx, "arbor", args...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// exits is tells with the status of the command.
func (s *instance) exits(args ...string) (int, string) {
	s.t.Helper()
	said, err := s.tells(args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), said
	}
	testkit.NoError(s.t, err)
	return 0, said
}

// refused is what a server says that does not start.
func (s *instance) refused(flags ...string) string {
	s.t.Helper()
	status, said := s.exits(append([]string{"serve"}, flags...)...)
	if status <= 0 { // it was killed after a while
		s.t.Fatalf("it starts: %s", said)
	}
	return said
}

// killedAfter runs a command and kills it after a while, unless it has ended by itself.
func (s *instance) killedAfter(after time.Duration, args ...string) (ended bool) {
	s.t.Helper()
	cmd := exec.Command("arbor", args...)
	cmd.Env = s.env
	testkit.NoError(s.t, cmd.Start())
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer timer.Stop()
	return cmd.Wait() == nil
}

// node is another server on the same store.
func (s *instance) node() *instance {
	return &instance{t: s.t, data: s.data, database: s.database, env: s.env, log: &logBuffer{},
		tokens: s.tokens}
}

// sound has arbor check look through the store, whether a server runs on it or not.
func (s *instance) sound() {
	s.t.Helper()
	if out, err := s.tells("check", "--full"); err != nil {
		s.t.Errorf("arbor check: %v\n%s", err, out)
	}
}

// remote is a repository's address with a user's token in it; "" sends none.
func (s *instance) remote(login, repository string) string {
	return as(s.url, login, s.tokens[login]) + "/" + repository + ".git"
}

// as puts a user's token into an address.
func as(url, login, token string) string {
	if login == "" {
		return url
	}
	return strings.Replace(url, "://", "://"+login+":"+token+"@", 1)
}

// do sends a request as a user ("" sends no token) and reads the whole answer.
func (s *instance) do(
	login, method, path string, header http.Header, body io.Reader,
) (*http.Response, string) {
	s.t.Helper()
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	url := s.url
	if socket, ok := strings.CutPrefix(s.url, "unix:"); ok {
		url = "http://localhost"
		transport = unixTransport(socket)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, url+path, body)
	testkit.NoError(s.t, err)
	for name, values := range header {
		r.Header[name] = values
	}
	if host := header.Get("Host"); host != "" {
		r.Host = host
	}
	if login != "" {
		r.SetBasicAuth(login, s.tokens[login])
	}
	client := http.Client{Timeout: testkit.Patience, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return res, string(text)
}

// unixTransport sends requests for any host to a socket.
func unixTransport(socket string) *http.Transport {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return &http.Transport{DisableKeepAlives: true, DisableCompression: true, DialContext: dial}
}

// tryDo sends a request of alice. header are names with their values. A server that does not answer is the status 0.
func (s *instance) tryDo(method, path, body string, header ...string) (status int, text string) {
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, ""
	}
	r.SetBasicAuth("alice", s.tokens["alice"])
	for n := 0; n < len(header); n += 2 {
		r.Header.Set(header[n], header[n+1])
	}
	res, err := (&http.Client{Timeout: testkit.Patience,
		Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, ""
	}
	return res.StatusCode, string(data)
}
