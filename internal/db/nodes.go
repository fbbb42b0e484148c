package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// Times of nodes. A node that was not seen for nodeLost is taken for dead.
const (
	nodeBeat   = 10 * time.Second
	nodeLost   = 30 * time.Second
	nodeForget = 24 * time.Hour // after which the row of a dead node goes
)

// MaxSkew is how far the clock of a node may be off the database's.
const MaxSkew = time.Second

// Node is a process that serves the database. A row tells the others of it.
type Node struct {
	d      *DB
	log    *slog.Logger
	name   string // of the machine
	runs   string // the version of the program
	schema int64  // the newest migration that the program knows
	id     int64

	others atomic.Int64
	skew   atomic.Int64 // nanoseconds
	astray bool         // the log said that the clock is off
}

// NodeInfo is what a row says of a node. Times are by the database's clock.
type NodeInfo struct {
	Name    string
	Version string // of the program
	Started Time
	Seen    Time
	Skew    time.Duration // how far its clock was ahead of the database's
	Live    bool          // it was seen a short time ago
}

// Join enters a row for this process, which is about to serve the database. name is the
// machine's, version the program's. Error: when the clock is more than MaxSkew off.
func (d *DB) Join(ctx context.Context, name, version string, log *slog.Logger) (*Node, error) {
	known, err := Known()
	if err != nil {
		return nil, err
	}
	n := &Node{d: d, log: log, name: name, runs: version, schema: known[len(known)-1].Number}
	skew, unsure, err := d.clockSkew(ctx)
	if err != nil {
		return nil, err
	}
	if skew.Abs()-unsure > MaxSkew {
		return nil, fmt.Errorf("the clock of this machine is %s %s that of the database: use one time server",
			skew.Abs().Round(time.Millisecond), aheadOrBehind(skew))
	}
	n.skew.Store(int64(skew))
	return n, n.register(ctx, n.enter)
}

func aheadOrBehind(skew time.Duration) string {
	if skew < 0 {
		return "behind"
	}
	return "ahead of"
}

// Others is how many other nodes were live at the last beat.
func (n *Node) Others() int {
	if n == nil { // nobody counts the nodes
		return 0
	}
	return int(n.others.Load())
}

// Skew is how far the clock was ahead of the database's at the last beat.
func (n *Node) Skew() time.Duration {
	if n == nil {
		return 0
	}
	return time.Duration(n.skew.Load())
}

// Run reports to the other nodes every ten seconds that this one is alive, until ctx is done. Then it
// deletes the node's row. It returns an error if this program may no longer use the database.
func (n *Node) Run(ctx context.Context) error {
	tick := time.NewTicker(nodeBeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return n.Leave(context.WithoutCancel(ctx))
		case <-tick.C:
		}
		switch err := n.Beat(ctx); {
		case errors.Is(err, ErrOutdated):
			return errors.Join(err, n.Leave(context.WithoutCancel(ctx)))
		case err != nil && ctx.Err() == nil:
			n.log.WarnContext(ctx, "the other nodes could not be told that this one lives", "error", err)
		}
	}
}

// ErrOutdated says that a newer program changed the schema in a way that programs of this
// version do not understand.
var ErrOutdated = errors.New(
	"db: a newer version of the program changed the database, and this one may not work on it")

// Beat does once what Run does all the time. Error: ErrOutdated.
func (n *Node) Beat(ctx context.Context) error {
	skew, unsure, err := n.d.clockSkew(ctx)
	if err != nil {
		return err
	}
	n.skew.Store(int64(skew))
	if off := skew.Abs()-unsure > MaxSkew; off != n.astray {
		n.astray = off
		if off {
			n.log.ErrorContext(ctx, "the clock of this machine is off the database's: dates are wrong",
				"skew", skew)
		}
	}
	return n.register(ctx, func(tx *Tx) error {
		changed, err := tx.Exec(`UPDATE nodes SET seen_at = `+tx.Engine().Clock()+`, skew = $2 WHERE id = $1`,
			n.id, skew.Microseconds())
		if err != nil || changed > 0 {
			return err
		}
		return n.enter(tx) // this machine slept for a day
	})
}

