package search_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/search"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// many are more texts than the worker indexes in a transaction.
const many = 110

// swarm is a store with issues that are not indexed, and nothing that works on it.
// written counts the statements that write, but for those of the test itself.
func swarm(t *testing.T, engine db.Engine, issues int) (d *db.DB, written *writes) {
	t.Helper()
	written = &writes{}
	d = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: written.look})
	f := forge.New(d, nil, slog.New(slog.DiscardHandler), "")
	alice, err := f.Accounts.CreateUser(t.Context(), account.NewUser{Login: "alice"})
	testkit.NoError(t, err)
	r, err := f.Repos.Create(t.Context(), nil, repo.NewRepo{Owner: "alice", Name: "garden"})
	testkit.NoError(t, err)
	by := &repo.Access{Repo: r, Role: account.Admin,
		Caller: &account.Caller{ID: alice.ID, Login: alice.Login}}
	for range issues {
		if _, err := f.Issues.Create(t.Context(), by, issue.NewIssue{Title: "Swarm"}); err != nil {
			t.Fatal(err)
		}
	}
	written.list = nil
	return d, written
}

// writes are the statements that write.
type writes struct {
	mu   sync.Mutex
	list []string
}

func (w *writes) look(_ context.Context, query string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !strings.HasPrefix(query, "SELECT") && !strings.HasPrefix(query, "WITH hits") {
		w.list = append(w.list, query)
	}
}

func newService(d *db.DB) *search.Service {
	return forge.New(d, nil, slog.New(slog.DiscardHandler), "").Searches
}

func find50(t *testing.T, ctx context.Context, s *search.Service) (*search.Results, error) {
	t.Helper()
	q, err := search.Parse("swarm")
	testkit.NoError(t, err)
	r := web.With(httptest.NewRequestWithContext(ctx, "GET", "/", nil), &web.Info{})
	return s.Search(r.Context(), nil, q, web.Page{Number: 1, Size: 50})
}

// Anybody may search, and nobody who only reads may make the server write: a
// search reports whether something is not indexed yet, and leaves it so.
func TestSearchOnlyReads(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d, written := swarm(t, engine, many)
		s := newService(d)
		s.Patience = time.Millisecond
		for range 20 {
			found, err := find50(t, t.Context(), s)
			testkit.NoError(t, err)
			if !found.Part || found.Total != 0 {
				t.Errorf("%d found, incomplete: %t", found.Total, found.Part)
			}
		}
		if len(written.list) > 0 {
			t.Errorf("searches wrote: %q", written.list)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := find50(t, canceled, s); !errors.Is(err, context.Canceled) {
			t.Errorf("a search whose client has hung up: %v", err)
		}
	})
}

// Where the worker runs, a search finds what was acknowledged before it, however much that is.
func TestSearchWaitsForTheWorker(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d, _ := swarm(t, engine, many)
		s := newService(d)
		s.Patience = time.Hour
		ctx, stop := context.WithCancel(t.Context())
		var worker, group sync.WaitGroup
		worker.Go(func() { s.Run(ctx) })
		defer worker.Wait()
		defer stop()
		for range 8 {
			group.Go(func() {
				found, err := find50(t, ctx, s)
				if err != nil {
					t.Error(err)
				} else if found.Part || found.Total != many {
					t.Errorf("%d found, incomplete: %t", found.Total, found.Part)
				}
			})
		}
		group.Wait()
		group.Go(func() { // and the worker by itself, once it is told of a change
			_, err := find50(t, ctx, s)
			if err == nil {
				err = d.Write(ctx, func(tx *db.Tx) error {
					_, err := tx.Exec(`UPDATE issues SET title = 'Bees'`)
					return err
				})
			}
			s.Changed()
			for left := int64(1); left > 0 && err == nil; time.Sleep(10 * time.Millisecond) {
				err = d.Read(ctx, func(tx *db.Tx) error {
					return tx.QueryRow(`SELECT COUNT(*) FROM texts_changed`).Scan(&left)
				})
			}
			if err != nil {
				t.Error(err)
			}
		})
		group.Wait()
	})
}
