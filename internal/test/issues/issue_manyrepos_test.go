package issues_test

import (
	"fmt"
	"testing"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// Somebody with thousands of repositories gets the same lists, by a few statements:
// not one that names more than an engine takes, nor one for every few repositories.
func TestListsAcrossThousandsOfRepositories(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		count := &statements{}
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: count.add})
		})
		s.User(t, "alice")
		s.User(t, "bob")
		s.ManyRepos(t, "alice", 2001)
		s.Repo(t, "bob/own", false)
		for n, r := range []string{"alice/r0", "alice/r1000", "bob/own", "alice/r2000", "alice/r0"} {
			s.Check(t, apitest.Case{Do: "POST /repos/" + r + "/issues", As: "alice",
				Send: fmt.Sprintf(`{"title": "%d", "labels": ["l%d"]}`, n, n%2), Status: 201})
		}
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/r1000", As: "alice", Send: `{"has_issues": false}`,
			Status: 200})
		// what is still to be indexed takes statements, too
		if err := s.Server.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		for query, want := range map[string]string{
			"filter=all":                    `[{"title": "4"}, {"title": "3"}, {"title": "0"}]`,
			"filter=all&direction=asc":      `[{"title": "0"}, {"title": "3"}, {"title": "4"}]`,
			"filter=created&labels=l0":      `[{"title": "4"}, {"title": "0"}]`,
			"filter=all&labels=l1,l0":       `[]`,
			"filter=assigned":               `[]`,
			"filter=all&per_page=2&page=2":  `[{"title": "0"}]`,
			"filter=all&per_page=2&page=99": `[]`,
		} {
			least := maxStatements
			for n := range 4 { // the server's workers ask for work now and then
				count.take()
				s.Check(t, apitest.Case{Name: query, Do: fmt.Sprintf("GET /user/issues?%s&x=%d", query, n),
					As: "alice", Status: 200, Want: want})
				least = min(least, len(count.take()))
			}
			if least > 10 {
				t.Errorf("%s took %d statements", query, least)
			}
		}
	})
}
