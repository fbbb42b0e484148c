//go:build long

package dbtest

import (
	"syscall"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// What a pair has committed is there after its primary was killed, and after each failover; commits wait for a standby
// again once it has caught up.
func TestPair(t *testing.T) {
	t.Parallel()
	p := NewPair(t)
	d, err := db.Open(t.Context(), db.Options{URL: p.URL(), Connections: 4})
	testkit.NoError(t, err)
	defer d.Close()
	Exec(t, d, `CREATE TABLE acknowledged (n INTEGER)`)
	written := int64(0)
	for n, disturb := range []func(){
		func() {}, func() { p.Crash(syscall.SIGQUIT) }, func() { p.Crash(syscall.SIGKILL) }, p.Failover, p.Failover,
		func() { p.Crash(syscall.SIGKILL) },
	} {
		disturb()
		Exec(t, d, `INSERT INTO acknowledged VALUES ($1)`, n)
		written++
		if found := Number(t, d, `SELECT COUNT(*) FROM acknowledged`); found != written {
			t.Errorf("after disturbance %d there are %d rows of %d", n, found, written)
		}
		if Number(t, d, `SELECT COUNT(*) FROM pg_stat_replication WHERE application_name = '`+standbyName+`'`) != 1 {
			testkit.Eventually(t, func() bool {
				return Number(t, d, `SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'`) == 1
			}, "the standby follows")
		}
	}
}
