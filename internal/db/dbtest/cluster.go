package dbtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"arbor/internal/space"
)

// Once a process; the values never change.
var (
	sqliteTemplate = sync.OnceValues(migrateSQLite)
	theServer      = sync.OnceValues(startServer)
)

var errMissing = errors.New("PostgreSQL's programs initdb and postgres are not on this machine")

// requireServer returns the server, or skips or fails the test.
func requireServer(t testing.TB) *server {
	t.Helper()
	s, err := theServer()
	switch {
	case err == nil:
		return s
	case errors.Is(err, errMissing) && os.Getenv("ARBOR_TEST_STRICT") != "1":
		t.Skip("NOT TESTED ON POSTGRESQL: " + err.Error() +
			". Get them with `apt-get install postgresql`, or set ARBOR_TEST_POSTGRES_URL.")
	default:
		t.Fatalf("start PostgreSQL: %v", err)
	}
	return nil
}

func startServer() (*server, error) {
	s := &server{}
	var err error
	if address := os.Getenv("ARBOR_TEST_POSTGRES_URL"); address != "" {
		s.base, err = url.Parse(address)
	} else {
		s.base, s.life, err = startCluster()
	}
	if err != nil {
		return nil, err
	}
	return s, s.prepare()
}

// The keeper is a shell that reads from this process and so learns of its end,
// however it ends; then it stops the server and removes its directory. Both
// run in a process group of their own, out of the terminal's reach.
const keeper = `
exec >server.log 2>&1
"$1" -D data -k "$PWD" &
server=$!
read -r _
kill -QUIT $server
wait $server
cd /
rm -rf "$2"
`

const settings = `
listen_addresses = ''
max_connections = 200
deadlock_timeout = 20ms
shared_buffers = 16MB
fsync = off
full_page_writes = off
autovacuum = off
max_wal_size = 256MB
log_min_messages = warning
`

// startCluster makes a cluster in a temporary directory and serves it on a
// Unix socket there.
func startCluster() (*url.URL, io.Closer, error) {
	bin, err := programs()
	if err != nil {
		return nil, nil, err
	}
	who, err := identity()
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp(clusterDir(), "arbor-pg-")
	if err != nil {
		return nil, nil, err
	}
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			return nil, nil, err
		}
	}
	init := exec.Command(filepath.Join(bin, "initdb"), "--no-sync", "--no-instructions", "--auth=trust",
		"--username=arbor", "--encoding=UTF8", "--locale=C", "--wal-segsize=1", "-D", "data")
	init.Dir, init.SysProcAttr = dir, &syscall.SysProcAttr{Credential: who}
	if out, err := init.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return nil, nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	if err := appendFile(filepath.Join(dir, "data", "postgresql.conf"), settings); err != nil {
		return nil, nil, err
	}
	keep := exec.Command("/bin/sh", "-c", keeper, "keeper", filepath.Join(bin, "postgres"), dir)
	keep.Dir, keep.SysProcAttr = dir, &syscall.SysProcAttr{Credential: who, Setpgid: true}
	life, err := keep.StdinPipe() // kept reachable: else it is collected, and closed
	if err != nil {
		return nil, nil, err
	}
	if err := keep.Start(); err != nil {
		os.RemoveAll(dir)
		return nil, nil, err
	}
	query := url.Values{"host": {dir}, "user": {"arbor"}, "sslmode": {"disable"}}
	u := &url.URL{Scheme: "postgres", Path: "/postgres", RawQuery: query.Encode()}
	return u, life, awaitReady(dir)
}

// awaitReady reads what the server writes into its pid file when it answers.
func awaitReady(dir string) error {
	for range 3000 {
		pid, _ := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
		lines := bytes.Split(pid, []byte("\n"))
		if len(lines) > 7 && bytes.HasPrefix(lines[7], []byte("ready")) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	log, _ := os.ReadFile(filepath.Join(dir, "server.log"))
	return fmt.Errorf("the server does not answer: %s", log)
}

func appendFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// programs finds the directory of PostgreSQL's programs: the newest of
// Debian's, else what PATH has.
func programs() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	version := func(path string) int {
		n, _ := strconv.Atoi(strings.Split(path, "/")[4])
		return n
	}
	if len(found) > 0 {
		newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
		return filepath.Dir(newest), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errMissing
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), "postgres")); err != nil {
		return "", errMissing
	}
	return filepath.Dir(path), nil
}

// identity is whom the server runs as: nil for this process's user, another
// one when that is root, whom it refuses.
func identity() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(errUID, errGID); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("neither user postgres nor nobody is there to run the server as")
}

// clusterDir is short, for a socket's path has at most 107 bytes, open to every user, and in
// memory where that has room: each database of a test is some hundred files.
func clusterDir() string {
	for _, dir := range []string{"/dev/shm", "/tmp"} {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o777 != 0o777 {
			continue
		}
		if free, _, err := space.Of(dir); dir == "/tmp" || err == nil && free >= roomInMemory {
			return dir
		}
	}
	return os.TempDir()
}

// roomInMemory is more than the clusters of some packages take together, in bytes.
const roomInMemory = 4 << 30
