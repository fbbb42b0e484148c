//go:build long

package db

import (
	"context"
	"flag"
	"sync"
)

// call calls a transaction's function twice, as a repeated transaction does: so tests find functions that a
// repeated run breaks. The second run counts. The first one is not traced, and a write's is rolled back.
//
// On PostgreSQL it runs once: the functions are the same, and a rollback does not return the ids of the
// first run. A test whose functions wait for each other attaches "once" to its database.
func (t *Tx) call(fn func(*Tx) error, write bool) error {
	if _, once := t.parts.Load("once"); once || t.conn.engine() == PostgreSQL || measures() {
		return fn(t)
	}
	first := Tx{Now: t.Now, ctx: t.ctx, caller: t.caller, conn: t.conn}
	if !write {
		err := fn(&first)
		first.end()
		if first.failed != nil { // the transaction is lost
			t.fail(first.failed)
			return err
		}
		return fn(t)
	}
	if err := t.steer("SAVEPOINT first_run"); err != nil {
		return err
	}
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

// steer runs a statement between the runs, even if the caller's context has ended.
func (t *Tx) steer(statement string) error {
	_, err := t.conn.exec(context.WithoutCancel(t.ctx), statement, nil)
	return err
}

// measures reports whether benchmarks run.
var measures = sync.OnceValue(func() bool {
	bench := flag.Lookup("test.bench")
	return bench != nil && bench.Value.String() != ""
})
