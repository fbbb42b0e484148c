package pull_test

import (
	"testing"

	"arbor/internal/apitest"
)

// Only who may push to a branch may let others: a pull request of somebody
// else's branch into one's own fork opens that branch to nobody.
func TestLendsOnlyOnesOwn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		fork(t, s)
		s.User(t, "zoe")
		base := tip(t, s, "alice/plot", "slugs")
		s.Run(t, []apitest.Case{
			{Name: "of another's branch into one's own fork", Do: "POST /repos/sam/plot/pulls", As: "sam", Status: 201,
				Send: `{"title": "Slugs", "head": "alice:slugs", "base": "hoes", "maintainer_can_modify": true}`, Want: `{"number": 1, "maintainer_can_modify": false}`},
			{Do: "PUT /repos/sam/plot/pulls/1/update-branch", As: "sam", Status: 403, Want: `{"message": "Must have push access to the head branch."}`},
			{Name: "nothing was pushed there", Do: "GET /repos/alice/plot/git/ref/heads/slugs", Status: 200, Want: `{"object": {"sha": "` + base + `"}}`},
			{Name: "zoe helps sam", Do: "PUT /repos/sam/plot/collaborators/zoe", As: "sam", Send: `{"permission": "push"}`, Status: 204},
			{Name: "and proposes his branch", Do: "POST /repos/alice/plot/pulls", As: "zoe", Status: 201,
				Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`, Want: `{"number": 1, "maintainer_can_modify": true}`},
		})
		commit(t, s, "alice/plot", "main", "new.txt", "new")
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "will", Status: 202})
		commit(t, s, "alice/plot", "main", "newer.txt", "newer")
		s.Run(t, []apitest.Case{
			{Name: "until she may not push there", Do: "DELETE /repos/sam/plot/collaborators/zoe", As: "sam", Status: 204},
			{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "will", Status: 403},
			{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "sam", Status: 202},
		})
	})
}