// register writes the node's row, and reads what the database says to it. Error: ErrOutdated.
func (n *Node) register(ctx context.Context, write func(*Tx) error) error {
	var others, needed int64
	err := n.d.Write(ctx, func(tx *Tx) error {
		if err := write(tx); err != nil {
			return err
		}
		clock := tx.Engine().Clock()
		if _, err := tx.Exec(`DELETE FROM nodes WHERE seen_at < `+clock+` - $1`,
			nodeForget.Microseconds()); err != nil {
			return err
		}
		return tx.QueryRow(`SELECT (SELECT count(*) FROM nodes WHERE `+isLive(tx.Engine())+` AND id <> $1),
			(SELECT COALESCE(max(version), 0) FROM schema_migrations WHERE name LIKE '%`+aloneSuffix+`')`,
			n.id).Scan(&others, &needed)
	})
	if err != nil {
		return err
	}
	n.others.Store(others)
	if needed > n.schema {
		return ErrOutdated
	}
	return nil
}

func (n *Node) enter(tx *Tx) error {
	return tx.QueryRow(`INSERT INTO nodes (name, version, started_at, seen_at, skew)
		SELECT $1, $2, clock, clock, $3 FROM (SELECT `+tx.Engine().Clock()+` AS clock) AS now RETURNING id`,
		n.name, n.runs, n.Skew().Microseconds()).Scan(&n.id)
}

// Leave removes the node's row. Run does it at its end; call it if Run was not called. Its error is always nil:
// failures are logged, and others forget the node after half a minute.
func (n *Node) Leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, nodeBeat)
	defer cancel()
	err := n.d.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(`DELETE FROM nodes WHERE id = $1`, n.id)
		return err
	})
	if err != nil {
		n.log.WarnContext(ctx, "this node stays in the table of nodes for a while", "error", err)
	}
	return nil
}

// clockSkew is how far this machine's clock is ahead of the database's, and how much of
// that may be the time that the question took. SQLite's is this machine's clock.
func (d *DB) clockSkew(ctx context.Context) (skew, unsure time.Duration, err error) {
	if d.kind == SQLite {
		return 0, 0, nil
	}
	for try := range 3 {
		before, began := d.now(), time.Now()
		there, err := Get(ctx, d, func(tx *Tx) (Time, error) { return tx.Clock() })
		if err != nil {
			return 0, 0, err
		}
		half := time.Since(began) / 2
		if try == 0 || half < unsure {
			skew, unsure = before.Add(half).Sub(there.Time()), half
		}
	}
	return skew, unsure, nil
}

func isLive(e Engine) string {
	return fmt.Sprintf(`seen_at >= %s - %d`, e.Clock(), nodeLost.Microseconds())
}

// Nodes lists the processes that serve the database, and for a day those that died, the
// longest serving first.
func Nodes(tx *Tx) (list []NodeInfo, err error) {
	return QueryList(tx, func(row Scanner) (n NodeInfo, err error) {
		var skew int64
		err = row.Scan(&n.Name, &n.Version, &n.Started, &n.Seen, &skew, &n.Live)
		n.Skew = time.Duration(skew) * time.Microsecond
		return n, err
	}, `SELECT name, version, started_at, seen_at, skew, `+isLive(tx.Engine())+`
		FROM nodes ORDER BY started_at, id`)
}

// InUseError says that servers work on a database that must be left alone.
type InUseError struct{ Nodes []NodeInfo }

func (e *InUseError) Error() string {
	text := "a server works on this database; stop it first"
	if len(e.Nodes) > 1 {
		text = "servers work on this database; stop them first"
	}
	for i, n := range e.Nodes {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		text += fmt.Sprintf("%s%s, version %s, seen at %s", sep, n.Name, n.Version,
			n.Seen.Time().UTC().Format(time.RFC3339))
	}
	return text + fmt.Sprintf(". One that died counts for %s.", nodeLost)
}

// CheckUnused returns an *InUseError while a server works on the database.
func CheckUnused(tx *Tx) error {
	all, err := Nodes(tx)
	if err != nil {
		return err
	}
	var live []NodeInfo
	for _, n := range all {
		if n.Live {
			live = append(live, n)
		}
	}
	if len(live) > 0 {
		return &InUseError{live}
	}
	return nil
}
