package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// Across a network: a fork proposes to its parent, the parent to its fork, a fork
// to another; and the head follows (decision 38).
func TestAcrossForks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		lanes(t, s, 3)
		for _, login := range []string{"bob", "carol"} {
			s.User(t, login)
			s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/forks", As: login, Status: 202})
		}
		for _, login := range []string{"bob", "carol", "alice"} {
			commit(t, s, login+"/plot", "b0", "by-"+login, login)
		}
		up := propose(t, s, "bob", "alice/plot", "bob:b0", "main")
		propose(t, s, "bob", "bob/plot", "alice:b0", "main")
		propose(t, s, "bob", "bob/plot", "carol:b0", "main")
		propose(t, s, "alice", "alice/plot", "b0", "main") // the same name, another's branch
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"head": {"label": "bob:b0", "ref": "b0", "user": {"login": "bob"}, "repo": {"full_name": "bob/plot", "fork": true}}, "base": {"label": "alice:main"}, "commits": 2, "maintainer_can_modify": true}`},
			{Do: "GET /repos/alice/plot/pulls?head=bob:b0", Status: 200, Want: `[{"number": 1}]`},
			{Do: "GET /repos/alice/plot/pulls?head=alice:b0", Status: 200, Want: `[{"number": 2}]`},
			{Name: "twice", Do: "POST /repos/alice/plot/pulls", As: "bob",
				Send: `{"title": "x", "head": "BOB:b0", "base": "main"}`, Status: 422,
				Want: `{"errors": [{"message": "A pull request already exists for bob:b0."}]}`},
			{Name: "bob may not merge there", Do: "PUT /repos/alice/plot/pulls/1/merge", As: "bob",
				Status: 403},
			{Name: "alice may not merge in his", Do: "PUT /repos/bob/plot/pulls/1/merge", As: "alice",
				Status: 403},
		})
		sha := commit(t, s, "bob/plot", "b0", "more", "more")
		if p := read(t, s, "", "alice/plot", up.Number); p.Head.SHA != sha || p.Commits != 3 ||
			p.Mergeable == nil || !*p.Mergeable {
			t.Errorf("after a push to the fork: %+v", p)
		}
		s.Check(t, apitest.Case{Do: "PUT /repos/bob/plot/pulls/2/merge", As: "bob", Status: 200})
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/plot/pulls/1/merge", As: "alice", Status: 200})
		if made := readCommit(t, s, s.Tip(t, "alice", "alice/plot",
			"main")); made.Message != "Merge pull request #1 from bob/b0\n\nAbout bob:b0" {
			t.Errorf("the message is %q", made.Message)
		}
		truth(t, s, "alice", "alice/plot")
		truth(t, s, "bob", "bob/plot")

		// The fork goes, with something open: that is closed by who deletes the fork,
		// and can still be read.
		commit(t, s, "carol/plot", "b1", "last", "last")
		open := propose(t, s, "carol", "alice/plot", "carol:b1", "main")
		s.Check(t, apitest.Case{Do: "DELETE /repos/carol/plot", As: "carol", Status: 204})
		p := read(t, s, "", "alice/plot", open.Number)
		if p.Head.Repo != nil || p.Head.SHA != open.Head.SHA || p.State != "closed" {
			t.Errorf("without its fork: %+v", p)
		}
		s.Run(t, []apitest.Case{
			{Do: fmt.Sprintf("GET /repos/alice/plot/issues/%d", p.Number), Status: 200,
				Want: `{"state": "closed", "closed_by": {"login": "carol"}}`},
			{Do: fmt.Sprintf("PUT /repos/alice/plot/pulls/%d/merge", p.Number), As: "alice", Status: 405},
			{Do: fmt.Sprintf("PATCH /repos/alice/plot/pulls/%d", p.Number), As: "alice",
				Send: `{"state": "open"}`, Status: 422,
				Want: `{"errors": [{"message": "state cannot be changed. The b1 branch or its repository has been deleted."}]}`},
		})
		for _, part := range []string{"/files", "/commits"} {
			s.Ask(t, "", fmt.Sprintf("GET /repos/alice/plot/pulls/%d%s", p.Number, part), "", 200)
		}
		truth(t, s, "alice", "alice/plot")
	})
}

// A private repository and its forks: what one's readers may not see of the
// other never reaches them, neither names nor objects.
func TestPrivateForks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "rita", "eve")
		w := &pullWorld{}
		w.commit("main", "Begin", "", "", one("a", "a\n"))
		vault, _ := w.plant(t, s, "alice/vault", true)
		s.Grant(t, vault, "bob", account.Push)
		s.Grant(t, vault, "rita", account.Pull)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/vault/forks", As: "bob", Status: 202})
		shown := commit(t, s, "bob/vault", "main", "shown", "shown")
		p := propose(t, s, "bob", "alice/vault", "bob:main", "main")
		s.Check(t, apitest.Case{Do: "POST /repos/bob/vault/git/refs", As: "bob", Status: 201,
			Send: `{"ref": "refs/heads/hidden", "sha": "` + shown + `"}`})
		hidden := commit(t, s, "bob/vault", "hidden", "hidden", "hidden")
		open := propose(t, s, "bob", "bob/vault", "hidden", "main")

		// What rita sees: the proposal to the repository that she reads, whose head
		// lies in one that she does not.
		s.Run(t, []apitest.Case{
			{Name: "the fork is hidden", Do: "GET /repos/bob/vault", As: "rita", Status: 404},
			{Name: "no name of it", Do: "GET /repos/alice/vault/pulls/1", As: "rita", Status: 200,
				Want: `{"mergeable": true, "head": {"ref": "main", "repo": null, "sha": "` + shown + `"}}`},
			{Do: "GET /repos/alice/vault/pulls", As: "rita", Status: 200, Want: `[{"head": {"repo": null}}]`},
			{Name: "bob sees both", Do: "GET /repos/alice/vault/pulls/1", As: "bob", Status: 200,
				Want: `{"head": {"repo": {"full_name": "bob/vault"}}}`},
			{Name: "rita again", Do: "GET /repos/alice/vault/pulls/1", As: "rita", Status: 200,
				Want: `{"head": {"repo": null}}`},
			{Name: "the proposal within the fork", Do: "GET /repos/bob/vault/pulls/1", As: "rita",
				Status: 404},
			{Do: "GET /repos/alice/vault/commits/" + shown, As: "rita", Status: 200},
			{Do: "GET /repos/alice/vault/pulls/1/files", As: "rita", Status: 200,
				Want: `[{"filename": "shown"}]`},
			{Name: "by its owner's name", Do: "POST /repos/alice/vault/pulls", As: "rita",
				Send: `{"title": "x", "head": "bob:hidden", "base": "main"}`, Status: 422,
				Want: `{"errors": [{"field": "head", "code": "invalid"}]}`},
			{Name: "the same as for what is not there", Do: "POST /repos/alice/vault/pulls", As: "rita",
				Send: `{"title": "x", "head": "nobody:hidden", "base": "main"}`, Status: 422,
				Want: `{"errors": [{"field": "head", "code": "invalid"}]}`},
		})
		for _, path := range []string{"commits/" + hidden, "git/commits/" + hidden, "git/trees/" + hidden} {
			for _, who := range []string{"alice", "rita"} {
				s.Check(t, apitest.Case{Do: "GET /repos/alice/vault/" + path, As: who,
					Status: map[bool]int{true: 422, false: 404}[strings.HasPrefix(path, "commits/")]})
			}
		}
		for _, who := range []string{"", "eve"} {
			for _, path := range []string{"/repos/alice/vault/pulls", "/repos/alice/vault/pulls/1",
				"/repos/alice/vault/pulls/1/files", "/alice/vault/pull/1.diff", "/repos/bob/vault/pulls",
				"/repos/bob/vault/pulls/1/merge"} {
				s.Check(t, apitest.Case{Do: "GET " + path, As: who, Status: 404,
					Want: `{"message": "Not Found"}`})
			}
		}
		// Nor with git: by its SHA from the parent's address.
		none := gittest.Bare(t)
		for _, sha := range []string{hidden, *open.MergeCommit} {
			if out, _, err := gittest.Try(t, none, nil, "fetch", "-q", s.Remote(t, "alice", "alice/vault"),
				sha); err == nil {
				t.Errorf("git fetches %s from the parent: %s", sha, out)
			}
		}
		gittest.Run(t, none, "fetch", "-q", s.Remote(t, "rita", "alice/vault"), p.Head.SHA)
		// Data of the parent that is hidden from owners of a fork.
		s.Check(t, apitest.Case{Do: "POST /repos/alice/vault/git/refs", As: "alice", Status: 201,
			Send: `{"ref": "refs/heads/secret", "sha": "` + p.Base.SHA + `"}`})
		secret := commit(t, s, "alice/vault", "secret", "secret", "secret")
		propose(t, s, "alice", "alice/vault", "secret", "main")
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/vault/collaborators/bob", As: "alice", Status: 204})
		if _, _, err := gittest.Try(t, none, nil, "fetch", "-q", s.Remote(t, "bob", "bob/vault"),
			secret); err == nil {
			t.Error("git fetches a commit of the parent from the fork")
		}
		if s.Objects(t, vault.ID).IsWhole(git.SHA(hidden)) {
			t.Error("the hidden commit of the fork is among the parent's objects")
		}
		for _, path := range []string{"/repos/alice/vault/pulls/1", "/repos/alice/vault/pulls/2"} {
			s.Check(t, apitest.Case{Do: "GET " + path, As: "bob", Status: 404})
		}
	})
}

// Who keeps a fork takes over what its parent got since, and never what they may not see.
func TestMergeUpstream(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
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
