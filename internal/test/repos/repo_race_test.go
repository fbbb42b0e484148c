package repos_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Two people who do things to one repository at once get each an answer that
// makes sense, and the owner's counts stay right.
func TestRepositoryRaces(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		count := func(public, private int) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "GET /user", As: "alice", Status: 200,
				Want: fmt.Sprintf(`{"public_repos": %d, "total_private_repos": %d}`, public, private)})
		}
		create := func(name string) apitest.Case {
			return apitest.Case{Do: "POST /user/repos", As: "alice", Send: fmt.Sprintf(`{"name": %q}`, name)}
		}
		t.Run("one name", func(t *testing.T) {
			made := 0
			for _, status := range s.Together(t, create("a"), create("A"), create("a"), create("A"),
				create("a")) {
				switch status {
				case http.StatusCreated:
					made++
				case http.StatusUnprocessableEntity:
				default:
					t.Errorf("create answered %d", status)
				}
			}
			if made != 1 {
				t.Errorf("%d were created", made)
			}
			count(1, 0)
		})
		t.Run("delete beside the rest", func(t *testing.T) {
			for i := range 25 {
				name := fmt.Sprintf("r%d", i)
				s.Ask(t, "alice", "POST /user/repos", fmt.Sprintf(`{"name": %q}`, name), 201)
				path := "/repos/alice/" + name
				for k, status := range s.Together(t,
					apitest.Case{Do: "DELETE " + path, As: "alice"},
					apitest.Case{Do: "PATCH " + path, As: "alice", Send: `{"private": true}`},
					apitest.Case{Do: "PUT " + path + "/collaborators/bob", As: "alice"},
					apitest.Case{Do: "DELETE " + path, As: "alice"},
					apitest.Case{Do: "PATCH " + path, As: "alice",
						Send: fmt.Sprintf(`{"name": "new%d"}`, i)}) {
					if status >= 500 || status == http.StatusUnprocessableEntity {
						t.Errorf("request %d answered %d", k, status)
					}
				}
				s.Do(t, apitest.Case{Do: fmt.Sprintf("DELETE /repos/alice/new%d", i), As: "alice"})
			}
			count(1, 0)
		})
		t.Run("rename beside create", func(t *testing.T) {
			for i := range 15 {
				s.Together(t,
					apitest.Case{Do: "PATCH /repos/alice/a", As: "alice",
						Send: fmt.Sprintf(`{"name": "b%d"}`, i)},
					create(fmt.Sprintf("b%d", i)))
				s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/alice/b%d", i), Status: 200,
					Want: fmt.Sprintf(`{"name": "b%d"}`, i)})
			}
		})
	})
}

// A push that has waited for the repository's row obeys what was committed meanwhile in rows of others: that a purge
// takes over what was written last. SQLite has one writer, so nothing meets there.
func TestPushAfterWaiting(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.PostgreSQL, func(o *server.Options) { // two write at a time, and one looks at them
		o.DB = dbtest.OpenURL(t, dbtest.URL(t, db.PostgreSQL)+"&pool_max_conns=4")
	})
	s.Log.AllowErrors()
	s.User(t, "alice")
	s.Ask(t, "alice", "POST /user/repos", `{"name": "plot", "auto_init": true}`, 201)
	tip, plot := s.Tip(t, "alice", "alice/plot", "main"), s.Access(t, "alice", "alice/plot")
	pushed := make(chan int, 1)
	var once sync.Once
	err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
		err := repo.Lock(tx, plot.ID)
		if err == nil {
			err = tx.Run(`INSERT INTO purges (repo_id, due_at, pause)
				VALUES ($1, `+tx.Engine().Clock()+` + 60000000, `+tx.Engine().Clock()+` + 60000000)`, plot.ID)
		}
		go once.Do(func() {
			pushed <- s.Do(t, apitest.Case{Do: "POST /repos/alice/plot/git/refs", As: "alice",
				Send: fmt.Sprintf(`{"ref": "refs/heads/late", "sha": %q}`, tip)}).Status
		})
		return errors.Join(err, s.AwaitBlocked(t))
	})
	testkit.NoError(t, err)
	if status := <-pushed; status != http.StatusServiceUnavailable {
		t.Errorf("the push is answered with %d", status)
	}
}

