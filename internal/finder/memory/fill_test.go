package memory

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/finder"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/test/dbtest"
	"arbor/internal/tracker"
)

// file makes an issue with a title alone.
func file(ctx context.Context, d *db.DB, r *repo.Repo) error {
	return d.Write(ctx, func(tx *db.Tx) error {
		if err := tracker.Lock(tx, r.ID); err != nil {
			return err
		}
		var id int64
		err := tx.QueryRow(`INSERT INTO issues (repo_id, number, title, author_id, state, labels, assignees,
			created_at, updated_at, changed)
			SELECT r.id, (SELECT COUNT(*) + 1 FROM issues WHERE repo_id = r.id), 'x', r.owner_id, 1, '', '',
			1, 1,
			r.issues_generation FROM repos r WHERE r.id = $1 RETURNING id`,
			r.ID).Scan(&id)
		if err != nil {
			return err
		}
		return posting.Add(tx, posting.Row{IssueID: id, RepoID: r.ID, State: tracker.Open, UpdatedAt: 1},
			[]posting.Property{posting.ByAll.Of(0)})
	})
}

// A list that began before an issue was filed must not show that issue, also when
// the index was filled beside both: its row is not there for it.
func TestIndexIsNotAheadOfItsReaders(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var meanwhile func() // between the generation of an index and its issues
		d := dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
			Trace: func(_ context.Context, query string) {
				if meanwhile != nil && strings.Contains(query, "FROM posting_counts") {
					meanwhile()
				}
			}})
		r := plots(t, d, 1)[0]
		if err := file(t.Context(), d, r); err != nil {
			t.Fatal(err)
		}
		n := New(d, slog.New(slog.DiscardHandler))
		q := finder.Query{Repos: []finder.Repo{{ID: r.ID, Generation: finder.Unread}}, Where: finder.And{}}
		var once sync.Once
		list := func(before func(tx *db.Tx) error) (found, bySQL []int64) {
			err := d.Read(t.Context(), func(tx *db.Tx) error {
				if err := before(tx); err != nil {
					return err
				}
				f, ok, err := n.Find(tx, &q, 0, 30)
				if err != nil {
					return err
				}
				want, err := finder.Find(tx, q, 0, 30)
				if found, bySQL = f.IDs, want.IDs; !ok {
					found = bySQL
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return found, bySQL
		}
		early, want := list(func(tx *db.Tx) error {
			if _, err := generationOf(tx, r.ID); err != nil { // the snapshot is taken
				return err
			}
			once.Do(func() {
				meanwhile = func() {
					meanwhile = nil
					if err := file(context.Background(), d, r); err != nil {
						t.Error(err)
					}
				}
				if err := n.Fill(context.Background(), r.ID); err != nil {
					t.Error(err)
				}
			})
			return nil
		})
		if !slices.Equal(early, want) || len(want) != 1 {
			t.Errorf("a list of before finds %v, want %v", early, want)
		}
		late, want := list(func(*db.Tx) error { return nil })
		if !slices.Equal(late, want) || len(want) != 2 {
			t.Errorf("a list of after finds %v, want %v", late, want)
		}
	})
}

// Somebody with many repositories without issues must not pay for each of them: what
// is in memory, and unchanged, takes no statement.
func TestRepositoriesAtRestTakeNoStatement(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var statements atomic.Int64
		d := dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: func(context.Context, string) {
			statements.Add(1)
		}})
		n := New(d, slog.New(slog.DiscardHandler))
		var q finder.Query
		for _, r := range plots(t, d, 20) {
			if err := n.Fill(t.Context(), r.ID); err != nil {
				t.Fatal(err)
			}
			q.Repos = append(q.Repos, finder.Repo{ID: r.ID})
		}
		q.Where = finder.And{}
		statements.Store(0)
		err := d.Read(t.Context(), func(tx *db.Tx) error {
			_, ok, err := n.Find(tx, &q, 0, 30)
			if !ok {
				t.Error("empty repositories are not in memory")
			}
			return err
		})
		if err != nil || statements.Load() > 0 {
			t.Errorf("%d statements, %v", statements.Load(), err)
		}
	})
}

// plots makes alice and so many repositories of hers.
func plots(t *testing.T, d *db.DB, n int) (list []*repo.Repo) {
	t.Helper()
	alice, err := account.New(d, slog.New(slog.DiscardHandler), nil).CreateUser(t.Context(),
		account.NewUser{Login: "alice", Name: "alice", Email: "alice@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		list = nil
		for at := range n {
			r := &repo.Repo{OwnerID: alice.ID, Owner: *alice, Name: fmt.Sprint("plot", at),
				CreatedAt: tx.Now, PushedAt: tx.Now}
			if err := repo.Insert(tx, r, nil); err != nil {
				return err
			}
			list = append(list, r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
