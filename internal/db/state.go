package db

import (
	"context"
	"database/sql"
	"errors"
	"slices"
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

// maxNumbers bounds how many topics' generations are kept.
const maxNumbers = 1000

func (b *sqliteBackend) ask(ctx context.Context, m *moment) error {
	return b.counter.use(func(c *sqliteConn) error {
		commits, err := c.number(selectOthers)
		if err != nil {
			return err
		}
		m.state = cache.Whole(b.counter.opened, commits)
		for topic := range m.numbers {
			if topic == "" {
				continue // only the state is requested
			}
			n, ok := b.kept.Get(m.state, topic)
			if !ok {
				if b.trace != nil {
					b.trace(ctx, selectGeneration)
				}
				if n, err = c.generation(topic); err != nil {
					return err
				}
				b.kept.Put(m.state, topic, n)
			}
			m.numbers[topic] = n
		}
		return nil
	})
}

func (b *sqliteBackend) recall(s cache.State, topic string) (n int64, ok bool) {
	return b.kept.Get(s, topic)
}

func (b *postgresBackend) recall(cache.State, string) (n int64, ok bool) { return 0, false }

// state is the present one; Unknown after an error.
func (b *sqliteBackend) state() cache.State {
	var m moment
	if err := b.ask(context.Background(), &m); err != nil {
		return cache.Unknown
	}
	return m.state
}

// carry carries the generations that are known in a state over to the present
// one, but for the topics that this connection has bumped since. A commit of
// another connection may have bumped any topic: then nothing is carried over.
//
// How many commits lie between two states does not tell whose they are, since a
// transaction that changes nothing commits nothing. SQLite itself keeps count of
// what others commit.
func (w *writer) carry(from cache.State, bumped []string) {
	to := w.backend.state() // taken first, so a commit after it is among the others
	if to == cache.Unknown {
		return
	}
	others, err := w.conn.number(selectOthers)
	if err == nil && others == w.others {
		w.backend.kept.Carry(from, to, func(topic string) bool { return !slices.Contains(bumped, topic) })
	}
	w.others = others
}
