package repos_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// asStar are the two spellings of the star media type (decision 1).
var asStar = []map[string]string{
	{"Accept": "application/vnd.service.v3.star+json"},
	{"Accept": "application/vnd.service.star+json"},
}

// What somebody stars is found from both sides, starring twice is starring
// once, and nothing of the repository changes but the number.
func TestStars(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Repo(t, "alice/garden", false)
		s.Repo(t, "alice/beds", false)
		var before, after map[string]any
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", As: "bob", Status: 200,
			Want: `{"stargazers_count": 0, "watchers": 0, "watchers_count": 0, "subscribers_count": 0}`}).JSON(t, &before)
		var first, second []struct {
			StarredAt string `json:"starred_at"`
		}
		s.Run(t, []apitest.Case{
			{Name: "nobody", Do: "GET /repos/alice/garden/stargazers", Status: 200, Body: "[]",
				Has: map[string]string{"Link": ""}},
			{Name: "nothing", Do: "GET /users/bob/starred", Status: 200, Body: "[]"},
			{Name: "not starred", Do: "GET /user/starred/alice/garden", As: "bob", Status: 404, Body: "-"},
			{Name: "unstarring what is not starred", Do: "DELETE /user/starred/alice/garden", As: "bob",
				Status: 204, Body: "-"},
			{Name: "star", Do: "PUT /user/starred/alice/garden", As: "bob", Status: 204, Body: "-"},
			{Name: "starred", Do: "GET /user/starred/alice/garden", As: "bob", Status: 204, Body: "-"},
			{Name: "by bob alone", Do: "GET /user/starred/alice/garden", As: "carol", Status: 404, Body: "-"},
			{Name: "when", Do: "GET /user/starred", As: "bob", Headers: asStar[0], Status: 200,
				Want: `[{"starred_at": "$any", "repo": {"full_name": "alice/garden", "stargazers_count": 1}, "full_name": "$absent"}]`,
				Keep: func(a *apitest.Answer) { a.JSON(t, &first) }},
			{Name: "again", Do: "PUT /user/starred/Alice/GARDEN", As: "bob", Send: "{}",
				Status: 204, Body: "-"},
			{Name: "and still when it was first", Do: "GET /users/bob/starred",
				Headers: asStar[1], Status: 200,
				Want: `[{"starred_at": "$any", "repo": {"full_name": "alice/garden"}}]`,
				Keep: func(a *apitest.Answer) {
					a.JSON(t, &second)
				}},
			{Name: "by carol", Do: "PUT /user/starred/alice/garden", As: "carol", Status: 204},
			{Name: "another", Do: "PUT /user/starred/alice/beds", As: "bob", Status: 204},
			{Name: "one's own", Do: "PUT /user/starred/alice/garden", As: "alice", Status: 204},
			{Name: "who", Do: "GET /repos/alice/garden/stargazers", Status: 200,
				Want: `[{"login": "bob", "starred_at": "$absent"}, {"login": "carol"}, {"login": "alice"}]`},
			{Name: "who and when", Do: "GET /repos/alice/garden/stargazers", Headers: asStar[0], Status: 200,
				Want: `[{"starred_at": "$any", "user": {"login": "bob", "type": "User"}}, {"user": {"login": "carol"}}, {"user": {"login": "alice"}}]`},
			{Name: "a page of them", Do: "GET /repos/alice/garden/stargazers?per_page=1&page=2", Status: 200,
				Want: `[{"login": "carol"}]`, Has: map[string]string{
					"Link": `<{base}/repos/alice/garden/stargazers?per_page=1&page=3>; rel="next", <{base}/repos/alice/garden/stargazers?per_page=1&page=3>; rel="last", ` +
						`<{base}/repos/alice/garden/stargazers?per_page=1&page=1>; rel="first", <{base}/repos/alice/garden/stargazers?per_page=1&page=1>; rel="prev"`}},
			{Name: "past the end", Do: "GET /repos/alice/garden/stargazers?page=7", Status: 200, Body: "[]"},
			{Name: "what bob starred last", Do: "GET /user/starred", As: "bob", Status: 200,
				Want: `[{"full_name": "alice/beds", "permissions": {"push": false}}, {"full_name": "alice/garden"}]`},
			{Name: "first", Do: "GET /users/bob/starred?direction=asc&per_page=1", Status: 200,
				Want: `[{"full_name": "alice/garden"}]`, Has: map[string]string{
					"Link": `<{base}/users/bob/starred?direction=asc&per_page=1&page=2>; rel="next", <{base}/users/bob/starred?direction=asc&per_page=1&page=2>; rel="last"`}},
			{Name: "counted", Do: "GET /repos/alice/garden", Status: 200,
				Want: `{"stargazers_count": 3, "watchers": 3, "watchers_count": 3, "subscribers_count": 0}`},
			{Name: "also in lists", Do: "GET /users/alice/repos", Status: 200,
				Want: `[{"full_name": "alice/beds", "stargazers_count": 1}, {"full_name": "alice/garden", "stargazers_count": 3}]`},
			{Name: "of somebody", Do: "GET /users/bob/starred/alice/garden", Status: 204, Body: "-"},
			{Do: "GET /users/bob/starred/alice/none", Status: 404},
			{Do: "GET /users/nobody/starred/alice/garden", Status: 404},
			{Name: "unstar", Do: "DELETE /user/starred/alice/garden", As: "bob", Status: 204, Body: "-"},
			{Name: "once more", Do: "DELETE /user/starred/alice/garden", As: "bob", Status: 204, Body: "-"},
			{Name: "gone", Do: "GET /users/bob/starred", Status: 200, Want: `[{"full_name": "alice/beds"}]`},
			{Name: "the others stay", Do: "GET /repos/alice/garden/stargazers", Status: 200,
				Want: `[{"login": "carol"}, {"login": "alice"}]`},
			{Name: "nobody of that name", Do: "GET /users/nobody/starred", Status: 404},
			{Name: "nor watches", Do: "GET /repos/alice/garden/subscribers", Status: 200, Body: "[]"},
			{Name: "nor is in the activity", Do: "GET /repos/alice/garden/issues/events",
				Status: 200, Body: "[]"},
		})
		if len(first) != 1 || len(second) != 1 || first[0] != second[0] {
			t.Errorf("starring again changed the time: %v, %v", first, second)
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", As: "bob", Status: 200}).JSON(t, &after)
		for _, key := range []string{"stargazers_count", "watchers", "watchers_count"} {
			delete(before, key)
			delete(after, key)
		}
		if fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("stars changed more than their number (decision 42):\n%v\n%v", before, after)
		}
	})
}

