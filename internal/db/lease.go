package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Jobs is a table of jobs: only one worker of all nodes works on a row at a time. It has
// the columns due_at, the time before which nobody takes the row, and tries. All times
// are by the database's clock, so nodes with different clocks agree. A row that is due at
// once says 0.
type Jobs struct {
	Table string
	Key   string // the primary key, an integer
}

// Lease is the sole right to work on some rows until a time. The time is the token as
// well: each lease of a row ends later than the one before it.
type Lease struct {
	IDs   []int64 // in order
	Until Time    // by the database's clock
}

// ErrLeaseLost means that a lease has expired and another worker may have leased its rows. Returned by a
// transaction's function it rolls the transaction back.
var ErrLeaseLost = errors.New("db: the lease was lost")

// Clock is an SQL expression for the time of the database's own clock in microseconds,
// the same throughout a statement. SQLite's is this machine's clock, in milliseconds.
func (e Engine) Clock() string {
	if e == PostgreSQL {
		return `CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT)`
	}
	return `CAST(unixepoch('subsec') * 1000000 AS INTEGER)`
}

// Clock reads the database's own clock, for times on which nodes must agree. Tx.Now is
// the node's own time, or a seed's.
func (t *Tx) Clock() (now Time, err error) {
	err = t.QueryRow(`SELECT ` + t.Engine().Clock()).Scan(&now)
	return now, err
}

// Due reports whether a row that fulfills the condition where is due. where may use $1
// onwards.
func (j Jobs) Due(tx *Tx, where string, args ...any) (due bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM `+j.Table+`
		WHERE due_at <= `+tx.Engine().Clock()+` AND `+where+`)`, args...).Scan(&due)
	return due, err
}

// WriteDue is Write if a row that fulfills the condition where is due. It looks for one first in a read, since
// mostly there is none and a write is dear.
func (d *DB) WriteDue(ctx context.Context, j Jobs, where string, fn func(*Tx) error, args ...any) error {
	due, err := Get(ctx, d, func(tx *Tx) (bool, error) { return j.Due(tx, where, args...) })
	if err != nil || !due {
		return err
	}
	return d.Write(ctx, fn)
}

// Take leases at most so many rows that are due and fulfill the condition where, the
// longest due first, and counts a try of each. where may use $3 onwards. Rows that
// another worker is just taking are passed over. The lease is nil if there are none.
func (j Jobs) Take(tx *Tx, length time.Duration, most int, where string, args ...any) (*Lease, error) {
	clock, locking := tx.Engine().Clock(), tx.Engine().Locking(j.Table)
	if locking != "" {
		locking += " SKIP LOCKED"
	}
	l := &Lease{}
	err := QueryEach(tx, func(row Scanner) error {
		var id int64
		err := row.Scan(&id, &l.Until)
		l.IDs = append(l.IDs, id)
		return err
	}, `UPDATE `+j.Table+` SET due_at = `+clock+` + $1, tries = tries + 1
		WHERE due_at <= `+clock+` AND `+j.Key+` IN (SELECT `+j.Key+` FROM `+j.Table+`
			WHERE due_at <= `+clock+` AND `+where+`
			ORDER BY due_at, `+j.Key+` LIMIT $2`+locking+`)
		RETURNING `+j.Key+`, due_at`, append([]any{length.Microseconds(), most}, args...)...)
	if err != nil || len(l.IDs) == 0 {
		return nil, err
	}
	slices.Sort(l.IDs)
	return l, nil
}

// Extend extends a lease by length from now. Error: ErrLeaseLost.
func (j Jobs) Extend(tx *Tx, l *Lease, length time.Duration) (*Lease, error) {
	// A lease never gets shorter, so that its time stays a token.
	longer, n := &Lease{IDs: l.IDs}, int64(0)
	err := QueryEach(tx, func(row Scanner) error { n++; return row.Scan(&longer.Until) },
		`UPDATE `+j.Table+` SET due_at = CASE WHEN due_at < `+tx.Engine().Clock()+` + $2
			THEN `+tx.Engine().Clock()+` + $2 ELSE due_at + 1 END
		WHERE due_at = $1 AND `+j.among(l, 3)+` RETURNING due_at`, l.args(length.Microseconds())...)
	if err != nil {
		return nil, err
	}
	return longer, l.checkWhole(n)
}

// PutOff ends a lease: its rows are due again after some time. Error:
// ErrLeaseLost.
func (j Jobs) PutOff(tx *Tx, l *Lease, wait time.Duration) error {
	n, err := tx.Exec(`UPDATE `+j.Table+` SET due_at = `+tx.Engine().Clock()+` + $2
		WHERE due_at = $1 AND `+j.among(l, 3), l.args(wait.Microseconds())...)
	if err != nil {
		return err
	}
	return l.checkWhole(n)
}

// Remove ends a lease with its rows: they are done. Error: ErrLeaseLost.
func (j Jobs) Remove(tx *Tx, l *Lease) error {
	n, err := tx.Exec(`DELETE FROM `+j.Table+` WHERE due_at = $1 AND `+j.among(l, 2), l.args()...)
	if err != nil {
		return err
	}
	return l.checkWhole(n)
}

// among is the condition on a lease's rows.
func (j Jobs) among(l *Lease, first int) string {
	return j.Key + ` IN ` + ValuesFrom(first, 1, len(l.IDs))
}

// args are a statement's arguments: the token, more, the rows.
func (l *Lease) args(more ...any) []any {
	args := append([]any{l.Until}, more...)
	for _, id := range l.IDs {
		args = append(args, id)
	}
	return args
}

// checkWhole checks that a statement found all n rows of the lease.
func (l *Lease) checkWhole(n int64) error {
	if n != int64(len(l.IDs)) {
		return ErrLeaseLost
	}
	return nil
}

// Hold calls work, and extends the lease until work returns. If the lease is lost, the
// context of work ends with ErrLeaseLost as its cause, and Hold returns that. The
// returned lease, which ends later, is for PutOff and Remove.
func (d *DB) Hold(
	ctx context.Context, j Jobs, l *Lease, length time.Duration, work func(context.Context) error,
) (*Lease, error) {
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	var extending sync.WaitGroup
	extending.Go(func() {
		if err := d.extend(working, j, &l, length, done); err != nil {
			cancel(err)
		}
	})
	err := work(working)
	close(done)
	extending.Wait()
	if cause := context.Cause(working); errors.Is(cause, ErrLeaseLost) {
		err = errors.Join(cause, err)
	}
	return l, err
}

// extend extends a lease several times in its length, until done. The lease is lost when
// the database does not answer for that long.
func (d *DB) extend(
	ctx context.Context, j Jobs, l **Lease, length time.Duration, done <-chan struct{},
) error {
	tick := time.NewTicker(length / 4)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		began := time.Now()
		var longer *Lease
		err := d.Write(ctx, func(tx *Tx) (err error) {
			longer, err = j.Extend(tx, *l, length)
			return err
		})
		switch {
		case err == nil:
			*l, last = longer, began
		case errors.Is(err, ErrLeaseLost):
			return err
		case ctx.Err() == nil && time.Since(last) > length:
			return fmt.Errorf("%w: %w", ErrLeaseLost, err)
		}
	}
}
