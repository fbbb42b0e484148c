package issues_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

// refusal checks an error: that it has the words, or with none that there is none.
func refusal(t *testing.T, name string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %q", name, err, want)
	}
}

// aTalk files an issue of sam's in garden/plot that has something of everything.
func aTalk(t *testing.T, s *apitest.Server) {
	t.Helper()
	const at = "/repos/garden/plot"
	for _, repo := range []string{"plot", "shed", "yard"} {
		s.Ask(t, "will", "POST /repos/garden/"+repo+"/milestones", `{"title": "Spring"}`, 201)
	}
	squirrel := map[string]string{"Accept": "application/vnd.github.squirrel-girl-preview+json"}
	s.Run(t, []apitest.Case{
		{Do: "POST " + at + "/issues", As: "sam", Send: `{"title": "Slugs", "body": "Many, @rae"}`,
			Status: 201, Want: `{"number": 1}`},
		{Do: "POST " + at + "/issues", As: "sam", Send: `{"title": "Like it", "body": "See #1"}`,
			Status: 201},
		{Do: "POST " + at + "/issues/1/comments", As: "will", Send: `{"body": "Beer helps"}`, Status: 201},
		{Do: "POST " + at + "/issues/1/comments", As: "rae", Send: `{"body": "As said in #2"}`, Status: 201},
		{Do: "PATCH " + at + "/issues/1", As: "will",
			Send: `{"labels": ["bug", "slimy"], "milestone": 1, "assignee": "will"}`, Status: 200},
		{Do: "POST " + at + "/issues/1/reactions", As: "rae", Send: `{"content": "heart"}`, Headers: squirrel,
			Status: 201},
		{Do: "POST " + at + "/issues/comments/1/reactions", As: "rae", Send: `{"content": "eyes"}`,
			Headers: squirrel, Status: 201},
		{Do: "PUT " + at + "/issues/1/subscription", As: "alice", Send: `{"ignored": true}`, Status: 200},
		// from now on they are in memory
		{Do: "GET " + at + "/issues", Status: 200, Want: `[{"number": 2}, {"number": 1}]`},
	})
}

