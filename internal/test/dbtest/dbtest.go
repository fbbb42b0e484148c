// Package dbtest provides tests with fresh databases on both engines: SQLite files,
// and databases of a PostgreSQL server that lives as long as the go command that runs the tests.
//
//	cluster.go   the throw-away server
//	pair.go      a server of a test's own, with a synchronous standby
//
// ARBOR_TEST_POSTGRES_URL names a server to use instead (its user must be
// allowed to create databases), and ARBOR_TEST_REPLICA_URL a standby of that, from which requests that change nothing
// read then. Without it and without PostgreSQL's programs
// those tests are skipped, or fail when ARBOR_TEST_STRICT=1.
package dbtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"arbor/internal/db"
	"arbor/internal/test/testenv"
	"arbor/internal/test/testkit"
)

// Engines returns the engines that ARBOR_TEST_ENGINES chooses: "sqlite", "postgres" or "both". The default
// is SQLite, and both with the build tag long.
func Engines() []db.Engine {
	if testenv.Long {
		return choose("both")
	}
	return choose("sqlite")
}

// choose returns the engines of ARBOR_TEST_ENGINES, or those of otherwise if it is not set.
func choose(otherwise string) []db.Engine {
	switch chosen := cmp.Or(os.Getenv("ARBOR_TEST_ENGINES"), otherwise); chosen {
	case "sqlite":
		return []db.Engine{db.SQLite}
	case "postgres":
		return []db.Engine{db.PostgreSQL}
	case "both":
		return []db.Engine{db.SQLite, db.PostgreSQL}
	default:
		panic(fmt.Sprintf("invalid ARBOR_TEST_ENGINES %q: want sqlite, postgres or both", chosen))
	}
}

// Each runs fn for each of Engines, as parallel subtests "sqlite" and "postgres".
func Each(t *testing.T, fn func(t *testing.T, engine db.Engine)) {
	t.Helper()
	each(t, Engines(), fn)
}

// EachDialect is Each where the engines run different SQL or have different locks: the default is both.
func EachDialect(t *testing.T, fn func(t *testing.T, engine db.Engine)) {
	t.Helper()
	each(t, choose("both"), fn)
}

func each(t *testing.T, engines []db.Engine, fn func(t *testing.T, engine db.Engine)) {
	t.Helper()
	for _, engine := range engines {
		t.Run(engine.String(), func(t *testing.T) {
			t.Parallel()
			if engine == db.PostgreSQL {
				requireServer(t)
			}
			fn(t, engine)
		})
	}
}

// Open returns a fresh, migrated database, closed at the test's end.
func Open(t testing.TB, engine db.Engine) *db.DB {
	t.Helper()
	return OpenURL(t, URL(t, engine))
}

// OpenURL opens the database at address, and closes it at the test's end.
func OpenURL(t testing.TB, address string) *db.DB {
	t.Helper()
	return OpenWith(t, db.Options{URL: address})
}

