package repo_test

import (
	"testing"

	"arbor/internal/account"
	"arbor/internal/apitest"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// Who found a repository while it was public reads no ref that moved after it was
// hidden, however long the request waits in between.
func TestRefsOfWhatWasHiddenMeanwhile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		const put = "PUT /repos/alice/garden/contents/f"
		s.Check(t, apitest.Case{Do: put, As: "alice",
			Send: `{"message": "shown", "content": ""}`, Status: 201})
		repos := s.Server.Forge().Repos
		stranger, err := repos.Find(t.Context(), nil, "alice", "garden")
		if err != nil {
			t.Fatal(err)
		}
		owner, err := repos.Find(t.Context(), &account.Caller{ID: stranger.OwnerID, Login: "alice"},
			"alice", "garden")
		if err != nil {
			t.Fatal(err)
		}
		s.Run(t, []apitest.Case{
			{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200},
			{Do: "PUT /repos/alice/garden/contents/secret", As: "alice",
				Send: `{"message": "secret", "content": ""}`, Status: 201},
		})
		read := func(a *repo.Access) [3]error {
			_, all := repos.Refs(t.Context(), a)
			_, exact := repos.Ref(t.Context(), a, "refs/heads/main")
			_, named := repos.Resolve(t.Context(), a, "main")
			return [3]error{all, exact, named}
		}
		strangerReads := func(when string) {
			for n, err := range read(&stranger.Access) {
				if !errs.Is(err, errs.NotFound) {
					t.Errorf("way %d of reading refs %s: a stranger gets %v", n, when, err)
				}
			}
		}
		strangerReads("before the owner")
		if got := read(&owner.Access); got != [3]error{} {
			t.Errorf("the owner gets %v", got)
		}
		strangerReads("after the owner")
	})
}
