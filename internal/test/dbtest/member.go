package dbtest

import (
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"arbor/internal/test/testkit"
)

// member is a PostgreSQL server of one test alone, in a folder of its own, which ends with the test.
type member struct {
	t    testing.TB
	bin  string
	who  *syscall.Credential
	dir  string
	stop func() error
}

// newMember makes the folder. Without PostgreSQL's programs the test is skipped.
func newMember(t testing.TB) *member {
	t.Helper()
	bin, err := programs()
	skipMissing(t, err)
	testkit.NoError(t, err)
	who, err := identity()
	testkit.NoError(t, err)
	dir, err := os.MkdirTemp(clusterDir(), "arbor-pg-")
	testkit.NoError(t, err)
	m := &member{t: t, bin: bin, who: who, dir: dir, stop: func() error { return nil }}
	t.Cleanup(func() { testkit.NoError(t, errors.Join(m.stop(), os.RemoveAll(dir))) })
	if who != nil {
		testkit.NoError(t, os.Chown(dir, int(who.Uid), int(who.Gid)))
	}
	return m
}

// keepsLog keeps enough of the log for a standby that starts to follow late.
const keepsLog = "\nwal_keep_size = 256MB\n"

// create starts a new server with more settings.
func (m *member) create(more string) {
	m.t.Helper()
	testkit.NoError(m.t, makeData(m.dir, m.bin, m.who))
	testkit.NoError(m.t, appendFile(filepath.Join(m.dir, "data", "postgresql.conf"), settings+keepsLog+more))
	m.start()
}

// follow starts the server, which does not run, as a standby that another one knows by a name.
func (m *member) follow(primary *member, name string) {
	m.t.Helper()
	testkit.NoError(m.t, os.RemoveAll(filepath.Join(m.dir, "data")))
	testkit.NoError(m.t, command(m.dir, m.who, filepath.Join(m.bin, "pg_basebackup"), "-D", "data", "--no-sync",
		"--write-recovery-conf", "--checkpoint=fast", "-d", "user=arbor application_name="+name+" host="+primary.dir))
	m.start()
}

// supervisor starts the server $1 whenever it has ended, until its standard input ends: when the test stops it, or is
// gone.
const supervisor = `
exec >>server.log 2>&1
touch run
(while [ -e run ]; do "$1" -D data -k "$PWD" & echo $! >pid; wait $!; sleep 0.05; done) &
loop=$!
read -r _
rm -f run
while kill -0 $loop; do kill -QUIT "$(cat pid)"; sleep 0.05; done
`

func (m *member) start() {
	m.t.Helper()
	_ = os.Remove(filepath.Join(m.dir, "pid"))
	run := exec.Command("/bin/sh", "-c", supervisor, "supervisor", filepath.Join(m.bin, "postgres"))
	run.Dir, run.SysProcAttr = m.dir, &syscall.SysProcAttr{Credential: m.who, Setpgid: true}
	life, err := run.StdinPipe()
	testkit.NoError(m.t, err)
	testkit.NoError(m.t, run.Start())
	m.stop = func() error {
		m.stop = func() error { return nil }
		err := life.Close()
		_ = run.Wait() // its status is that of the last kill
		return err
	}
	m.awaitNew(0)
}

// pid returns the process of the server; 0: none was started.
func (m *member) pid() int {
	text, _ := os.ReadFile(filepath.Join(m.dir, "pid"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// awaitNew waits until a server answers whose process is another than before.
func (m *member) awaitNew(before int) {
	m.t.Helper()
	testkit.Eventually(m.t, func() bool {
		text, _ := os.ReadFile(filepath.Join(m.dir, "data", "postmaster.pid"))
		lines := strings.Split(string(text), "\n")
		pid := m.pid()
		return pid != before && len(lines) > 7 && lines[0] == strconv.Itoa(pid) && strings.HasPrefix(lines[7], "ready")
	}, "PostgreSQL answers", func() string {
		log, _ := os.ReadFile(filepath.Join(m.dir, "server.log"))
		return string(log)
	})
}

// until waits until a query of a server returns true.
func (m *member) until(query string) {
	m.t.Helper()
	testkit.Eventually(m.t, func() bool {
		is := false
		m.ask(&is, query)
		return is
	}, query)
}

func (m *member) ask(result any, query string) {
	m.t.Helper()
	m.on(func(ctx context.Context, c *pgx.Conn) error { return c.QueryRow(ctx, query).Scan(result) })
}

func (m *member) exec(statement string) {
	m.t.Helper()
	m.on(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, statement)
		return err
	})
}

func (m *member) on(do func(context.Context, *pgx.Conn) error) {
	m.t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, m.address("postgres").String())
	testkit.NoError(m.t, err)
	err = do(ctx, c)
	testkit.NoError(m.t, errors.Join(err, c.Close(ctx)))
}

// address returns the URL of a database.
func (m *member) address(database string) *url.URL {
	u := addressOf(m.dir)
	u.Path = "/" + database
	return u
}