// Whoever follows the old address of a transferred issue finds it, with all that was said; nobody learns by
// it of a repository that they do not see, and the lists of both sides tell the truth.
func TestTransfer(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Grant(t, s.Repo(t, "garden/yard", false), "will", account.Push)
		s.Repo(t, "will/own", false)
		aTalk(t, s)
		issues := s.Forge.Issues
		plot, yard, shed := s.Access(t, "will", "garden/plot"), s.Access(t, "will", "garden/yard"),
			s.Access(t, "will", "garden/shed")
		if _, err := issues.Pin(t.Context(), plot, 1); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name   string
			from   string
			number int64
			to     string
			by     string
			want   string
		}{
			{"absent", "plot", 9, "yard", "will", "Not Found"},
			{"no right there", "plot", 1, "yard", "sam", "Must have push access"},
			{"the same repository", "plot", 1, "plot", "will", "in this repository already"},
			{"from private to public", "shed", 1, "yard", "will",
				"from a private repository to a public one"},
		} {
			from, to := s.Access(t, c.by, "garden/"+c.from), s.Access(t, c.by, "garden/"+c.to)
			_, err := issues.Transfer(t.Context(), from, c.number, issue.Transfer{To: to})
			refusal(t, c.name, err, c.want)
		}
		_, err := issues.Transfer(t.Context(), plot, 1, issue.Transfer{To: s.Access(t, "will", "will/own")})
		refusal(t, "another owner", err, "of one owner only")

		s.Ask(t, "sam", "POST /repos/garden/yard/issues", `{"title": "first"}`, 201)
		s.Check(t, apitest.Case{Do: "GET /repos/garden/yard/issues", Status: 200, Want: `[{"number": 1}]`})
		moved, err := issues.Transfer(t.Context(), plot, 1, issue.Transfer{To: yard})
		if err != nil || moved.Number != 2 {
			t.Fatal(moved, err)
		}
		squirrel := map[string]string{"Accept": "application/vnd.github.squirrel-girl-preview+json"}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/garden/plot/issues/1", Status: 301,
				Has: map[string]string{"Location": "{base}/repos/garden/yard/issues/2"}},
			{Do: "GET /repos/garden/plot/issues/1/comments?per_page=1", Status: 301,
				Has: map[string]string{"Location": "{base}/repos/garden/yard/issues/2/comments?per_page=1"}},
			{Do: "PATCH /repos/garden/plot/issues/1", As: "sam", Send: `{"title": "x"}`, Status: 307},
			{Do: "GET /garden/plot/issues/1", Headers: map[string]string{"Accept": "text/html"}, Status: 301},
			{Do: "GET /repos/garden/plot/issues/comments/1", Status: 404},
			{Do: "GET /repos/garden/plot/issues?state=all", Status: 200, Want: `[{"number": 2}]`},
			{Do: "GET /repos/garden/plot", Status: 200, Want: `{"open_issues_count": 1}`},
			{Do: "GET /repos/garden/plot/issues/comments", Status: 200, Body: "[]"},
			{Do: "GET /repos/garden/plot/milestones/1", Status: 200, Want: `{"open_issues": 0}`},
			{Do: "GET /repos/garden/yard/milestones/1", Status: 200, Want: `{"open_issues": 1}`},
			{Do: "GET /repos/garden/yard/issues", Status: 200, Want: `[{"number": 2}, {"number": 1}]`},
			{Do: "GET /repos/garden/yard/issues/2", Headers: squirrel, Status: 200,
				Want: `{"title": "Slugs", "user": {"login": "sam"}, "comments": 2,
				"labels": [{"name": "bug"}], "milestone": {"title": "Spring", "number": 1}, "reactions": {"heart": 1}, "state": "open"}`},
			{Do: "GET /repos/garden/yard/issues/2/comments", Headers: squirrel, Status: 200,
				Want: `[{"id": 1, "body": "Beer helps", "reactions": {"eyes": 1}}, {"id": 2}]`},
			{Do: "GET /repos/garden/yard/issues?assignee=will&labels=bug&milestone=1", Status: 200,
				Want: `[{"number": 2}]`},
			{Do: "GET /repos/garden/yard/issues?mentioned=rae", Status: 200, Want: `[{"number": 2}]`},
			{Do: "GET /repos/garden/yard/issues/2/subscription", As: "alice", Status: 200,
				Want: `{"ignored": true}`},
			{Do: "GET /search/issues?q=beer+repo:garden/yard", Status: 200,
				Want: `{"total_count": 1, "items": [{"number": 2}]}`},
			{Do: "GET /search/issues?q=slugs+repo:garden/plot", Status: 200, Want: `{"total_count": 0}`},
			{Do: "GET /repos/garden/plot/issues/2/timeline", Status: 200,
				Want: `[{"event": "cross-referenced", "source": {"issue": {"number": 2, "title": "Slugs"}}}]`},
		})
		last := string(s.Do(t,
			apitest.Case{Do: "GET /repos/garden/yard/issues/2/timeline?per_page=100"}).Body)
		for _, want := range []string{`"event":"transferred"`, `"event":"cross-referenced"`,
			`"event":"labeled"`, `"event":"mentioned"`} {
			if !strings.Contains(last, want) {
				t.Errorf("the timeline lacks %s", want)
			}
		}
		if pinned := string(s.Do(t, apitest.Case{Do: "GET /garden/yard/issues",
			Headers: map[string]string{"Accept": "text/html"}}).Body); strings.Contains(pinned,
			"<h2>Pinned") {
			t.Error("the pin came along")
		}
		issuetest.CheckIndex(t, s)

		// To where not everybody sees it, by a chain of numbers.
		if _, err = issues.Transfer(t.Context(), yard, 2, issue.Transfer{To: shed}); err != nil {
			t.Fatal(err)
		}
		for _, was := range []string{"plot/issues/1", "yard/issues/2"} {
			s.Run(t, []apitest.Case{
				{Do: "GET /repos/garden/" + was, As: "rae", Status: 301,
					Has: map[string]string{"Location": "{base}/repos/garden/shed/issues/1"}},
				{Do: "GET /repos/garden/" + was, As: "sam", Status: 404,
					Body: string(s.Do(t, apitest.Case{Do: "GET /repos/garden/plot/issues/77",
						As: "sam"}).Body)},
				{Do: "GET /repos/garden/" + was, Status: 404},
			})
		}
		s.Check(t, apitest.Case{Do: "GET /users/sam/events?per_page=100", Status: 200,
			Want: `[{"repo": {"name": "garden/yard"}}, {"repo": {"name": "garden/plot"}}]`})
		s.Ask(t, "alice", "PATCH /repos/garden/shed", `{"has_issues": false}`, 200)
		s.Check(t, apitest.Case{Name: "switched off there", Do: "GET /repos/garden/plot/issues/1", As: "rae",
			Status: 404})
		s.Ask(t, "alice", "PATCH /repos/garden/shed", `{"has_issues": true, "archived": true}`, 200)
		if err = issues.Delete(t.Context(), s.Access(t, "will", "garden/shed"), 1); !errs.Is(err,
			errs.Forbidden) {
			t.Error("deleted by who may only push:", err)
		}
		_, err = issues.Transfer(t.Context(), plot, 2, issue.Transfer{To: shed})
		refusal(t, "into an archived one", err, "archived")
		s.Check(t, apitest.Case{Do: "DELETE /repos/garden/shed", As: "alice", Status: 204})
		s.Check(t, apitest.Case{Name: "the repository is gone", Do: "GET /repos/garden/plot/issues/1",
			As: "rae", Status: 404})
		issuetest.CheckIndex(t, s)
	})
}

