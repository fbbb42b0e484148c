package repos_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// However refs move, the reached objects are those that git finds when it walks all:
// including objects that old commits share with dropped ones, and commits that are dated
// before their parents.
func TestReachedIsWhatGitFinds(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		r := s.Repo(t, "alice/garden", false)
		dir := s.Objects(t, r.ID).Dir()
		testkit.NoError(t, s.Objects(t, r.ID).Init())
		random := rand.New(rand.NewPCG(1, 2))
		gittest.Import(t, dir, strings.NewReader(tangle(random, 60)))
		commits := strings.Fields(gittest.Run(t, dir, "rev-list", "--all"))
		objects := strings.Fields(gittest.Run(t, dir, "rev-list", "--objects", "--all", "--no-object-names"))
		testkit.NoError(t, s.Repos.MarkUnreached(t.Context(), r.ID))
		now := map[string]git.SHA{}
		for range 25 {
			moveSome(t, s, r, random, now, commits)
			tips := ""
			for _, sha := range now {
				tips += string(sha) + "\n"
			}
			truth := map[string]bool{}
			if tips != "" {
				list := gittest.Pipe(t, dir, strings.NewReader(tips),
					"rev-list", "--objects", "--stdin", "--no-object-names")
				for _, sha := range strings.Fields(string(list)) {
					truth[sha] = true
				}
			}
			a, err := s.Repos.Find(t.Context(), nil, "alice", "garden")
			testkit.NoError(t, err)
			random.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
			for _, sha := range objects[:len(objects)/3] {
				reached, err := s.Repos.Reached(t.Context(), &a.Access, git.SHA(sha))
				if err != nil || reached != truth[sha] {
					t.Fatalf("%s of %v: reached is %t, %v; git says %t", sha, now, reached, err, truth[sha])
				}
			}
		}
	})
}

// moveSome moves up to three refs anywhere, makes or deletes them.
func moveSome(
	t *testing.T, s *apitest.Server, r *repo.Repo, random *rand.Rand,
	now map[string]git.SHA, commits []string,
) {
	t.Helper()
	var updates []repo.RefUpdate
	for _, n := range random.Perm(5)[:1+random.IntN(3)] {
		name := fmt.Sprintf("refs/tags/t%d", n)
		u := repo.RefUpdate{Name: name, Old: now[name],
			New: git.SHA(commits[random.IntN(len(commits))]), By: r.OwnerID}
		if u.Old == "" {
			u.Old = git.ZeroSHA
		} else if random.IntN(3) == 0 {
			u.New = git.ZeroSHA
		}
		updates = append(updates, u)
	}
	refused, err := s.Repos.MoveRefs(t.Context(), repo.Push{RepoID: r.ID, Updates: updates, Atomic: true})
	if err != nil || slices.ContainsFunc(refused, func(e error) bool { return e != nil }) {
		t.Fatal(err, refused)
	}
	for _, u := range updates {
		if now[u.Name] = u.New; u.New == git.ZeroSHA {
			delete(now, u.Name)
		}
	}
}

// tangle is a history with merges, roots, reverts to earlier contents, and random dates.
func tangle(random *rand.Rand, n int) string {
	var b strings.Builder
	for c := 1; c <= n; c++ {
		text := fmt.Sprintf("contents %d\n", random.IntN(15))
		fmt.Fprintf(&b, "commit refs/heads/c%d\nmark :%d\ncommitter %s %d +0000\ndata 2\n%d\n",
			c, c, gittest.Author, gittest.Start+random.IntN(100_000), c%10)
		if c > 1 && random.IntN(8) > 0 {
			from := 1 + random.IntN(c-1)
			fmt.Fprintf(&b, "from :%d\n", from)
			if other := 1 + random.IntN(c-1); other != from && random.IntN(4) == 0 {
				fmt.Fprintf(&b, "merge :%d\n", other)
			}
		}
		fmt.Fprintf(&b, "M 100644 inline d%d/f%d\ndata %d\n%s\n", random.IntN(3),
			random.IntN(4), len(text), text)
	}
	return b.String() + "done\n"
}

