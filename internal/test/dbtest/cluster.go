package dbtest

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
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

	"github.com/rogpeppe/go-internal/lockedfile"

	"arbor/internal/test/testenv"
	"arbor/internal/test/testkit"
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
	skipMissing(t, err)
	if err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	return s
}

// skipMissing skips the test if PostgreSQL's programs are missing, unless that is an error.
func skipMissing(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errMissing) && os.Getenv("ARBOR_TEST_STRICT") != "1" {
		t.Skip("NOT TESTED ON POSTGRESQL: " + err.Error() +
			". Get them with `apt-get install postgresql`, or set ARBOR_TEST_POSTGRES_URL.")
	}
}

// startServer finds the server of this run, or starts it: the one of ARBOR_TEST_POSTGRES_URL, else a cluster
// that the test programs of one go command share, else a cluster of this process.
func startServer() (*server, error) {
	s := &server{template: sharedTemplate}
	if address := os.Getenv("ARBOR_TEST_POSTGRES_URL"); address != "" {
		base, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		s.base, s.external, s.template = base, true, "arbor_"+strings.ToLower(rand.Text())
		return s, errors.Join(s.prepare(), s.makeTemplate())
	}
	parent := goCommand()
	if parent == 0 {
		dir, life, err := startCluster("read -r _", "")
		if err != nil {
			return nil, err
		}
		s.base, s.life = addressOf(dir), life
		return s, errors.Join(s.prepare(), s.makeTemplate())
	}
	return s, s.share(parent)
}

// replicaOf returns the URL of a database of PostgreSQL on the standby of ARBOR_TEST_REPLICA_URL, or nothing without
// one. It waits until the standby has the database.
func replicaOf(t testing.TB, database string) string {
	t.Helper()
	standby, err := url.Parse(os.Getenv("ARBOR_TEST_REPLICA_URL"))
	testkit.NoError(t, err)
	if standby.Host == "" && standby.RawQuery == "" || !strings.HasPrefix(database, "postgres") {
		return ""
	}
	standby.Path = "/" + databaseOf(t, database)
	testkit.Eventually(t, func() bool {
		var s session
		return s.run(standby, `SELECT 1 FROM generations`) == nil
	}, "the standby has the database")
	return standby.String()
}

// sharedTemplate is the database with tables in a cluster that only tests use.
const sharedTemplate = "arbor_template"

// goCommand returns the process id of the go command that runs this test program, or 0 if something else does
// or this is not Linux.
func goCommand() int {
	parent := os.Getppid()
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent))
	if err != nil || strings.TrimSpace(string(name)) != "go" {
		return 0
	}
	return parent
}

// share connects to the cluster of a go command. The first test program to ask starts it, and it ends with the
// go command. A file named after the command holds the cluster's folder.
func (s *server) share(parent int) error {
	name := filepath.Join(clusterDir(), fmt.Sprintf("arbor-pg-of-%d", parent))
	return lockedfile.Transform(name, func(old []byte) ([]byte, error) {
		if len(old) > 0 {
			s.base = addressOf(string(old))
			if s.prepare() == nil {
				return old, nil
			}
			s.asks = session{} // of an earlier command with the same number
		}
		// The loop asks /proc, since the keeper may run as another user, without permission to signal.
		dir, _, err := startCluster(fmt.Sprintf("while [ -d /proc/%d ]; do sleep 1; done", parent), name)
		if err != nil {
			return nil, err
		}
		s.base = addressOf(dir)
		return []byte(dir), errors.Join(s.prepare(), s.makeTemplate())
	})
}

// keeper starts the server and stops it, and removes its folder, once the command $3 ends: that waits for the
// end of this process, however it ends, or of the go command. Both run in a process group of their own, out of
// the terminal's reach.
const keeper = `
exec >server.log 2>&1
"$1" -D data -k "$PWD" &
server=$!
eval "$3"
kill -QUIT $server
wait $server
cd /
rm -rf "$2" "$4"
`

// Every connection plans a statement once, for any values: planning it again for the first
// five executions is most of what a server costs that lives for one test.
const settings = `
listen_addresses = ''
max_connections = 500
deadlock_timeout = 20ms
plan_cache_mode = force_generic_plan
shared_buffers = 16MB
fsync = off
full_page_writes = off
autovacuum = off
max_wal_size = 256MB
log_min_messages = warning
`

