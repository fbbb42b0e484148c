package db

import (
	"sync/atomic"
	"time"
)

// Bounds are the upper bounds of the classes in which durations of transactions are counted.
var Bounds = [...]time.Duration{100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond,
	100 * time.Millisecond, time.Second, 10 * time.Second}

// durations counts transactions of one kind.
type durations struct {
	underWay atomic.Int64 // those that wait for their turn included
	failed   atomic.Int64
	sum      atomic.Int64 // nanoseconds
	classes  [len(Bounds) + 1]atomic.Int64
}

func (d *durations) end(began time.Time, err error) {
	took := time.Since(began)
	d.underWay.Add(-1)
	d.sum.Add(int64(took))
	if err != nil {
		d.failed.Add(1)
	}
	class := 0
	for class < len(Bounds) && took > Bounds[class] {
		class++
	}
	d.classes[class].Add(1)
}

func (d *durations) begin() time.Time {
	d.underWay.Add(1)
	return time.Now()
}

// Transactions are the numbers of one kind of transactions since the database was opened.
type Transactions struct {
	Kind     string // read or write
	UnderWay int64  // also those that wait for their turn
	Failed   int64  // that ended with an error, also one that they chose
	Sum      time.Duration
	Counts   [len(Bounds) + 1]int64 // how many took at most each of Bounds and more than the one before
}

// Connections are those of the pool: SQLite's readers, all of PostgreSQL.
type Connections struct {
	Busy, Idle, Most, Waiting int64
}

// Transactions counts reads and writes; reads that only ask for a generation are none.
func (d *DB) Transactions() []Transactions {
	list := []Transactions{{Kind: "read"}, {Kind: "write"}}
	for i, from := range []*durations{&d.reads, &d.writes} {
		t := &list[i]
		t.UnderWay, t.Failed, t.Sum = from.underWay.Load(), from.failed.Load(), time.Duration(from.sum.Load())
		for c := range from.classes {
			t.Counts[c] = from.classes[c].Load()
		}
	}
	return list
}

// Connections returns statistics of the connection pool.
func (d *DB) Connections() Connections { return d.backend.connections() }

// WritesWaiting is how many writes wait for their turn: of SQLite, which has one writer.
func (d *DB) WritesWaiting() int {
	b, ok := d.backend.(*sqliteBackend)
	if !ok {
		return 0
	}
	b.writer.mu.Lock()
	defer b.writer.mu.Unlock()
	return len(b.writer.queue)
}

func (b *sqliteBackend) connections() Connections {
	s := b.readers.Stats()
	return Connections{int64(s.InUse), int64(s.Idle), int64(s.MaxOpenConnections), b.waiters.number()}
}

func (b *postgresBackend) connections() Connections {
	s := b.conns.Stat()
	return Connections{int64(s.AcquiredConns()), int64(s.IdleConns()), int64(s.MaxConns()), b.waiters.number()}
}

// Backlog is what a table of jobs has to do.
type Backlog struct {
	Pending int64 // rows, at most MostCounted
	Retried int64 // of those, that failed before
	Oldest  Time  // when the one that is due longest became due; 0: none has a time
}

// MostCounted is how many jobs are counted: beyond that there are just too many.
const MostCounted = 10_000

// Backlog counts the rows that fulfill the condition where.
func (j Jobs) Backlog(tx *Tx, where string) (b Backlog, err error) {
	var oldest *Time
	err = tx.QueryRow(`SELECT count(*), COALESCE(sum(CASE WHEN x.tries > 1 THEN 1 ELSE 0 END), 0),
		min(NULLIF(x.due_at, 0))
		FROM (SELECT due_at, tries FROM `+j.Table+` WHERE `+where+` ORDER BY due_at LIMIT $1) x`, MostCounted).
		Scan(&b.Pending, &b.Retried, &oldest)
	if oldest != nil {
		b.Oldest = *oldest
	}
	return b, err
}
