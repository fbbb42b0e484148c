package dbtest

import (
	"syscall"
	"testing"

	"arbor/internal/test/testkit"
)

// Pair is a PostgreSQL server with a synchronous standby, for tests in which the primary dies. Both are of the test
// alone.
type Pair struct {
	t       testing.TB
	members [2]*member
	primary int // among the members
}

// NewPair starts a pair. Its primary has an empty database. Without PostgreSQL's programs the test is skipped.
func NewPair(t testing.TB) *Pair {
	t.Helper()
	p := &Pair{t: t, members: [2]*member{newMember(t), newMember(t)}}
	first := p.members[0]
	first.create(pairSettings)
	first.exec(`CREATE DATABASE ` + pairDatabase)
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
	m.awaitNew(pid)
}

// Failover stops the primary, makes the standby the new primary, and then the old one the standby of that. It begins when
// the standby has all that anybody has seen: a primary that crashed shows commits that its standby may lack.
func (p *Pair) Failover() {
	p.t.Helper()
	old, next := p.members[p.primary], p.members[1-p.primary]
	var position string
	old.ask(&position, `SELECT pg_current_wal_flush_lsn()::text`)
	old.until(`SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'
		AND flush_lsn >= '` + position + `'::pg_lsn)`)
	testkit.NoError(p.t, old.stop())
	next.exec(`SELECT pg_promote()`)
	p.primary = 1 - p.primary
	p.attach(old)
}

// attach makes a server that does not run the standby of the primary. Until it has caught up, commits do not wait for it.
func (p *Pair) attach(m *member) {
	p.t.Helper()
	primary := p.members[p.primary]
	m.follow(primary, standbyName)
	primary.exec(`ALTER SYSTEM SET synchronous_standby_names = '` + standbyName + `'`)
	primary.exec(`SELECT pg_reload_conf()`)
	primary.until(`SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync')`)
}
