package apitest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// Gate holds up the worker of package deletion, where it looks for work. It holds nothing then, so everything
// else goes on.
type Gate struct {
	open chan struct{}
	once sync.Once
}

// NewGate creates a gate for the server of a database with its Trace. It must be lifted before the server stops.
func NewGate() *Gate { return &Gate{open: make(chan struct{})} }

// Trace is called with each statement of the database.
func (g *Gate) Trace(_ context.Context, query string) {
	if strings.Contains(query, "FROM deleted_labels WHERE label_id >") {
		<-g.open
	}
}

// Gated starts a server with a gate, which is lifted when the test ends.
func Gated(t testing.TB, engine db.Engine) (*Server, *Gate) {
	t.Helper()
	g := NewGate()
	s := Start(t, engine, func(o *server.Options) {
		o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: g.Trace})
	})
	t.Cleanup(g.Lift)
	return s, g
}

// Lift allows the worker to go on.
func (g *Gate) Lift() { g.once.Do(func() { close(g.open) }) }

// Crowd sets counters so that a repository seems to have many issues when it is deleted.
func (s *Server) Crowd(t testing.TB, owner, name string) {
	t.Helper()
	err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE repos SET next_number = next_number + 1000 WHERE name = $2
			AND owner_id = (SELECT id FROM accounts WHERE login = $1)`, owner, name)
		return err
	})
	testkit.NoError(t, err)
}

// AwaitBlocked waits until a transaction of the server, on PostgreSQL, waits for the lock of another one.
func (s *Server) AwaitBlocked(t testing.TB) error {
	for end := time.Now().Add(testkit.Patience); ; time.Sleep(10 * time.Millisecond) {
		var blocked bool
		err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&blocked)
		})
		if err != nil || blocked {
			return err
		}
		if time.Now().After(end) {
			return errors.New("no transaction waits for a lock")
		}
	}
}
