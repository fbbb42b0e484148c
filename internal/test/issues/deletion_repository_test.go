package issues_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/issue/deletion"
	"arbor/internal/repo"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// removals counts the statements that remove issues, by requests and by the worker.
type removals struct {
	mu             sync.Mutex
	asked, working int
}

func (r *removals) trace(ctx context.Context, query string) {
	if !strings.HasPrefix(query, "DELETE FROM issues ") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := web.From(ctx); i.ID != "" && !i.ForHook {
		r.asked++
	} else {
		r.working++
	}
}

// The issues of a deleted repository are removed in limited transactions after the request, so that others
// can write in between.
func TestManyIssuesAreRemovedInPieces(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		removed := &removals{}
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: removed.trace})
		})
		alice := s.User(t, "alice")
		r, other := s.Repo(t, "alice/plot", false), s.Repo(t, "alice/yard", false)
		crowd(t, s, r, alice, 450, "bug")
		crowd(t, s, other, alice, 7, "bug")
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/plot", As: "alice", Status: 204})
		gone(t, s, `SELECT count(*) FROM repos WHERE id <> $1`, other.ID)
		gone(t, s, `SELECT count(*) FROM issues WHERE repo_id <> $1`, other.ID)
		removed.mu.Lock()
		defer removed.mu.Unlock()
		if removed.asked != 0 || removed.working == 0 {
			t.Errorf("issues were removed %d times by the request, and %d times by the worker",
				removed.asked, removed.working)
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/yard", Status: 200, Want: `{"open_issues_count": 4}`})
		issuetest.CheckIndex(t, s)
	})
}

// A deleted repository that a server left behind when it was killed is removed by the next.
func TestDeletedRepositoryOutlivesTheServer(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		alice := s.User(t, "alice")
		r := s.Repo(t, "alice/plot", true)
		crowd(t, s, r, alice, 250, "bug")
		dbtest.Exec(t, s.DB, `INSERT INTO deleted_repos (repo_id) VALUES ($1)`, r.ID) // without waking the worker
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- deletion.New(s.DB, slog.New(slog.DiscardHandler), s.Forge).Run(ctx) }()
		gone(t, s, `SELECT count(*) FROM repos WHERE id = $1`, r.ID)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.Check(t, apitest.Case{Do: "GET /user", As: "alice", Status: 200,
			Want: `{"owned_private_repos": 0}`})
	})
}

// Large numbers of rows of any kind are removed in batches after the request.
func TestManyRowsAreRemovedInPieces(t *testing.T) {
	t.Parallel()
	const many = ` FROM issues i, (WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 4100)
		SELECT k FROM n) n`
	for table, c := range map[string]struct {
		fill  string
		piece int64
	}{
		"issue_comments": {`INSERT INTO issue_comments (repo_id, issue_id, author_id, body, created_at, updated_at)
			SELECT i.repo_id, i.id, i.author_id, 'x', i.created_at, i.created_at` + many + ` WHERE k <= 450`, 50},
		"issue_events": {`INSERT INTO issue_events (repo_id, issue_id, actor_id, kind, created_at)
			SELECT i.repo_id, i.id, i.author_id, 2, i.created_at` + many, 2000},
		"reactions": {`INSERT INTO reactions (repo_id, subject_kind, subject_id, user_id, content, created_at)
			SELECT i.repo_id, 1, 1000000 + k, i.author_id, 1, i.created_at` + many, 2000},
		"posting_counts": {`INSERT INTO posting_counts (repo_id, kind, value, state, n)
			SELECT i.repo_id, 5, 1000000 + k, 1, 1` + many, 2000},
		"refs": {`INSERT INTO refs (repo_id, name, sha)
			SELECT i.repo_id, CAST('refs/heads/' || k AS BLOB), CAST('x' AS BLOB)` + many, 2000},
	} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			s := apitest.Start(t, db.SQLite)
			alice := s.User(t, "alice")
			r := s.Repo(t, "alice/plot", false)
			crowd(t, s, r, alice, 1)
			rows := func(query string, args ...any) (n int64) {
				t.Helper()
				err := s.DB.Write(t.Context(), func(tx *db.Tx) (err error) {
					n, err = tx.Exec(query, args...)
					return err
				})
				testkit.NoError(t, err)
				return n
			}
			filled := rows(c.fill)
			var pieces []int64
			full := int64(0)
			for n := int64(1); n > 0; {
				err := s.DB.Write(t.Context(), func(tx *db.Tx) (err error) {
					n, err = deletion.RemoveSome(tx, r.ID, math.MaxInt64)
					return err
				})
				testkit.NoError(t, err)
				if pieces = append(pieces, n); n == c.piece {
					full++
				}
			}
			if full < filled/c.piece || slices.Max(pieces) > 2000 {
				t.Errorf("%d rows are removed in pieces of %d", filled, pieces)
			}
			crowd(t, s, r, alice, 1)
			rows(c.fill)
			s.Check(t, apitest.Case{Do: "DELETE /repos/alice/plot", As: "alice", Status: 204})
			gone(t, s, `SELECT count(*) FROM repos`)
			gone(t, s, `SELECT count(*) FROM `+table)
		})
	}
}

// stuck cannot end the deletion of one repository.
type stuck struct {
	deletion.Forge
	id repo.ID
}

func (f stuck) FinishDeletion(tx *db.Tx, id repo.ID) error {
	if id == f.id {
		return errors.New("a defect")
	}
	return f.Forge.FinishDeletion(tx, id)
}

// A deletion that fails holds up no other, and is tried again.
func TestAFailingDeletionHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		url := dbtest.URL(t, engine)
		idle := make(chan struct{})
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: url, Trace: func(_ context.Context, query string) {
				if strings.Contains(query, "FROM deleted_labels WHERE label_id >") { // the server's own worker
					<-idle
				}
			}})
		})
		t.Cleanup(func() { close(idle) })
		d := dbtest.OpenWith(t, db.Options{URL: url})
		alice := s.User(t, "alice")
		var ids []repo.ID
		for _, name := range []string{"alice/plot", "alice/yard"} {
			r := s.Repo(t, name, true)
			crowd(t, s, r, alice, 3)
			ids = append(ids, r.ID)
		}
		work := func(forge deletion.Forge, query string, args ...any) {
			t.Helper()
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- deletion.New(d, slog.New(slog.DiscardHandler), forge).Run(ctx) }()
			gone(t, s, query, args...)
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		for _, id := range ids {
			dbtest.Exec(t, s.DB, `INSERT INTO deleted_repos (repo_id) VALUES ($1)`, id)
		}
		work(stuck{s.Forge, ids[0]}, `SELECT count(*) FROM repos WHERE id = $1`, ids[1])
		work(s.Forge, `SELECT count(*) FROM repos`)
	})
}
