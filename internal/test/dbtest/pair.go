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

// Pair is a PostgreSQL server with a synchronous standby, for tests in which the primary dies. Both are of the test
// alone.
type Pair struct {
	t       testing.TB
	bin     string
	who     *syscall.Credential
	members [2]*member
	primary int // among the members
}

// member is one server of a pair, in a folder of its own.
type member struct {
	dir  string
	run  *exec.Cmd // the shell that starts it whenever it has ended
	stop func() error
}

// NewPair starts a pair. Its primary has an empty database. Without PostgreSQL's programs the test is skipped.
func NewPair(t testing.TB) *Pair {
	t.Helper()
	bin, err := programs()
	skipMissing(t, err)
	testkit.NoError(t, err)
	who, err := identity()
	testkit.NoError(t, err)
	p := &Pair{t: t, bin: bin, who: who}
	for n := range p.members {
		dir, err := os.MkdirTemp(clusterDir(), "arbor-pair-")
		testkit.NoError(t, err)
		if who != nil {
			testkit.NoError(t, os.Chown(dir, int(who.Uid), int(who.Gid)))
		}
		m := &member{dir: dir, stop: func() error { return nil }}
		p.members[n] = m
		t.Cleanup(func() { testkit.NoError(t, errors.Join(m.stop(), os.RemoveAll(dir))) })
	}
	first := p.members[0]
	testkit.NoError(t, makeData(first.dir, bin, who))
	testkit.NoError(t, appendFile(filepath.Join(first.dir, "data", "postgresql.conf"), settings+pairSettings))
	p.start(first)
	p.exec(first, `CREATE DATABASE `+pairDatabase)
	p.attach(p.members[1])
	return p
}

const pairDatabase = "arbor"

// standbyName is how the primary knows its standby.
const standbyName = "standby"

// A killed server may leave half of a page, as a power cut does.
const pairSettings = `
full_page_writes = on
autovacuum = on
wal_keep_size = 256MB
`

// URL returns the address of the database: on whichever of both is the primary.
func (p *Pair) URL() string {
	u := addressOf(p.members[0].dir + "," + p.members[1].dir)
	query := u.Query()
	query.Set("target_session_attrs", "read-write")
	u.Path, u.RawQuery = "/"+pairDatabase, query.Encode()
	return u.String()
}

// Crash ends the primary at once: by the signal for it, or by SIGKILL. It returns when the primary answers again.
func (p *Pair) Crash(signal syscall.Signal) {
	p.t.Helper()
	m := p.members[p.primary]
	pid := m.pid()
	testkit.NoError(p.t, syscall.Kill(pid, signal))
	p.awaitNew(m, pid)
}

// Failover stops the primary, makes the standby the new primary, and then the old one the standby of that. It begins when
// the standby has all that anybody has seen: a primary that crashed shows commits that its standby may lack.
func (p *Pair) Failover() {
	p.t.Helper()
	old, next := p.members[p.primary], p.members[1-p.primary]
	var position string
	p.ask(old, &position, `SELECT pg_current_wal_flush_lsn()::text`)
	p.until(old, `SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'
		AND flush_lsn >= '`+position+`'::pg_lsn)`)
	testkit.NoError(p.t, old.stop())
	p.exec(next, `SELECT pg_promote()`)
	p.primary = 1 - p.primary
	p.attach(old)
}

// attach makes a server that does not run the standby of the primary. Until it has caught up, commits do not wait for it.
func (p *Pair) attach(m *member) {
	p.t.Helper()
	primary := p.members[p.primary]
	testkit.NoError(p.t, os.RemoveAll(filepath.Join(m.dir, "data")))
	testkit.NoError(p.t, command(m.dir, p.who, filepath.Join(p.bin, "pg_basebackup"), "-D", "data", "--no-sync",
		"--write-recovery-conf", "--checkpoint=fast", "-d",
		"user=arbor application_name="+standbyName+" host="+primary.dir))
	p.start(m)
	p.exec(primary, `ALTER SYSTEM SET synchronous_standby_names = '`+standbyName+`'`)
	p.exec(primary, `SELECT pg_reload_conf()`)
	p.until(primary, `SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync')`)
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

func (p *Pair) start(m *member) {
	p.t.Helper()
	_ = os.Remove(filepath.Join(m.dir, "pid"))
	m.run = exec.Command("/bin/sh", "-c", supervisor, "supervisor", filepath.Join(p.bin, "postgres"))
	m.run.Dir, m.run.SysProcAttr = m.dir, &syscall.SysProcAttr{Credential: p.who, Setpgid: true}
	life, err := m.run.StdinPipe()
	testkit.NoError(p.t, err)
	testkit.NoError(p.t, m.run.Start())
	run := m.run
	m.stop = func() error {
		m.stop = func() error { return nil }
		err := life.Close()
		_ = run.Wait() // its status is that of the last kill
		return err
	}
	p.awaitNew(m, 0)
}

// pid returns the process of the server; 0: none was started.
func (m *member) pid() int {
	text, _ := os.ReadFile(filepath.Join(m.dir, "pid"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// awaitNew waits until a server answers whose process is another than before.
func (p *Pair) awaitNew(m *member, before int) {
	p.t.Helper()
	testkit.Eventually(p.t, func() bool {
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
func (p *Pair) until(m *member, query string) {
	p.t.Helper()
	testkit.Eventually(p.t, func() bool {
		is := false
		p.ask(m, &is, query)
		return is
	}, query)
}

func (p *Pair) ask(m *member, result any, query string) {
	p.t.Helper()
	p.on(m, func(ctx context.Context, c *pgx.Conn) error { return c.QueryRow(ctx, query).Scan(result) })
}

func (p *Pair) exec(m *member, statement string) {
	p.t.Helper()
	p.on(m, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, statement)
		return err
	})
}

func (p *Pair) on(m *member, do func(context.Context, *pgx.Conn) error) {
	p.t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, m.address().String())
	testkit.NoError(p.t, err)
	err = do(ctx, c)
	testkit.NoError(p.t, errors.Join(err, c.Close(ctx)))
}

func (m *member) address() *url.URL { return addressOf(m.dir) }