// OpenWith is OpenURL with more options. Unless a benchmark measures, two connections are open at most: a new
// one of SQLite reads all of the schema, one of PostgreSQL plans every statement again, and writers need two
// to conflict. A test that observes statements does other things between them, and has four; pool_max_conns
// in the URL of PostgreSQL asks for more. In the long tests each transaction's function runs twice.
func OpenWith(t testing.TB, o db.Options) *db.DB {
	t.Helper()
	if _, bench := t.(*testing.B); !bench {
		collectLess()
		if o.Connections == 0 {
			o.Connections = 2
			if o.Trace != nil {
				o.Connections = 4
			}
		}
	}
	if o.Replica == "" {
		o.Replica = replicaOf(t, o.URL)
	}
	d, err := db.Open(context.Background(), o)
	testkit.NoError(t, err)
	d.Attach("twice", true)
	t.Cleanup(func() {
		if o.Replica != "" {
			t.Log("reads:", d.ReplicaReads())
		}
		if err := d.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	return d
}

// Tests make much garbage and live briefly: collecting it less often spares them a fifth of their processor
// time. Those that measure memory in use set it back.
var collectLess = sync.OnceFunc(func() { debug.SetGCPercent(400) })

// URL returns the address of a fresh database, removed at the test's end.
// It is not open. Its tables are there already, as after db.Open.
func URL(t testing.TB, engine db.Engine) string {
	t.Helper()
	if engine == db.SQLite {
		return sqliteFile(t)
	}
	s := requireServer(t)
	return s.create(t, s.template)
}

// Empty is URL for a database without tables (of SQLite: without a file yet).
func Empty(t testing.TB, engine db.Engine) string {
	t.Helper()
	if engine == db.SQLite {
		return filepath.Join(t.TempDir(), "arbor.db")
	}
	return requireServer(t).create(t, "template0")
}

// In is URL for a database of PostgreSQL whose files are in a folder of the test, on another
// disk, say. Its log is not there.
func In(t testing.TB, dir string) string {
	t.Helper()
	s := requireServer(t)
	if s.external {
		t.Skip("NOT TESTED ON POSTGRESQL: the server of ARBOR_TEST_POSTGRES_URL has folders of its own.")
	}
	who, err := identity()
	if err == nil && who != nil {
		err = errors.Join(os.Chown(dir, int(who.Uid), int(who.Gid)), os.Chmod(filepath.Dir(dir), 0o711))
	}
	testkit.NoError(t, err)
	space := "s_" + strings.ToLower(rand.Text())
	s.exec(t, `CREATE TABLESPACE `+space+` LOCATION '`+dir+`'`)
	t.Cleanup(func() { s.exec(t, `DROP TABLESPACE `+space) })
	return s.create(t, s.template+` TABLESPACE `+space)
}

// Cut breaks all connections to a PostgreSQL database, also one that is sending
// rows, as a server that restarts does. It may be called from any goroutine.
func Cut(t testing.TB, address string) {
	t.Helper()
	ended := 0
	err := requireServer(t).query(&ended, `SELECT COUNT(*) FROM (SELECT pg_terminate_backend(pid, 10000)
		FROM pg_stat_activity WHERE datname = $1) ended`, databaseOf(t, address))
	if err != nil {
		t.Errorf("cut the connections to %s: %v", address, err)
	}
}

// Crash kills one of the processes of PostgreSQL that serve a database. The server ends all
// its processes then, those of other databases too, and recovers from its log.
func Crash(t testing.TB, address string) {
	t.Helper()
	pid := 0
	err := requireServer(t).query(&pid, `SELECT pid FROM pg_stat_activity WHERE datname = $1 LIMIT 1`,
		databaseOf(t, address))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Errorf("crash the server of %s: %v", address, err)
	}
}

// Copy returns the address of a copy of a PostgreSQL database that nobody has
// open, removed at the test's end.
func Copy(t testing.TB, address string) string {
	t.Helper()
	return requireServer(t).create(t, databaseOf(t, address))
}

// Deserted waits until nobody has a PostgreSQL database open: a client that was
// killed may have left a statement behind that is not at its end.
func Deserted(t testing.TB, address string) {
	t.Helper()
	s := requireServer(t)
	testkit.Eventually(t, func() bool {
		open := 0
		if err := s.query(&open, `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = $1`,
			databaseOf(t, address)); err != nil {
			t.Errorf("connections of %s: %v", address, err)
			t.FailNow()
		}
		return open == 0
	}, "nobody has "+address+" open")
}

// Postmaster returns the process of PostgreSQL that started all its others. The test is skipped where that is
// on another machine.
func Postmaster(t testing.TB) int {
	t.Helper()
	backend := 0
	if err := requireServer(t).query(&backend, `SELECT pg_backend_pid()`); err != nil {
		t.Fatalf("find PostgreSQL's processes: %v", err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", backend)) // PID (NAME) STATE PARENT
	fields := strings.Fields(string(stat))
	if err != nil || len(fields) < 4 || fields[1] != "(postgres)" {
		t.Skip("NOT MEASURED: PostgreSQL runs on another machine, or there is no /proc")
	}
	postmaster, _ := strconv.Atoi(fields[3])
	return postmaster
}

func databaseOf(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Error(err)
		t.FailNow()
	}
	return strings.TrimPrefix(u.Path, "/")
}

func sqliteFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "arbor.db")
	WriteSQLite(t, path)
	return path
}

