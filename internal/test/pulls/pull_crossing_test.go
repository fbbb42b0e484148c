package pulls_test

import (
	"fmt"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// fetches reports whether git gets an object, by its SHA or by a ref, from a
// repository.
func fetches(t *testing.T, s *apitest.Server, who, name, what string) bool {
	t.Helper()
	_, _, err := gittest.Try(t, gittest.Bare(t), nil, "fetch", "-q", s.Remote(t, who, name), what)
	return err == nil
}

// absent checks that no way leads to a commit in a repository.
func absent(t *testing.T, s *apitest.Server, who, name, sha string) {
	t.Helper()
	s.Check(t, apitest.Case{Name: "a secret commit", Do: "GET /repos/" + name + "/git/commits/" + sha,
		As: who, Status: 404})
	if fetches(t, s, who, name, sha) {
		t.Errorf("git fetches %s from %s", sha, name)
	}
	dir := gittest.Bare(t)
	gittest.Run(t, dir, "fetch", "-q", s.Remote(t, who, name), "refs/*:refs/found/*")
	if _, _, err := gittest.Try(t, dir, nil, "cat-file", "-e", sha); err == nil {
		t.Errorf("a ref of %s leads to %s:\n%s", name, sha, gittest.Run(t, dir, "for-each-ref"))
	}
}

// A root that was public has a public fork with a pull request from the root's
// main. Once the root is private, nothing of it reaches the fork: not by pushes,
// and not by opening the pull request again.
func TestHiddenRootStaysOutOfPublicFork(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{true, false} {
		t.Run(fmt.Sprintf("closed=%v", closed), func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				lanes(t, s, 1)
				s.User(t, "bob")
				s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/forks", As: "bob", Status: 202})
				last := commit(t, s, "alice/plot", "main", "public", "public")
				p := propose(t, s, "bob", "bob/plot", "alice:main", "main")
				if closed {
					s.Ask(t, "bob", "PATCH /repos/bob/plot/pulls/1", `{"state": "closed"}`, 200)
				}
				s.Ask(t, "alice", "PATCH /repos/alice/plot", `{"private": true}`, 200)
				secret := commit(t, s, "alice/plot", "main", "secret", "secret")
				absent(t, s, "", "bob/plot", secret)
				for _, path := range []string{"pulls", "issues"} {
					s.Check(t, apitest.Case{Do: "PATCH /repos/bob/plot/" + path + "/1", As: "bob",
						Send: `{"state": "open"}`, Status: 422,
						Want: `{"errors": [{"message": "state cannot be changed. ` +
							`The main branch or its repository has been deleted."}]}`})
				}
				absent(t, s, "", "bob/plot", secret)
				got := read(t, s, "", "bob/plot", p.Number)
				if got.State != "closed" || got.Head.Repo != nil || got.Head.SHA != last {
					t.Errorf("the pull request from what is hidden: %+v", got)
				}
				s.Check(t, apitest.Case{Do: "PUT /repos/bob/plot/pulls/1/merge", As: "bob", Status: 405})
				s.Ask(t, "bob", "PUT /repos/bob/plot/pulls/1/update-branch", "", 422)
			})
		})
	}
}
