package issue_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/finder"
	"arbor/internal/issue"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// cutting is a context that is asked before each row, and does something once.
type cutting struct {
	context.Context
	asked atomic.Int64
	at    int64
	do    func()
}

func (c *cutting) Err() error {
	if c.asked.Add(1) == c.at {
		c.do()
	}
	return c.Context.Err()
}

// A connection that is lost while an index is filled must not leave issues out
// of lists until the next restart.
func TestIndexIsFilledThoughTheConnectionIsLost(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		if engine == db.SQLite {
			t.Skip("has no connection to lose")
		}
		address := dbtest.URL(t, engine)
		s := apitest.Start(t, engine, func(o *server.Options) { o.DB = dbtest.OpenURL(t, address) })
		s.User(t, "alice")
		r := s.Repo(t, "alice/plot", false)
		const issues = 120_000 // more than are read at a time, twice
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			for _, statement := range []string{
				`ALTER TABLE issues DISABLE TRIGGER USER`, // they are not looked for, and no activities
				`UPDATE repos SET issues_generation = issues_generation + 1`,
			} {
				if _, err := tx.Exec(statement); err != nil {
					return err
				}
			}
			_, err := tx.Exec(`INSERT INTO issues
				(repo_id, number, title, author_id, state, labels, assignees, created_at, updated_at)
				SELECT $1, n, 'Slug', $2, 1, '', '', n, n FROM generate_series(1, $3) n`,
				r.ID, r.OwnerID, issues)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int64{30_000, 70_000, 110_000} {
			service := issue.New(s.DB, s.Repos, slog.New(slog.DiscardHandler), s.Forge)
			ctx := &cutting{Context: t.Context(), at: at, do: func() { dbtest.Cut(t, address) }}
			if err := service.FillIndex(ctx, r.ID); err != nil {
				t.Fatal(err)
			}
			if n := ctx.asked.Load(); n < at {
				t.Fatalf("after %d rows nothing was cut", n)
			}
			var total int64
			err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
				found, err := service.FindInMemory(tx, finder.Query{
					Repos: []finder.Repo{{ID: r.ID, Generation: finder.Unread}},
					Where: finder.InState(issue.Open)}, 0, 1)
				total = found.Total
				return err
			})
			if err != nil || total != issues {
				t.Errorf("cut after %d rows: %d of %d issues are in the index, %v", at, total, issues, err)
			}
		}
	})
}
