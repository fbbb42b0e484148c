package issues_test

import (
	"log/slog"
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	testkit.Eventually(t, func() bool {
		var left int64
		err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(query, args...).Scan(&left)
		})
		if err != nil {
			t.Fatal(err)
		}
		return left == 0
	}, "none is left of "+query)
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
