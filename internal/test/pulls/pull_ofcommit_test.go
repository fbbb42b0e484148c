package pulls_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Who reads a line of old code finds the discussion that it came from.
func TestPullsOfCommit(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		slugs, main := s.Tip(t, "alice", "alice/plot", "slugs"), s.Tip(t, "alice", "alice/plot", "main")
		of := func(name string) string { return "GET /repos/alice/plot/commits/" + name + "/pulls" }
		s.Run(t, []apitest.Case{
			{Name: "nobody proposed it", Do: of(slugs), Status: 200, Body: "[]"},
			{Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send: `{"title": "Slugs", "head": "slugs", "base": "main"}`, Status: 201,
				Want: `{"number": 1}`},
			{Name: "open", Do: of(slugs), Status: 200,
				Want: `[{"number": 1, "state": "open", "mergeable": "$absent", "head": {"ref": "slugs"}}]`},
			{Name: "by its branch", Do: of("slugs"), Status: 200, Want: `[{"number": 1}]`},
			{Name: "abbreviated", Do: of(slugs[:9]), Status: 200, Want: `[{"number": 1}]`},
			{Name: "what the base had before is none of its", Do: of("main"), Status: 200, Body: "[]"},
		})
		second := commit(t, s, "alice/plot", "slugs", "more.txt", "more")
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/pulls/1", Status: 200,
			Want: `{"commits": 2, "mergeable": true}`})
		s.Run(t, []apitest.Case{
			{Name: "a new head", Do: of(second), Status: 200, Want: `[{"number": 1}]`},
			{Name: "of which the first is still a commit", Do: of(slugs), Status: 200,
				Want: `[{"number": 1}]`},
			{Name: "one on top", Do: "POST /repos/alice/plot/git/refs", As: "will",
				Send: `{"ref": "refs/heads/fix/more", "sha": "` + second + `"}`, Status: 201},
		})
		third := commit(t, s, "alice/plot", "fix/more", "third.txt", "third")
		var merged struct{ SHA string }
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/plot/pulls", As: "will",
				Send: `{"title": "Third", "head": "fix/more", "base": "main"}`, Status: 201,
				Want: `{"number": 2}`},
			{Name: "both have it, the newest first", Do: of(slugs), Status: 200,
				Want: `[{"number": 2}, {"number": 1}]`},
			{Name: "a page", Do: of(slugs) + "?per_page=1", Status: 200, Want: `[{"number": 2}]`,
				Has: map[string]string{
					"Link": `<{base}/repos/alice/plot/commits/` + slugs +
						`/pulls?per_page=1&page=2>; rel="next", <{base}/repos/alice/plot/commits/` + slugs +
						`/pulls?per_page=1&page=2>; rel="last"`}},
			{Name: "a branch with a slash", Do: of("fix/more"), Status: 200, Want: `[{"number": 2}]`},
			{Do: "PUT /repos/alice/plot/pulls/1/merge", As: "will", Status: 200,
				Keep: func(a *apitest.Answer) {
					a.JSON(t, &merged)
				}},
			{Name: "the default branch has it: who brought it", Do: of(slugs), Status: 200,
				Want: `[{"number": 1, "state": "closed", "merged_at": "$any"}]`},
			{Do: of(third), Status: 200, Want: `[{"number": 2}]`},
		})
		s.Run(t, []apitest.Case{
			{Name: "the merge itself", Do: of(merged.SHA), Status: 200, Want: `[{"number": 1}]`},
			{Do: "PUT /repos/alice/plot/pulls/2/merge", As: "will", Send: `{"merge_method": "squash"}`,
				Headers: map[string]string{"Accept": "application/vnd.github+json"}, Status: 200,
				Keep: func(a *apitest.Answer) { a.JSON(t, &merged) }},
		})
		s.Run(t, []apitest.Case{
			{Name: "squashed", Do: of(merged.SHA), Status: 200, Want: `[{"number": 2}]`},
			{Do: "POST /repos/alice/plot/pulls", As: "will",
				Send: `{"title": "Wild", "head": "wild", "base": "main"}`, Status: 201,
				Want: `{"number": 3}`},
			{Do: of("wild"), Status: 200, Want: `[{"number": 3}]`},
			{Name: "force-pushed away", Do: "PATCH /repos/alice/plot/git/refs/heads/wild", As: "will",
				Send: `{"sha": "` + s.Tip(t, "alice", "alice/plot", "snails") + `", "force": true}`, Status: 200},
			{Do: "GET /repos/alice/plot/pulls/3", Status: 200, Want: `{"mergeable": true}`},
			{Do: of("snails"), Status: 200, Want: `[{"number": 3}]`},
			{Name: "closed without a merge", Do: "PATCH /repos/alice/plot/pulls/3", As: "will",
				Send: `{"state": "closed"}`, Status: 200},
			{Do: of("snails"), Status: 200, Body: "[]"},
			{Do: of(main), Status: 200, Body: "[]"},
			{Do: of("none"), Status: 422, Want: `{"message": "No commit found for SHA: none"}`},
			{Do: of(strings.Repeat("1", 40)), Status: 422},
		})
	})
}

// A pull request from a fork is found by its commits in its base repository, by callers who can see that,
// and not in the fork.
func TestPullsOfCommitAcrossForks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		fork(t, s)
		head := s.Tip(t, "alice", "sam/plot", "hoes")
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/plot/commits/" + head + "/pulls", Status: 422},
			{Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`, Status: 201},
			{Do: "GET /repos/alice/plot/commits/" + head + "/pulls", Status: 200,
				Want: `[{"number": 1, "head": {"label": "sam:hoes"}}]`},
			{Do: "GET /repos/sam/plot/commits/" + head + "/pulls", Status: 200, Body: "[]"},
			{Do: "PATCH /repos/alice/plot", As: "alice", Send: `{"private": true}`, Status: 200},
			{Do: "GET /repos/alice/plot/commits/" + head + "/pulls", As: "sam", Status: 404},
			// It is closed: the two are no longer in one network.
			{Do: "GET /repos/alice/plot/commits/" + head + "/pulls", As: "will", Status: 200, Body: "[]"},
			{Do: "DELETE /repos/alice/plot", As: "alice", Status: 204},
		})
	})
}

// A pull request shows that its build has failed, until it has passed.
func TestUnstable(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		head := s.Tip(t, "alice", "alice/plot", "slugs")
		state := func(want string) apitest.Case {
			return apitest.Case{Name: want, Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"mergeable": true, "mergeable_state": "` + want +
					`", "statuses_url": "{base}/repos/alice/plot/statuses/` + head + `"}`}
		}
		say := func(sha, what string) apitest.Case {
			return apitest.Case{Do: "POST /repos/alice/plot/statuses/" + sha, As: "will",
				Send: `{"state": "` + what + `", "context": "build"}`, Status: 201}
		}
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send: `{"title": "Slugs", "head": "slugs", "base": "main"}`, Status: 201},
			state("clean"), say(head, "pending"), state("clean"), say(head, "failure"), state("unstable"),
			say(head, "success"), state("clean"), say(head, "error"), state("unstable"),
		})
		head = commit(t, s, "alice/plot", "slugs", "mended.txt", "mended")
		s.Run(t, []apitest.Case{state("clean"), say(head, "failure"), state("unstable"),
			{Name: "which does not keep it from being merged", Do: "PUT /repos/alice/plot/pulls/1/merge",
				As: "will", Status: 200}})
	})
}