// WriteSQLite writes a SQLite database with its tables into a file: a copy of one that this process migrated
// once.
func WriteSQLite(t testing.TB, path string) {
	t.Helper()
	template, err := sqliteTemplate()
	if err == nil {
		err = os.WriteFile(path, template, 0o600)
	}
	if err != nil {
		t.Fatalf("make a SQLite database: %v", err)
	}
}

func migrateSQLite() ([]byte, error) {
	dir, err := os.MkdirTemp("", "arbor-sqlite-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "arbor.db")
	d, err := db.Open(context.Background(), db.Options{URL: path})
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// server is a PostgreSQL server with a migrated database as a template.
type server struct {
	base     *url.URL // of its maintenance database
	template string
	strategy string    // of making a database, words of CREATE DATABASE
	life     io.Closer // of a cluster of this process: it ends when this is closed
	external bool      // of ARBOR_TEST_POSTGRES_URL

	asks, drops session // to drop a database takes longer, since its connections have to end
}

func (s *server) url(database string) string {
	u := *s.base
	u.Path = "/" + database
	return u.String()
}

func (s *server) run(statement string) error { return s.asks.run(s.base, statement) }

func (s *server) query(result any, statement string, args ...any) error {
	return s.asks.do(s.base, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, statement, args...).Scan(result)
	})
}

// session is a connection to the maintenance database, opened again after it has broken: a fresh one for each
// statement would cost as much as most statements.
type session struct {
	mu   sync.Mutex
	conn *pgx.Conn
}

func (s *session) do(address *url.URL, fn func(context.Context, *pgx.Conn) error) (err error) {
	ctx := context.Background()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil || s.conn.IsClosed() || s.conn.Ping(ctx) != nil { // the server may have crashed since
		if s.conn, err = pgx.Connect(ctx, address.String()); err != nil {
			return err
		}
	}
	if err = fn(ctx, s.conn); s.conn.IsClosed() {
		return errors.Join(errBroken, err)
	}
	return err
}

var errBroken = errors.New("the connection has broken")

func (s *session) run(address *url.URL, statement string) error {
	return s.do(address, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, statement)
		return err
	})
}

func (s *server) create(t testing.TB, template string) string {
	t.Helper()
	name := "t_" + strings.ToLower(rand.Text())
	s.exec(t, `CREATE DATABASE `+name+s.strategy+` TEMPLATE `+template)
	t.Cleanup(func() { s.try(t, &s.drops, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`) })
	return s.url(name)
}

// exec executes a statement that creates a database.
func (s *server) exec(t testing.TB, statement string) {
	t.Helper()
	s.try(t, &s.asks, statement)
}

// try creates or drops a database. The checkpoint that this takes was seen to fail on a busy machine, and a
// socket to be full of requests to cancel; a test may crash the server, and connections that were closed take
// a while to end there. All of these can be retried.
func (s *server) try(t testing.TB, on *session, statement string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(time.Second) {
		err := on.run(s.base, statement)
		if err == nil {
			return
		}
		passes := errors.Is(err, errBroken) || errors.Is(err, syscall.EAGAIN) ||
			isInUse(err) || strings.Contains(err.Error(), "checkpoint request failed")
		if !passes || time.Since(began) > testkit.Patience {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// isInUse reports whether a statement failed because others are connected to the database.
func isInUse(err error) bool {
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && refusal.Code == "55006"
}

// prepare finds out how databases are made fastest.
func (s *server) prepare() error {
	// Copying a database's files takes half of the time that logging each of their pages does, which
	// PostgreSQL 15 began with.
	version := 0
	if err := s.query(&version, `SELECT current_setting('server_version_num')::int`); err != nil {
		return err
	}
	if version >= 15_00_00 {
		s.strategy = ` STRATEGY FILE_COPY`
	}
	return nil
}

// makeTemplate creates the database that others are copies of.
func (s *server) makeTemplate() error {
	if err := s.run(`CREATE DATABASE ` + s.template); err != nil {
		return err
	}
	d, err := db.Open(context.Background(), db.Options{URL: s.url(s.template)})
	if err != nil {
		return err
	}
	return d.Close()
}
