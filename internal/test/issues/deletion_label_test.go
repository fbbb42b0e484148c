package issues_test

import (
	"log/slog"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
)

// crowd files n issues with the labels in one transaction; every third is closed.
func crowd(t testing.TB, s *apitest.Server, r *repo.Repo, by *account.Account, n int, labels ...string) {
	t.Helper()
	crowdOf(t, s, r, by, n, issue.NewIssue{Title: "x", Labels: labels})
}

func crowdOf(t testing.TB, s *apitest.Server, r *repo.Repo, by *account.Account, n int, like issue.NewIssue) {
	t.Helper()
	issues := issue.New(s.DB, s.Repos, slog.New(slog.DiscardHandler), s.Forge)
	a := &repo.Access{Repo: r, Role: account.Admin, Caller: &account.Caller{ID: by.ID, Login: by.Login}}
	err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
		for k := range n {
			made, err := issues.CreateIn(tx, a, like)
			if err != nil {
				return err
			}
			if k%3 > 0 {
				continue
			}
			if _, err := issues.ChangeIn(tx, r, a.Caller, made.Number, func(c *issue.Change) error {
				c.SetState(issue.Closed, issue.NoReason)
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	testkit.NoError(t, err)
}

// bare counts the issues without a label.
func bare(t testing.TB, s *apitest.Server, r *repo.Repo) (n int64) {
	t.Helper()
	err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
		found, err := posting.Find(tx, posting.Query{Repos: []posting.Repo{{ID: r.ID}},
			Where: posting.HasOne(posting.ByLabel.Of(posting.None))}, 0, 1)
		n = found.Total
		return err
	})
	testkit.NoError(t, err)
	return n
}

// An issue whose last label was deleted is found among those without labels: at
// once when few have it, else soon.
func TestDeletedLabelLeavesIssues(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		alice := s.User(t, "alice")
		r := s.Repo(t, "alice/plot", false)
		other := s.Repo(t, "alice/yard", false)
		crowd(t, s, r, alice, 20, "few")
		crowd(t, s, r, alice, 450, "many")
		crowd(t, s, r, alice, 30, "bug", "many", "few")
		crowd(t, s, r, alice, 10, "many", "few")
		crowd(t, s, other, alice, 7, "many")
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/plot/labels/few", As: "alice", Status: 204})
		if n := bare(t, s, r); n != 20 {
			t.Errorf("%d issues are without a label, not 20", n)
		}
		issuetest.CheckIndex(t, s)
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/plot/labels/many", As: "alice", Status: 204})
		s.Check(t, apitest.Case{Name: "gone from payloads at once",
			Do: "GET /repos/alice/plot/issues/501/labels", Status: 200, Body: "[]"})
		s.Check(t, apitest.Case{Name: "another may take the name",
			Do: "POST /repos/alice/plot/issues/505/labels", As: "alice", Send: `["many"]`, Status: 200,
			Want: `[{"name": "many"}]`})
		settled(t, s)
		if n := bare(t, s, r); n != 20+450+9 {
			t.Errorf("%d issues are without a label, not %d", n, 20+450+9)
		}
		s.Check(t, apitest.Case{Name: "another repository keeps its own",
			Do: "GET /repos/alice/yard/issues/1/labels", Status: 200, Want: `[{"name": "many"}]`})
		s.Check(t, apitest.Case{Name: "and issues their others",
			Do: "GET /repos/alice/plot/issues/471/labels", Status: 200, Want: `[{"name": "bug"}]`})
		issuetest.CheckIndex(t, s)
	})
}

// settled waits until no job of deleted labels is left.
func settled(t testing.TB, s *apitest.Server) {
	t.Helper()
	gone(t, s, `SELECT count(*) FROM deleted_labels`)
}

// gone waits until a query counts nothing.
func gone(t testing.TB, s *apitest.Server, query string, args ...any) {
	t.Helper()
	testkit.Eventually(t, func() bool { return dbtest.Number(t, s.DB, query, args...) == 0 },
		"none is left of "+query)
}

// A label that many issues have is taken off them by the worker; a job of a repository that is gone holds
// nothing up.
func TestDeletedLabelWaitsForTheWorker(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, gate := apitest.Gated(t, engine)
		alice := s.User(t, "alice")
		r, other := s.Repo(t, "alice/plot", false), s.Repo(t, "alice/gone", false)
		crowd(t, s, r, alice, 250, "many")
		crowd(t, s, other, alice, 250, "many")
		for _, do := range []string{"/gone/labels/many", "/plot/labels/many", "/gone"} {
			s.Check(t, apitest.Case{Do: "DELETE /repos/alice" + do, As: "alice", Status: 204})
		}
		if n := bare(t, s, r); n != 0 {
			t.Fatalf("%d issues changed in the transaction of the deletion", n)
		}
		gate.Lift()
		settled(t, s)
		gone(t, s, `SELECT count(*) FROM deleted_repos`)
		if n := bare(t, s, r); n != 250 {
			t.Errorf("%d issues are without a label, not 250", n)
		}
		issuetest.CheckIndex(t, s)
	})
}

