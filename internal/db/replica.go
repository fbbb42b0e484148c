package db

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// A replica is a hot standby of the database, from which requests that change nothing read (see [WithReplicaReads]).
//
// A read from the replica shows everything acknowledged before the read began, as on the primary. For this, the
// node asks the primary for its position in the log, and waits until the replica has replayed the log up to there.
// Concurrent reads share this question. It is asked for each read, not once per request: the request may have got a
// newer value from elsewhere, such as a cache, and its next read must not return older data. If the replica does
// not catch up within maxLag, or does not answer, the primary serves the read, and the replica is not used for a
// while.
//
// Log positions cannot be compared if a standby did not follow the current primary, for example after a failover. So
// each node writes a row on every primary that it connects to, named after the server's start time and timeline. The
// replica is used only if it shows this row. Until then, the primary serves reads.
type replica struct {
	*postgresBackend
	primary *postgresBackend

	unusedUntil atomic.Int64 // until when the replica is not used, in Unix nanoseconds
	outcome     [len(replicaOutcomes)]atomic.Int64
	lagAlarm    time.Duration // how long it may lag before the alarm; tests lower it from maxBehind
	maxRead     time.Duration // how long a read may take there; tests lower it from maxReplica

	mu      sync.Mutex
	marked  string    // the primary on which this process wrote the row
	marking bool      // it is being written
	behind  time.Time // since when it lags
	lagged  time.Time // when it did last; zero: not since it served a read
	problem string    // that was logged last
}

// position is a point in the log of a primary.
type position struct {
	primary string // the topic of the row that names it
	log     int64  // bytes
}

// reaches reports whether a server at p shows everything that was acknowledged at other.
func (p position) reaches(other position) bool {
	return p.primary == other.primary && p.log >= other.log
}

const (
	maxLag       = 50 * time.Millisecond // how long a read waits for the replica to catch up
	maxAnswer    = time.Second           // how long a query for its position may take, and how long the result is valid
	maxReplica   = 10 * time.Second      // how long a read may take there, before the primary serves it
	leaveBehind  = time.Second           // how long a replica that lags is not used
	maxBehind    = time.Minute           // how long it may lag before that is a problem
	leaveBroken  = 3 * time.Second       // how long a replica that does not answer is not used
	replicaStart = 5 * time.Second       // how long Open waits for it
)

// namePrimary is SQL for the topic that names the server that runs it, which is a primary.
const namePrimary = `'primary ' || extract(epoch FROM pg_postmaster_start_time())::text || ' ' ||
	left(pg_walfile_name(pg_current_wal_flush_lsn()), 8)`

// askPosition is SQL for two more columns of the question about the state.
const askPosition = `, ` + namePrimary + `, pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint`

var (
	errBehind   = errors.New("the replica lags behind the primary")
	errOrphaned = errors.New("the server is not a standby of this database")
	errPromoted = errors.New("the server is not a standby: it was promoted and accepts writes")
	errNoConn   = errors.New("no connection to the replica became free within a second")
	errSlow     = errors.New("the replica did not finish a read in time")
)

type replicaReadsKey struct{}

// WithReplicaReads returns the context of a request that changes nothing. Reads with this context may use the replica.
func WithReplicaReads(ctx context.Context) context.Context {
	return context.WithValue(ctx, replicaReadsKey{}, true)
}

// follow opens the replica of a database that is open.
func (d *DB) follow(ctx context.Context, o Options) (err error) {
	primary, ok := d.backend.(*postgresBackend)
	if !ok {
		return errors.New("a replica needs a database of PostgreSQL")
	}
	primary.positions = true
	d.replica, err = openReplica(ctx, o, primary)
	return err
}

// openReplica opens the replica of an open primary. It returns an error for a server with another database. It
// returns none for a server that does not answer or was promoted, because nodes must be able to start during a
// failover.
func openReplica(ctx context.Context, o Options, primary *postgresBackend) (*replica, error) {
	if !isPostgres(o.Replica) {
		return nil, errors.New("unsupported replica: want postgres://USER:PASSWORD@HOST/NAME")
	}
	address, err := url.Parse(o.Replica)
	if err != nil {
		return nil, errors.New("the replica's URL cannot be parsed") // err holds the password
	}
	if query := address.Query(); !query.Has("connect_timeout") {
		query.Set("connect_timeout", "3")
		address.RawQuery = query.Encode()
	}
	b, err := newPostgres(Options{URL: address.String(), Log: o.Log, Now: o.Now, Trace: o.Trace,
		Connections: o.Connections, hangUp: maxAnswer})
	if err != nil {
		return nil, fmt.Errorf("the replica: %w", err)
	}
	r := &replica{postgresBackend: b, primary: primary, lagAlarm: maxBehind, maxRead: maxReplica}
	ctx, cancel := context.WithTimeout(ctx, replicaStart)
	defer cancel()
	if err := r.compare(ctx); errors.Is(err, errOrphaned) {
		b.close()
		return nil, fmt.Errorf("the replica: %w", err)
	} else if err != nil {
		r.suspend(ctx, err)
	}
	return r, nil
}

