package issues_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
)

// issuePeople writes a list of accounts.
func issuePeople(logins ...string) string {
	for i, l := range logins {
		logins[i] = fmt.Sprintf(`{"login": %q}`, l)
	}
	return "[" + strings.Join(logins, ",") + "]"
}

// The list, the check and the assignment agree on who can be assigned. Concealed members are shown only to
// callers who may know them (decisions 12, 32).
func TestAssignable(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "owner", "hidden", "shown", "raised", "writer", "reader", "author", "stranger")
		s.Admin(t, "chief")
		s.Admin(t, "reading-chief")
		s.Org(t, "guild", "owner")
		for _, login := range []string{"hidden", "shown", "raised"} {
			s.Ask(t, "owner", "PUT /orgs/guild/memberships/"+login, `{"role": "member"}`, 200)
		}
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/public_members/shown", As: "shown", Status: 204})
		hall := s.Repo(t, "guild/hall", false)
		s.Grant(t, hall, "raised", account.Push)
		s.Grant(t, hall, "writer", account.Push)
		s.Grant(t, hall, "reader", account.Pull)
		s.Grant(t, hall, "reading-chief", account.Pull)
		issue := issuetest.File(t, s, "author", "guild/hall")
		everyone := []string{"owner", "hidden", "shown", "raised", "writer", "reader", "author", "stranger",
			"chief", "reading-chief", "guild", "nobody"}
		for _, c := range []struct{ permission, as, want string }{
			{"none", "writer", "owner raised writer reading-chief"},
			{"read", "hidden", "owner raised writer reading-chief"},
			{"write", "writer", "owner hidden shown raised writer reading-chief"},
			{"write", "hidden", "owner hidden shown raised writer reading-chief"},
			{"write", "chief", "owner hidden shown raised writer reading-chief"},
			{"admin", "owner", "owner hidden shown raised writer reading-chief"},
			{"write", "stranger", "shown raised writer reading-chief"},
			{"write", "reader", "shown raised writer reading-chief"},
			{"write", "", "shown raised writer reading-chief"},
		} {
			s.Check(t, apitest.Case{Do: "PATCH /orgs/guild", As: "owner",
				Send: fmt.Sprintf(`{"default_repository_permission": %q}`, c.permission), Status: 200})
			can := map[string]bool{}
			for _, login := range strings.Fields(c.want) {
				can[login] = true
			}
			var logins []string
			for page := 1; page < 5; page++ {
				var list []struct{ Login string }
				s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/guild/hall/assignees?per_page=2&page=%d",
					page), As: c.as, Status: 200}).JSON(t, &list)
				for _, l := range list {
					logins = append(logins, l.Login)
				}
			}
			listed := map[string]bool{}
			for _, login := range logins {
				if !can[login] || listed[login] {
					t.Errorf("%s, as %q: %q is listed", c.permission, c.as, login)
				}
				listed[login] = true
			}
			for _, login := range everyone {
				status := map[bool]int{true: 204, false: 404}
				if can[login] != listed[login] {
					t.Errorf("%s, as %q: %q is not listed", c.permission, c.as, login)
				}
				s.Check(t, apitest.Case{Name: c.permission,
					Do: "GET /repos/guild/hall/assignees/" + strings.ToUpper(login), As: c.as,
					Status: status[can[login]]})
				s.Check(t, apitest.Case{Name: c.permission, Do: "GET " + issue + "/assignees/" + login,
					As: c.as, Status: status[can[login] || login == "author"]})
				if c.as == "writer" {
					want := "[]"
					if can[login] || login == "author" {
						want = issuePeople(login)
					}
					s.Check(t, apitest.Case{Do: "POST " + issue + "/assignees", As: "writer",
						Headers: issuetest.Graduated, Send: fmt.Sprintf(`{"assignees": [%q]}`, login),
						Status: 201, Want: `{"assignees": ` + want + `}`})
					s.Check(t, apitest.Case{Do: "DELETE " + issue + "/assignees", As: "writer",
						Headers: issuetest.Graduated, Send: fmt.Sprintf(`{"assignees": [%q]}`, login),
						Status: 200, Want: `{"assignees": []}`})
				}
			}
		}
		issuetest.CheckIndex(t, s)
	})
}

// A user's repository has its owner and those who were let in.
func TestAssigneesOfUsersRepository(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "will", "rae", "sam")
		diary := s.Repo(t, "alice/diary", true)
		s.Grant(t, diary, "will", account.Push)
		s.Grant(t, diary, "rae", account.Pull)
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/diary/assignees", As: "rae", Status: 200, Want: issuePeople("alice", "will"),
				Has: map[string]string{"Link": "-"}},
			{Do: "GET /repos/alice/diary/assignees?per_page=1&page=3", As: "rae", Status: 200, Body: "[]"},
			{Do: "GET /repos/alice/diary/assignees/alice", As: "rae", Status: 204, Body: "-"},
			{Do: "GET /repos/alice/diary/assignees/rae", As: "rae", Status: 404},
			{Do: "GET /repos/alice/diary/assignees", As: "sam", Status: 404},
			{Do: "GET /repos/alice/diary/assignees/alice", As: "sam", Status: 404},
			{Do: "GET /repos/alice/diary/issues/1/assignees/alice", As: "rae", Status: 404},
		})
	})
}

