package pulls_test

import (
	"strings"
	"sync"
	"testing"

	"arbor/internal/test/apitest"
)

// fork creates sam's fork of alice/plot with the branch hoes, a commit ahead.
func fork(t *testing.T, s *apitest.Server) {
	s.Run(t, []apitest.Case{
		{Do: "POST /repos/alice/plot/forks", As: "sam", Send: `{}`, Status: 202},
		{Do: "POST /repos/sam/plot/git/refs", As: "sam", Status: 201,
			Send: `{"ref": "refs/heads/hoes", "sha": "` + s.Tip(t, "alice", "alice/plot", "main") + `"}`},
	})
	commit(t, s, "sam/plot", "hoes", "hoes.txt", "about hoes")
}

// parents are those of a commit.
func parents(t *testing.T, s *apitest.Server, repo, sha string) string {
	t.Helper()
	var c struct{ Parents []struct{ SHA string } }
	s.Check(t, apitest.Case{Do: "GET /repos/" + repo + "/git/commits/" + sha, As: "alice",
		Status: 200}).JSON(t, &c)
	var list []string
	for _, p := range c.Parents {
		list = append(list, p.SHA)
	}
	return strings.Join(list, " ")
}

// Who left a pull request for a while brings it up to date without a clone, and
// the pull request follows at once.
func TestUpdateBranch(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam",
			Send: `{"title": "Slugs", "head": "slugs", "base": "main"}`, Status: 201})
		const update = "PUT /repos/alice/plot/pulls/1/update-branch"
		s.Check(t, apitest.Case{Name: "nothing new", Do: update, As: "will", Status: 422,
			Want: `{"message": "There are no new commits on the base branch."}`})
		base, head := commit(t, s, "alice/plot", "main", "new.txt", "new"), s.Tip(t, "alice", "alice/plot", "slugs")
		s.Run(t, []apitest.Case{
			{Name: "not without push access, though it is one's own", Do: update, As: "sam", Status: 403,
				Want: `{"message": "Must have push access to Repository."}`},
			{Name: "rights before the body", Do: update, As: "sam", Send: `{`, Status: 403},
			{Do: update, Status: 401},
			{Name: "of another head", Do: update, As: "will", Send: `{"expected_head_sha": "` + base + `"}`,
				Status: 422, Want: `{"message": "expected head sha didn't match current head ref."}`},
			{Name: "a wrong type", Do: update, As: "will", Send: `{"expected_head_sha": 7}`, Status: 422,
				Want: `{"errors": [{"field": "expected_head_sha", "code": "invalid"}]}`},
			{Do: update, As: "will", Send: `[]`, Status: 400},
			{Do: "PUT /repos/alice/plot/pulls/9/update-branch", As: "will", Status: 404},
			{Do: "PUT /repos/alice/plot/pulls/x/update-branch", As: "will", Status: 404},
			{Name: "update", Do: update, As: "will",
				Send: `{"expected_head_sha": "` + strings.ToUpper(head) + `"}`, Status: 202,
				Want: `{"message": "Updating pull request branch.", "url": "{base}/repos/alice/plot/pulls/1"}`},
		})
		merged := s.Tip(t, "alice", "alice/plot", "slugs")
		if got := parents(t, s, "alice/plot", merged); got != head+" "+base {
			t.Errorf("the parents are %s, want %s %s", got, head, base)
		}
		s.Run(t, []apitest.Case{
			{Name: "the pull request follows", Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"head": {"sha": "` + merged + `"}, "base": {"sha": "` + base +
					`"}, "mergeable": true, "commits": 2, "changed_files": 1}`},
			{Do: "GET /repos/alice/plot/commits/slugs", Status: 200,
				Want: `{"commit": {"message": "Merge branch 'main' into slugs"}, "author": {"login": "will"}}`},
			{Name: "once is enough", Do: update, As: "will", Status: 422},
			{Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send: `{"title": "Wild", "head": "wild", "base": "main"}`, Status: 201,
				Want: `{"number": 2}`},
			{Do: "PUT /repos/alice/plot/pulls/1/merge", As: "will", Status: 200},
			{Name: "a conflict", Do: "PUT /repos/alice/plot/pulls/2/update-branch", As: "will", Status: 422,
				Want: `{"message": "merge conflict between base and head"}`},
			{Name: "a merged one", Do: update, As: "will", Status: 422,
				Want: `{"message": "The pull request is closed."}`},
		})
	})
}