// compare returns errOrphaned if the replica has another database than the primary, and errPromoted if it is no
// standby.
func (r *replica) compare(ctx context.Context) error {
	var same [2]string
	standby := false
	for i, of := range []*postgresBackend{r.primary, r.postgresBackend} {
		err := of.question(ctx, of.conns, func(c *postgresConn) error {
			return translatePostgres(c.raw.QueryRow(ctx, `SELECT pg_is_in_recovery(), system_identifier || '/' ||
				(SELECT oid FROM pg_database WHERE datname = current_database()) FROM pg_control_system()`).
				Scan(&standby, &same[i]))
		})
		if err != nil {
			return err
		}
	}
	switch {
	case same[0] != same[1]:
		return errOrphaned
	case !standby:
		return errPromoted
	}
	return nil
}

// readReplica runs fn in a transaction on the replica. done is false if the primary must serve the read.
func (d *DB) readReplica(ctx context.Context, begin string, fn func(*Tx) error) (done bool, err error) {
	r := d.replica
	if r == nil || ctx.Value(replicaReadsKey{}) == nil {
		return false, nil
	}
	if time.Now().UnixNano() < r.unusedUntil.Load() {
		r.outcome[replicaLeft].Add(1)
		return false, nil
	}
	now, err := d.moments.get(ctx, "")
	if err != nil {
		return false, nil // the read on the primary returns the error
	}
	if !r.isMarked(now.position.primary) {
		r.outcome[replicaBehind].Add(1)
		return false, nil
	}
	return r.serve(ctx, now.position, begin, fn)
}

func (r *replica) serve(ctx context.Context, at position, begin string, fn func(*Tx) error) (done bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, r.maxRead)
	defer cancel()
	var tx *Tx // nil: fn did not run
	connected := false
	late := time.AfterFunc(maxAnswer, cancel)
	defer late.Stop()
	err = r.once(bounded, begin, func(c *postgresConn) error {
		connected = late.Stop()
		return r.catchUp(bounded, c, at)
	}, func(t *Tx) error {
		tx = t
		return fn(t)
	})
	// The error is that of fn itself, not of the replica: the caller gets it.
	own := tx != nil && tx.failed == nil && bounded.Err() == nil
	switch {
	case err == nil || own:
		r.outcome[replicaServed].Add(1)
		r.noteServed(ctx)
		return true, err
	case ctx.Err() != nil:
		return true, ctx.Err()
	case errors.Is(err, errBehind):
		r.suspendLagging(ctx)
	case tx != nil && bounded.Err() == nil: // this read alone failed, as when it conflicts with the replica's recovery
		r.outcome[replicaFailed].Add(1)
	default: // also if only statements stall: the next ones would, too
		switch {
		case bounded.Err() == nil:
		case !connected:
			err = errNoConn
		case tx != nil:
			err = errSlow
		}
		r.outcome[replicaFailed].Add(1)
		r.suspend(ctx, err)
	}
	return false, nil
}

// isMarked reports whether this process has written the row that names the primary. If not, it starts to write the row
// in the background: no read waits for it, because a write may take long.
func (r *replica) isMarked(primary string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.marked != primary && !r.marking {
		r.marking = true
		go r.writeMark(primary)
	}
	return r.marked == primary
}

// writeMark writes the row. It does not wait for synchronous standbys, because a standby without the row is not
// used anyway.
func (r *replica) writeMark(primary string) {
	ctx, cancel := context.WithTimeout(context.Background(), maxReplica)
	defer cancel()
	err := r.primary.question(ctx, r.primary.conns, func(c *postgresConn) error {
		_, err := c.raw.Exec(ctx, `WITH named AS (SELECT `+namePrimary+` AS topic,
				set_config('synchronous_commit', 'local', true)),
			others AS (DELETE FROM generations WHERE topic LIKE 'primary %' AND topic <> (SELECT topic FROM named))
			INSERT INTO generations (topic, value) SELECT topic, 1 FROM named ON CONFLICT DO NOTHING`)
		return translatePostgres(err)
	})
	if err != nil {
		r.unusedUntil.Store(time.Now().Add(leaveBehind).UnixNano())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.marking = false
	if err == nil {
		r.marked = primary
	}
}

// replayed is the key under which a connection knows its server's position.
const replayed = "arbor replayed"

// knownPosition is a position that a server reported, and when.
type knownPosition struct {
	position
	when time.Time
}

// catchUp waits until the server of a connection has replayed a position.
func (r *replica) catchUp(ctx context.Context, c *postgresConn, at position) error {
	known := c.raw.PgConn().CustomData()
	// An older position is not enough: the server may have stopped answering since then.
	if p, _ := known[replayed].(knownPosition); p.reaches(at) && time.Since(p.when) < maxAnswer {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxAnswer)
	defer cancel()
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, maxLag/5) {
		now, err := c.replayed(ctx, at.primary)
		if err != nil {
			return err
		}
		if now.reaches(at) {
			known[replayed] = knownPosition{now, time.Now()}
			return nil
		}
		if time.Since(began) > maxLag {
			return errBehind
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// replayed returns up to which position a standby has replayed the log. Its field primary is empty if the standby
// does not show the row of the primary.
func (c *postgresConn) replayed(ctx context.Context, primary string) (p position, err error) {
	standby, shown := false, false
	err = c.raw.QueryRow(ctx, `SELECT pg_is_in_recovery(), EXISTS (SELECT 1 FROM generations WHERE topic = $1),
		COALESCE(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint, 0)`, primary).Scan(&standby, &shown, &p.log)
	if err != nil {
		return p, c.broken(ctx, translatePostgres(err))
	}
	if !standby {
		return p, errPromoted
	}
	if shown {
		p.primary = primary
	}
	return p, nil
}