// A user with push access assigns and unassigns. As at GitHub, some logins are ignored and others rejected.
func TestAssign(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "sam", "garden/plot") + "/assignees"
		s.Run(t, []apitest.Case{
			{Name: "the interface shows one", Do: "POST " + on, As: "will",
				Send: `{"assignees": ["WILL", "sam", "rae", "nobody", "garden", "will"]}`, Status: 201,
				Want: `{"number": 1, "assignee": {"login": "will"}, "assignees": "$absent"}`},
			{Name: "GitHub's clients all", Do: "POST " + on, As: "will", Headers: issuetest.Graduated,
				Send: `{"assignees": ["alice", "will"]}`, Status: 201,
				Want: `{"assignees": ` + issuePeople("will", "sam", "alice") + `}`},
			{Name: "none that can be", Do: "POST " + on, As: "will", Headers: issuetest.Graduated,
				Send: `{"assignees": ["rae"]}`, Status: 201,
				Want: `{"assignees": ` + issuePeople("will", "sam", "alice") + `}`},
			{Name: "nobody", Do: "POST " + on, As: "will", Headers: issuetest.Graduated,
				Send: `{"assignees": []}`, Status: 201,
				Want: `{"assignees": ` + issuePeople("will", "sam", "alice") + `}`},
			{Name: "found by it", Do: "GET /repos/garden/plot/issues?assignee=alice", Status: 200,
				Want: `[{"number": 1}]`},
			{Name: "unassign", Do: "DELETE " + on, As: "will", Headers: issuetest.Graduated,
				Send: `{"assignees": ["will", "rae", "nobody", "ALICE"]}`, Status: 200,
				Want: `{"assignee": {"login": "sam"}, "assignees": ` + issuePeople("sam") + `}`},
			{Name: "found no longer", Do: "GET /repos/garden/plot/issues?assignee=alice",
				Status: 200, Body: "[]"},
			{Name: "the author may not", Do: "POST " + on, As: "sam", Send: `{"assignees": ["sam"]}`,
				Status: 403},
			{Name: "nor unassign", Do: "DELETE " + on, As: "sam", Send: `{"assignees": ["sam"]}`,
				Status: 403},
			{Name: "no such issue", Do: "POST /repos/garden/plot/issues/9/assignees", As: "will",
				Send: `{"assignees": []}`, Status: 404},
			{Name: "nor to check", Do: "GET /repos/garden/plot/issues/9/assignees/will", Status: 404},
			{Name: "an array alone", Do: "POST " + on, As: "will", Send: `["will"]`, Status: 400},
			{Name: "no body", Do: "DELETE " + on, As: "will", Status: 400},
		})
		for _, c := range []struct{ body, code string }{
			{`{}`, "missing_field"}, {`{"assignees": null}`, "missing_field"},
			{`{"assignees": "will"}`, "invalid"}, {`{"assignees": 5}`, "invalid"},
			{`{"assignees": {}}`, "invalid"},
			{`{"assignees": [null]}`, "invalid"}, {`{"assignees": [1]}`, "invalid"},
			{`{"assignees": [["will"]]}`, "invalid"}, {`{"assignees": ["a\u0000"]}`, "invalid"},
			{`{"assignees": [` + strings.Repeat(`"will",`, 10) + `"will"]}`, "invalid"},
		} {
			for _, method := range []string{"POST ", "DELETE "} {
				s.Check(t, apitest.Case{Do: method + on, As: "will", Send: c.body, Status: 422,
					Want: `{"errors": [{"resource": "Issue", "field": "assignees", "code": "` +
						c.code + `"}]}`})
			}
		}
		plot, err := s.Repos.Find(t.Context(), nil, "garden", "plot")
		testkit.NoError(t, err)
		var ten []string
		for n := range 10 {
			ten = append(ten, s.User(t, fmt.Sprint("p", n)).Login)
			s.Grant(t, plot.Repo, ten[n], account.Push)
		}
		s.Run(t, []apitest.Case{
			{Name: "eleven", Do: "POST " + on, As: "will", Send: `{"assignees": ["` + strings.Join(ten,
				`","`) + `"]}`, Status: 422, Want: `{"errors": [{"field": "assignees", "code": "custom"}]}`},
			{Name: "ten", Do: "POST " + on, As: "will", Headers: issuetest.Graduated,
				Send: `{"assignees": ["` + strings.Join(ten[1:], `","`) + `"]}`, Status: 201,
				Want: `{"assignees": ` + issuePeople(append([]string{"sam"}, ten[1:]...)...) + `}`},
			{Name: "issues off", Do: "PATCH /repos/garden/plot", As: "alice", Send: `{"has_issues": false}`,
				Status: 200},
			{Name: "not then", Do: "POST " + on, As: "will", Send: `{"assignees": ["will"]}`, Status: 410},
			{Name: "nor is it asked", Do: "GET " + on + "/will", Status: 410},
			{Name: "the list stays", Do: "GET /repos/garden/plot/assignees/will", Status: 204},
		})
		issuetest.CheckIndex(t, s)
	})
}
