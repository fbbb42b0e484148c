package repos_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
)

// git keeps refs as files and folders: somebody who fetched both refs/heads/a and
// refs/heads/a/b could not store them.
func TestNameClashes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		source := gittest.Repository(t, 1, 2)
		tip := git.SHA(gittest.Run(t, source, "rev-parse", "main"))
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
		tip := git.SHA(gittest.Run(t, source, "rev-parse", "main"))
		r := s.Repo(t, "alice/garden", false)
		s.Import(t, r, source)
		create := func(names ...string) []error {
			var updates []repo.RefUpdate
			for _, name := range names {
				updates = append(updates, repo.RefUpdate{Name: "refs/heads/" + name,
					Old: git.ZeroSHA, New: tip})
			}
			statements.Store(0)
			refused, err := s.Repos.MoveRefs(t.Context(), repo.Push{RepoID: r.ID, Updates: updates})
			if err != nil {
				t.Fatal(err)
			}
			return refused
		}
		deep := func(top string) string { return top + strings.Repeat("/a", 60) }
		for _, err := range create(deep("old")) {
			if err != nil {
				t.Fatal(err)
			}
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
