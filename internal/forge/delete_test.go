package forge_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"arbor/internal/apitest"
	"arbor/internal/db"
	"arbor/internal/db/dbtest"
	"arbor/internal/repo"
	"arbor/internal/server"
)

// A fork with many issues takes long to delete. Meanwhile nobody waits who writes to its root: that is locked
// after the issues are gone.
func TestIssuesGoBeforeTheRootIsLocked(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		if engine == db.SQLite {
			return // which has one writer
		}
		gone := make(chan struct{}, 1)
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
				Trace: func(_ context.Context, query string) {
					if strings.HasPrefix(query, "DELETE FROM issues WHERE repo_id") {
						select {
						case gone <- struct{}{}:
						default:
						}
					}
				}})
		})
		s.User(t, "alice")
		s.User(t, "mallory")
		root := s.Repo(t, "alice/garden", false)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/a", As: "alice",
			Send: `{"message": "m", "content": "eA=="}`, Status: 201})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "mallory", Send: `{}`, Status: 202})
		deleted := make(chan struct{})
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			if err := repo.Lock(tx, root.ID); err != nil {
				return err
			}
			go func() {
				defer close(deleted)
				s.Do(t, apitest.Case{Do: "DELETE /repos/mallory/garden", As: "mallory"})
			}()
			select {
			case <-gone:
			case <-time.After(time.Minute):
				t.Error("the deletion waits for the root before the issues are gone")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		<-deleted
		s.Check(t, apitest.Case{Do: "GET /repos/mallory/garden", As: "mallory", Status: 404})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", As: "alice", Status: 200,
			Want: `{"forks_count": 0}`})
	})
}
