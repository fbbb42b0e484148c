package dbtest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"arbor/internal/test/testkit"
)

// Standby is a primary of PostgreSQL and a hot standby of it, for one test.
type Standby struct {
	Primary, Replica string // URLs of a database with tables on each

	bin              string
	who              *syscall.Credential
	primary, replica *cluster
}

// cluster is a PostgreSQL server of its own.
type cluster struct {
	dir  string
	life io.Closer
}

func (c *cluster) url(database string) string {
	u := addressOf(c.dir)
	u.Path = "/" + database
	return u.String()
}

// NewStandby starts both servers, which end with the test.
func NewStandby(t testing.TB) *Standby {
	t.Helper()
	requireServer(t)
	dir, life, err := startCluster("read -r _", "")
	testkit.NoError(t, err)
	p := &Standby{primary: &cluster{dir, life}}
	t.Cleanup(func() { p.primary.end(t) })
	first := &server{base: addressOf(dir), template: sharedTemplate}
	testkit.NoError(t, errors.Join(first.prepare(), first.makeTemplate()))
	p.bin, err = programs()
	testkit.NoError(t, err)
	p.who, err = identity()
	testkit.NoError(t, err)
	p.replica = p.follow(t)
	p.Primary, p.Replica = p.primary.url(sharedTemplate), p.replica.url(sharedTemplate)
	return p
}

// Create makes an empty database, on which Primary and Replica are from then on.
func (p *Standby) Create(t testing.TB, name string) {
	t.Helper()
	p.run(t, p.primary, `CREATE DATABASE `+name+` TEMPLATE template0`)
	p.Primary, p.Replica = p.primary.url(name), p.replica.url(name)
}

// follow makes a standby of the primary, which ends with the test.
func (p *Standby) follow(t testing.TB) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp(clusterDir(), "arbor-pg-")
	if err == nil && p.who != nil {
		err = os.Chown(dir, int(p.who.Uid), int(p.who.Gid))
	}
	testkit.NoError(t, err)
	testkit.NoError(t, command(dir, p.who, filepath.Join(p.bin, "pg_basebackup"), "-h", p.primary.dir, "-U", "arbor",
		"-D", "data", "-R", "-X", "stream", "--checkpoint=fast", "--no-sync"))
	keep := exec.Command("/bin/sh", "-c", keeper, "keeper", filepath.Join(p.bin, "postgres"), dir, "read -r _", "")
	keep.Dir, keep.SysProcAttr = dir, &syscall.SysProcAttr{Credential: p.who, Setpgid: true}
	life, err := keep.StdinPipe()
	testkit.NoError(t, err)
	testkit.NoError(t, keep.Start())
	go func() { _ = keep.Wait() }()
	c := &cluster{dir, life}
	t.Cleanup(func() { c.end(t) })
	testkit.NoError(t, awaitReady(dir))
	return c
}

// end stops the server and waits until its folder is gone.
func (c *cluster) end(t testing.TB) {
	t.Helper()
	c.life.Close()
	testkit.Eventually(t, func() bool {
		_, err := os.Stat(c.dir)
		return err != nil
	}, "the server ends")
}

func (p *Standby) run(t testing.TB, on *cluster, statement string) {
	t.Helper()
	var s session
	testkit.NoError(t, s.run(addressOf(on.dir), statement))
}

// Replay stops or continues the replay of the log on the replica.
func (p *Standby) Replay(t testing.TB, on bool) {
	t.Helper()
	statement := `SELECT pg_wal_replay_pause()`
	if on {
		statement = `SELECT pg_wal_replay_resume()`
	}
	p.run(t, p.replica, statement)
}

// Await has commits on the primary wait for a standby of a name.
func (p *Standby) Await(t testing.TB, name string) {
	t.Helper()
	p.run(t, p.primary, `ALTER SYSTEM SET synchronous_standby_names = '`+name+`'`)
	p.run(t, p.primary, `SELECT pg_reload_conf()`)
	testkit.Eventually(t, func() bool {
		now := ""
		first := &server{base: addressOf(p.primary.dir)}
		return first.query(&now, `SELECT current_setting('synchronous_standby_names')`) == nil && now == name
	}, "the primary has read the setting")
}

// StopReplica stops the replica at once.
func (p *Standby) StopReplica(t testing.TB) { p.replica.end(t) }

// Second starts another standby. The URL that it returns leads to whichever of it and the primary takes writes.
// What the primary commits after lose is not on it. fail stops the primary and promotes it.
func (p *Standby) Second(t testing.TB, database string) (address string, lose, fail func()) {
	t.Helper()
	c := p.follow(t)
	both := addressOf(p.primary.dir + "," + c.dir)
	both.Path, both.RawQuery = "/"+database, both.RawQuery+"&target_session_attrs=read-write"
	lose = func() { // it receives no more of the log
		p.run(t, c, `ALTER SYSTEM SET primary_conninfo = ''`)
		p.run(t, c, `SELECT pg_reload_conf()`)
		testkit.Eventually(t, func() bool {
			n := 0
			first := &server{base: addressOf(c.dir)}
			return first.query(&n, `SELECT count(*) FROM pg_stat_wal_receiver`) == nil && n == 0
		}, "the second standby follows nobody")
	}
	fail = func() {
		p.primary.end(t)
		p.run(t, c, `SELECT pg_promote(true, 30)`)
	}
	return both.String(), lose, fail
}
