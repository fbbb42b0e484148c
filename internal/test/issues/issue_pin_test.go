package issues_test

import (
	"context"
	"strings"
	"testing"

	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

// Who comes to a repository's issues sees first what its people pinned, three at most, and can read in
// the timeline who did it. The page shows no closed one first.
func TestPin(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		for _, title := range []string{"one", "two", "three", "four"} {
			s.Ask(t, "will", "POST /repos/garden/plot/issues", `{"title": "`+title+`"}`, 201)
		}
		issues := s.Forge.Issues
		will, sam := s.Access(t, "will", "garden/plot"), s.Access(t, "sam", "garden/plot")
		try := func(do func(context.Context, *repo.Access, int64) (*issue.Issue, error), a *repo.Access,
			n int64, refused string) {
			t.Helper()
			_, err := do(t.Context(), a, n)
			if refused == "" && err != nil || refused != "" &&
				(err == nil || !strings.Contains(err.Error(), refused)) {
				t.Errorf("#%d: %v, want %q", n, err, refused)
			}
		}
		try(issues.Pin, sam, 1, "Must have push access")
		try(issues.Pin, will, 3, "")
		try(issues.Pin, will, 1, "")
		try(issues.Pin, will, 1, "") // again: nothing happens
		try(issues.Pin, will, 2, "")
		try(issues.Pin, will, 4, "3 pinned issues at most")
		try(issues.Pin, will, 9, "Not Found")
		try(issues.Unpin, sam, 2, "Must have push access")
		try(issues.Unpin, will, 2, "")
		try(issues.Unpin, will, 2, "")
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/garden/plot/issues/1/events", Status: 200,
				Want: `[{"event": "pinned", "actor": {"login": "will"}}]`},
			{Do: "GET /repos/garden/plot/issues/2/timeline", Status: 200,
				Want: `[{"event": "pinned"}, {"event": "unpinned"}]`},
		})
		pinned := func(want ...string) {
			t.Helper()
			page := string(s.Do(t, apitest.Case{Do: "GET /garden/plot/issues",
				Headers: map[string]string{"Accept": "text/html"}}).Body)
			_, part, _ := strings.Cut(page, `aria-label="Pinned issues"`)
			part, _, _ = strings.Cut(part, "</section>")
			var got []string
			for _, line := range strings.Split(part, "<bdi>")[1:] {
				title, _, _ := strings.Cut(line, "</bdi>")
				if strings.Contains("one two three four", title) {
					got = append(got, title)
				}
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("the page has %q first, want %q", got, want)
			}
		}
		pinned("three", "one")
		s.Ask(t, "will", "PATCH /repos/garden/plot/issues/3", `{"state": "closed"}`, 200)
		pinned("one")
		s.Ask(t, "will", "PATCH /repos/garden/plot/issues/3", `{"state": "open"}`, 200)
		pinned("three", "one")
		issuetest.CheckIndex(t, s)
	})
}

// A comment of an issue can be pinned with push access. Pinning another one, or deleting it, leaves no
// second pin.
func TestPinComment(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const at = "/repos/garden/plot"
		s.Ask(t, "will", "POST "+at+"/issues", `{"title": "x"}`, 201)
		for _, text := range []string{"one", "two"} {
			s.Ask(t, "sam", "POST "+at+"/issues/1/comments", `{"body": "`+text+`"}`, 201)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + at + "/issues/comments/1", Status: 200, Want: `{"pin": null}`},
			{Name: "its author alone cannot", Do: "PUT " + at + "/issues/comments/1/pin", As: "sam",
				Status: 403},
			{Name: "nobody", Do: "PUT " + at + "/issues/comments/1/pin", Status: 401},
			{Name: "absent", Do: "PUT " + at + "/issues/comments/9/pin", As: "will", Status: 404},
			{Do: "PUT " + at + "/issues/comments/1/pin", As: "will", Status: 200,
				Want: `{"id": 1, "pin": {"pinned_by": {"login": "will"}}}`},
			{Name: "again", Do: "PUT " + at + "/issues/comments/1/pin", As: "alice", Status: 200,
				Want: `{"pin": {"pinned_by": {"login": "will"}}}`},
			{Name: "another", Do: "PUT " + at + "/issues/comments/2/pin", As: "alice", Status: 200,
				Want: `{"pin": {"pinned_by": {"login": "alice"}}}`},
			{Do: "GET " + at + "/issues/1/comments", Status: 200,
				Want: `[{"id": 1, "pin": null}, {"id": 2, "pin": {"pinned_by": {"login": "alice"}}}]`},
			{Do: "DELETE " + at + "/issues/comments/2/pin", As: "sam", Status: 403},
			{Do: "DELETE " + at + "/issues/comments/2/pin", As: "will", Status: 204},
			{Name: "again", Do: "DELETE " + at + "/issues/comments/2/pin", As: "will", Status: 204},
			{Do: "GET " + at + "/issues/comments/2", Status: 200, Want: `{"pin": null}`},
			{Do: "PUT " + at + "/issues/comments/2/pin", As: "will", Status: 200},
			{Name: "a pinned one is edited", Do: "PATCH " + at + "/issues/comments/2", As: "sam",
				Send: `{"body": "more"}`, Status: 200, Want: `{"pin": {"pinned_by": {"login": "will"}}}`},
			{Name: "a pinned one is deleted", Do: "DELETE " + at + "/issues/comments/2", As: "sam",
				Status: 204},
			{Do: "PUT " + at + "/issues/comments/1/pin", As: "will", Status: 200},
			{Name: "archived", Do: "PATCH " + at, As: "alice", Send: `{"archived": true}`, Status: 200},
			{Do: "DELETE " + at + "/issues/comments/1/pin", As: "will", Status: 403},
		})
	})
}