// The order by last push is that of pushes, whichever way the store takes to it.
func TestStarredByPush(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "dora")
		for i := range 6 {
			name := fmt.Sprintf("alice/r%d", i)
			r := s.Repo(t, name, i == 4)
			pushed(t, s, r.ID, int64(1_000_000*(i*5%7+1))) // r0 1, r1 6, r2 4, r3 2, r4 7, r5 5
			s.Check(t, apitest.Case{Do: "PUT /user/starred/" + name, As: "alice", Status: 204})
		}
		for i := range 200 { // which nobody starred
			pushed(t, s, s.Repo(t, fmt.Sprintf("bob/x%d", i), false).ID, int64(1_000_000*(i+1)))
		}
		for _, name := range []string{"r1", "r0", "r3"} {
			s.Check(t, apitest.Case{Do: "PUT /user/starred/alice/" + name, As: "dora", Status: 204})
		}
		names := func(list ...string) string {
			for i, n := range list {
				list[i] = `{"name": "` + n + `"}`
			}
			return "[" + strings.Join(list, ", ") + "]"
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /user/starred?sort=updated", As: "alice", Status: 200,
				Want: names("r4", "r1", "r5", "r2", "r3", "r0")},
			{Do: "GET /user/starred?sort=updated&direction=asc", As: "alice", Status: 200,
				Want: names("r0", "r3", "r2", "r5", "r1", "r4")},
			{Do: "GET /users/alice/starred?sort=updated", As: "bob", Status: 200,
				Want: names("r1", "r5", "r2", "r3", "r0")},
			{Do: "GET /users/alice/starred?sort=updated&per_page=2&page=2", Status: 200,
				Want: names("r2", "r3")},
			{Do: "GET /users/dora/starred?sort=updated", Status: 200, Want: names("r1", "r3", "r0")},
			{Do: "GET /users/dora/starred?sort=created", Status: 200, Want: names("r3", "r0", "r1")},
			{Do: "GET /users/dora/starred?sort=&direction=", Status: 200, Want: names("r3", "r0", "r1")},
			{Do: "GET /users/bob/starred?sort=updated", Status: 200, Body: "[]"},
		})
		for i := range 199 { // now walking is the shorter way
			s.Ask(t, "alice", fmt.Sprintf("PUT /user/starred/bob/x%d", i), "", 204)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /user/starred?sort=updated&per_page=2", As: "alice", Status: 200,
				Want: names("x198", "x197")},
			{Do: "GET /user/starred?sort=updated&per_page=4&direction=asc", As: "alice", Status: 200,
				Want: names("r0", "x0", "r3", "x1")},
			{Do: "GET /user/starred?sort=updated&per_page=2&page=97", As: "alice", Status: 200,
				Want: names("x6", "r4")},
			{Do: "GET /users/alice/starred?sort=updated&per_page=1&page=193", As: "bob", Status: 200,
				Want: names("x6")},
		})
	})
}

