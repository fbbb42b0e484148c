package pulls_test

import (
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// Only users with push access to a branch can allow others: a pull request of another user's branch to
// one's own fork does not open that branch.
func TestLendsOnlyOnesOwn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		fork(t, s)
		s.User(t, "zoe")
		base := s.Tip(t, "alice", "alice/plot", "slugs")
		s.Run(t, []apitest.Case{
			{Name: "of another's branch into one's own fork", Do: "POST /repos/sam/plot/pulls",
				As: "sam", Status: 201,
				Send: `{"title": "Slugs", "head": "alice:slugs", "base": "hoes", "maintainer_can_modify": true}`, Want: `{"number": 1, "maintainer_can_modify": false}`},
			{Do: "PUT /repos/sam/plot/pulls/1/update-branch", As: "sam", Status: 403,
				Want: `{"message": "Must have push access to the head branch."}`},
			{Name: "nothing was pushed there", Do: "GET /repos/alice/plot/git/ref/heads/slugs", Status: 200,
				Want: `{"object": {"sha": "` + base + `"}}`},
			{Name: "zoe helps sam", Do: "PUT /repos/sam/plot/collaborators/zoe", As: "sam",
				Send: `{"permission": "push"}`, Status: 204},
			{Name: "and proposes his branch", Do: "POST /repos/alice/plot/pulls", As: "zoe", Status: 201,
				Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`,
				Want: `{"number": 1, "maintainer_can_modify": true}`},
		})
		commit(t, s, "alice/plot", "main", "new.txt", "new")
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "will", Status: 202})
		commit(t, s, "alice/plot", "main", "newer.txt", "newer")
		s.Run(t, []apitest.Case{
			{Name: "until she may not push there", Do: "DELETE /repos/sam/plot/collaborators/zoe", As: "sam",
				Status: 204},
			{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "will", Status: 403},
			{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "sam", Status: 202},
		})
	})
}

// The author of a pull request from a fork changes who may push there. No one else can.
func TestEditWhoMayModify(t *testing.T) {
	t.Parallel()
	const edit, letting, keeping = "PATCH /repos/alice/plot/pulls/1", `{"maintainer_can_modify": true}`,
		`{"maintainer_can_modify": false}`
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		fork(t, s)
		var made request
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam", Status: 201,
			Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`}).JSON(t, &made)
		for _, k := range kinds {
			if k.kind != "true" && k.kind != "null" {
				s.Check(t, apitest.Case{Name: k.kind, Do: edit, As: "sam",
					Send: `{"title": "New", "maintainer_can_modify": ` + k.json + `}`, Status: 422,
					Want: wrongField("maintainer_can_modify", "invalid")})
			}
		}
		same := `{"title": "Hoes", "maintainer_can_modify": true, "updated_at": "` + made.Updated + `"}`
		s.Run(t, []apitest.Case{
			{Name: "nothing was changed", Do: "GET /repos/alice/plot/pulls/1", Status: 200, Want: same},
			{Name: "as it is", Do: edit, As: "sam", Send: letting, Status: 200, Want: same},
			{Name: "null", Do: edit, As: "sam", Send: `{"maintainer_can_modify": null}`,
				Status: 200, Want: same},
			{Name: "a maintainer does not decide", Do: edit, As: "will", Send: keeping,
				Status: 200, Want: same},
			{Name: "kept", Do: edit, As: "sam", Send: keeping, Status: 200,
				Want: `{"maintainer_can_modify": false}`},
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200, Want: `{"maintainer_can_modify": false}`},
			{Name: "a maintainer does not help himself", Do: edit, As: "will", Send: letting, Status: 200,
				Want: `{"maintainer_can_modify": false}`},
		})
		commit(t, s, "alice/plot", "main", "new.txt", "new")
		s.Run(t, []apitest.Case{
			{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "will", Status: 403},
			{Name: "let again", Do: edit, As: "sam", Send: letting, Status: 200,
				Want: `{"maintainer_can_modify": true}`},
			{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "will", Status: 202},

			{Name: "not of a fork", Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send: `{"title": "Slugs", "head": "slugs", "base": "main"}`, Status: 201,
				Want: `{"number": 2}`},
			{Do: "PATCH /repos/alice/plot/pulls/2", As: "alice", Send: letting, Status: 200,
				Want: `{"maintainer_can_modify": false}`},
			{Name: "of another's branch", Do: "POST /repos/sam/plot/pulls", As: "sam", Status: 201,
				Send: `{"title": "Slugs", "head": "alice:slugs", "base": "hoes"}`, Want: `{"number": 1}`},
			{Do: "PATCH /repos/sam/plot/pulls/1", As: "sam", Send: letting, Status: 200,
				Want: `{"maintainer_can_modify": false}`},
		})
	})
}

// It moves updated_at when it changes, and only then.
func TestEditWhoMayModifyIsAnUpdate(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		fork(t, s)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam", Status: 201,
			Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`})
		const edit = "PATCH /repos/alice/plot/pulls/1"
		const long = "2001-01-01T00:00:00Z"
		for _, c := range []struct {
			send  string
			moves bool
		}{{`{"maintainer_can_modify": true}`, false}, {`{"maintainer_can_modify": false}`, true},
			{`{"base": "main"}`, false}, {`{"base": "snails"}`, true}} {
			dbtest.Exec(t, s.DB, `UPDATE issues SET updated_at = $1`,
				db.FromTime(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)))
			var now request
			s.Check(t, apitest.Case{Do: edit, As: "sam", Send: c.send, Status: 200}).JSON(t, &now)
			if moved := now.Updated != long; moved != c.moves {
				t.Errorf("%s: updated_at is %s", c.send, now.Updated)
			}
		}
	})
}