// An issue that holds a secret can be deleted for good: lists, searches, feeds and timelines have nothing of
// it.
func TestDeleteIssue(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Grant(t, s.Repo(t, "garden/yard", false), "will", account.Push)
		aTalk(t, s)
		issues := s.Forge.Issues
		refusal(t, "by who may push", issues.Delete(t.Context(), s.Access(t, "will", "garden/plot"), 1),
			"Must have admin rights")
		refusal(t, "by its author", issues.Delete(t.Context(), s.Access(t, "sam", "garden/plot"), 1),
			"Must have admin rights")
		plot := s.Access(t, "alice", "garden/plot")
		refusal(t, "absent", issues.Delete(t.Context(), plot, 9), "Not Found")
		refusal(t, "", issues.Delete(t.Context(), plot, 1), "")
		refusal(t, "again", issues.Delete(t.Context(), plot, 1), "This issue was deleted")
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/garden/plot/issues/1", Status: 410,
				Want: `{"message": "This issue was deleted"}`},
			{Do: "PATCH /repos/garden/plot/issues/1", As: "will", Send: `{"title": "x"}`, Status: 410},
			{Do: "GET /repos/garden/plot/issues/1/comments", Status: 410},
			{Do: "GET /repos/garden/plot/issues/comments/1", Status: 404},
			{Do: "GET /repos/garden/plot/issues?state=all", Status: 200, Want: `[{"number": 2}]`},
			{Do: "GET /repos/garden/plot/issues?labels=bug", Status: 200, Body: "[]"},
			{Do: "GET /search/issues?q=beer+repo:garden/plot", Status: 200, Want: `{"total_count": 0}`},
			{Do: "GET /repos/garden/plot/issues/2/timeline", Status: 200, Body: "[]"},
			{Do: "POST /repos/garden/plot/issues", As: "sam", Send: `{"title": "next"}`, Status: 201,
				Want: `{"number": 3}`},
			{Do: "GET /repos/garden/plot", Status: 200, Want: `{"open_issues_count": 2}`},
			{Do: "GET /orgs/garden/audit-log?phrase=action:issue", As: "alice", Status: 200,
				Want: `[{"action": "issue.destroy", "repo": "garden/plot"}]`},
		})
		if feed := string(s.Do(t,
			apitest.Case{Do: "GET /repos/garden/plot/events?per_page=100"}).Body); strings.Contains(feed,
			"Slugs") || strings.Contains(feed, "Beer") {
			t.Error("the feed still tells of the issue")
		}
		issuetest.CheckIndex(t, s)
	})
}

// Two who transfer issues in opposite directions wait for each other in one order.
func TestTransfersCross(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Grant(t, s.Repo(t, "garden/yard", false), "will", account.Push)
		const each = 10
		for _, repo := range []string{"plot", "yard"} {
			for n := range each {
				s.Check(t, apitest.Case{Do: "POST /repos/garden/" + repo + "/issues", As: "sam",
					Send: fmt.Sprintf(`{"title": "%d"}`, n), Status: 201})
			}
		}
		plot, yard := s.Access(t, "will", "garden/plot"), s.Access(t, "will", "garden/yard")
		done := make(chan error, 2*each)
		for n := range each {
			go func() {
				_, err := s.Forge.Issues.Transfer(t.Context(), plot, int64(n+1), issue.Transfer{To: yard})
				done <- err
			}()
			go func() {
				_, err := s.Forge.Issues.Transfer(t.Context(), yard, int64(n+1), issue.Transfer{To: plot})
				done <- err
			}()
		}
		for range 2 * each {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		for _, repo := range []string{"plot", "yard"} {
			s.Check(t, apitest.Case{Do: "GET /repos/garden/" + repo, Status: 200,
				Want: `{"open_issues_count": 10}`})
		}
		issuetest.CheckIndex(t, s)
	})
}
