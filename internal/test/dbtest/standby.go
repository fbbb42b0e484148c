package dbtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"arbor/internal/test/testkit"
)

// Standby is a primary of PostgreSQL and a hot standby of it, for one test.
type Standby struct {
	Primary, Replica string // URLs of the database on each

	primary, replica *member
}

// NewStandby starts both servers, which end with the test. Their database is empty.
func NewStandby(t testing.TB) *Standby {
	t.Helper()
	requireServer(t)
	p := &Standby{primary: newMember(t), replica: newMember(t)}
	p.primary.create("")
	p.primary.exec(`CREATE DATABASE ` + pairDatabase)
	p.replica.follow(p.primary, "replica")
	p.Primary, p.Replica = p.primary.address(pairDatabase).String(), p.replica.address(pairDatabase).String()
	return p
}

// Replay stops or continues the replay of the log on the replica.
func (p *Standby) Replay(on bool) {
	statement := `SELECT pg_wal_replay_pause()`
	if on {
		statement = `SELECT pg_wal_replay_resume()`
	}
	p.replica.exec(statement)
}

// Hasten has the replica end reads at once that are in the way of its recovery.
func (p *Standby) Hasten() {
	p.replica.exec(`ALTER SYSTEM SET max_standby_streaming_delay = 0`)
	p.replica.exec(`SELECT pg_reload_conf()`)
	p.replica.until(`SELECT current_setting('max_standby_streaming_delay') = '0'`)
}

// Vacuum removes dead rows from a table of the primary. The replica's recovery does the same a moment later.
func (p *Standby) Vacuum(t testing.TB, table string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), p.Primary)
	testkit.NoError(t, err)
	defer c.Close(context.Background())
	_, err = c.Exec(t.Context(), `VACUUM `+table)
	testkit.NoError(t, err)
}

// Reading waits until a session of the replica is in a state of pg_stat_activity, or none is.
func (p *Standby) Reading(on bool, state string) {
	is := ""
	if !on {
		is = "NOT "
	}
	p.replica.until(`SELECT ` + is + `EXISTS (SELECT 1 FROM pg_stat_activity
		WHERE datname = '` + pairDatabase + `' AND state = '` + state + `')`)
}

// Await has commits on the primary wait for a standby of a name.
func (p *Standby) Await(name string) {
	p.primary.exec(`ALTER SYSTEM SET synchronous_standby_names = '` + name + `'`)
	p.primary.exec(`SELECT pg_reload_conf()`)
	p.primary.until(`SELECT current_setting('synchronous_standby_names') = '` + name + `'`)
}

// StopReplica stops the replica at once.
func (p *Standby) StopReplica(t testing.TB) { testkit.NoError(t, p.replica.stop()) }

// Second starts another standby. The URL that it returns leads to whichever of it and the primary takes writes.
// What the primary commits after lose is not on it. fail stops the primary and promotes it.
func (p *Standby) Second(t testing.TB) (address string, lose, fail func()) {
	t.Helper()
	second := newMember(t)
	second.follow(p.primary, "second")
	both := addressOf(p.primary.dir + "," + second.dir)
	both.Path, both.RawQuery = "/"+pairDatabase, both.RawQuery+"&target_session_attrs=read-write"
	lose = func() { // it receives no more of the log
		second.exec(`ALTER SYSTEM SET primary_conninfo = ''`)
		second.exec(`SELECT pg_reload_conf()`)
		second.until(`SELECT NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)`)
	}
	fail = func() {
		testkit.NoError(t, p.primary.stop())
		second.exec(`SELECT pg_promote(true, 30)`)
	}
	return both.String(), lose, fail
}
