package db

import "context"

// twice runs the function of a write, takes back what it did, and runs it
// again: the second run counts. So a test sees what a repeated run does.
func (t *Tx) twice(fn func(*Tx) error) error {
	if err := t.steer("SAVEPOINT first_run"); err != nil {
		return err
	}
	if t.conn.engine() == PostgreSQL { // for dbtest: ids that the first run takes are not missed later
		if err := t.steer("SET LOCAL arbor.first_run = 'on'"); err != nil {
			return err
		}
	}
	first := Tx{Now: t.Now, ctx: t.ctx, caller: t.caller, conn: t.conn}
	err := fn(&first)
	first.end()
	if lost := t.steer("ROLLBACK TO SAVEPOINT first_run"); lost != nil { // with the whole transaction
		if err == nil {
			err = lost
		}
		return t.fail(err)
	}
	return fn(t)
}

// readTwice is twice for a read, which leaves nothing to be taken back. After a
// statement failed there is no second run: the transaction is lost.
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

// steer runs a statement between the runs, whoever hangs up.
func (t *Tx) steer(statement string) error {
	_, err := t.conn.exec(context.WithoutCancel(t.ctx), statement, nil)
	return err
}
