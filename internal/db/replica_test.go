package db_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

func openReplica(t *testing.T, primary, replica string) *db.DB {
	t.Helper()
	d, err := db.OpenWith(t.Context(), db.Options{URL: primary, Replica: replica, Connections: 4}, schema)
	testkit.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

// newStandby returns a pair of servers whose database has the tables of these tests alone.
func newStandby(t *testing.T) (p *dbtest.Standby, d *db.DB) {
	t.Helper()
	p = dbtest.NewStandby(t)
	return p, openReplica(t, p.Primary, p.Replica)
}

func looked(t *testing.T, d *db.DB, name string) (n int64) {
	t.Helper()
	err := d.Read(db.WithReplicaReads(t.Context()), func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT coalesce(max(n), 0) FROM counters WHERE name = $1`, name).Scan(&n)
	})
	testkit.NoError(t, err)
	return n
}

// served waits until the replica serves a read.
func served(t *testing.T, d *db.DB) {
	t.Helper()
	before := d.ReplicaReads()["replica"]
	testkit.Eventually(t, func() bool {
		looked(t, d, "")
		return d.ReplicaReads()["replica"] > before
	}, "the replica serves", func() string { return fmt.Sprint(d.ReplicaReads(), " ", d.ReplicaProblem()) })
}

// A read from the replica shows what was acknowledged before, by whomever and wherever.
func TestReplicaIsNeverOld(t *testing.T) {
	t.Parallel()
	p, d := newStandby(t)
	other := openAt(t, p.Primary)
	mustWrite(t, d, count("first"))
	served(t, d)
	crowd(4, 100, func(w, i int) {
		name, writer := fmt.Sprint(w), d
		if i%2 == 0 {
			writer = other
		}
		if err := writer.Write(context.Background(), count(name)); err != nil {
			t.Error(err)
		}
		var n int64
		read := d.Read
		if i%3 == 0 {
			read = d.ReadOne
		}
		err := read(db.WithReplicaReads(context.Background()), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT n FROM counters WHERE name = $1`, name).Scan(&n)
		})
		if err != nil || n != int64(i+1) {
			t.Errorf("after %d writes: %d, %v", i+1, n, err)
		}
	})
	served(t, d)
	t.Log(d.ReplicaReads())
	err := d.Read(db.WithReplicaReads(t.Context()), func(tx *db.Tx) error { return tx.QueryRow(`SELECT 1 WHERE false`).Scan(new(int)) })
	if err != db.ErrNoRows {
		t.Errorf("an error of the function is %v", err)
	}
}

// While the replica lags or is away, the primary serves reads.
func TestReplicaLags(t *testing.T) {
	t.Parallel()
	p, d := newStandby(t)
	mustWrite(t, d, count("a"))
	served(t, d)
	p.Replay(false)
	before, n := d.ReplicaReads(), int64(1)
	testkit.Eventually(t, func() bool {
		n++
		mustWrite(t, d, count("a"))
		if got := looked(t, d, "a"); got != n {
			t.Fatalf("%d after %d writes", got, n)
		}
		now := d.ReplicaReads()
		return now["behind"] > before["behind"] && now["left alone"] > before["left alone"]
	}, "the replica lags and is left alone", func() string { return fmt.Sprint(d.ReplicaReads()) })
	if problem := d.ReplicaProblem(); problem != "" {
		t.Errorf("a replica that lags for a moment is a problem: %s", problem)
	}
	d.SetReplicaPatience(0)
	testkit.Eventually(t, func() bool {
		looked(t, d, "a")
		return d.ReplicaProblem() != ""
	}, "a replica that lags for long is a problem")
	p.Replay(true)
	served(t, d)
	if problem := d.ReplicaProblem(); problem != "" {
		t.Errorf("a replica that serves again is a problem: %s", problem)
	}
	p.StopReplica(t)
	mustWrite(t, d, count("a"))
	if got := looked(t, d, "a"); got != n+1 {
		t.Errorf("%d without the replica", got)
	}
	if d.ReplicaProblem() == "" {
		t.Error("nothing tells that the replica is away")
	}
}

// A standby that did not follow the primary of today may have what was never acknowledged, at a later position.
func TestReplicaLeftBehind(t *testing.T) {
	t.Parallel()
	p, _ := newStandby(t)
	address, lose, fail := p.Second(t)
	d := openReplica(t, address, p.Replica)
	mustWrite(t, d, count("kept"))
	served(t, d)
	lose()
	for range 50 {
		mustWrite(t, d, count("lost"))
	}
	testkit.Eventually(t, func() bool { return looked(t, d, "lost") == 50 }, "the replica has it")
	fail()
	if n := looked(t, d, "lost"); n == 50 {
		t.Errorf("%d were lost in the failover, and are shown", n)
	}
	mustWrite(t, d, count("kept"))
	for range 20 {
		if n := looked(t, d, "kept"); n != 2 {
			t.Fatalf("%d after 2 writes", n)
		}
	}
	counts := d.ReplicaReads()
	if counts["behind"]+counts["failed"] == 0 {
		t.Errorf("reads after the failover: %v", counts)
	}
}

// The row that names the primary is a write. While the synchronous standby is away such writes wait, and reads do not.
func TestReplicaBesideLostStandby(t *testing.T) {
	t.Parallel()
	p, d := newStandby(t)
	p.Await("nobody")
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	if err := d.Read(db.WithReplicaReads(ctx), func(tx *db.Tx) error { return tx.QueryRow(`SELECT 1`).Scan(new(int)) }); err != nil {
		t.Errorf("a read: %v", err)
	}
	served(t, d)
}