// startCluster creates a cluster in a temporary folder and serves it on a Unix socket there, until the shell's
// command wait ends, which reads from life. The file named pointer is removed with the folder.
func startCluster(wait, pointer string) (dir string, life io.Closer, err error) {
	bin, err := programs()
	if err != nil {
		return "", nil, err
	}
	who, err := identity()
	if err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp(clusterDir(), "arbor-pg-"); err != nil {
		return "", nil, err
	}
	if who != nil {
		err = os.Chown(dir, int(who.Uid), int(who.Gid))
	}
	if err == nil {
		err = makeData(dir, bin, who)
	}
	if err == nil {
		err = appendFile(filepath.Join(dir, "data", "postgresql.conf"), settings)
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	if who != nil && pointer != "" { // the keeper removes it
		_ = os.Chown(pointer, int(who.Uid), int(who.Gid))
	}
	keep := exec.Command("/bin/sh", "-c", keeper, "keeper", filepath.Join(bin, "postgres"), dir, wait, pointer)
	keep.Dir, keep.SysProcAttr = dir, &syscall.SysProcAttr{Credential: who, Setpgid: true}
	life, err = keep.StdinPipe() // kept reachable: else it is collected, and closed
	if err == nil {
		err = keep.Start()
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, life, awaitReady(dir)
}

// addressOf returns the URL of the maintenance database of the cluster in dir.
func addressOf(dir string) *url.URL {
	query := url.Values{"host": {dir}, "user": {"arbor"}, "sslmode": {"disable"}}
	return &url.URL{Scheme: "postgres", Path: "/postgres", RawQuery: query.Encode()}
}

// initdb's arguments.
var initArgs = []string{"--no-sync", "--no-instructions", "--auth=trust", "--username=arbor",
	"--encoding=UTF8", "--locale=C", "--wal-segsize=1", "-D", "data"}

// makeData creates the files of a cluster, dir/data. Each package's tests need some; initdb takes
// ten times as long as unpacking its result, so that is kept in the user's cache folder.
func makeData(dir, bin string, who *syscall.Credential) error {
	kept, err := keptData(filepath.Join(bin, "initdb"), who)
	if err == nil && command(dir, nil, "tar", "-xpf", kept) == nil {
		return nil
	}
	if err := os.RemoveAll(filepath.Join(dir, "data")); err != nil {
		return err
	}
	if err := command(dir, who, filepath.Join(bin, "initdb"), initArgs...); err != nil {
		return err
	}
	if kept != "" {
		_ = keepData(dir, kept) // the next one tries again
	}
	return nil
}

// keptData names the archive of what an initdb made, which may not be there yet. The name is
// another one when the program, its arguments or the owner of the files are.
func keptData(initdb string, who *syscall.Credential) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(initdb)
	if err != nil {
		return "", err
	}
	owner := uint32(os.Geteuid())
	if who != nil {
		owner = who.Uid
	}
	made := sha256.Sum256(fmt.Append(nil, initdb, info.Size(), info.ModTime().UnixNano(), initArgs, owner))
	return filepath.Join(cache, "arbor-tests", fmt.Sprintf("postgres-%x.tar", made[:8])), nil
}

// keepData writes the archive. Several processes may do so at once: each writes its own file
// and renames it when it is whole and on disk.
func keepData(dir, kept string) error {
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(kept), "postgres-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = command(dir, nil, "tar", "-cf", f.Name(), "data")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), kept)
}

// command runs a program in a directory, as another user unless who is nil.
func command(dir string, who *syscall.Credential, name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Dir, c.SysProcAttr = dir, &syscall.SysProcAttr{Credential: who}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(name), err, out)
	}
	return nil
}

// awaitReady reads what the server writes into its pid file when it answers.
func awaitReady(dir string) error {
	for began := time.Now(); time.Since(began) < testkit.Patience; {
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

// programs finds the directory of PostgreSQL's programs: the newest version installed by
// Debian's packages, otherwise the one in PATH.
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
	if dir := testenv.Memory(); dir != "" {
		return dir
	}
	if info, err := os.Stat("/tmp"); err == nil && info.Mode().Perm() == 0o777 {
		return "/tmp"
	}
	return os.TempDir()
}
