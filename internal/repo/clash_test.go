package repo_test

import (
	"strings"
	"testing"

	"arbor/internal/apitest"
	"arbor/internal/git"
	"arbor/internal/git/gittest"
	"arbor/internal/repo"
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