// What fails on the replica alone is no answer: the primary serves it. The replica still serves other reads.
func TestReplicaFailsOneRead(t *testing.T) {
	t.Parallel()
	_, d := newStandby(t)
	served(t, d)
	for _, read := range []func(context.Context, func(*db.Tx) error) error{d.Read, d.ReadOne} {
		n := 0
		err := read(db.WithReplicaReads(t.Context()), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT 7 / CASE WHEN pg_is_in_recovery() THEN 0 ELSE 1 END`).Scan(&n)
		})
		if err != nil || n != 7 {
			t.Errorf("read %d, %v", n, err)
		}
	}
	if problem := d.ReplicaProblem(); problem != "" {
		t.Errorf("a failing statement ended the use of the replica: %s", problem)
	}
}

// Recovery ends reads that are in its way, in a statement or between two: the primary serves them. The replica serves
// the next ones.
func TestReplicaRecovers(t *testing.T) {
	t.Parallel()
	p, d := newStandby(t)
	p.Hasten()
	change := func() { // whose recovery is in the way of all reads that began before
		mustWrite(t, d, count("a"))
		p.Vacuum(t, "counters")
	}
	var changing sync.WaitGroup
	for name, wait := range map[string]func(tx *db.Tx) error{
		"between two statements": func(*db.Tx) error {
			change()
			p.Reading(false, "idle in transaction")
			return nil
		},
		"in a statement": func(tx *db.Tx) error {
			changing.Go(func() {
				p.Reading(true, "active")
				change()
			})
			return tx.QueryRow(`SELECT pg_sleep(300)::text`).Scan(new(string))
		},
	} {
		mustWrite(t, d, count("a"))
		before := looked(t, d, "a")
		served(t, d)
		failed := d.ReplicaReads()["failed"]
		var reads []int64
		err := d.Read(db.WithReplicaReads(t.Context()), func(tx *db.Tx) error {
			var n int64
			read := func() error { return tx.QueryRow(`SELECT n FROM counters WHERE name = 'a'`).Scan(&n) }
			err := read()
			if reads = append(reads, n); err == nil && len(reads) == 1 {
				err = wait(tx)
			}
			if err == nil {
				err = read()
			}
			return err
		})
		if want := []int64{before, before + 1}; err != nil || !slices.Equal(reads, want) {
			t.Errorf("%s: read %v, %v, want %v", name, reads, err, want)
		}
		changing.Wait()
		if n := d.ReplicaReads()["failed"] - failed; n != 1 || d.ReplicaProblem() != "" {
			t.Errorf("%s: %d reads failed, want 1; %s", name, n, d.ReplicaProblem())
		}
		served(t, d)
	}
}

// A replica that tells its position, but whose statements stall, is left alone: otherwise every read would wait for it.
func TestReplicaStalls(t *testing.T) {
	t.Parallel()
	_, d := newStandby(t)
	served(t, d)
	d.SetReplicaTimeout(200 * time.Millisecond)
	failed := d.ReplicaReads()["failed"]
	testkit.Eventually(t, func() bool { // the first reads may be late before their statement begins
		err := d.Read(db.WithReplicaReads(t.Context()), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT pg_sleep(CASE WHEN pg_is_in_recovery() THEN 300 ELSE 0 END)::text`).Scan(new(string))
		})
		testkit.NoError(t, err)
		return d.ReplicaReads()["failed"] > failed
	}, "a read stalls on the replica")
	if d.ReplicaProblem() == "" {
		t.Error("nothing tells that statements stall on the replica")
	}
	d.SetReplicaTimeout(time.Minute)
	served(t, d)
	if problem := d.ReplicaProblem(); problem != "" {
		t.Errorf("a replica that serves again is a problem: %s", problem)
	}
}

// After a failover the replica may be the primary itself. Nodes start nevertheless, and read from the primary.
func TestReplicaPromoted(t *testing.T) {
	t.Parallel()
	p := dbtest.NewStandby(t)
	d := openReplica(t, p.Primary, p.Primary)
	mustWrite(t, d, count("a"))
	if got := looked(t, d, "a"); got != 1 {
		t.Errorf("%d after a write", got)
	}
	if d.ReplicaProblem() == "" || d.ReplicaReads()["replica"] != 0 {
		t.Errorf("problem %q, reads %v", d.ReplicaProblem(), d.ReplicaReads())
	}
}

// The URL may name all servers: the one that is a standby serves.
func TestReplicaAmongHosts(t *testing.T) {
	t.Parallel()
	p := dbtest.NewStandby(t)
	hosts, err := url.Parse(p.Primary)
	testkit.NoError(t, err)
	standby, err := url.Parse(p.Replica)
	testkit.NoError(t, err)
	query := hosts.Query()
	query.Set("host", query.Get("host")+","+standby.Query().Get("host"))
	query.Set("target_session_attrs", "standby")
	hosts.RawQuery = query.Encode()
	d := openReplica(t, p.Primary, hosts.String())
	mustWrite(t, d, count("a"))
	served(t, d)
	if got := looked(t, d, "a"); got != 1 {
		t.Errorf("%d after a write", got)
	}
}

// What is no standby of the database is refused.
func TestReplicaOfAnother(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		replica := "postgres://localhost/arbor"
		if engine == db.PostgreSQL {
			replica = dbtest.URL(t, engine)
		}
		_, err := db.OpenWith(t.Context(), db.Options{URL: dbtest.Empty(t, engine), Replica: replica}, schema)
		if err == nil || !strings.Contains(err.Error(), "the replica") && !strings.Contains(err.Error(), "needs a database") {
			t.Errorf("error: %v", err)
		}
	})
}
