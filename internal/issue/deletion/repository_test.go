package deletion_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"arbor/internal/apitest"
	"arbor/internal/db"
	"arbor/internal/db/dbtest"
	"arbor/internal/issue/deletion"
	"arbor/internal/issue/issuetest"
	"arbor/internal/repo"
	"arbor/internal/server"
	"arbor/internal/web"
)

// removals counts the statements that remove rows of a table, by requests and by the worker.
type removals struct {
	table          string
	mu             sync.Mutex
	asked, working int
}

func (r *removals) trace(ctx context.Context, query string) {
	if !strings.HasPrefix(query, "DELETE FROM "+r.table+" ") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if web.IsRequest(ctx) {
		r.asked++
	} else {
		r.working++
	}
}

// The issues of a deleted repository are removed in transactions of a bounded size, of which none is the
// request's: others write in between.
func TestManyIssuesAreRemovedInPieces(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		removed := &removals{table: "issues"}
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
		if removed.asked != 0 || removed.working < 3 {
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
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`INSERT INTO deleted_repos (repo_id) VALUES ($1)`, r.ID) // nobody is told
		})
		if err != nil {
			t.Fatal(err)
		}
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

// Whatever a repository has much of goes in pieces, if it has one issue and if it has none.
func TestManyRowsAreRemovedInPieces(t *testing.T) {
	t.Parallel()
	const many = ` FROM issues i, (WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 4100)
		SELECT k FROM n) n`
	for table, fill := range map[string]string{
		"issue_comments": `INSERT INTO issue_comments (repo_id, issue_id, author_id, body, created_at, updated_at)
			SELECT i.repo_id, i.id, i.author_id, 'x', i.created_at, i.created_at` + many + ` WHERE k <= 450`,
		"issue_events": `INSERT INTO issue_events (repo_id, issue_id, actor_id, kind, created_at)
			SELECT i.repo_id, i.id, i.author_id, 2, i.created_at` + many,
		"reactions": `INSERT INTO reactions (repo_id, subject_kind, subject_id, user_id, content, created_at)
			SELECT i.repo_id, 1, 1000000 + k, i.author_id, 1, i.created_at` + many,
		"refs": `INSERT INTO refs (repo_id, name, sha)
			SELECT i.repo_id, CAST('refs/heads/' || k AS ` + "%s" + `), CAST('x' AS ` + "%s" + `)` + many,
	} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			removed := &removals{table: table}
			engine := db.SQLite
			s := apitest.Start(t, engine, func(o *server.Options) {
				o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: removed.trace})
			})
			alice := s.User(t, "alice")
			crowd(t, s, s.Repo(t, "alice/plot", false), alice, 1)
			err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
				return tx.Run(strings.ReplaceAll(fill, "%s", "BLOB"))
			})
			if err != nil {
				t.Fatal(err)
			}
			s.Check(t, apitest.Case{Do: "DELETE /repos/alice/plot", As: "alice", Status: 204})
			gone(t, s, `SELECT count(*) FROM repos`)
			gone(t, s, `SELECT count(*) FROM `+table)
			removed.mu.Lock()
			defer removed.mu.Unlock()
			if removed.asked != 0 || removed.working < 3 {
				t.Errorf("they were removed %d times by the request, and %d times by the worker",
					removed.asked, removed.working)
			}
		})
	}
}

// stuck cannot end the deletion of one repository, and counts the others.
type stuck struct {
	deletion.Forge
	id     repo.ID
	others atomic.Int64
}

func (f *stuck) FinishDeletion(tx *db.Tx, id repo.ID) error {
	if id == f.id {
		return errors.New("a defect")
	}
	f.others.Add(1)
	return f.Forge.FinishDeletion(tx, id)
}

// A deletion that fails holds up no other, and is tried again.
func TestAFailingDeletionHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
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
			go func() { ended <- deletion.New(s.DB, slog.New(slog.DiscardHandler), forge).Run(ctx) }()
			gone(t, s, query, args...)
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		for _, id := range ids {
			err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
				return tx.Run(`INSERT INTO deleted_repos (repo_id) VALUES ($1)`, id)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		half := &stuck{Forge: s.Forge, id: ids[0]}
		work(half, `SELECT count(*) FROM repos WHERE id = $1`, ids[1])
		if half.others.Load() == 0 { // the server's own worker did it, which looks every ten seconds
			t.Error("the other deletion was held up")
		}
		work(s.Forge, `SELECT count(*) FROM repos`)
	})
}
