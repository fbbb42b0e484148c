package db

import "context"

// twice runs the function of a write, rolls it back, and runs it again: the second run
// counts. So tests find functions that a repeated run breaks.
func (t *Tx) twice(fn func(*Tx) error) error {
	if err := t.steer("SAVEPOINT first_run"); err != nil {
		return err
	}
	first := Tx{Now: t.Now, ctx: t.ctx, caller: t.caller, conn: t.conn}
	err := fn(&first)
	first.end()
	if lost := t.steer("ROLLBACK TO SAVEPOINT first_run"); lost != nil { // so is the transaction
		if err == nil {
			err = lost
		}
		return t.fail(err)
	}
	return fn(t)
}

// readTwice is twice for a read, which need not be rolled back. It does not run again after a failed
// statement, because the transaction is lost.
func (t *Tx) readTwice(fn func(*Tx) error) error {
	first := Tx{Now: t.Now, ctx: t.ctx, caller: t.caller, conn: t.conn}
	err := fn(&first)
	first.end()
	if first.failed != nil {
		t.fail(first.failed)
		return err
	}
	return fn(t)
}

// steer runs a statement between the runs, even if the caller's context has ended.
func (t *Tx) steer(statement string) error {
	_, err := t.conn.exec(context.WithoutCancel(t.ctx), statement, nil)
	return err
}