// A file is being downloaded when its repository is deleted: the download comes to
// its end, nothing else begins, and then the folder is set aside.
func TestDeletedWhileRead(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		r := s.Repo(t, "alice/plot", false)
		const size = 16 << 20 // more than the buffers of a connection hold
		source := gittest.Bare(t)
		gittest.Import(t, source,
			strings.NewReader(fmt.Sprintf("commit refs/heads/main\ncommitter A <a@x> 1 +0000\n"+
				"data 0\nM 100644 inline large\ndata %d\n%s\ndone\n", size, strings.Repeat("x", size))))
		s.Import(t, r, source)
		folder := s.Objects(t, r.ID).Dir()

		answer, err := http.Get(s.URL + "/alice/plot/raw/main/large")
		testkit.NoError(t, err)
		defer answer.Body.Close()
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/plot", As: "alice", Status: 204})
		if _, _, err := s.Repos.GitOf(t.Context(), r.ID); !errs.Is(err, errs.NotFound) {
			t.Errorf("a deleted repository opens: %v", err)
		}
		if _, err := os.Stat(folder); err != nil {
			t.Errorf("the folder is gone while it is read: %v", err)
		}
		if n, err := io.Copy(io.Discard, answer.Body); err != nil || n != size {
			t.Errorf("the download ended after %d bytes: %v", n, err)
		}
		testkit.Eventually(t, func() bool {
			_, err := os.Stat(folder)
			return os.IsNotExist(err)
		}, "the folder is set aside")
	})
}

// git keeps refs as files and folders: somebody who fetched both refs/heads/a and
// refs/heads/a/b could not store them.
func TestNameClashes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		source := gittest.Repository(t, 1, 2)
		tip := gittest.Resolve(t, source, "main")
		r := s.Repo(t, "alice/garden", false)
		s.Import(t, r, source)
		for _, push := range []struct {
			refs string // to create, or with a "-" to delete
			want string // what the refused say, by place
		}{
			{"a/b ab a.b", ""},
			{"a", "0: name conflicts with refs/heads/a/b"},
			{"a/b/c/d", "0: name conflicts with refs/heads/a/b"},
			{"main/x other", "0: name conflicts with refs/heads/main"},
			{"x x/y", "1: name conflicts with refs/heads/x"},
			{"-a/b a", ""},
			{"-a a/b a/c", ""},
			{"a -a/b", "0: name conflicts with refs/heads/a/c"},
			{"a", "0: name conflicts with refs/heads/a/c"},
			{"-a/c a", ""},
			{"-main main/x", "0: refusing to delete the default branch; 1: name conflicts with refs/heads/main"},
		} {
			var updates []repo.RefUpdate
			for name := range strings.FieldsSeq(push.refs) {
				u := repo.RefUpdate{Name: "refs/heads/" + name, Old: git.ZeroSHA, New: tip}
				if gone, ok := strings.CutPrefix(name, "-"); ok {
					u = repo.RefUpdate{Name: "refs/heads/" + gone, Old: tip, New: git.ZeroSHA}
				}
				updates = append(updates, u)
			}
			refused, err := s.Repos.MoveRefs(t.Context(), repo.Push{RepoID: r.ID, Updates: updates})
			if err != nil {
				t.Fatalf("%s: %v", push.refs, err)
			}
			var said []string
			for i, err := range refused {
				if err != nil {
					said = append(said, string(rune('0'+i))+": "+err.Error())
				}
			}
			if got := strings.Join(said, "; "); got != push.want {
				t.Errorf("%s: refused %q, want %q", push.refs, got, push.want)
			}
		}
	})
}

// A name may have a hundred folders, and a push thousands of names: they are compared with the repository's
// refs, which are read once before the lock and once under it, and not asked for one by one.
func TestManyDeepNames(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var statements atomic.Int64
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
				Trace: func(_ context.Context, text string) {
					if strings.Contains(text, "FROM refs") {
						statements.Add(1)
					}
				}})
		})
		s.User(t, "alice")
		source := gittest.Repository(t, 1, 2)
		tip := gittest.Resolve(t, source, "main")
		r := s.Repo(t, "alice/garden", false)
		s.Import(t, r, source)
		create := func(names ...string) []error {
			var updates []repo.RefUpdate
			for _, name := range names {
				updates = append(updates, repo.RefUpdate{Name: "refs/heads/" + name,
					Old: git.ZeroSHA, New: tip})
			}
			s.Settle(t) // workers read refs, too
			statements.Store(0)
			refused, err := s.Repos.MoveRefs(t.Context(), repo.Push{RepoID: r.ID, Updates: updates})
			testkit.NoError(t, err)
			return refused
		}
		deep := func(top string) string { return top + strings.Repeat("/a", 60) }
		for _, err := range create(deep("old")) {
			testkit.NoError(t, err)
		}
		names := []string{"old/a/a", "main/x", deep("new"), "new/a"}
		for i := range 1200 {
			names = append(names, deep(fmt.Sprint("n", i)))
		}
		refused := create(names...)
		if n := statements.Load(); n > 10 {
			t.Errorf("%d statements read refs", n)
		}
		for i, want := range []string{deep("old"), "main", "new/a", ""} {
			if want != "" {
				want = "name conflicts with refs/heads/" + want
			}
			if got := said(refused[i]); got != want {
				t.Errorf("%s: %q, want %q", names[i], got, want)
			}
		}
		for i, err := range refused[4:] {
			if err != nil {
				t.Fatalf("%s: %v", names[4+i], err)
			}
		}
	})
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