// The branch of a fork belongs to its owner, who can allow maintainers of the base to push.
func TestUpdateBranchOfFork(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		fork(t, s)
		s.User(t, "eve")
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam", Status: 201,
			Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main", "maintainer_can_modify": false}`})
		const update = "PUT /repos/alice/plot/pulls/1/update-branch"
		base, head := commit(t, s, "alice/plot", "main", "new.txt", "new"), s.Tip(t, "alice", "sam/plot", "hoes")
		s.Run(t, []apitest.Case{
			{Name: "maintainers were not asked", Do: update, As: "will", Status: 403},
			{Do: update, As: "eve", Status: 403},
			{Do: update, As: "sam", Status: 202},
		})
		merged := s.Tip(t, "alice", "sam/plot", "hoes")
		if got := parents(t, s, "sam/plot", merged); got != head+" "+base {
			t.Errorf("the parents are %s, want %s %s", got, head, base)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"head": {"sha": "` + merged + `"}, "mergeable": true, "commits": 2}`},
			{Do: "GET /repos/sam/plot/contents/new.txt?ref=hoes", Status: 200, Want: `{"type": "file"}`},
			{Do: "POST /repos/sam/plot/git/refs", As: "sam", Status: 201,
				Send: `{"ref": "refs/heads/rakes", "sha": "` + merged + `"}`},
		})
		commit(t, s, "sam/plot", "rakes", "rakes.txt", "about rakes")
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam", Status: 201,
			Send: `{"title": "Rakes", "head": "sam:rakes", "base": "main"}`})
		commit(t, s, "alice/plot", "main", "newer.txt", "newer")
		s.Run(t, []apitest.Case{
			{Name: "here they were", Do: "PUT /repos/alice/plot/pulls/2/update-branch", As: "will",
				Status: 202},
			{Do: "GET /repos/sam/plot/commits/rakes", Status: 200,
				Want: `{"commit": {"message": "Merge branch 'main' into rakes"}, "author": {"login": "will"}}`},
			{Do: "DELETE /repos/sam/plot", As: "sam", Status: 204},
			{Name: "the fork is gone", Do: update, As: "will", Status: 403},
			{Do: "PUT /repos/alice/plot/pulls/2/update-branch", As: "will", Status: 422,
				Want: `{"message": "The head repository was deleted or is no longer a fork of this one."}`},
		})
	})
}

// The commits of a base that became private must not be published by copying them to a public fork, not
// even by users who can see both.
func TestUpdateBranchLeaksNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		fork(t, s)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam", Status: 201,
			Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`})
		s.Ask(t, "alice", "PATCH /repos/alice/plot", `{"private": true}`, 200)
		secret := commit(t, s, "alice/plot", "main", "secret.txt", "secret")
		const update = "PUT /repos/alice/plot/pulls/1/update-branch"
		s.Run(t, []apitest.Case{
			{Do: update, As: "will", Status: 403},
			{Do: update, As: "alice", Status: 403},
			{Do: update, As: "sam", Status: 404},
			{Do: "PUT /repos/alice/plot/collaborators/sam", As: "alice", Send: `{"permission": "pull"}`,
				Status: 204},
			{Name: "though the head is one's own", Do: update, As: "sam", Status: 422},
			{Do: "GET /repos/sam/plot/commits/" + secret, Status: 422},
			{Do: "GET /repos/sam/plot/contents/secret.txt?ref=hoes", Status: 404},
		})
	})
}