// The flag, without which nothing is checked, is set by what may leave objects
// behind and by nothing else.
func TestWhatSetsTheFlag(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "will")
		const at = "/repos/alice/garden"
		for name, c := range map[string]struct {
			do   func(t *testing.T, dir string)
			want bool
		}{
			"nothing":          {func(*testing.T, string) {}, false},
			"a push that adds": {func(t *testing.T, dir string) { grow(t, dir, 3) }, false},
			"a push of a merge": {func(t *testing.T, dir string) {
				grow(t, dir, 2)
				mergeBack(t, dir)
			}, false},
			"a push by force": {func(t *testing.T, dir string) {
				gittest.Run(t, dir, "push", "-q", "-f", "origin", "main~1:main")
			}, true},
			"a push that moves a tag": {func(t *testing.T, dir string) {
				gittest.Run(t, dir, "push", "-q", "-f", "origin", "main~1:refs/tags/v1")
			}, true},
			"a push that deletes a branch": {func(t *testing.T, dir string) {
				gittest.Run(t, dir, "push", "-q", "origin", ":topic")
			}, true},
			"a file that the API writes": {
				posted(s, "PUT "+at+"/contents/a", `{"message": "x", "content": ""}`), false},
			"a branch that the API moves on": {func(t *testing.T, dir string) {
				patch(t, s, dir, "topic", "main", false)
			}, false},
			"a branch that the API sets back": {func(t *testing.T, dir string) {
				patch(t, s, dir, "main", "main~1", true)
			}, true},
			"a blob": {posted(s, "POST "+at+"/git/blobs", `{"content": "x"}`), true},
			"a tree": {
				posted(s, "POST "+at+"/git/trees",
					`{"tree": [{"path": "a", "mode": "100644", "content": "x"}]}`), true},
			"a pull request": {
				posted(s, "POST "+at+"/pulls", `{"title": "x", "head": "topic2", "base": "main"}`), true},
			"publication": {func(t *testing.T, _ string) { hideAndShow(t, s) }, true},
		} {
			t.Run(name, func(t *testing.T) {
				r := s.Repo(t, "alice/garden", false)
				source := gittest.Repository(t, 4, 3)
				gittest.Run(t, source, "branch", "topic", "main~2")
				gittest.Run(t, source, "tag", "v1")
				gittest.Run(t, source, "branch", "topic2",
					gittest.Run(t, source, "commit-tree", "-m", "x", "-p", "main", "main~1^{tree}"))
				s.Import(t, r, source)
				dir := t.TempDir()
				gittest.Run(t, dir, "clone", "-q", s.Remote(t, "alice", "alice/garden"), ".")
				c.do(t, dir)
				a, err := s.Repos.Find(t.Context(), &account.Caller{ID: r.OwnerID}, "alice", "garden")
				if err != nil || a.Unreached != c.want {
					t.Errorf("the flag is %t, %v", a.Unreached, err)
				}
				s.Check(t, apitest.Case{Do: "DELETE " + at, As: "alice", Status: 204})
			})
		}
	})
}

func grow(t *testing.T, dir string, n int) {
	t.Helper()
	for i := range n {
		gittest.CommitFile(t, dir, fmt.Sprint("new", i), "x")
	}
	gittest.Run(t, dir, "push", "-q", "origin", "HEAD:main")
}

func mergeBack(t *testing.T, dir string) {
	t.Helper()
	gittest.Run(t, dir, "checkout", "-q", "-b", "side", "main~1")
	gittest.CommitFile(t, dir, "side", "x")
	gittest.Run(t, dir, "merge", "-q", "-m", "merge", "main")
	gittest.Run(t, dir, "push", "-q", "origin", "HEAD:main")
}

func posted(s *apitest.Server, do, body string) func(*testing.T, string) {
	return func(t *testing.T, _ string) {
		t.Helper()
		s.Check(t, apitest.Case{Do: do, As: "alice", Send: body, Status: 201})
	}
}

func patch(t *testing.T, s *apitest.Server, dir, branch, to string, force bool) {
	t.Helper()
	s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/git/refs/heads/" + branch,
		As: "alice", Status: 200,
		Send: fmt.Sprintf(`{"sha": %q, "force": %t}`, gittest.Run(t, dir, "rev-parse", to), force)})
}

func hideAndShow(t *testing.T, s *apitest.Server) {
	t.Helper()
	for _, private := range []string{"true", "false"} {
		s.Ask(t, "alice", "PATCH /repos/alice/garden", `{"private": `+private+`}`, 200)
	}
}