// pushed sets when a repository was last pushed to.
func pushed(t *testing.T, s *apitest.Server, id repo.ID, at int64) {
	t.Helper()
	dbtest.Exec(t, s.DB, `UPDATE repos SET pushed_at = $2 WHERE id = $1`, id, at)
}

// A star on an invisible repository is hidden: it is in no list and does not affect the number of pages
// (decisions 13, 41, 52).
func TestStarsOfPrivateRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol", "eve")
		s.Admin(t, "chief")
		hidden := s.Repo(t, "alice/hidden", true)
		s.Repo(t, "alice/secret", true)
		s.Repo(t, "alice/open", false)
		s.Grant(t, hidden, "bob", account.Pull)
		s.Grant(t, hidden, "carol", account.Pull)
		for _, name := range []string{"hidden", "open", "secret"} {
			s.Check(t, apitest.Case{Do: "PUT /user/starred/alice/" + name, As: "alice", Status: 204})
			s.Ask(t, "alice", "PUT /repos/alice/"+name+"/subscription", "", 200)
		}
		absent := s.Check(t, apitest.Case{Do: "GET /user/starred/alice/none", As: "eve", Status: 404})
		for _, method := range []string{"GET", "PUT", "DELETE"} {
			s.Check(t, apitest.Case{Do: method + " /user/starred/alice/hidden", As: "eve", Status: 404})
			s.Check(t, apitest.Case{Do: method + " /user/starred/alice/hidden", Status: 401})
			s.Check(t, apitest.Case{Do: method + " /repos/alice/hidden/subscription", As: "eve", Status: 404})
		}
		s.Check(t, apitest.Case{Do: "GET /user/starred/alice/hidden", As: "eve", Status: 404,
			Body: string(absent.Body)})
		if len(absent.Body) == 0 {
			t.Error("an absent repository gives an empty 404, which means that it is visible and not starred")
		}
		three := `[{"name": "secret"}, {"name": "open"}, {"name": "hidden"}]`
		one := map[string]string{"Link": ""}
		s.Run(t, []apitest.Case{
			{Do: "GET /user/starred", As: "alice", Status: 200, Want: three},
			{Do: "GET /users/alice/starred", As: "chief", Status: 200, Want: three},
			{Do: "GET /users/alice/starred?per_page=1", Status: 200, Want: `[{"name": "open"}]`, Has: one},
			{Do: "GET /users/alice/starred?per_page=1", As: "eve", Status: 200,
				Want: `[{"name": "open"}]`, Has: one},
			{Do: "GET /users/alice/starred?per_page=1&sort=updated", As: "eve", Status: 200,
				Want: `[{"name": "open"}]`, Has: one},
			{Do: "GET /users/alice/starred", As: "bob", Status: 200,
				Want: `[{"name": "open"}, {"name": "hidden"}]`},
			{Do: "GET /users/alice/starred?per_page=1&page=2", As: "bob", Status: 200,
				Want: `[{"name": "hidden"}]`, Has: map[string]string{
					"Link": `<{base}/users/alice/starred?per_page=1&page=1>; rel="first", <{base}/users/alice/starred?per_page=1&page=1>; rel="prev"`}},
			{Do: "GET /users/alice/subscriptions", As: "bob", Status: 200,
				Want: `[{"name": "hidden"}, {"name": "open"}]`},
			{Do: "GET /users/alice/subscriptions", As: "eve", Status: 200, Want: `[{"name": "open"}]`},
			{Do: "GET /user/subscriptions", As: "alice", Status: 200,
				Want: `[{"name": "hidden"}, {"name": "open"}, {"name": "secret"}]`},
			{Do: "GET /repos/alice/hidden/stargazers", As: "eve", Status: 404},
			{Do: "GET /repos/alice/hidden/subscribers", Status: 404},
			{Do: "GET /repos/alice/hidden/stargazers", As: "bob", Status: 200, Want: `[{"login": "alice"}]`},
			{Do: "PUT /user/starred/alice/hidden", As: "carol", Status: 204},
			{Do: "GET /user/starred", As: "carol", Status: 200, Want: `[{"name": "hidden"}]`},
			{Name: "who loses sight of it", Do: "DELETE /repos/alice/hidden/collaborators/carol", As: "alice",
				Status: 204},
			{Do: "GET /user/starred?per_page=1", As: "carol", Status: 200, Body: "[]", Has: one},
			{Do: "GET /user/starred?sort=updated", As: "carol", Status: 200, Body: "[]"},
			{Do: "GET /user/starred/alice/hidden", As: "carol", Status: 404, Body: string(absent.Body)},
			{Name: "hidden from now on", Do: "PATCH /repos/alice/open", As: "alice",
				Send: `{"private": true}`, Status: 200,
				Want: `{"stargazers_count": 1, "subscribers_count": 1}`},
			{Do: "GET /users/alice/starred", As: "eve", Status: 200, Body: "[]", Has: one},
			{Do: "GET /users/alice/starred", As: "bob", Status: 200, Want: `[{"name": "hidden"}]`, Has: one},
			{Do: "GET /user/starred", As: "alice", Status: 200, Want: three},
			{Name: "shown from now on", Do: "PATCH /repos/alice/hidden", As: "alice",
				Send: `{"private": false}`, Status: 200, Want: `{"stargazers_count": 2}`},
			{Do: "GET /users/alice/starred", Status: 200, Want: `[{"name": "hidden"}]`, Has: one},
			{Do: "GET /user/starred", As: "carol", Status: 200, Want: `[{"name": "hidden"}]`},
			{Do: "GET /users/alice/subscriptions", Status: 200, Want: `[{"name": "hidden"}]`, Has: one},
		})
		checkCounts(t, s)
	})
}

