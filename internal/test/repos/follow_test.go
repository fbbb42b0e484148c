package repos_test

import (
	"fmt"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// Following is shown on both sides once, even if repeated, and changes nothing else of either account.
func TestFollowing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Org(t, "guild", "alice")
		generation, err := s.DB.Generation(t.Context(), account.Topic)
		testkit.NoError(t, err)
		var before, after map[string]any
		s.Check(t, apitest.Case{Do: "GET /users/alice", Status: 200,
			Want: `{"followers": 0, "following": 0}`}).JSON(t, &before)
		var etag string
		s.Run(t, []apitest.Case{
			{Name: "not yet", Do: "GET /user/following/alice", As: "bob", Status: 404,
				Want: `{"message": "Not Found"}`},
			{Name: "nothing to end", Do: "DELETE /user/following/alice", As: "bob", Status: 204, Body: "-"},
			{Name: "follow", Do: "PUT /user/following/ALICE", As: "bob", Status: 204, Body: "-"},
			{Name: "again", Do: "PUT /user/following/alice", As: "bob", Status: 204, Body: "-"},
			{Name: "an organization", Do: "PUT /user/following/guild", As: "bob", Status: 204, Body: "-"},
			{Name: "with an empty object", Do: "PUT /user/following/alice", As: "carol", Send: "{}",
				Status: 204, Body: "-"},
			{Do: "GET /user/following/alice", As: "bob", Status: 204, Body: "-"},
			{Do: "GET /users/bob/following/Alice", Status: 204, Body: "-"},
			{Name: "not the other way", Do: "GET /users/alice/following/bob", Status: 404},
			{Name: "nobody", Do: "GET /users/nobody/following/bob", Status: 404},
			{Do: "GET /users/bob/following/nobody", Status: 404},
			{Do: "GET /users/nobody/followers", Status: 404},
			{Do: "GET /users/nobody/following", Status: 404},
			{Do: "PUT /user/following/nobody", As: "bob", Status: 404},
			{Do: "DELETE /user/following/nobody", As: "bob", Status: 404},
			{Name: "oneself", Do: "PUT /user/following/bob", As: "bob", Status: 422,
				Want: `{"message": "You cannot follow yourself"}`},
			{Name: "anonymous", Do: "PUT /user/following/alice", Status: 401},
			{Do: "GET /user/followers", Status: 401},
			{Do: "GET /user/following", Status: 401},
			{Name: "first first", Do: "GET /users/alice/followers", Status: 200,
				Want: `[{"login": "bob", "type": "User"}, {"login": "carol"}]`,
				Has:  map[string]string{"Link": ""}, Keep: func(a *apitest.Answer) {
					etag = a.Header.Get("ETag")
				}},
			{Do: "GET /user/followers", As: "alice", Status: 200,
				Want: `[{"login": "bob"}, {"login": "carol"}]`},
			{Do: "GET /users/bob/following", Status: 200,
				Want: `[{"login": "alice"}, {"login": "guild", "type": "Organization"}]`},
			{Do: "GET /user/following", As: "bob", Status: 200,
				Want: `[{"login": "alice"}, {"login": "guild"}]`},
			{Do: "GET /users/guild/followers", Status: 200, Want: `[{"login": "bob"}]`},
			{Do: "GET /users/guild/following", Status: 200, Body: "[]"},
			{Name: "a page", Do: "GET /users/alice/followers?per_page=1", Status: 200,
				Want: `[{"login": "bob"}]`, Has: map[string]string{
					"Link": `<{base}/users/alice/followers?per_page=1&page=2>; rel="next", <{base}/users/alice/followers?per_page=1&page=2>; rel="last"`}},
			{Name: "past the end", Do: "GET /users/alice/followers?per_page=1&page=9",
				Status: 200, Body: "[]"},
			{Name: "the prefix", Do: "GET /api/v3/users/guild/followers", Status: 200,
				Want: `[{"followers_url": "{base}/api/v3/users/bob/followers"}]`},
			{Do: "GET /users/bob", Status: 200, Want: `{"followers": 0, "following": 2}`},
			{Do: "GET /user", As: "alice", Status: 200, Want: `{"followers": 2, "following": 0}`},
			{Do: "GET /orgs/guild", Status: 200, Want: `{"followers": 1, "following": 0}`},
		})
		s.Check(t, apitest.Case{Do: "GET /users/alice/followers", Status: 304,
			Headers: map[string]string{"If-None-Match": etag}})
		s.Check(t, apitest.Case{Do: "GET /users/alice", Status: 200}).JSON(t, &after)
		before["followers"], after["followers"] = nil, nil
		if fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("being followed changed more than a number:\n%v\n%v", before, after)
		}
		if now, err := s.DB.Generation(t.Context(), account.Topic); err != nil || now != generation {
			t.Errorf("following made everyone sign in anew: generation %d, was %d, %v", now, generation, err)
		}
		s.Run(t, []apitest.Case{
			{Name: "end", Do: "DELETE /user/following/alice", As: "bob", Status: 204, Body: "-"},
			{Name: "end again", Do: "DELETE /user/following/alice", As: "bob", Status: 204, Body: "-"},
			{Do: "GET /users/alice/followers", Status: 200, Want: `[{"login": "carol"}]`},
			{Do: "GET /users/alice", Status: 200, Want: `{"followers": 1}`},
		})
	})
}

// People who follow each other, and think better of it, at the same time leave
// true numbers.
func TestFollowingAtTheSameTime(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for n := range 3 {
			s.User(t, fmt.Sprint("u", n))
		}
		var g sync.WaitGroup
		for n := range 9 {
			g.Go(func() {
				for i := range 12 {
					method := [...]string{"PUT", "PUT", "DELETE"}[(i+n)%3]
					s.Check(t, apitest.Case{Do: fmt.Sprint(method, " /user/following/u", (n+i%2+1)%3),
						As: fmt.Sprint("u", n%3), Status: 204})
				}
			})
		}
		g.Wait()
		if wrong := dbtest.Number(t, s.DB, `SELECT count(*) FROM accounts a WHERE a.followers <> (SELECT count(*)
				FROM followers f WHERE f.target_id = a.id)
				OR a.following <> (SELECT count(*) FROM followers f WHERE f.user_id = a.id)`); wrong != 0 {
			t.Errorf("%d accounts have wrong numbers", wrong)
		}
	})
}
