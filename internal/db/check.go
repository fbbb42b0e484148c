package db

import "context"

type checkKey struct{}

// WithCheck returns a context whose writes check the caller's right again: Write calls check at the end of each
// transaction, after all locks are held, and rolls the transaction back if it fails. However long the request
// took until then, a revoked right does not count, and no operation can forget the check.
func WithCheck(ctx context.Context, check func(*Tx) error) context.Context {
	return context.WithValue(ctx, checkKey{}, check)
}

func checkOf(ctx context.Context) func(*Tx) error {
	check, _ := ctx.Value(checkKey{}).(func(*Tx) error)
	return check
}

// Check calls the context's check at once, in a read: before work that is no
// transaction.
func (d *DB) Check(ctx context.Context) error {
	check := checkOf(ctx)
	if check == nil {
		return nil
	}
	return d.Read(ctx, check)
}

// Check calls the context's check now, and not again at the end: for a transaction that
// itself takes the right away, or that has all locks for which it may have to wait. Lock the
// rows that decide before.
func (t *Tx) Check() error {
	check := t.check
	if t.check = nil; check == nil {
		return nil
	}
	return check(t)
}

type limitKey struct{}

// WithLimit returns a context whose writes are bounded: Write calls limit after each transaction's function
// and after the check of [WithCheck], and an error of it undoes the transaction. It stays when another check
// takes the place of the first.
func WithLimit(ctx context.Context, limit func(*Tx) error) context.Context {
	return context.WithValue(ctx, limitKey{}, limit)
}

// checked returns fn followed by the context's check and limit. If the check fails, its error replaces that
// of fn.
func checked(ctx context.Context, fn func(*Tx) error) func(*Tx) error {
	check := checkOf(ctx)
	limit, _ := ctx.Value(limitKey{}).(func(*Tx) error)
	if check == nil && limit == nil {
		return func(tx *Tx) error {
			tx.values = ctx
			return fn(tx)
		}
	}
	return func(tx *Tx) error {
		tx.values, tx.check = ctx, check
		err := fn(tx)
		if tx.rows != nil {
			tx.rows.Close()
		}
		if tx.failed != nil {
			return err
		}
		if denied := tx.Check(); denied != nil {
			return denied
		}
		if err == nil && limit != nil {
			err = limit(tx)
		}
		return err
	}
}
