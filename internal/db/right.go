package db

import (
	"context"
	"errors"
)

// Right is a right by which somebody writes: of the caller of a request, or of a caller to a repository.
type Right interface {
	// Holds returns an error if the right has ended since it was checked first.
	Holds(tx *Tx) error
}

// Server is the right of the server itself, which always holds. Within requests, use it for writes that need no
// right, such as signing in, and for writes that must happen even if the caller's right has ended.
var Server Right = server{}

type server struct{}

func (server) Holds(*Tx) error { return nil }

// ErrNoRight is the error of a write within a request that may change things, without a right.
var ErrNoRight = errors.New("db: Write was called within a request: use WriteAs with the right of the caller")

type changingKey struct{}

// WithRightRequired returns the context of a request that may change things. Under it [DB.Write] fails with
// ErrNoRight, so that no operation forgets the right of the request's caller.
func WithRightRequired(ctx context.Context) context.Context {
	return context.WithValue(ctx, changingKey{}, true)
}

// WriteAs is Write by a right, within the request's [Bound]. The right is checked again at the end of the
// transaction, after all locks are held. If it has ended, WriteAs rolls the transaction back and returns the error
// of the right, not that of fn. So a revoked right does not count, however long the request took until then.
// [Tx.Check] checks it earlier.
//
// Without a right, nil, it is Write.
func (d *DB) WriteAs(ctx context.Context, right Right, fn func(*Tx) error) error {
	if right == nil {
		return d.Write(ctx, fn)
	}
	if d.writing != nil {
		d.writing(ctx, right)
	}
	return d.write(ctx, right, fn)
}

// CheckOutsideRequest returns ErrNoRight if the transaction belongs to a request that may change things, and nil
// otherwise. Rights without a caller, which are for the server's own work, call it in Holds: they must not be used
// within a request.
func (t *Tx) CheckOutsideRequest() error { return unasked(t.values) }

func unasked(ctx context.Context) error {
	if ctx != nil && ctx.Value(changingKey{}) != nil {
		return ErrNoRight
	}
	return nil
}

// Check checks the right of WriteAs now instead of at the end. Use it in a transaction that itself takes the right
// away, or that already has all locks for which it may have to wait. Before the call, lock the rows on which the
// right depends.
func (t *Tx) Check() error {
	right := t.right
	if t.right = nil; right == nil {
		return nil
	}
	return right.Holds(t)
}

// checked returns fn followed by the check of the right. If that fails, its error replaces that of fn.
func checked(ctx context.Context, right Right, fn func(*Tx) error) func(*Tx) error {
	return func(tx *Tx) error {
		tx.values, tx.right = ctx, right
		err := fn(tx)
		if tx.rows != nil {
			tx.rows.Close()
		}
		if tx.failed != nil {
			return err
		}
		var exceeded func() error
		if bound := tx.Bound(); bound != nil && right != Server && err == nil {
			if exceeded, err = bound.Send(tx); err != nil {
				return err
			}
		}
		if denied := tx.Check(); denied != nil {
			return denied
		}
		if exceeded == nil || err != nil {
			return err
		}
		if err = tx.Flush(); err != nil {
			return err
		}
		return exceeded()
	}
}

// Bound limits what a request writes.
type Bound interface {
	// Send sends a query, with [Tx.SendEach], for what the transaction has written. It is called at the end of the
	// transaction. exceeded is called once the query has returned; its error rolls the transaction back. Writes by
	// functions of [Tx.BeforeCommit] are not limited.
	Send(tx *Tx) (exceeded func() error, err error)
}

type boundKey struct{}

// WithBound returns the context of a request whose transactions are limited, but for those by the right [Server].
func WithBound(ctx context.Context, b Bound) context.Context {
	return context.WithValue(ctx, boundKey{}, b)
}

// Bound returns the limit of the transaction's request, or nil.
func (t *Tx) Bound() Bound {
	b, _ := t.Value(boundKey{}).(Bound)
	return b
}