const deletionMilestones = "/repos/garden/plot/milestones"

// A deleted milestone lets its issues go, which keep their dates and say what
// happened; its number is not used again.
func TestDeleteMilestone(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		for _, title := range []string{"one", "two"} {
			s.Ask(t, "will", "POST "+deletionMilestones, `{"title": "`+title+`"}`, 201)
		}
		for _, m := range []string{"1", "1", "2", "null"} {
			s.Ask(t, "will", "POST /repos/garden/plot/issues", `{"title": "x", "milestone": `+m+`}`, 201)
		}
		s.Ask(t, "will", "PATCH /repos/garden/plot/issues/2", `{"state": "closed"}`, 200)
		var before, after struct {
			Updated string `json:"updated_at"`
		}
		s.Do(t, apitest.Case{Do: "GET /repos/garden/plot/issues/1"}).JSON(t, &before)
		s.Check(t, apitest.Case{Do: "DELETE " + deletionMilestones + "/1", As: "will", Status: 204, Body: "-"})
		s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/issues/1", Status: 200,
			Want: `{"milestone": null}`}).JSON(t, &after)
		if before != after {
			t.Errorf("updated_at went from %s to %s", before.Updated, after.Updated)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + deletionMilestones + "/1", Status: 404},
			{Do: "GET " + deletionMilestones + "/2", Status: 200, Want: `{"open_issues": 1}`},
			{Do: "POST " + deletionMilestones, As: "will", Send: `{"title": "one"}`, Status: 201,
				Want: `{"number": 3, "open_issues": 0, "closed_issues": 0}`},
			{Name: "in any", Do: "GET /repos/garden/plot/issues?milestone=*&state=all", Status: 200,
				Want: `[{"number": 3}]`},
			{Name: "in none", Do: "GET /repos/garden/plot/issues?milestone=none&state=all", Status: 200,
				Want: `[{"number": 4}, {"number": 2}, {"number": 1}]`},
			{Name: "back into one", Do: "PATCH /repos/garden/plot/issues/1", As: "will",
				Send: `{"milestone": 3}`, Status: 200, Want: `{"milestone": {"open_issues": 1}}`},
			{Name: "and out", Do: "PATCH /repos/garden/plot/issues/1", As: "will",
				Send: `{"milestone": null}`, Status: 200, Want: `{"milestone": null}`},
		})
		issuetest.CheckIndex(t, s)
	})
}

// A milestone with many issues is gone at once, and they leave it soon, in transactions of a bounded size.
func TestDeletedMilestoneLeavesManyIssues(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		alice := s.User(t, "alice")
		r := s.Repo(t, "alice/plot", false)
		const at = "/repos/alice/plot/milestones"
		for _, title := range []string{"one", "two"} {
			s.Ask(t, "alice", "POST "+at, `{"title": "`+title+`"}`, 201)
		}
		crowdOf(t, s, r, alice, 450, issue.NewIssue{Title: "x", Milestone: 1})
		crowdOf(t, s, r, alice, 3, issue.NewIssue{Title: "x", Milestone: 2})
		s.Run(t, []apitest.Case{
			{Do: "DELETE " + at + "/1", As: "alice", Status: 204, Body: "-"},
			{Do: "GET " + at + "/1", Status: 404},
			{Name: "gone from payloads at once", Do: "GET /repos/alice/plot/issues/450", Status: 200,
				Want: `{"milestone": null}`},
		})
		gone(t, s, `SELECT count(*) FROM deleted_milestones`)
		for _, number := range []string{"2", "230", "450"} {
			a := s.Do(t, apitest.Case{Do: "GET /repos/alice/plot/issues/" + number + "/events"})
			if n := strings.Count(string(a.Body), `"event":"demilestoned"`); n != 1 {
				t.Errorf("issue %s notes the deletion %d times: %s", number, n, a.Body)
			}
		}
		s.Run(t, []apitest.Case{
			{Name: "in none", Do: "GET /repos/alice/plot/issues?milestone=none&state=all&per_page=1",
				Status: 200, Want: `[{"number": 450}]`},
			{Name: "in the other", Do: "GET /repos/alice/plot/issues?milestone=*&state=all", Status: 200,
				Want: `[{"number": 453}, {"number": 452}, {"number": 451}]`},
			{Do: "GET " + at + "/2", Status: 200, Want: `{"open_issues": 2, "closed_issues": 1}`},
		})
		issuetest.CheckIndex(t, s)
	})
}
