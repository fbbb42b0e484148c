package pulls_test

import (
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// Who keeps a fork takes over what its parent got since, and never what they may not see.
func TestMergeUpstream(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, login := range []string{"alice", "bob", "carol"} {
			s.User(t, login)
		}
		r := s.Repo(t, "alice/garden", false)
		put := func(repo, as, path, text string) apitest.Case {
			return apitest.Case{Do: "PUT /repos/" + repo + "/contents/" + path, As: as,
				Send: `{"message": "m", "content": "` + text + `"}`, Status: 201}
		}
		const do = "POST /repos/bob/garden/merge-upstream"
		main := `{"branch": "main"}`
		s.Run(t, []apitest.Case{
			put("alice/garden", "alice", "a", "YQ=="),
			{Do: "POST /repos/alice/garden/forks", As: "bob", Status: 202},
			{Do: do, As: "bob", Send: main, Status: 200,
				Want: `{"merge_type": "none", "base_branch": "alice:main"}`},
			put("alice/garden", "alice", "b", "Yg=="),
			{Do: do, As: "carol", Send: main, Status: 403},
			{Do: do, As: "bob", Send: `{}`, Status: 422},
			{Do: do, As: "bob", Send: `{"branch": "nowhere"}`, Status: 422},
			{Do: do, As: "bob", Send: `{"branch": "../x"}`, Status: 422},
			{Do: "POST /repos/alice/garden/merge-upstream", As: "alice", Send: main, Status: 422},
			{Do: do, As: "bob", Send: main, Status: 200,
				Want: `{"merge_type": "fast-forward", "base_branch": "alice:main",
				"message": "Successfully fetched and fast-forwarded from upstream alice:main."}`},
			{Do: "GET /repos/bob/garden/contents/b", Status: 200},
			put("alice/garden", "alice", "c", "Yw=="),
			put("bob/garden", "bob", "d", "ZA=="),
			{Do: do, As: "bob", Send: main, Status: 200, Want: `{"merge_type": "merge"}`},
			{Do: "GET /repos/bob/garden/contents/c", Status: 200},
			{Do: "GET /repos/bob/garden/commits/main", Status: 200,
				Want: `{"commit": {"message": "Merge branch 'alice:main' into main"}, "author": {"login": "bob"}}`},
			put("alice/garden", "alice", "e", "ZQ=="),
			put("bob/garden", "bob", "e", "Zg=="),
			{Do: do, As: "bob", Send: main, Status: 409},
			{Do: "PATCH /repos/bob/garden", As: "bob", Send: `{"archived": true}`, Status: 200},
			{Do: do, As: "bob", Send: main, Status: 403},
		})
		// A private fork follows its parent only as long as its keeper sees that.
		secret := s.Repo(t, "alice/diary", true)
		s.Grant(t, secret, "bob", account.Pull)
		s.Grant(t, r, "bob", account.Pull)
		s.Run(t, []apitest.Case{
			put("alice/diary", "alice", "a", "YQ=="),
			{Do: "POST /repos/alice/diary/forks", As: "bob", Status: 202},
			{Do: "PUT /repos/bob/diary/collaborators/carol", As: "bob", Send: `{"permission": "push"}`,
				Status: 204},
			put("alice/diary", "alice", "b", "Yg=="),
			{Do: "POST /repos/bob/diary/merge-upstream", As: "carol", Send: main, Status: 422,
				Want: `{"message": "The repository is not a fork, or you cannot see its parent."}`},
			{Do: "GET /repos/bob/diary/contents/b", As: "bob", Status: 404},
			{Do: "POST /repos/bob/diary/merge-upstream", As: "bob", Send: main, Status: 200,
				Want: `{"merge_type": "fast-forward"}`},
			put("alice/diary", "alice", "c", "Yw=="),
			{Do: "DELETE /repos/alice/diary/collaborators/bob", As: "alice", Status: 204},
			{Do: "POST /repos/bob/diary/merge-upstream", As: "bob", Send: main, Status: 404},
		})
	})
}