// Branches are merged without a pull request, too.
func TestMergeBranches(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		const merge = "POST /repos/alice/plot/merges"
		base, head := s.Tip(t, "alice", "alice/plot", "main"), s.Tip(t, "alice", "alice/plot", "slugs")
		snails := s.Tip(t, "alice", "alice/plot", "snails")
		s.Run(t, []apitest.Case{
			{Name: "a branch", Do: merge, As: "will", Send: `{"base": "main", "head": "slugs"}`, Status: 201,
				Want: `{"sha": "$any", "commit": {"message": "Merge slugs into main", "author": {"name": "will"}}, "author": {"login": "will"}, "committer": {"login": "will"},
					"parents": [{"sha": "` + base + `"}, {"sha": "` + head + `"}], "url": "$any", "html_url": "$any", "files": "$absent"}`},
			{Name: "again", Do: merge, As: "will", Send: `{"base": "main", "head": "slugs"}`,
				Status: 204, Body: "-"},
			{Name: "itself", Do: merge, As: "will", Send: `{"base": "main", "head": "main"}`,
				Status: 204, Body: "-"},
			{Name: "a SHA, with a message", Do: merge, As: "will",
				Send:   `{"base": "main", "head": "` + snails + `", "commit_message": "Snails\r\n\r\nSlowly."}`,
				Status: 201,
				Want:   `{"commit": {"message": "Snails\n\nSlowly."}}`},
			{Name: "the branch has moved", Do: "GET /repos/alice/plot/commits/main", Status: 200,
				Want: `{"commit": {"message": "Snails\n\nSlowly."}}`},
			{Name: "a conflict", Do: merge, As: "will", Send: `{"base": "main", "head": "wild"}`, Status: 409,
				Want: `{"message": "Merge conflict", "documentation_url": "$any"}`},
			{Name: "no base", Do: merge, As: "will", Send: `{"base": "none", "head": "wild"}`, Status: 404,
				Want: `{"message": "Base does not exist"}`},
			{Name: "a base that is no branch", Do: merge, As: "will",
				Send: `{"base": "` + base + `", "head": "wild"}`, Status: 404,
				Want: `{"message": "Base does not exist"}`},
			{Name: "no head", Do: merge, As: "will", Send: `{"base": "main", "head": "none"}`, Status: 404,
				Want: `{"message": "Head does not exist"}`},
			{Name: "no such commit", Do: merge, As: "will",
				Send: `{"base": "main", "head": "` + strings.Repeat("1", 40) + `"}`, Status: 404,
				Want: `{"message": "Head does not exist"}`},
			{Name: "an abbreviation", Do: merge, As: "will",
				Send: `{"base": "main", "head": "` + snails[:10] + `"}`, Status: 404},
			{Name: "an option", Do: merge, As: "will", Send: `{"base": "--help", "head": "-x"}`, Status: 404},
			{Do: merge, As: "sam", Send: `{"base": "main", "head": "wild"}`, Status: 403},
			{Do: merge, Send: `{"base": "main", "head": "wild"}`, Status: 401},
			{Do: merge, As: "will", Send: `{}`, Status: 422,
				Want: `{"errors": [{"resource": "Merge", "field": "base", "code": "missing_field"}, {"field": "head", "code": "missing_field"}]}`},
			{Do: merge, As: "will", Send: `{"base": 1, "head": []}`, Status: 422,
				Want: `{"errors": [{"field": "base", "code": "invalid"}, {"field": "head", "code": "invalid"}]}`},
			{Do: merge, As: "will", Send: `{"base": "main", "head": "wild", "commit_message": false}`,
				Status: 422, Want: `{"errors": [{"field": "commit_message", "code": "invalid"}]}`},
			{Do: merge, As: "will", Send: `{"base": "main", "head": "wild", "commit_message": "` +
				strings.Repeat("x", 65_537) + `"}`, Status: 422},
			{Do: merge, As: "will", Send: `"main"`, Status: 400},
			{Do: merge, As: "will", Status: 400},
		})
	})
}

// A commit that an API client made of objects that are not there must not get
// into a branch, which nobody could clone then.
func TestMergeOfTornCommit(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		var made struct{ SHA string }
		var main struct {
			Commit struct{ Tree struct{ SHA string } }
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/commits/main", Status: 200}).JSON(t, &main)
		a := s.Do(t, apitest.Case{Do: "POST /repos/alice/plot/git/commits", As: "will",
			Send: `{"message": "torn", "tree": "` + main.Commit.Tree.SHA + `", "parents": ["` +
				strings.Repeat("2", 40) + `"]}`})
		if a.Status == 422 {
			return // it cannot even be made
		}
		a.JSON(t, &made)
		s.Ask(t, "will", "POST /repos/alice/plot/merges", `{"base": "main", "head": "`+made.SHA+`"}`, 404)
	})
}

// Bots merge into one branch at the same time; none of them has to try again,
// and nothing of anyone's is lost.
func TestConcurrentBranchMerges(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		names := []string{"a", "b", "c", "d", "e", "f"}
		at := s.Tip(t, "alice", "alice/plot", "main")
		for _, n := range names {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/git/refs", As: "will", Status: 201,
				Send: `{"ref": "refs/heads/` + n + `", "sha": "` + at + `"}`})
			commit(t, s, "alice/plot", n, n+".txt", n)
		}
		var wg sync.WaitGroup
		for _, n := range names {
			wg.Go(func() {
				if a := s.Do(t, apitest.Case{Do: "POST /repos/alice/plot/merges", As: "will",
					Send: `{"base": "main", "head": "` + n + `"}`}); a.Status != 201 {
					t.Errorf("%s: status %d: %s", n, a.Status, a.Body)
				}
			})
		}
		wg.Go(func() { // an edit may have to be reviewed again when its branch keeps moving
			edit := apitest.Case{Do: "PUT /repos/alice/plot/contents/meanwhile.txt", As: "alice",
				Send: `{"message": "Meanwhile", "content": ""}`}
			for s.Do(t, edit).Status == 409 {
			}
		})
		wg.Wait()
		for _, n := range append(names, "meanwhile") {
			s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/contents/" + n + ".txt", Status: 200})
		}
	})
}
