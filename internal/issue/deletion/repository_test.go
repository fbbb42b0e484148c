package deletion_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"arbor/internal/apitest"
	"arbor/internal/db"
	"arbor/internal/db/dbtest"
	"arbor/internal/issue/deletion"
	"arbor/internal/issue/issuetest"
	"arbor/internal/server"
	"arbor/internal/web"
)

// removals counts the statements that remove issues, by requests and by the worker.
type removals struct {
	mu             sync.Mutex
	asked, working int
}

func (r *removals) trace(ctx context.Context, query string) {
	if !strings.HasPrefix(query, "DELETE FROM issues") {
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