// A renamed repository keeps its stars and leads there under its old name
// (decision 54); a deleted one takes them along.
func TestStarsFollowTheirRepository(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", false)
		s.Repo(t, "alice/vault", true)
		s.Repo(t, "alice/beds", false)
		s.Run(t, []apitest.Case{
			{Do: "PUT /user/starred/alice/garden", As: "bob", Status: 204},
			{Do: "PUT /user/starred/alice/beds", As: "bob", Status: 204},
			{Do: "PUT /user/starred/alice/vault", As: "alice", Status: 204},
			{Do: "PUT /repos/alice/garden/subscription", As: "bob", Status: 200},
			{Do: "PUT /repos/alice/garden/subscription", As: "alice", Send: `{"ignored": true}`, Status: 200},
			{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"name": "park"}`, Status: 200,
				Want: `{"stargazers_count": 1}`},
			{Do: "GET /user/starred/alice/garden", As: "bob", Status: 301,
				Has: map[string]string{"Location": "{base}/user/starred/alice/park"}},
			{Do: "PUT /user/starred/alice/garden", As: "bob", Status: 307,
				Has: map[string]string{"Location": "{base}/user/starred/alice/park"}},
			{Do: "DELETE /user/starred/alice/garden", As: "bob", Status: 307,
				Has: map[string]string{"Location": "{base}/user/starred/alice/park"}},
			{Do: "GET /repos/alice/garden/stargazers?per_page=3", Status: 301,
				Has: map[string]string{"Location": "{base}/repos/alice/park/stargazers?per_page=3"}},
			{Do: "GET /repos/alice/garden/subscription", As: "bob", Status: 301,
				Has: map[string]string{"Location": "{base}/repos/alice/park/subscription"}},
			{Do: "GET /user/starred/alice/park", As: "bob", Status: 204},
			{Do: "GET /users/bob/starred", Status: 200,
				Want: `[{"full_name": "alice/beds"}, {"full_name": "alice/park"}]`},
			{Do: "DELETE /repos/alice/park", As: "alice", Status: 204},
			{Do: "DELETE /repos/alice/vault", As: "alice", Status: 204},
			{Do: "GET /users/bob/starred?per_page=1", Status: 200, Want: `[{"full_name": "alice/beds"}]`,
				Has: map[string]string{"Link": ""}},
			{Do: "GET /users/bob/subscriptions", Status: 200, Body: "[]"},
			{Do: "GET /user/starred", As: "alice", Status: 200, Body: "[]"},
		})
		checkCounts(t, s)
	})
}

// Forks that many starred come first.
func TestForksByStars(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol", "dora")
		s.Ask(t, "alice", "POST /user/repos", `{"name": "garden", "auto_init": true}`, 201)
		for _, login := range []string{"bob", "carol", "dora"} {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: login, Status: 202})
		}
		s.Check(t, apitest.Case{Do: "PUT /user/starred/bob/garden", As: "alice", Status: 204})
		for _, sort := range []string{"stargazers", "watchers"} {
			s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/forks?sort=" + sort, Status: 200,
				Want: `[{"full_name": "bob/garden", "stargazers_count": 1, "watchers": 1},
				{"full_name": "dora/garden"}, {"full_name": "carol/garden"}]`})
		}
	})
}

// Somebody who stars and unstars at the same time as others leaves true numbers.
func TestStarsAtTheSameTime(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "u0", "u1", "u2")
		s.Repo(t, "alice/a", false)
		s.Repo(t, "alice/b", false)
		var g sync.WaitGroup
		for n := range 9 {
			g.Go(func() {
				for i := range 12 {
					method := [...]string{"PUT", "PUT", "DELETE"}[(i+n)%3]
					s.Check(t, apitest.Case{Do: method + " /user/starred/alice/" + [...]string{"a", "b"}[i%2],
						As: fmt.Sprint("u", n%3), Status: 204})
				}
			})
		}
		g.Go(func() {
			for i := range 6 {
				s.Check(t, apitest.Case{Do: "PATCH /repos/alice/c", As: "alice", Send: "{}", Status: 404})
				s.Ask(t, "alice", "PATCH /repos/alice/a", fmt.Sprintf(`{"description": "%d"}`, i), 200)
			}
		})
		g.Wait()
		checkCounts(t, s)
	})
}

// Somebody who hides, shows or deletes a repository while others mark it leaves true
// numbers, too, and nobody waits for one another in a circle.
func TestStarsOfWhatIsHiddenMeanwhile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "u0", "u1", "u2")
		s.Grant(t, s.Repo(t, "alice/a", false), "u0", account.Pull)
		s.Repo(t, "alice/doomed", false)
		ask := func(who int, do, send string) {
			a := s.Do(t, apitest.Case{Do: do, As: fmt.Sprint("u", who), Send: send})
			if a.Status != 200 && a.Status != 204 && (a.Status != 404 ||
				who == 0 && strings.Contains(do, "alice/a")) {
				t.Errorf("%s as u%d: status %d", do, who, a.Status)
			}
		}
		var g sync.WaitGroup
		for n := range 6 {
			g.Go(func() {
				for i := range 12 {
					name := [...]string{"a", "doomed"}[i%2]
					ask(n%3, [...]string{"PUT", "DELETE"}[(i/2+n)%2]+" /user/starred/alice/"+name, "")
					ask(n%3, "PUT /repos/alice/"+name+"/subscription",
						fmt.Sprintf(`{"subscribed": %t}`, (i/2+n)%2 == 0))
				}
			})
		}
		g.Go(func() {
			for i := range 10 {
				s.Ask(t, "alice", "PATCH /repos/alice/a", fmt.Sprintf(`{"private": %t}`, i%2 == 0), 200)
				if i == 5 {
					s.Check(t, apitest.Case{Do: "DELETE /repos/alice/doomed", As: "alice", Status: 204})
				}
			}
		})
		g.Wait()
		checkCounts(t, s)
	})
}

// checkCounts holds every counter against what it counts.
func checkCounts(t *testing.T, s *apitest.Server) {
	t.Helper()
	for what, query := range map[string]string{
		"stars of a repository": `SELECT count(*) FROM repos r WHERE r.stars <> (SELECT count(*) FROM stars s
			WHERE s.repo_id = r.id)
			OR r.watchers <> (SELECT count(*) FROM watches s WHERE s.repo_id = r.id)`,
		"marks with another privacy": `SELECT count(*) FROM repos r WHERE EXISTS (SELECT 1 FROM stars s
			WHERE s.repo_id = r.id AND s.private <> r.private)
			OR EXISTS (SELECT 1 FROM watches s WHERE s.repo_id = r.id AND s.private <> r.private)`,
		"counts of a user": `SELECT count(*) FROM accounts a
			WHERE COALESCE((SELECT public FROM mark_counts c WHERE c.user_id = a.id AND c.kind = 0),
			0) <> (SELECT count(*) FROM stars s WHERE s.user_id = a.id AND NOT s.private)
			OR COALESCE((SELECT private FROM mark_counts c WHERE c.user_id = a.id AND c.kind = 0),
			0) <> (SELECT count(*) FROM stars s WHERE s.user_id = a.id AND s.private)
			OR COALESCE((SELECT public FROM mark_counts c WHERE c.user_id = a.id AND c.kind = 1),
			0) <> (SELECT count(*) FROM watches s WHERE s.user_id = a.id AND NOT s.private)
			OR COALESCE((SELECT private FROM mark_counts c WHERE c.user_id = a.id AND c.kind = 1),
			0) <> (SELECT count(*) FROM watches s WHERE s.user_id = a.id AND s.private)`,
		"silences of nothing": `SELECT count(*) FROM silences s WHERE NOT EXISTS (SELECT 1 FROM repos r WHERE r.id = s.repo_id)`,
	} {
		if n := dbtest.Number(t, s.DB, query); n != 0 {
			t.Errorf("%s: %d are wrong", what, n)
		}
	}
}
