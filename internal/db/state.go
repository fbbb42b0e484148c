package db

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"arbor/internal/cache"
)

// State names the present state of the whole database, which holds everything
// acknowledged before the call; under [DB.Remember], before the request first asked.
// Between two moments with equal states nobody, in this process or another, has committed
// anything. Where that cannot be told it is [cache.Unknown].
func (d *DB) State(ctx context.Context) cache.State {
	m, err := d.moment(ctx, "")
	if err != nil {
		return cache.Unknown // what is read next meets the same error
	}
	return m.state
}

// selectOthers returns a number that changes with each commit of another connection, in this process or
// another (https://sqlite.org/pragma.html#pragma_data_version).
const selectOthers = `PRAGMA data_version`

// counter is a connection that commits nothing, so that its selectOthers changes with every
// commit. Numbers of two connections have nothing to do with each other: opened counts them.
type counter struct {
	db *sql.DB

	mu     sync.Mutex
	conn   *sqliteConn // nil: to be opened
	opened int64
	last   moment // what is known until somebody commits; without it one issue is read at 0.83 of the rate
	closed bool
}

// use calls fn with the connection, and retries once if another process is in the way.
func (c *counter) use(fn func(*sqliteConn) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for try := 1; ; try++ {
		err := c.once(fn)
		if !errors.Is(err, errBusy) {
			return err
		}
		if try == maxTries {
			return errOverload(err.Error())
		}
	}
}

func (c *counter) once(fn func(*sqliteConn) error) (err error) {
	if c.closed {
		return errClosed
	}
	if c.conn == nil {
		if c.conn, err = openConn(context.Background(), c.db); err != nil {
			c.conn = nil
			return err
		}
		c.opened++
	}
	if err = fn(c.conn); err != nil {
		c.conn.close()
		c.conn = nil
	}
	return err
}

func (c *counter) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.conn != nil {
		c.conn.close()
		c.conn = nil
	}
	c.db.Close()
}

func (b *sqliteBackend) ask(ctx context.Context, m *moment) error {
	return b.counter.use(func(c *sqliteConn) error {
		commits, err := c.number(selectOthers)
		if err != nil {
			return err
		}
		if now := cache.Whole(b.counter.opened, commits); now != b.counter.last.state {
			b.counter.last = moment{state: now, numbers: map[string]int64{}}
		}
		last := b.counter.last
		m.state = last.state
		for topic := range m.numbers {
			n, known := last.numbers[topic]
			if !known && topic != "" { // else only the state is requested
				if b.trace != nil {
					b.trace(ctx, selectGeneration)
				}
				if n, err = c.generation(topic); err != nil {
					return err
				}
				last.numbers[topic] = n
			}
			m.numbers[topic] = n
		}
		return nil
	})
}
